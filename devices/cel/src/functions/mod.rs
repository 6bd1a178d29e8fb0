//! Functions and operators: signatures and implementations, one module for each library of Kubernetes.

pub(crate) mod arithmetic;
mod conversions;
pub(crate) mod equality;
mod formats;
pub(crate) mod formatting;
pub(crate) mod lists;
mod network;
mod numbers;
mod optionals;
mod quantities;
pub(crate) mod regexes;
pub(crate) mod standard;
mod strings;
mod time;
mod urls;
mod versions;

use std::collections::HashMap;
use std::sync::LazyLock;

use crate::check::signature::Overload;
use crate::eval::failure::{Failure, Output};
use crate::eval::value::{List, Str, Value};
use crate::eval::work::Work;

/// Implementation of a function for all of its signatures. The target of a member function is the first argument.
pub(crate) type Implementation = for<'a> fn(&mut Work, &[Value<'a>]) -> Output<'a>;

/// Function with its signatures as text.
struct Declaration {
    name: &'static str,
    call: Implementation,
    overloads: &'static [&'static str],
}

/// Function by name.
#[derive(Debug)]
pub(crate) struct Function {
    pub(crate) name: &'static str,
    pub(crate) call: Implementation,
    pub(crate) overloads: Vec<Overload>,
}

const LIBRARIES: [&[Declaration]; 13] = [
    arithmetic::DECLARATIONS,
    conversions::DECLARATIONS,
    equality::DECLARATIONS,
    formats::DECLARATIONS,
    lists::DECLARATIONS,
    network::DECLARATIONS,
    optionals::DECLARATIONS,
    quantities::DECLARATIONS,
    regexes::DECLARATIONS,
    standard::DECLARATIONS,
    strings::DECLARATIONS,
    time::DECLARATIONS,
    urls::DECLARATIONS,
];

static FUNCTIONS: LazyLock<HashMap<&'static str, Function>> = LazyLock::new(|| {
    let mut functions: HashMap<&'static str, Function> = HashMap::new();
    for declaration in LIBRARIES.into_iter().flatten() {
        let overloads = declaration.overloads.iter().map(|text| Overload::parse(text));
        functions
            .entry(declaration.name)
            .or_insert_with(|| Function { name: declaration.name, call: declaration.call, overloads: Vec::new() })
            .overloads
            .extend(overloads);
    }
    functions
});

/// Returns the function with this name.
pub(crate) fn function(name: &str) -> Option<&'static Function> {
    FUNCTIONS.get(name)
}

/// Returns the failure for argument types without a signature. They are possible because attributes are untyped.
fn mismatch<'a>() -> Output<'a> {
    Err(Failure::NoSuchOverload)
}

fn text<'v, 'a>(value: &'v Value<'a>) -> Result<&'v Str<'a>, Failure<'a>> {
    match value {
        Value::String(text) => Ok(text),
        _ => Err(Failure::NoSuchOverload),
    }
}

fn int<'a>(value: &Value<'a>) -> Result<i64, Failure<'a>> {
    match value {
        Value::Int(value) => Ok(*value),
        _ => Err(Failure::NoSuchOverload),
    }
}

fn list<'v, 'a>(value: &'v Value<'a>) -> Result<&'v List<'a>, Failure<'a>> {
    match value {
        Value::List(list) => Ok(list),
        _ => Err(Failure::NoSuchOverload),
    }
}

/// Creates a list of strings.
fn strings_value<'a>(texts: impl IntoIterator<Item = impl AsRef<str>>) -> Value<'a> {
    Value::List(List::new(texts.into_iter().map(|text| Value::string(text.as_ref())).collect()))
}
