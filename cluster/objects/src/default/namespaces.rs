//! Defaults of namespaces.

use std::collections::HashSet;

use k8s_openapi::api::core::v1::{Namespace, Pod};
use schedc_kinds::{AnyObject, namespace};

use crate::manifests::Sourced;

/// Adds the label with the namespace's name, which selectors use.
pub(super) fn complete(namespace: &mut Namespace) {
    let name = namespace.metadata.name.clone().unwrap_or_default();
    namespace.metadata.labels.get_or_insert_default().insert("kubernetes.io/metadata.name".to_owned(), name);
}

/// Returns the namespaces that contain pods but are missing in the manifests. An API server refuses such pods; here, a
/// namespace without labels may be left out.
pub(super) fn implied(pods: &[Sourced<Pod>], others: &[Sourced<AnyObject>]) -> Vec<AnyObject> {
    let written = others.iter().filter_map(|other| match &other.object {
        AnyObject::Namespace(namespace) => namespace.metadata.name.as_deref(),
        _ => None,
    });
    let mut known: HashSet<_> = written.collect();
    let mut implied = Vec::new();
    for pod in pods {
        let name = namespace(&pod.object.metadata);
        if known.insert(name) {
            let mut namespace = Namespace::default();
            namespace.metadata.name = Some(name.to_owned());
            complete(&mut namespace);
            implied.push(namespace.into());
        }
    }
    implied
}
