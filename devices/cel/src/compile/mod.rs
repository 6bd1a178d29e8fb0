//! Compiles a checked syntax tree into a program.

mod access;
mod constants;
mod fold;

use std::rc::Rc;
use std::sync::Arc;

use crate::check::types::Type;
use crate::check::{Checked, DEVICE_VARIABLE, Resolution};
use crate::cost::Rule;
use crate::device::Kind;
use crate::eval::program::{Call, Item, Node, Operator, Path, Program, Reads, RegexCall, RegexFunction};
use crate::eval::value::{DataRef, Entries, List, Map, Value};
use crate::functions::{lists, regexes};
use crate::syntax::SyntaxError;
use crate::syntax::ast::{Ast, Element, Entry, Expr, Literal, NodeId};

/// Compiles an expression.
pub(crate) fn compile(ast: &Ast, checked: &Checked) -> Result<Program, SyntaxError> {
    let mut compiler = Compiler { ast, checked, scopes: Vec::new(), slots: 0, paths: Vec::new(), domains: Vec::new() };
    let root = compiler.node(ast.root)?;
    let mut reads = Reads::default();
    reads.add(&root, &mut Vec::new());
    Ok(Program { root, slots: compiler.slots, paths: compiler.paths, reads })
}

type Outcome<T = Node> = Result<T, SyntaxError>;

struct Compiler<'e> {
    ast: &'e Ast,
    checked: &'e Checked,
    /// Variables of loops and of `cel.bind` with their slots, innermost last.
    scopes: Vec<(Rc<str>, usize)>,
    slots: usize,
    paths: Vec<Path>,
    /// Slots of `cel.bind` variables whose value is a domain, with its kind and name.
    domains: Vec<(usize, Kind, Box<str>)>,
}

impl Compiler<'_> {
    fn node(&mut self, id: NodeId) -> Outcome {
        match self.ast.expr(id) {
            Expr::Literal(literal) => Ok(Node::Constant(constant(literal))),
            Expr::Ident(_) | Expr::Select { .. } => self.access(id, true),
            Expr::Call { function, target, arguments } => self.call(id, function, *target, arguments),
            Expr::List(elements) => self.list(elements),
            Expr::Map(entries) => self.map(entries),
            Expr::Fold(fold) => self.fold(fold),
        }
    }

    fn nodes(&mut self, ids: impl IntoIterator<Item = NodeId>) -> Outcome<Box<[Node]>> {
        ids.into_iter().map(|id| self.node(id)).collect()
    }

    fn pair(&mut self, a: NodeId, b: NodeId) -> Outcome<Box<[Node; 2]>> {
        Ok(Box::new([self.node(a)?, self.node(b)?]))
    }

    fn local(&self, name: &str) -> Option<usize> {
        self.scopes.iter().rev().find(|(variable, _)| **variable == *name).map(|(_, slot)| *slot)
    }

    fn resolution(&self, id: NodeId) -> Outcome<&Resolution> {
        self.checked.call(id).ok_or_else(|| SyntaxError::new(self.ast.offset(id), "call without signature"))
    }

    fn call(&mut self, id: NodeId, function: &str, target: Option<NodeId>, arguments: &[NodeId]) -> Outcome {
        match (function, target, arguments) {
            ("_[_]" | "_[?_]" | "_?._" | "_?_:_", None, _) => return self.access(id, true),
            ("_&&_", ..) => return Ok(Node::And(self.nodes(arguments.iter().copied())?)),
            ("_||_", ..) => return Ok(Node::Or(self.nodes(arguments.iter().copied())?)),
            ("_==_" | "_!=_", _, [a, b]) => {
                return Ok(Node::Equal { negated: function == "_!=_", operands: self.pair(*a, *b)? });
            }
            ("@not_strictly_false", _, [operand]) => {
                return Ok(Node::NotStrictlyFalse(Box::new(self.node(*operand)?)));
            }
            ("or", Some(target), [other]) => return Ok(Node::OrOptional(self.pair(target, *other)?)),
            ("orValue", Some(target), [other]) => {
                let operands = self.pair(target, *other)?;
                let [optional, other] = *operands;
                return Ok(match optional {
                    Node::OptionalMember(access) => Node::MemberOr { access, other: Box::new(other) },
                    optional => Node::OrValue(Box::new([optional, other])),
                });
            }
            _ => {}
        }
        let resolution = self.resolution(id)?.clone();
        let rule = Rule::new(function, resolution.overload());
        let operator = match function {
            "_<_" => Some(Operator::Less),
            "_<=_" => Some(Operator::LessOrEqual),
            "_>_" => Some(Operator::Greater),
            "_>=_" => Some(Operator::GreaterOrEqual),
            _ => None,
        };
        if let (Some(operator), [a, b]) = (operator, arguments) {
            return Ok(Node::Order { operator, rule, operands: self.pair(*a, *b)? });
        }
        if let ("@in", [element, container]) = (function, arguments) {
            let operands = self.pair(*element, *container)?;
            return Ok(constants::membership(rule, *operands));
        }
        let nodes = self.nodes(target.into_iter().chain(arguments.iter().copied()))?;
        if let Some(function) = regex_function(function)
            && let Some(Node::Constant(Value::String(pattern))) = nodes.get(1)
        {
            let regex = regexes::compile(pattern).map_err(|reason| SyntaxError::new(self.ast.offset(id), reason))?;
            return Ok(Node::Regex(Box::new(RegexCall { function, regex, rule, arguments: nodes })));
        }
        let implementation = match resolution.overload() {
            Some("list_duration_sum") => lists::sum_of_durations,
            _ => resolution.function.call,
        };
        let call = Call { function: implementation, rule, arguments: nodes };
        constants::fold_call(function, call)
            .map_err(|reason| SyntaxError::new(self.ast.offset(id), format!("program instantiation failed: {reason}")))
    }

    fn item(&mut self, value: NodeId, optional: bool) -> Outcome<Item> {
        Ok(Item { value: self.node(value)?, optional })
    }

    fn list(&mut self, elements: &[Element]) -> Outcome {
        let items: Vec<Item> =
            elements.iter().map(|element| self.item(element.value, element.optional)).collect::<Outcome<_>>()?;
        let constants: Option<Vec<Value<'static>>> = items.iter().map(constants::constant_item).collect();
        Ok(match constants {
            Some(constants) => Node::Constant(Value::List(List::new(constants))),
            None => Node::List(items.into()),
        })
    }

    fn map(&mut self, entries: &[Entry]) -> Outcome {
        let mut compiled = Vec::new();
        for entry in entries {
            compiled.push((self.node(entry.key)?, self.item(entry.value, entry.optional)?));
        }
        let mut constants = Entries::default();
        for (key, item) in &compiled {
            let (Node::Constant(key), Some(value)) = (key, constants::constant_item(item)) else {
                return Ok(Node::Map(compiled.into()));
            };
            if constants.insert(key.clone(), value).is_none() {
                return Ok(Node::Map(compiled.into()));
            }
        }
        Ok(Node::Constant(Value::Map(Map::new(constants))))
    }

    /// Returns the type that a name stands for, as a value.
    fn type_value(&self, name: &str) -> Option<Value<'static>> {
        let name = name.strip_prefix('.').unwrap_or(name);
        if name == DEVICE_VARIABLE {
            return None;
        }
        let name = match Type::named(name)? {
            Type::Bool => "bool",
            Type::Bytes => "bytes",
            Type::Double => "double",
            Type::Duration => "google.protobuf.Duration",
            Type::Int => "int",
            Type::Null => "null_type",
            Type::String => "string",
            Type::Timestamp => "google.protobuf.Timestamp",
            Type::Meta(_) => "type",
            Type::Uint => "uint",
            Type::Opaque(name) => name,
            _ => match name {
                "list" => "list",
                "map" => "map",
                _ => "optional_type",
            },
        };
        Some(Value::Type(name))
    }
}

fn regex_function(name: &str) -> Option<RegexFunction> {
    match name {
        "matches" => Some(RegexFunction::Matches),
        "find" => Some(RegexFunction::Find),
        "findAll" => Some(RegexFunction::FindAll),
        _ => None,
    }
}

fn constant(literal: &Literal) -> Value<'static> {
    match literal {
        Literal::Null => Value::Null,
        Literal::Bool(value) => Value::Bool(*value),
        Literal::Int(value) => Value::Int(*value),
        Literal::Uint(value) => Value::Uint(*value),
        Literal::Double(value) => Value::Double(*value),
        Literal::String(text) => Value::string(text.as_str()),
        Literal::Bytes(bytes) => Value::Bytes(DataRef::Shared(Arc::from(bytes.as_slice()))),
    }
}
