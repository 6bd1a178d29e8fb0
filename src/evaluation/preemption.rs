//! What PostFilter found for a pod, as it is printed.

use schedc_core::cache::{Cache, State};
use schedc_core::extension_points::{Nomination, PostFilterResult};
use schedc_core::model::Uid;
use schedc_core::status::Code;
use serde::Serialize;

use crate::cluster::pod_name;

/// What PostFilter found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Preemption {
    /// Of all PostFilter plugins together.
    pub code: String,
    /// The plugin that answered so, if it is not that room can be made.
    #[serde(skip_serializing_if = "str::is_empty")]
    pub plugin: &'static str,
    /// What becomes of the pod's nominated node: `set`, `clear` or `keep`.
    pub nominating: &'static str,
    /// All that can happen, one of which does.
    pub outcomes: Vec<Outcome>,
}

/// Where room can be made, and which pods are removed for it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Outcome {
    /// The node.
    pub node: String,
    /// Names of the pods that are deleted, sorted: without those that are being deleted anyway.
    pub victims: Vec<String>,
}

impl Preemption {
    /// Puts what was found into words.
    pub(super) fn new<S: State>(found: &PostFilterResult, cache: &Cache<S>) -> Self {
        let code = found.status.code;
        Preemption {
            code: code.to_string(),
            plugin: if code == Code::Success { "" } else { found.status.plugin },
            nominating: match found.nomination {
                Nomination::Set(_) => "set",
                Nomination::Clear => "clear",
                Nomination::Keep => "keep",
            },
            outcomes: match found.nomination {
                Nomination::Set(node) => {
                    let mut victims = names(&found.victims, cache);
                    victims.sort_unstable();
                    vec![Outcome { node: cache.base.name(node).to_owned(), victims }]
                }
                Nomination::Clear | Nomination::Keep => Vec::new(),
            },
        }
    }
}

fn names<S: State>(pods: &[Uid], cache: &Cache<S>) -> Vec<String> {
    pods.iter().filter_map(|uid| cache.pod(uid)).map(|(pod, ..)| pod_name(pod, &cache.base.interner)).collect()
}
