//! Objects from manifests of this crate.

use schedc_objects::AnyObject;
use serde_json::Value;

/// Namespace of all namespaced objects.
pub(crate) const NAMESPACE: &str = "default";

/// Reads a manifest of this crate.
pub(crate) fn object(manifest: Value) -> AnyObject {
    let text = |field: &str| manifest[field].as_str().unwrap_or_default().to_owned();
    let (api_version, kind) = (text("apiVersion"), text("kind"));
    match AnyObject::from_json(&api_version, &kind, manifest) {
        Ok(Some(object)) => object,
        refused => unreachable!("the manifests of this crate are objects: {refused:?}"),
    }
}
