//! Conversion of Kubernetes objects to the compact model, without defaults and validation.
//!
//! Invalid input has the same effect as in a running kube-scheduler. A required node affinity term that cannot be
//! parsed matches nothing, and a preferred one carries Kubernetes' error text. An unknown operator of a toleration
//! never matches. A quantity that cannot be parsed counts as 0; both the manifest reader and API servers refuse such
//! quantities.

mod allocation_result;
mod amounts;
mod budget;
mod device_fields;
mod device_requests;
mod features;
mod label_selector;
mod namespace;
mod node;
mod object;
mod pod;
mod pod_affinity;
mod requests;
mod resource_claim;
mod resource_slice;
mod selector;
mod topology_spread;
pub(crate) mod volume;
mod workload;

use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::{ObjectMeta, Time};
pub use node::convert_node;
pub use object::convert_object;
pub use pod::{convert_pod, is_finished};
#[cfg(feature = "manifests")]
pub(crate) use requests::{container_amounts, is_pod_level};
use schedc_core::intern::{Interner, Symbol};
use schedc_core::model::{self, Effect, Labels};
use schedc_kinds::{is_namespaced, namespace};

/// Converts labels, sorted by symbol.
fn labels(map: Option<&BTreeMap<String, String>>, interner: &mut Interner) -> Labels {
    model::labels(map.into_iter().flatten().map(|(key, value)| (key.as_str(), value.as_str())), interner)
}

/// Returns the uid of an object. Schedulers identify objects by uid, so a missing uid is derived from kind,
/// namespace and name; that of a pod, from namespace and name.
pub(crate) fn uid(kind: &str, metadata: &ObjectMeta) -> Arc<str> {
    match metadata.uid.as_deref().filter(|uid| !uid.is_empty()) {
        Some(uid) => uid.into(),
        None => {
            let name = metadata.name.as_deref().unwrap_or_default();
            match kind {
                "Pod" => format!("{}/{name}", namespace(metadata)),
                // This crate cannot look up whether a declared kind has namespaces; a namespaced object has its
                // namespace set at this point.
                kind if is_namespaced(kind) || metadata.namespace.is_some() => {
                    format!("{kind}/{}/{name}", namespace(metadata))
                }
                kind => format!("{kind}/{name}"),
            }
            .into()
        }
    }
}

/// Returns the symbol of an optional text; a missing text is empty.
fn symbol(text: Option<&String>, interner: &mut Interner) -> Symbol {
    text.map_or(Symbol::EMPTY, |text| interner.intern(text))
}

/// Returns the symbol of a text; `None` if it is missing or empty.
fn non_empty(text: Option<&String>, interner: &mut Interner) -> Option<Symbol> {
    text.filter(|text| !text.is_empty()).map(|text| interner.intern(text))
}

/// Converts a time to nanoseconds since 1970.
fn nanoseconds(time: Option<&Time>) -> Option<i64> {
    // Years before 1678 and after 2261 are out of range.
    time.map(|time| {
        let nanoseconds = time.0.as_nanosecond();
        i64::try_from(nanoseconds).unwrap_or(if nanoseconds < 0 { i64::MIN } else { i64::MAX })
    })
}

/// Returns a hash that is the same for equal values, in every run.
fn digest(value: impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    value.hash(&mut hasher);
    hasher.finish()
}

fn effect(name: &str, interner: &mut Interner) -> Effect {
    match name {
        "NoSchedule" => Effect::NoSchedule,
        "PreferNoSchedule" => Effect::PreferNoSchedule,
        "NoExecute" => Effect::NoExecute,
        other => Effect::Other(interner.intern(other)),
    }
}
