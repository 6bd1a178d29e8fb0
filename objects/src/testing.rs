//! Pods and nodes from a few lines of YAML, for tests.
//!
//! They are taken as they are: nothing is added that an API server would add. `apiVersion` and `kind` may be left out.

use k8s_openapi::api::core::v1 as api;
use schedc_core::intern::Interner;
use schedc_core::model::{Node, Pod};
use serde::de::DeserializeOwned;

use crate::{convert_node, convert_pod, manifests};

/// The pod of a manifest, compact.
///
/// # Panics
/// If the manifest is no pod.
pub fn pod(yaml: &str, interner: &mut Interner) -> Pod {
    convert_pod(&api_pod(yaml), interner)
}

/// The node of a manifest, compact.
///
/// # Panics
/// If the manifest is no node.
pub fn node(yaml: &str, interner: &mut Interner) -> Node {
    convert_node(&api_node(yaml), interner)
}

/// The pod of a manifest.
///
/// # Panics
/// If the manifest is no pod.
pub fn api_pod(yaml: &str) -> api::Pod {
    typed(yaml, "Pod")
}

/// The node of a manifest.
///
/// # Panics
/// If the manifest is no node.
pub fn api_node(yaml: &str) -> api::Node {
    typed(yaml, "Node")
}

fn typed<T: DeserializeOwned>(yaml: &str, kind: &str) -> T {
    manifests::typed_for_tests(yaml, kind).unwrap_or_else(|error| panic!("{error}\n{yaml}"))
}
