//! Failures at run time.

use std::fmt;
use std::sync::Arc;

use super::value::Value;

/// Reason why an expression has no value. `||` and `&&` can absorb it, unless the evaluation is over its limit.
#[derive(Clone, Debug)]
pub(crate) enum Failure<'a> {
    NoSuchKey(Value<'a>),
    IndexOutOfBounds(Value<'a>),
    NoSuchOverload,
    /// Conversion between types, by their names.
    Conversion(&'static str, &'static str),
    Static(&'static str),
    Text(Arc<str>),
    /// The cost limit is exceeded, or the limit of work for which `cel-go` has no cost. Ends the evaluation.
    Limit,
}

/// Value or failure.
pub(crate) type Output<'a> = Result<Value<'a>, Failure<'a>>;

impl<'a> Failure<'a> {
    pub(crate) fn text(text: impl Into<Arc<str>>) -> Failure<'a> {
        Failure::Text(text.into())
    }
}

impl fmt::Display for Failure<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Failure::NoSuchKey(key) => write!(f, "no such key: {}", Shown(key)),
            Failure::IndexOutOfBounds(index) => write!(f, "index out of bounds: {}", Shown(index)),
            Failure::NoSuchOverload => f.write_str("no such overload"),
            Failure::Conversion(from, to) => write!(f, "type conversion error from '{from}' to '{to}'"),
            Failure::Static(text) => f.write_str(text),
            Failure::Text(text) => f.write_str(text),
            Failure::Limit => f.write_str("operation cancelled: actual cost limit exceeded"),
        }
    }
}

/// Key in a message.
struct Shown<'v, 'a>(&'v Value<'a>);

impl fmt::Display for Shown<'_, '_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Value::Bool(value) => value.fmt(f),
            Value::Int(value) => value.fmt(f),
            Value::Uint(value) => value.fmt(f),
            Value::Double(value) => value.fmt(f),
            Value::String(text) => f.write_str(text),
            other => f.write_str(other.type_name()),
        }
    }
}
