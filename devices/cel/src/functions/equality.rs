//! Equality, order and membership of values of any types.

use std::cmp::Ordering;

use super::{Declaration, mismatch};
use crate::eval::failure::{Failure, Output};
use crate::eval::value::Value;
use crate::eval::work::Work;

pub(super) const DECLARATIONS: &[Declaration] = &[
    Declaration { name: "_==_", call: operator, overloads: &["equals: (A, A) -> bool"] },
    Declaration { name: "_!=_", call: operator, overloads: &["not_equals: (A, A) -> bool"] },
    Declaration { name: "_<_", call: operator, overloads: ORDERED },
    Declaration { name: "_<=_", call: operator, overloads: ORDERED },
    Declaration { name: "_>_", call: operator, overloads: ORDERED },
    Declaration { name: "_>=_", call: operator, overloads: ORDERED },
    Declaration {
        name: "@in",
        call: operator,
        overloads: &["in_list: (A, list(A)) -> bool", "in_map: (A, map(A, B)) -> bool"],
    },
];

const ORDERED: &[&str] = &[
    "order: (bool, bool) -> bool",
    "order: (int, int) -> bool",
    "order: (int, double) -> bool",
    "order: (int, uint) -> bool",
    "order: (uint, uint) -> bool",
    "order: (uint, double) -> bool",
    "order: (uint, int) -> bool",
    "order: (double, double) -> bool",
    "order: (double, int) -> bool",
    "order: (double, uint) -> bool",
    "order_string: (string, string) -> bool",
    "order_bytes: (bytes, bytes) -> bool",
    "order: (timestamp, timestamp) -> bool",
    "order: (duration, duration) -> bool",
];

/// Placeholder for operators. It is never called, because they are operations of the compiled program.
fn operator<'a>(_: &mut Work, _: &[Value<'a>]) -> Output<'a> {
    mismatch()
}

/// Returns whether two values are equal. Values of different types are not equal, except for numbers. The comparison
/// fails if `a` has a Kubernetes type and `b` another type, except null.
pub(crate) fn equal<'a>(work: &mut Work, a: &Value<'a>, b: &Value<'a>) -> Result<bool, Failure<'a>> {
    work.spend(1)?;
    Ok(match (a, b) {
        (Value::Null, Value::Null) => true,
        (Value::Null, _) | (_, Value::Null) => false,
        (Value::Bool(a), Value::Bool(b)) => a == b,
        (Value::String(a), Value::String(b)) => {
            work.spend_bytes(a.len().min(b.len()))?;
            **a == **b
        }
        (Value::Bytes(a), Value::Bytes(b)) => {
            work.spend_bytes(a.len().min(b.len()))?;
            **a == **b
        }
        (Value::Timestamp(a), Value::Timestamp(b)) => a == b,
        (Value::Duration(a), Value::Duration(b)) => a == b,
        (Value::Type(a), Value::Type(b)) => a == b,
        (Value::Quantity(a), Value::Quantity(b)) => **a == **b,
        (Value::Version(a), Value::Version(b)) => **a == **b,
        (Value::Ip(a), Value::Ip(b)) => a == b,
        (Value::Cidr(a), Value::Cidr(b)) => a == b,
        (Value::Url(a), Value::Url(b)) => a == b,
        (Value::Format(a), Value::Format(b)) => a.name == b.name,
        (Value::Device(a), Value::Device(b)) => a.row == b.row,
        (
            Value::Quantity(_) | Value::Version(_) | Value::Ip(_) | Value::Cidr(_) | Value::Url(_) | Value::Format(_),
            _,
        ) => {
            return Err(Failure::NoSuchOverload);
        }
        (Value::Optional(a), Value::Optional(b)) => match (a, b) {
            (Some(a), Some(b)) => equal(work, a, b)?,
            (a, b) => a.is_none() && b.is_none(),
        },
        (Value::List(a), Value::List(b)) => {
            if a.len() != b.len() {
                return Ok(false);
            }
            let mut all = true;
            for (a, b) in a.iter().zip(b.iter()) {
                // An element that fails to compare is not equal.
                if !equal_or_false(work, a, b)? {
                    all = false;
                    break;
                }
            }
            all
        }
        _ if is_map(a) && is_map(b) => return equal_maps(work, a, b),
        _ => numeric_order(a, b) == Some(Some(Ordering::Equal)),
    })
}

/// Returns whether two values are equal; values that fail to compare are not.
pub(crate) fn equal_or_false<'a>(work: &mut Work, a: &Value<'a>, b: &Value<'a>) -> Result<bool, Failure<'a>> {
    match equal(work, a, b) {
        Err(Failure::Limit) => Err(Failure::Limit),
        result => Ok(result.unwrap_or(false)),
    }
}

fn is_map(value: &Value<'_>) -> bool {
    matches!(value, Value::Map(_) | Value::Domains(_) | Value::Domain(_))
}

/// Returns the entries of any map.
pub(crate) fn entries<'a>(work: &mut Work, map: &Value<'a>) -> Result<Vec<(Value<'a>, Value<'a>)>, Failure<'a>> {
    let entries: Vec<_> = match map {
        Value::Map(map) => map.entries().to_vec(),
        Value::Domains(domains) => domains.entries().collect(),
        Value::Domain(domain) => domain.entries(),
        _ => return Err(Failure::NoSuchOverload),
    };
    work.spend(entries.len() as u64)?;
    Ok(entries)
}

fn equal_maps<'a>(work: &mut Work, a: &Value<'a>, b: &Value<'a>) -> Result<bool, Failure<'a>> {
    if a.size() != b.size() {
        return Ok(false);
    }
    for (key, value) in entries(work, a)? {
        let Some(other) = find(b, &key) else { return Ok(false) };
        if !equal_or_false(work, &value, &other)? {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Returns the value for a key of any map, or a field of a device. Unknown domains of a device are empty maps.
pub(crate) fn find<'a>(map: &Value<'a>, key: &Value<'a>) -> Option<Value<'a>> {
    match (map, key) {
        (Value::Map(map), key) => map.get(key).cloned(),
        (Value::Domains(domains), Value::String(name)) => Some(Value::Domain(domains.domain(name))),
        (Value::Domains(domains), _) => Some(Value::Domain(domains.domain(""))),
        (Value::Domain(domain), Value::String(name)) => domain.get(name),
        (Value::Device(device), Value::String(name)) => device.field(name),
        _ => None,
    }
}

/// Returns whether `element` is equal to an element of a list, or is a key of a map.
pub(crate) fn contains<'a>(work: &mut Work, element: &Value<'a>, container: &Value<'a>) -> Result<bool, Failure<'a>> {
    match (container, element) {
        (Value::List(list), element) => {
            for other in list.iter() {
                if equal_or_false(work, other, element)? {
                    return Ok(true);
                }
            }
            Ok(false)
        }
        // `in` finds only domains with attributes or capacities. Indexing returns an empty map for all others.
        (Value::Domains(domains), Value::String(name)) => Ok(domains.contains(name)),
        (Value::Domains(_), _) => Ok(false),
        (Value::Map(_) | Value::Domain(_) | Value::Device(_), key) => Ok(find(container, key).is_some()),
        _ => Err(Failure::NoSuchOverload),
    }
}

/// Compares two values of comparable types.
pub(crate) fn order<'a>(work: &mut Work, a: &Value<'a>, b: &Value<'a>) -> Result<Ordering, Failure<'a>> {
    work.spend(1)?;
    Ok(match (a, b) {
        (Value::Bool(a), Value::Bool(b)) => a.cmp(b),
        (Value::String(a), Value::String(b)) => {
            work.spend_bytes(a.len().min(b.len()))?;
            a.as_bytes().cmp(b.as_bytes())
        }
        (Value::Bytes(a), Value::Bytes(b)) => {
            work.spend_bytes(a.len().min(b.len()))?;
            a.cmp(b)
        }
        (Value::Timestamp(a), Value::Timestamp(b)) => a.cmp(b),
        (Value::Duration(a), Value::Duration(b)) => a.cmp(b),
        _ => match numeric_order(a, b) {
            Some(Some(order)) => order,
            Some(None) => return Err(Failure::Static("NaN values cannot be ordered")),
            None => return Err(Failure::NoSuchOverload),
        },
    })
}

/// Compares two numbers of any types: `None` for other values, `Some(None)` for NaN.
fn numeric_order(a: &Value<'_>, b: &Value<'_>) -> Option<Option<Ordering>> {
    Some(match (a, b) {
        (Value::Int(a), Value::Int(b)) => Some(a.cmp(b)),
        (Value::Uint(a), Value::Uint(b)) => Some(a.cmp(b)),
        (Value::Int(a), Value::Uint(b)) => Some(i128::from(*a).cmp(&i128::from(*b))),
        (Value::Uint(a), Value::Int(b)) => Some(i128::from(*a).cmp(&i128::from(*b))),
        (Value::Double(a), Value::Double(b)) => a.partial_cmp(b),
        // Conversion rounds as `cel-go` does. Doubles outside the integer range are less or greater than all integers.
        (Value::Double(a), Value::Int(b)) => a.partial_cmp(&(*b as f64)),
        (Value::Double(a), Value::Uint(b)) => a.partial_cmp(&(*b as f64)),
        (Value::Int(a), Value::Double(b)) => (*a as f64).partial_cmp(b),
        (Value::Uint(a), Value::Double(b)) => (*a as f64).partial_cmp(b),
        _ => return None,
    })
}
