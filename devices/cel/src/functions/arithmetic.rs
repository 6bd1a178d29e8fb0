//! Arithmetic, and the logical operators' signatures.

use std::sync::Arc;

use super::{Declaration, mismatch};
use crate::data::time::Timestamp;
use crate::eval::failure::{Failure, Output};
use crate::eval::value::{DataRef, List, Value};
use crate::eval::work::Work;

pub(super) const DECLARATIONS: &[Declaration] = &[
    Declaration { name: "_?_:_", call: operator, overloads: &["conditional: (bool, A, A) -> A"] },
    Declaration { name: "_&&_", call: operator, overloads: &["logical_and: (bool, bool) -> bool"] },
    Declaration { name: "_||_", call: operator, overloads: &["logical_or: (bool, bool) -> bool"] },
    Declaration { name: "!_", call: not, overloads: &["logical_not: (bool) -> bool"] },
    Declaration { name: "@not_strictly_false", call: operator, overloads: &["not_strictly_false: (bool) -> bool"] },
    Declaration {
        name: "_[_]",
        call: operator,
        overloads: &[
            "index_list: (list(A), int) -> A",
            "index_map: (map(A, B), A) -> B",
            "optional_list_index_int: (optional(list(V)), int) -> optional(V)",
            "optional_map_index_value: (optional(map(K, V)), K) -> optional(V)",
        ],
    },
    Declaration {
        name: "_+_",
        call: |work, arguments| add(work, &arguments[0], &arguments[1]),
        overloads: &[
            "add_bytes: (bytes, bytes) -> bytes",
            "add: (double, double) -> double",
            "add: (duration, duration) -> duration",
            "add: (duration, timestamp) -> timestamp",
            "add: (timestamp, duration) -> timestamp",
            "add: (int, int) -> int",
            "add_list: (list(A), list(A)) -> list(A)",
            "add_string: (string, string) -> string",
            "add: (uint, uint) -> uint",
        ],
    },
    Declaration {
        name: "_-_",
        call: subtract,
        overloads: &[
            "subtract: (double, double) -> double",
            "subtract: (duration, duration) -> duration",
            "subtract: (int, int) -> int",
            "subtract: (timestamp, duration) -> timestamp",
            "subtract: (timestamp, timestamp) -> duration",
            "subtract: (uint, uint) -> uint",
        ],
    },
    Declaration { name: "_*_", call: multiply, overloads: NUMBERS },
    Declaration { name: "_/_", call: divide, overloads: NUMBERS },
    Declaration {
        name: "_%_",
        call: modulo,
        overloads: &["modulo: (int, int) -> int", "modulo: (uint, uint) -> uint"],
    },
    Declaration { name: "-_", call: negate, overloads: &["negate: (double) -> double", "negate: (int) -> int"] },
];

const NUMBERS: &[&str] =
    &["number: (double, double) -> double", "number: (int, int) -> int", "number: (uint, uint) -> uint"];

const OVERFLOW: Failure<'static> = Failure::Static("integer overflow");
const UNSIGNED_OVERFLOW: Failure<'static> = Failure::Static("unsigned integer overflow");
const DURATION_OVERFLOW: Failure<'static> = Failure::Static("duration overflow");
const DIVISION_BY_ZERO: Failure<'static> = Failure::Static("division by zero");
const MODULUS_BY_ZERO: Failure<'static> = Failure::Static("modulus by zero");

/// Placeholder for operators that the compiler turns into nodes other than calls.
fn operator<'a>(_: &mut Work, _: &[Value<'a>]) -> Output<'a> {
    mismatch()
}

fn not<'a>(_: &mut Work, arguments: &[Value<'a>]) -> Output<'a> {
    match arguments[0] {
        Value::Bool(value) => Ok(Value::Bool(!value)),
        _ => mismatch(),
    }
}

fn int_or_overflow<'a>(value: Option<i64>) -> Output<'a> {
    value.map(Value::Int).ok_or(OVERFLOW)
}

fn uint_or_overflow<'a>(value: Option<u64>) -> Output<'a> {
    value.map(Value::Uint).ok_or(UNSIGNED_OVERFLOW)
}

fn duration_or_overflow<'a>(value: Option<i64>) -> Output<'a> {
    value.map(Value::Duration).ok_or(DURATION_OVERFLOW)
}

fn timestamp_or_overflow<'a>(value: Option<Timestamp>) -> Output<'a> {
    value.map(Value::Timestamp).ok_or(super::time::OVERFLOW)
}

/// Adds two numbers, times or durations, or concatenates two texts, byte sequences or lists.
pub(crate) fn add<'a>(work: &mut Work, a: &Value<'a>, b: &Value<'a>) -> Output<'a> {
    match (a, b) {
        (Value::Int(a), Value::Int(b)) => int_or_overflow(a.checked_add(*b)),
        (Value::Uint(a), Value::Uint(b)) => uint_or_overflow(a.checked_add(*b)),
        (Value::Double(a), Value::Double(b)) => Ok(Value::Double(a + b)),
        (Value::Duration(a), Value::Duration(b)) => duration_or_overflow(a.checked_add(*b)),
        (Value::Timestamp(at), Value::Duration(by)) | (Value::Duration(by), Value::Timestamp(at)) => {
            timestamp_or_overflow(at.add(*by))
        }
        (Value::String(a), Value::String(b)) => {
            work.spend_bytes(a.len() + b.len())?;
            Ok(Value::string([&**a, &**b].concat()))
        }
        (Value::Bytes(a), Value::Bytes(b)) => {
            work.spend_bytes(a.len() + b.len())?;
            Ok(Value::Bytes(DataRef::Shared(Arc::from([&**a, &**b].concat()))))
        }
        (Value::List(a), Value::List(b)) => Ok(Value::List(List::concatenate(a.clone(), b.clone()))),
        _ => mismatch(),
    }
}

fn subtract<'a>(_: &mut Work, arguments: &[Value<'a>]) -> Output<'a> {
    match (&arguments[0], &arguments[1]) {
        (Value::Int(a), Value::Int(b)) => int_or_overflow(a.checked_sub(*b)),
        (Value::Uint(a), Value::Uint(b)) => uint_or_overflow(a.checked_sub(*b)),
        (Value::Double(a), Value::Double(b)) => Ok(Value::Double(a - b)),
        (Value::Duration(a), Value::Duration(b)) => duration_or_overflow(a.checked_sub(*b)),
        (Value::Timestamp(at), Value::Duration(by)) => {
            timestamp_or_overflow(by.checked_neg().and_then(|by| at.add(by)))
        }
        (Value::Timestamp(a), Value::Timestamp(b)) => duration_or_overflow(a.since(*b)),
        _ => mismatch(),
    }
}

fn multiply<'a>(_: &mut Work, arguments: &[Value<'a>]) -> Output<'a> {
    match (&arguments[0], &arguments[1]) {
        (Value::Int(a), Value::Int(b)) => int_or_overflow(a.checked_mul(*b)),
        (Value::Uint(a), Value::Uint(b)) => uint_or_overflow(a.checked_mul(*b)),
        (Value::Double(a), Value::Double(b)) => Ok(Value::Double(a * b)),
        _ => mismatch(),
    }
}

fn divide<'a>(_: &mut Work, arguments: &[Value<'a>]) -> Output<'a> {
    match (&arguments[0], &arguments[1]) {
        (Value::Int(_), Value::Int(0)) | (Value::Uint(_), Value::Uint(0)) => Err(DIVISION_BY_ZERO),
        (Value::Int(a), Value::Int(b)) => int_or_overflow(a.checked_div(*b)),
        (Value::Uint(a), Value::Uint(b)) => uint_or_overflow(a.checked_div(*b)),
        (Value::Double(a), Value::Double(b)) => Ok(Value::Double(a / b)),
        _ => mismatch(),
    }
}

fn modulo<'a>(_: &mut Work, arguments: &[Value<'a>]) -> Output<'a> {
    match (&arguments[0], &arguments[1]) {
        (Value::Int(_), Value::Int(0)) | (Value::Uint(_), Value::Uint(0)) => Err(MODULUS_BY_ZERO),
        (Value::Int(a), Value::Int(b)) => int_or_overflow(a.checked_rem(*b)),
        (Value::Uint(a), Value::Uint(b)) => uint_or_overflow(a.checked_rem(*b)),
        _ => mismatch(),
    }
}

fn negate<'a>(_: &mut Work, arguments: &[Value<'a>]) -> Output<'a> {
    match &arguments[0] {
        Value::Int(value) => int_or_overflow(value.checked_neg()),
        Value::Double(value) => Ok(Value::Double(-value)),
        Value::Duration(value) => duration_or_overflow(value.checked_neg()),
        _ => mismatch(),
    }
}
