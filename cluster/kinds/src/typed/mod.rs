//! Typed objects for manifests: read from JSON field by field, and written as JSON.

mod apis;
mod deserializer;
mod findings;
mod json;
mod quantities;
mod reader;
mod schema;
mod walk;

use std::sync::OnceLock;

use k8s_openapi::Resource;
use k8s_openapi::api::core::v1 as core;
use k8s_openapi::api::{
    apps::v1 as apps, policy::v1 as policy, resource::v1 as resource, scheduling::v1 as scheduling,
    storage::v1 as storage,
};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use schedc_core::model::CustomKind;
use serde_json::value::{RawValue, to_raw_value};
use serde_json::{Map, Value};

use super::{APIS, AnyObject, CustomObject, KINDS, Kinds, each_kind, is_namespaced, known};

pub use apis::{is_custom, misspelt};
pub use findings::{UnknownField, UnknownFields};
pub use findings::{join, join_item};
pub use json::ObjectError;
pub use json::{name as describe, object_name, problem_of_list, typed};
pub use quantities::problem as quantity_problem;
pub use walk::SchemaField;

macro_rules! typed_kinds {
    ($($variant:ident($ty:ty) $doc:literal,)*) => {
        /// Reads an object whose API version has been checked.
        fn read(
            kind: &str,
            value: &Value,
            unknown: &mut UnknownFields,
        ) -> Result<Option<AnyObject>, Vec<ObjectError>> {
            $(if kind == <$ty>::KIND {
                return typed::<$ty>(kind, value, unknown).map(|object| Some(object.into()));
            })*
            Ok(None)
        }

        /// Returns all fields of a kind; none for a kind that schedulers ignore.
        pub fn schema(kind: &str) -> &'static [SchemaField] {
            $(if kind == <$ty>::KIND {
                static FIELDS: OnceLock<Vec<SchemaField>> = OnceLock::new();
                return FIELDS.get_or_init(schema::fields::<$ty>);
            })*
            &[]
        }

        /// Returns one object of each kind, with each field of its type once.
        pub fn samples() -> Vec<AnyObject> {
            vec![$(schema::sample::<$ty>().into(),)*]
        }

        impl AnyObject {
            /// Returns the object as JSON, with `apiVersion` and `kind`.
            ///
            /// # Errors
            /// Serialization does not fail in practice.
            pub fn to_json(&self) -> Result<Value, serde_json::Error> {
                match self {
                    AnyObject::Custom(object) => object.to_json(),
                    _ => serde_json::to_value(self.erased()),
                }
            }

            /// Returns the text of [`AnyObject::to_json`], without building a [`Value`] for an object of a built-in
            /// kind.
            ///
            /// # Errors
            /// Serialization does not fail in practice.
            pub fn to_json_text(&self) -> Result<Box<RawValue>, serde_json::Error> {
                match self {
                    AnyObject::Custom(object) => to_raw_value(&object.to_json()?),
                    _ => to_raw_value(self.erased()),
                }
            }

            /// Returns the object for serialization, type-erased: the serializer is compiled only once for all kinds.
            fn erased(&self) -> &dyn erased_serde::Serialize {
                match self {
                    $(AnyObject::$variant(object) => object,)*
                    AnyObject::Custom(object) => &object.fields,
                }
            }
        }
    };
}

each_kind!(typed_kinds);

impl AnyObject {
    /// Reads an object of this API version and kind. `None`: schedulers ignore the kind.
    ///
    /// A kind with the same name in another API group is a different kind. Unknown fields are ignored.
    ///
    /// # Errors
    /// Returns an error for another version of the right group, a field of a wrong type, or an invalid quantity.
    pub fn from_json(api_version: &str, kind: &str, value: Value) -> Result<Option<AnyObject>, ObjectError> {
        first(from_json(api_version, kind, value, &mut UnknownFields::default()))
    }
}

impl CustomObject {
    fn from_json(
        kind: &'static CustomKind,
        value: Value,
        unknown: &mut UnknownFields,
    ) -> Result<CustomObject, Vec<ObjectError>> {
        #[derive(serde::Deserialize)]
        struct Named {
            #[serde(default)]
            metadata: ObjectMeta,
        }
        let mut fields = match value {
            Value::Object(fields) => fields,
            _ => Map::new(),
        };
        let named = fields.remove_entry("metadata").into_iter().collect();
        for field in ["apiVersion", "kind"] {
            fields.remove(field);
        }
        let named: Named = typed(kind.kind, &Value::Object(named), unknown)?;
        Ok(CustomObject { kind, metadata: named.metadata, fields })
    }
}

impl Kinds {
    /// Reads an object of this API version and kind. See [`AnyObject::from_json`].
    ///
    /// # Errors
    /// Returns an error in the cases of [`AnyObject::from_json`].
    pub fn read(self, api_version: &str, kind: &str, value: Value) -> Result<Option<AnyObject>, ObjectError> {
        first(self.read_collecting_unknown(api_version, kind, value, &mut UnknownFields::default()))
    }

    /// Reads an object like [`read`](Kinds::read), and adds unknown fields to `unknown`. For a declared kind,
    /// unknown fields are found only in `metadata`; its other fields have no type.
    ///
    /// # Errors
    /// Returns one error for another version of the right group. Otherwise, returns an error for each value with a
    /// wrong type and for each invalid quantity, up to a maximum number.
    pub fn read_collecting_unknown(
        self,
        api_version: &str,
        kind: &str,
        value: Value,
        unknown: &mut UnknownFields,
    ) -> Result<Option<AnyObject>, Vec<ObjectError>> {
        match self.find(api_version, kind) {
            Some(custom) => CustomObject::from_json(custom, value, unknown).map(|object| Some(object.into())),
            None => from_json(api_version, kind, value, unknown),
        }
    }
}

/// Reads an object like [`AnyObject::from_json`], and adds unknown fields to `unknown`.
fn from_json(
    api_version: &str,
    kind: &str,
    value: Value,
    unknown: &mut UnknownFields,
) -> Result<Option<AnyObject>, Vec<ObjectError>> {
    let Some((expected, _)) = known(kind) else { return Ok(None) };
    if expected != api_version {
        return match group(expected) == group(api_version) {
            true => Err(vec![ObjectError {
                object: describe(kind, &value),
                field: Some("apiVersion".to_owned()),
                message: format!("is `{api_version}`, but a {kind} is `{expected}`"),
            }]),
            false => Ok(None),
        };
    }
    read(kind, &value, unknown)
}

/// Returns the object, or the first of its errors.
fn first(read: Result<Option<AnyObject>, Vec<ObjectError>>) -> Result<Option<AnyObject>, ObjectError> {
    read.or_else(|errors| errors.into_iter().next().map_or(Ok(None), Err))
}

/// Returns the API version of a built-in kind. `None`: schedulers ignore the kind.
pub fn api_version(kind: &str) -> Option<&'static str> {
    known(kind).map(|(api_version, _)| api_version)
}

fn group(version: &str) -> &str {
    version.split_once('/').map_or("", |(group, _)| group)
}

#[cfg(test)]
mod tests;
