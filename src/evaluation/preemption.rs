//! What PostFilter found for a pod, as it is printed.

use std::sync::Arc;

use schedc_core::cache::{Cache, State};
use schedc_core::extension_points::{Nomination, PostFilterResult};
use schedc_core::model::{NodeIndex, Pod};
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
    /// The nodes where room could be made, by name.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub candidates: Vec<Candidate>,
}

/// Where room can be made, and which pods are removed for it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Outcome {
    /// The node.
    pub node: String,
    /// Names of the pods that are deleted, sorted: without those that are being deleted anyway.
    pub victims: Vec<String>,
}

/// A node where room could be made.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Candidate {
    /// The node.
    pub node: String,
    /// Names of all pods that would have to go, the most important first.
    pub victims: Vec<String>,
    /// How many of them a disruption budget protects.
    pub pdb_violations: usize,
}

impl Preemption {
    /// Puts what was found into words.
    pub(super) fn new<S: State>(found: &PostFilterResult, cache: &Cache<S>) -> Self {
        let code = found.status.code;
        let mut candidates: Vec<Candidate> = found
            .candidates
            .iter()
            .map(|candidate| Candidate {
                node: cache.base.name(candidate.node).to_owned(),
                victims: names(&candidate.victims, cache),
                pdb_violations: candidate.violations,
            })
            .collect();
        candidates.sort_by(|a, b| a.node.cmp(&b.node));
        Preemption {
            code: code.to_string(),
            plugin: if code == Code::Success { "" } else { found.status.plugin },
            nominating: match found.nomination {
                Nomination::Set(_) => "set",
                Nomination::Clear => "clear",
                Nomination::Keep => "keep",
            },
            outcomes: match found.nomination {
                Nomination::Set(node) => outcomes(found, node, cache),
                Nomination::Clear | Nomination::Keep => Vec::new(),
            },
            candidates,
        }
    }
}

/// All that can happen. A plugin that tells of no candidates drew nothing.
fn outcomes<S: State>(found: &PostFilterResult, nominated: NodeIndex, cache: &Cache<S>) -> Vec<Outcome> {
    let outcome = |node, victims: Vec<String>| {
        let mut victims = victims;
        victims.sort_unstable();
        Outcome { node: cache.base.name(node).to_owned(), victims }
    };
    if found.candidates.is_empty() {
        let victims: Vec<_> =
            found.victims.iter().filter_map(|uid| cache.pod(uid)).map(|(pod, ..)| pod.clone()).collect();
        return vec![outcome(nominated, names(&victims, cache))];
    }
    let best = found.candidates.iter().filter(|candidate| candidate.best);
    let mut outcomes: Vec<Outcome> =
        best.map(|candidate| outcome(candidate.node, names(candidate.to_be_removed(), cache))).collect();
    outcomes.sort_by(|a, b| a.node.cmp(&b.node));
    outcomes
}

fn names<'p, S: State>(pods: impl IntoIterator<Item = &'p Arc<Pod>>, cache: &Cache<S>) -> Vec<String> {
    pods.into_iter().map(|pod| pod_name(pod, &cache.base.interner)).collect()
}
