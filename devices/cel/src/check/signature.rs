//! Signatures of functions, written as text. `contains_string: string.(string) -> bool` is a member function with the
//! overload identifier `contains_string`; `to_dyn: (A) -> dyn` is a global function. Capital letters are type
//! variables.

use std::sync::Arc;

use super::types::{CIDR, FORMAT, IP, QUANTITY, SEMVER, Type, URL};

/// One signature of a function.
#[derive(Debug)]
pub(crate) struct Overload {
    pub(crate) id: &'static str,
    pub(crate) is_member: bool,
    /// Types of the arguments. For a member function, the type of the target comes first.
    pub(crate) parameters: Vec<Type>,
    pub(crate) result: Type,
    /// Number of type variables.
    pub(crate) variables: usize,
}

impl Overload {
    /// Reads a signature. Panics if it is malformed: all signatures are constants of this crate.
    pub(crate) fn parse(text: &'static str) -> Overload {
        let (id, rest) = text.split_once(": ").expect("an identifier before ': '");
        let mut reader = Reader { rest, variables: Vec::new() };
        let target = (!reader.rest.starts_with('(')).then(|| reader.ty());
        if target.is_some() {
            reader.take(".");
        }
        let mut parameters: Vec<Type> = target.iter().cloned().collect();
        parameters.extend(reader.list());
        reader.take(" -> ");
        let result = reader.ty();
        assert!(reader.rest.is_empty(), "{text}: text after the signature");
        Overload { id, is_member: target.is_some(), parameters, result, variables: reader.variables.len() }
    }
}

struct Reader {
    rest: &'static str,
    variables: Vec<&'static str>,
}

impl Reader {
    fn take(&mut self, text: &str) {
        self.rest = self.rest.strip_prefix(text).unwrap_or_else(|| panic!("'{text}' expected before '{}'", self.rest));
    }

    fn list(&mut self) -> Vec<Type> {
        let mut types = Vec::new();
        self.take("(");
        while !self.rest.starts_with(')') {
            if !types.is_empty() {
                self.take(", ");
            }
            types.push(self.ty());
        }
        self.take(")");
        types
    }

    fn ty(&mut self) -> Type {
        let length = self.rest.find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(self.rest.len());
        let (name, rest) = self.rest.split_at(length);
        self.rest = rest;
        if name.len() == 1 {
            let known = self.variables.iter().position(|variable| *variable == name);
            return Type::Variable(known.unwrap_or_else(|| {
                self.variables.push(name);
                self.variables.len() - 1
            }));
        }
        match name {
            "any" => Type::Any,
            "bool" => Type::Bool,
            "bytes" => Type::Bytes,
            "double" => Type::Double,
            "duration" => Type::Duration,
            "dyn" => Type::Dyn,
            "int" => Type::Int,
            "string" => Type::String,
            "timestamp" => Type::Timestamp,
            "uint" => Type::Uint,
            "quantity" => QUANTITY,
            "semver" => SEMVER,
            "url" => URL,
            "format" => FORMAT,
            "ip" => IP,
            "cidr" => CIDR,
            _ => {
                let mut parameters = self.list();
                match (name, parameters.len()) {
                    ("list", 1) => Type::list(parameters.remove(0)),
                    ("optional", 1) => Type::optional(parameters.remove(0)),
                    ("type", 1) => Type::Meta(Some(Arc::new(parameters.remove(0)))),
                    ("map", 2) => Type::map(parameters.remove(0), parameters.remove(0)),
                    _ => panic!("'{name}' is no type"),
                }
            }
        }
    }
}
