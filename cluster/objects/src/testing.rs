//! Objects from a few lines of YAML, for tests.
//!
//! API server defaults are not applied. `apiVersion` may be left out, and for pods and nodes also `kind`.

use k8s_openapi::api::core::v1 as api;
use schedc_core::intern::Interner;
use schedc_core::model::{Node, Object, Pod};
use schedc_kinds::{self as kinds, AnyObject, UnknownFields};
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::{convert_node, convert_object, convert_pod, manifests};

/// Returns the pod of a manifest in the compact model.
///
/// # Panics
/// Panics if the manifest is not a pod.
pub fn pod(yaml: &str, interner: &mut Interner) -> Pod {
    convert_pod(&api_pod(yaml), interner)
}

/// Returns the node of a manifest in the compact model.
///
/// # Panics
/// Panics if the manifest is not a node.
pub fn node(yaml: &str, interner: &mut Interner) -> Node {
    convert_node(&typed(yaml, "Node"), interner)
}

/// Returns the object of a manifest in the compact model.
///
/// # Panics
/// Panics if the manifest is a node, a pod, or a kind that plugins cannot read.
pub fn object(yaml: &str, interner: &mut Interner) -> Object {
    convert_object(&api_object(yaml), interner).unwrap_or_else(|| panic!("plugins cannot read this object:\n{yaml}"))
}

/// Returns the pod of a manifest.
///
/// # Panics
/// Panics if the manifest is not a pod.
pub fn api_pod(yaml: &str) -> api::Pod {
    typed(yaml, "Pod")
}

/// Returns the object of a manifest, which must have a `kind`.
///
/// # Panics
/// Panics if the manifest is not an object that schedulers read.
pub fn api_object(yaml: &str) -> AnyObject {
    read(yaml).unwrap_or_else(|error| panic!("{error}\n{yaml}"))
}

fn typed<T: DeserializeOwned>(yaml: &str, kind: &str) -> T {
    let typed = manifests::parse_fields(yaml).and_then(|mut fields| {
        fields.entry("apiVersion").or_insert_with(|| "v1".into());
        fields.entry("kind").or_insert_with(|| kind.into());
        let read = kinds::typed(kind, &Value::Object(fields), &mut UnknownFields::default());
        read.map_err(|errors| errors.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"))
    });
    typed.unwrap_or_else(|error| panic!("{error}\n{yaml}"))
}

fn read(yaml: &str) -> Result<AnyObject, String> {
    let mut fields = manifests::parse_fields(yaml)?;
    let kind = fields.get("kind").and_then(Value::as_str).unwrap_or_default().to_owned();
    let version = fields.entry("apiVersion").or_insert_with(|| kinds::api_version(&kind).unwrap_or_default().into());
    let version = version.as_str().unwrap_or_default().to_owned();
    match AnyObject::from_json(&version, &kind, Value::Object(fields)) {
        Ok(object) => object.ok_or_else(|| format!("schedulers ignore `{kind}`")),
        Err(error) => Err(error.to_string()),
    }
}
