//! Conversion of namespaces.

use k8s_openapi::api::core::v1 as api;
use schedc_core::intern::Interner;
use schedc_core::model::Namespace;

use super::{labels, symbol};

pub(super) fn convert_namespace(namespace: &api::Namespace, interner: &mut Interner) -> Namespace {
    Namespace {
        name: symbol(namespace.metadata.name.as_ref(), interner),
        labels: labels(namespace.metadata.labels.as_ref(), interner),
    }
}
