//! Objects as typed values, read from JSON field by field and written as JSON: for manifests.

mod apis;
mod deserializer;
mod json;
mod quantities;
mod reader;
mod schema;

use std::sync::OnceLock;

use k8s_openapi::Resource;
use k8s_openapi::api::core::v1 as core;
use k8s_openapi::api::{
    apps::v1 as apps, policy::v1 as policy, resource::v1 as resource, scheduling::v1 as scheduling,
    storage::v1 as storage,
};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use schedc_core::model::CustomKind;
use serde_json::{Map, Value};

use super::{APIS, AnyObject, CustomObject, KINDS, Kinds, each_kind, is_namespaced, known};

pub(crate) use apis::{is_custom, misspelt};
pub use json::ObjectError;
pub(crate) use json::{name as describe, object_name, problem_of_list, typed};
pub(crate) use quantities::problem as quantity_problem;
pub use reader::{UnknownField, UnknownFields};
pub(crate) use reader::{join, join_item};
pub(crate) use schema::SchemaField;

macro_rules! typed_kinds {
    ($($variant:ident($ty:ty) $doc:literal,)*) => {
        /// Takes in an object whose API is known to be the right one.
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

        /// All fields of a kind; none of one that scheduling does not look at.
        pub(crate) fn schema(kind: &str) -> &'static [SchemaField] {
            $(if kind == <$ty>::KIND {
                static FIELDS: OnceLock<Vec<SchemaField>> = OnceLock::new();
                return FIELDS.get_or_init(schema::fields::<$ty>);
            })*
            &[]
        }

        /// An object of each kind that has each field of its type once.
        #[cfg(test)]
        pub(crate) fn samples() -> Vec<AnyObject> {
            vec![$(schema::sample::<$ty>().into(),)*]
        }

        impl AnyObject {
            /// The object as JSON, with `apiVersion` and `kind`.
            ///
            /// # Errors
            /// None that is known.
            pub fn to_json(&self) -> Result<Value, serde_json::Error> {
                // Erased, so that the fields of all kinds are compiled for one serializer.
                let object: &dyn erased_serde::Serialize = match self {
                    $(AnyObject::$variant(object) => object,)*
                    AnyObject::Custom(object) => return object.to_json(),
                };
                serde_json::to_value(object)
            }
        }
    };
}

each_kind!(typed_kinds);

impl AnyObject {
    /// The object in a JSON value that says to be of this API and kind. `None`: scheduling does not look at such.
    ///
    /// A kind of the same name in another API group is another kind. Fields that are not known are ignored.
    ///
    /// # Errors
    /// The API is another version of the right group, a field has a wrong type, or a quantity is none.
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
    /// The object in a JSON value that says to be of this API and kind. See [`AnyObject::from_json`].
    ///
    /// # Errors
    /// As there.
    pub fn read(self, api_version: &str, kind: &str, value: Value) -> Result<Option<AnyObject>, ObjectError> {
        first(self.read_collecting_unknown(api_version, kind, value, &mut UnknownFields::default()))
    }

    /// As [`read`](Kinds::read). Fields that the kind does not have are added to `unknown`; of a declared kind, only the fields
    /// of `metadata` are known.
    ///
    /// # Errors
    /// The API is another version of the right group; or all values that have a wrong type or are not quantities.
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

/// As [`AnyObject::from_json`]. Fields that the kind does not have are added to `unknown`.
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

/// The object, or the first of its errors.
fn first(read: Result<Option<AnyObject>, Vec<ObjectError>>) -> Result<Option<AnyObject>, ObjectError> {
    read.or_else(|errors| errors.into_iter().next().map_or(Ok(None), Err))
}

/// The API that a kind is of.
pub(crate) fn api_version(kind: &str) -> Option<&'static str> {
    known(kind).map(|(api_version, _)| api_version)
}

fn group(version: &str) -> &str {
    version.split_once('/').map_or("", |(group, _)| group)
}

#[cfg(test)]
mod tests;
