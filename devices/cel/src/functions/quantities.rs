//! Functions of resource quantities, and the declarations of the functions of semantic versions: both types share the
//! comparison functions.

use std::cmp::Ordering;

use schedc_core::quantity::Quantity;

use super::{Declaration, text, versions};
use crate::eval::failure::{Failure, Output};
use crate::eval::value::Value;
use crate::eval::work::Work;

pub(super) const DECLARATIONS: &[Declaration] = &[
    Declaration { name: "quantity", call: quantity, overloads: &["string_to_quantity: (string) -> quantity"] },
    Declaration { name: "isQuantity", call: is_quantity, overloads: &["is_quantity_string: (string) -> bool"] },
    Declaration { name: "sign", call: sign, overloads: &["quantity_sign: (quantity) -> int"] },
    Declaration {
        name: "isGreaterThan",
        call: |_, arguments| Ok(Value::Bool(compare(arguments)? == Ordering::Greater)),
        overloads: &[
            "quantity_is_greater_than: quantity.(quantity) -> bool",
            "semver_is_greater_than: semver.(semver) -> bool",
        ],
    },
    Declaration {
        name: "isLessThan",
        call: |_, arguments| Ok(Value::Bool(compare(arguments)? == Ordering::Less)),
        overloads: &[
            "quantity_is_less_than: quantity.(quantity) -> bool",
            "semver_is_less_than: semver.(semver) -> bool",
        ],
    },
    Declaration {
        name: "compareTo",
        call: |_, arguments| Ok(Value::Int(compare(arguments)? as i64)),
        overloads: &["quantity_compare_to: quantity.(quantity) -> int", "semver_compare_to: semver.(semver) -> int"],
    },
    Declaration {
        name: "asApproximateFloat",
        call: |_, arguments| Ok(Value::Double(quantity_of(&arguments[0])?.as_f64())),
        overloads: &["quantity_get_float: quantity.() -> double"],
    },
    Declaration { name: "asInteger", call: as_integer, overloads: &["quantity_get_int: quantity.() -> int"] },
    Declaration {
        name: "isInteger",
        call: |_, arguments| Ok(Value::Bool(quantity_of(&arguments[0])?.as_i64().is_some())),
        overloads: &["quantity_is_integer: quantity.() -> bool"],
    },
    Declaration {
        name: "add",
        call: add,
        overloads: &["quantity_add: quantity.(quantity) -> quantity", "quantity_add_int: quantity.(int) -> quantity"],
    },
    Declaration {
        name: "sub",
        call: sub,
        overloads: &["quantity_sub: quantity.(quantity) -> quantity", "quantity_sub_int: quantity.(int) -> quantity"],
    },
    Declaration {
        name: "semver",
        call: versions::semver,
        overloads: &["string_to_semver: (string) -> semver", "string_bool_to_semver: (string, bool) -> semver"],
    },
    Declaration {
        name: "isSemver",
        call: versions::is_semver,
        overloads: &["is_semver_string: (string) -> bool", "is_semver_string_bool: (string, bool) -> bool"],
    },
    Declaration { name: "major", call: versions::major, overloads: &["semver_major: semver.() -> int"] },
    Declaration { name: "minor", call: versions::minor, overloads: &["semver_minor: semver.() -> int"] },
    Declaration { name: "patch", call: versions::patch, overloads: &["semver_patch: semver.() -> int"] },
];

fn quantity_of<'a>(value: &Value<'a>) -> Result<Quantity, Failure<'a>> {
    match value {
        Value::Quantity(quantity) => Ok(**quantity),
        _ => Err(Failure::NoSuchOverload),
    }
}

/// Compares two quantities or two versions.
pub(crate) fn compare<'a>(arguments: &[Value<'a>]) -> Result<Ordering, Failure<'a>> {
    match (&arguments[0], &arguments[1]) {
        (Value::Quantity(a), Value::Quantity(b)) => Ok((**a).cmp(&**b)),
        (Value::Version(a), Value::Version(b)) => Ok((**a).cmp(&**b)),
        _ => Err(Failure::NoSuchOverload),
    }
}

/// Parses a quantity. Kubernetes does not trim white space here, unlike in JSON.
fn parse(text: &str) -> Result<Quantity, String> {
    if text.is_empty() || text.trim() != text {
        return Err(
            "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'".into()
        );
    }
    Quantity::parse(text).map_err(|error| error.to_string())
}

fn quantity<'a>(_: &mut Work, arguments: &[Value<'a>]) -> Output<'a> {
    parse(text(&arguments[0])?).map(Value::quantity).map_err(Failure::text)
}

fn is_quantity<'a>(_: &mut Work, arguments: &[Value<'a>]) -> Output<'a> {
    Ok(Value::Bool(parse(text(&arguments[0])?).is_ok()))
}

fn sign<'a>(_: &mut Work, arguments: &[Value<'a>]) -> Output<'a> {
    Ok(Value::Int(quantity_of(&arguments[0])?.cmp(&Quantity::ZERO) as i64))
}

fn as_integer<'a>(_: &mut Work, arguments: &[Value<'a>]) -> Output<'a> {
    match quantity_of(&arguments[0])?.as_i64() {
        Some(value) => Ok(Value::Int(value)),
        None => Err(Failure::Static("cannot convert value to integer")),
    }
}

/// Returns the second operand of a sum or difference: a quantity or an integer.
fn operand<'a>(value: &Value<'a>) -> Result<Quantity, Failure<'a>> {
    match value {
        Value::Int(units) => Ok(Quantity::from_units(*units)),
        other => quantity_of(other),
    }
}

fn add<'a>(_: &mut Work, arguments: &[Value<'a>]) -> Output<'a> {
    let mut sum = quantity_of(&arguments[0])?;
    sum.add(operand(&arguments[1])?);
    Ok(Value::quantity(sum))
}

fn sub<'a>(_: &mut Work, arguments: &[Value<'a>]) -> Output<'a> {
    let mut difference = quantity_of(&arguments[0])?;
    difference.sub(operand(&arguments[1])?);
    Ok(Value::quantity(difference))
}
