//! Kubernetes objects to the compact model, taken as they are: nothing is added, nothing is refused.
//!
//! What a running kube-scheduler tolerates is tolerated in the same way. A required node affinity term that cannot be
//! parsed matches nothing, a preferred one carries Kubernetes' error text, an unknown operator of a toleration never
//! matches. A quantity that cannot be parsed counts as 0; reading manifests refuses those, and so does an API server.

mod amounts;
mod budget;
mod dynamic_resources;
mod features;
mod label_selector;
mod namespace;
mod node;
mod object;
mod pod;
mod pod_affinity;
mod requests;
mod selector;
mod topology_spread;
pub(crate) mod volume;
mod workload;

use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
pub use node::convert_node;
pub use object::convert_object;
pub use pod::{convert_pod, is_finished};
#[cfg(feature = "manifests")]
pub(crate) use requests::{container_amounts, is_pod_level};
use schedc_core::intern::{Interner, Symbol};
use schedc_core::model::{self, Effect, Labels};

use crate::kinds::{is_namespaced, namespace};

/// Labels, sorted by symbol as the model wants them.
fn labels(map: Option<&BTreeMap<String, String>>, interner: &mut Interner) -> Labels {
    model::labels(map.into_iter().flatten().map(|(key, value)| (key.as_str(), value.as_str())), interner)
}

/// The uid of an object, or else one that is unique to its kind, namespace and name, since objects cannot be told apart
/// without. Those of pods are unique among pods.
pub(crate) fn uid(kind: &str, metadata: &ObjectMeta) -> Arc<str> {
    match metadata.uid.as_deref().filter(|uid| !uid.is_empty()) {
        Some(uid) => uid.into(),
        None => {
            let name = metadata.name.as_deref().unwrap_or_default();
            match kind {
                "Pod" => format!("{}/{name}", namespace(metadata)),
                // Whether a declared kind has namespaces is not known here, but it is written by now, as for all.
                kind if is_namespaced(kind) || metadata.namespace.is_some() => {
                    format!("{kind}/{}/{name}", namespace(metadata))
                }
                kind => format!("{kind}/{name}"),
            }
            .into()
        }
    }
}

/// The symbol of a text that may be missing, which is as good as empty.
fn symbol(text: Option<&String>, interner: &mut Interner) -> Symbol {
    text.map_or(Symbol::EMPTY, |text| interner.intern(text))
}

/// The symbol of a text, `None` if it is missing or empty.
fn non_empty(text: Option<&String>, interner: &mut Interner) -> Option<Symbol> {
    text.filter(|text| !text.is_empty()).map(|text| interner.intern(text))
}

/// A digest of a value. It is the same for equal values, in every run.
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
