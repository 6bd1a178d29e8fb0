//! Protobuf encoding of the selected fields, for a server in a test.

use std::collections::BTreeMap;

use k8s_openapi::apimachinery::pkg::api::resource::Quantity;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{Condition, Time};
use k8s_openapi::apimachinery::pkg::runtime::RawExtension;
use schedc_kinds::AnyObject;
use serde::Deserialize;
use serde_json::Value;

use super::object::SelectedFields;
use super::protobuf::MAGIC;

/// A value that can be encoded.
pub(super) trait Encode {
    /// Writes a value other than null, preceded by the number of its field.
    fn encode(value: &Value, number: u32, to: &mut Vec<u8>);
}

/// Writes a number in the variable-length form.
fn varint(mut value: u64, to: &mut Vec<u8>) {
    while value >= 0x80 {
        to.push(value as u8 | 0x80);
        value >>= 7;
    }
    to.push(value as u8);
}

fn number(value: u64, number: u32, to: &mut Vec<u8>) {
    varint(u64::from(number) << 3, to);
    varint(value, to);
}

/// Writes bytes, a text or a message as a field.
pub(super) fn bytes(value: &[u8], number: u32, to: &mut Vec<u8>) {
    varint(u64::from(number) << 3 | 2, to);
    varint(value.len() as u64, to);
    to.extend_from_slice(value);
}

/// Writes a message as a field; `fields` writes its content.
fn message(at: u32, to: &mut Vec<u8>, fields: impl FnOnce(&mut Vec<u8>)) {
    let mut within = Vec::new();
    fields(&mut within);
    bytes(&within, at, to);
}

pub(super) fn fields<F: SelectedFields>(object: &Value) -> Vec<u8> {
    let (mut to, mut within) = (Vec::new(), Vec::new());
    F::encode_fields(object, &mut to, &mut within);
    if !within.is_empty() {
        bytes(&within, F::NESTED, &mut to);
    }
    to
}

impl Encode for bool {
    fn encode(value: &Value, at: u32, to: &mut Vec<u8>) {
        number(u64::from(value == true), at, to);
    }
}

impl Encode for i32 {
    fn encode(value: &Value, at: u32, to: &mut Vec<u8>) {
        i64::encode(value, at, to);
    }
}

impl Encode for i64 {
    fn encode(value: &Value, at: u32, to: &mut Vec<u8>) {
        number(value.as_i64().unwrap_or_default().cast_unsigned(), at, to);
    }
}

impl Encode for String {
    fn encode(value: &Value, at: u32, to: &mut Vec<u8>) {
        bytes(value.as_str().unwrap_or_default().as_bytes(), at, to);
    }
}

impl Encode for Quantity {
    fn encode(value: &Value, at: u32, to: &mut Vec<u8>) {
        let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        message(at, to, |to| bytes(text.as_bytes(), 1, to));
    }
}

impl Encode for RawExtension {
    fn encode(value: &Value, at: u32, to: &mut Vec<u8>) {
        message(at, to, |to| bytes(value.to_string().as_bytes(), 1, to));
    }
}

impl Encode for Time {
    fn encode(value: &Value, at: u32, to: &mut Vec<u8>) {
        message(at, to, |to| {
            if let Ok(Time(time)) = Time::deserialize(value) {
                number(time.as_second().cast_unsigned(), 1, to);
                number(u64::from(time.subsec_nanosecond().unsigned_abs()), 2, to);
            }
        });
    }
}

impl Encode for Condition {
    fn encode(value: &Value, at: u32, to: &mut Vec<u8>) {
        message(at, to, |to| {
            for (number, name) in [(1, "type"), (2, "status"), (5, "reason"), (6, "message")] {
                String::encode(&value[name], number, to);
            }
            i64::encode(&value["observedGeneration"], 3, to);
            Time::encode(&value["lastTransitionTime"], 4, to);
        });
    }
}

impl<T: Encode> Encode for Option<T> {
    fn encode(value: &Value, at: u32, to: &mut Vec<u8>) {
        T::encode(value, at, to);
    }
}

impl<T: Encode> Encode for Vec<T> {
    fn encode(value: &Value, at: u32, to: &mut Vec<u8>) {
        value.as_array().into_iter().flatten().for_each(|value| T::encode(value, at, to));
    }
}

impl<T: Encode> Encode for BTreeMap<String, T> {
    fn encode(value: &Value, at: u32, to: &mut Vec<u8>) {
        for (key, value) in value.as_object().into_iter().flatten() {
            message(at, to, |to| {
                bytes(key.as_bytes(), 1, to);
                T::encode(value, 2, to);
            });
        }
    }
}

/// Encodes the selected fields of an object. `_case` determines its type.
pub(super) fn fields_of<F: SelectedFields<Object = F>>(object: &Value, _case: fn(&AnyObject) -> Option<&F>) -> Vec<u8> {
    fields::<F>(object)
}

/// Writes a field of an object if it is present. `_field` determines its type.
pub(super) fn field<O, T: Encode>(_field: fn(&O) -> &T, value: &Value, number: u32, to: &mut Vec<u8>) {
    if !value.is_null() {
        T::encode(value, number, to);
    }
}

/// Returns an object as a server sends it: in a `runtime.Unknown`, after the prefix of protobuf objects.
pub(super) fn envelope(object: &Value, fields: &[u8]) -> Vec<u8> {
    let mut to = MAGIC.to_vec();
    message(1, &mut to, |to| {
        String::encode(&object["apiVersion"], 1, to);
        String::encode(&object["kind"], 2, to);
    });
    message(2, &mut to, |to| {
        to.extend_from_slice(fields);
        // Bookmarks of all kinds have annotations, which the selected fields may lack. The annotations follow in a
        // second metadata message, since a decoder merges repeated messages.
        message(1, to, |to| BTreeMap::<String, String>::encode(&object["metadata"]["annotations"], 12, to));
    });
    to
}
