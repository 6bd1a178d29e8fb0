//! Conversions between types.

use std::sync::Arc;

use super::numbers::general;
use super::{Declaration, mismatch};
use crate::data::time::{self, Timestamp};
use crate::eval::failure::{Failure, Output};
use crate::eval::value::{DataRef, Value};
use crate::eval::work::Work;

pub(super) const DECLARATIONS: &[Declaration] = &[
    Declaration {
        name: "bool",
        call: |_, arguments| to_bool(&arguments[0]),
        overloads: &["bool_to_bool: (bool) -> bool", "string_to_bool: (string) -> bool"],
    },
    Declaration {
        name: "bytes",
        call: |work, arguments| to_bytes(work, &arguments[0]),
        overloads: &["bytes_to_bytes: (bytes) -> bytes", "string_to_bytes: (string) -> bytes"],
    },
    Declaration {
        name: "double",
        call: |_, arguments| to_double(&arguments[0]),
        overloads: &[
            "double_to_double: (double) -> double",
            "int64_to_double: (int) -> double",
            "string_to_double: (string) -> double",
            "uint64_to_double: (uint) -> double",
        ],
    },
    Declaration {
        name: "duration",
        call: |_, arguments| to_duration(&arguments[0]),
        overloads: &[
            "duration_to_duration: (duration) -> duration",
            "int64_to_duration: (int) -> duration",
            "string_to_duration: (string) -> duration",
        ],
    },
    Declaration { name: "dyn", call: |_, arguments| Ok(arguments[0].clone()), overloads: &["to_dyn: (A) -> dyn"] },
    Declaration {
        name: "int",
        call: |_, arguments| to_int(&arguments[0]),
        overloads: &[
            "int64_to_int64: (int) -> int",
            "double_to_int64: (double) -> int",
            "duration_to_int64: (duration) -> int",
            "string_to_int64: (string) -> int",
            "timestamp_to_int64: (timestamp) -> int",
            "uint64_to_int64: (uint) -> int",
        ],
    },
    Declaration {
        name: "string",
        call: |work, arguments| to_string(work, &arguments[0]),
        overloads: &[
            "string_to_string: (string) -> string",
            "bool_to_string: (bool) -> string",
            "bytes_to_string: (bytes) -> string",
            "double_to_string: (double) -> string",
            "duration_to_string: (duration) -> string",
            "int64_to_string: (int) -> string",
            "timestamp_to_string: (timestamp) -> string",
            "uint64_to_string: (uint) -> string",
            "ip_to_string: (ip) -> string",
            "cidr_to_string: (cidr) -> string",
        ],
    },
    Declaration {
        name: "timestamp",
        call: |_, arguments| to_timestamp(&arguments[0]),
        overloads: &[
            "timestamp_to_timestamp: (timestamp) -> timestamp",
            "int64_to_timestamp: (int) -> timestamp",
            "string_to_timestamp: (string) -> timestamp",
        ],
    },
    Declaration {
        name: "type",
        call: |_, arguments| Ok(Value::Type(arguments[0].type_name())),
        overloads: &["type: (A) -> type(A)"],
    },
    Declaration {
        name: "uint",
        call: |_, arguments| to_uint(&arguments[0]),
        overloads: &[
            "uint64_to_uint64: (uint) -> uint",
            "double_to_uint64: (double) -> uint",
            "int64_to_uint64: (int) -> uint",
            "string_to_uint64: (string) -> uint",
        ],
    },
];

const OVERFLOW: Failure<'static> = Failure::Static("integer overflow");
const UNSIGNED_OVERFLOW: Failure<'static> = Failure::Static("unsigned integer overflow");

fn conversion_failure<'a>(value: &Value<'a>, to: &'static str) -> Output<'a> {
    Err(Failure::Conversion(value.type_name(), to))
}

fn to_bool<'a>(value: &Value<'a>) -> Output<'a> {
    match value {
        Value::Bool(value) => Ok(Value::Bool(*value)),
        Value::String(text) => match &**text {
            "1" | "t" | "T" | "TRUE" | "true" | "True" => Ok(Value::Bool(true)),
            "0" | "f" | "F" | "FALSE" | "false" | "False" => Ok(Value::Bool(false)),
            _ => conversion_failure(value, "bool"),
        },
        _ => conversion_failure(value, "bool"),
    }
}

fn to_bytes<'a>(work: &mut Work, value: &Value<'a>) -> Output<'a> {
    match value {
        Value::Bytes(_) => Ok(value.clone()),
        Value::String(text) => {
            work.spend_bytes(text.len())?;
            Ok(Value::Bytes(match text {
                DataRef::Borrowed(text) => DataRef::Borrowed(text.as_bytes()),
                DataRef::Shared(text) => DataRef::Shared(Arc::from(text.as_bytes())),
            }))
        }
        _ => conversion_failure(value, "bytes"),
    }
}

fn to_double<'a>(value: &Value<'a>) -> Output<'a> {
    Ok(Value::Double(match value {
        Value::Double(value) => *value,
        Value::Int(value) => *value as f64,
        Value::Uint(value) => *value as f64,
        Value::String(text) => {
            let is_infinity = text.to_ascii_lowercase().contains("inf");
            match text.parse::<f64>() {
                Ok(number) if number.is_finite() || number.is_nan() || is_infinity => number,
                _ => return conversion_failure(value, "double"),
            }
        }
        _ => return conversion_failure(value, "double"),
    }))
}

fn to_duration<'a>(value: &Value<'a>) -> Output<'a> {
    match value {
        Value::Duration(_) => Ok(value.clone()),
        Value::String(text) => match time::parse_duration(text) {
            Some(nanoseconds) => Ok(Value::Duration(nanoseconds)),
            None => conversion_failure(value, "google.protobuf.Duration"),
        },
        _ => conversion_failure(value, "google.protobuf.Duration"),
    }
}

fn to_int<'a>(value: &Value<'a>) -> Output<'a> {
    Ok(Value::Int(match value {
        Value::Int(value) | Value::Duration(value) => *value,
        Value::Uint(value) => i64::try_from(*value).map_err(|_| OVERFLOW)?,
        // The least integer is rejected, as in `cel-go`.
        Value::Double(value) if *value > i64::MIN as f64 && *value < i64::MAX as f64 => *value as i64,
        Value::Double(_) => return Err(OVERFLOW),
        Value::Timestamp(timestamp) => timestamp.seconds(),
        Value::String(text) => match text.parse() {
            Ok(number) => number,
            Err(_) => return conversion_failure(value, "int"),
        },
        _ => return conversion_failure(value, "int"),
    }))
}

fn to_uint<'a>(value: &Value<'a>) -> Output<'a> {
    Ok(Value::Uint(match value {
        Value::Uint(value) => *value,
        Value::Int(value) => u64::try_from(*value).map_err(|_| UNSIGNED_OVERFLOW)?,
        Value::Double(value) if *value >= 0.0 && *value < u64::MAX as f64 => *value as u64,
        Value::Double(_) => return Err(UNSIGNED_OVERFLOW),
        Value::String(text) if !text.starts_with('+') => match text.parse() {
            Ok(number) => number,
            Err(_) => return conversion_failure(value, "uint"),
        },
        _ => return conversion_failure(value, "uint"),
    }))
}

/// Returns the text of a value, as `string()` and `%s` write it.
pub(crate) fn to_string<'a>(work: &mut Work, value: &Value<'a>) -> Output<'a> {
    Ok(match value {
        Value::String(_) => value.clone(),
        Value::Bool(value) => Value::String(DataRef::Borrowed(if *value { "true" } else { "false" })),
        Value::Int(value) => Value::string(value.to_string()),
        Value::Uint(value) => Value::string(value.to_string()),
        Value::Double(value) => Value::string(general(*value)),
        Value::Bytes(bytes) => {
            work.spend_bytes(bytes.len())?;
            match std::str::from_utf8(bytes) {
                Ok(text) => Value::string(text),
                Err(_) => return Err(Failure::Static("invalid UTF-8 in bytes, cannot convert to string")),
            }
        }
        Value::Duration(nanoseconds) => Value::string(time::duration_text(*nanoseconds)),
        Value::Timestamp(timestamp) => Value::string(timestamp.to_string()),
        Value::Type(name) => Value::String(DataRef::Borrowed(name)),
        Value::Ip(ip) => Value::string(ip.to_string()),
        Value::Cidr(cidr) => Value::string(cidr.to_string()),
        Value::Null => return mismatch(),
        _ => return conversion_failure(value, "string"),
    })
}

fn to_timestamp<'a>(value: &Value<'a>) -> Output<'a> {
    match value {
        Value::Timestamp(_) => Ok(value.clone()),
        Value::Int(seconds) => Timestamp::new(*seconds, 0, 0).map(Value::Timestamp).ok_or(super::time::OVERFLOW),
        Value::String(text) => match time::parse_timestamp(text) {
            Some(timestamp) => timestamp.map(Value::Timestamp).ok_or(super::time::OVERFLOW),
            None => conversion_failure(value, "google.protobuf.Timestamp"),
        },
        _ => conversion_failure(value, "google.protobuf.Timestamp"),
    }
}
