//! The result of PostFilter, as JSON.

use std::sync::Arc;

use schedc_core::cache::Base;
use schedc_core::extension_points::{self, Nomination, PostFilterResult, Repair};
use schedc_core::handle::WriteOperation;
use schedc_core::model::Pod;
use schedc_core::status::Code;
use serde::Serialize;

use crate::routes::pod_name;

/// Result of PostFilter.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Preemption {
    /// Status code of all PostFilter plugins together.
    pub code: String,
    /// The plugin of that status; empty if preemption can succeed.
    #[serde(skip_serializing_if = "str::is_empty")]
    pub plugin: &'static str,
    /// Change of the pod's nominated node: `set`, `clear` or `keep`.
    pub nominating: &'static str,
    /// Possible outcomes, sorted by node. If there are several, kube-scheduler chooses one at random.
    pub outcomes: Vec<Outcome>,
    /// Candidate nodes for preemption, sorted by name.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub candidates: Vec<Candidate>,
    /// Names of resource claims, one of which is deallocated.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub deallocates: Vec<String>,
    /// Names of deleted resource claims.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub deletes: Vec<String>,
}

/// A node on which pods are preempted.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Outcome {
    /// The node.
    pub node: String,
    /// Names of deleted pods, sorted, without pods that are already being deleted.
    pub victims: Vec<String>,
}

/// A candidate node for preemption.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Candidate {
    /// The node.
    pub node: String,
    /// Names of all victims, the most important first.
    pub victims: Vec<String>,
    /// Number of victims that a disruption budget protects.
    pub pdb_violations: usize,
}

impl Preemption {
    /// Converts the result of PostFilter.
    pub(super) fn new(result: &PostFilterResult, base: &Base) -> Self {
        let code = result.status.code;
        let best = result.candidates.iter().filter(|candidate| candidate.best);
        let mut outcomes: Vec<Outcome> = best.map(|candidate| Outcome::of(candidate, base)).collect();
        let mut candidates: Vec<Candidate> =
            result.candidates.iter().map(|candidate| Candidate::of(candidate, base)).collect();
        outcomes.sort_unstable();
        candidates.sort_unstable();
        let (deletions, deallocations): (Vec<&Repair>, Vec<&Repair>) = result.repairs.iter().partition(|repair| {
            repair.operations.iter().any(|operation| matches!(operation, WriteOperation::Delete(_)))
        });
        Preemption {
            code: code.to_string(),
            plugin: if code == Code::Success { "" } else { result.status.plugin },
            nominating: match result.nomination {
                Nomination::Set(_) => "set",
                Nomination::Clear => "clear",
                Nomination::Keep => "keep",
            },
            outcomes,
            candidates,
            deallocates: object_names(&deallocations),
            deletes: object_names(&deletions),
        }
    }
}

fn object_names(repairs: &[&Repair]) -> Vec<String> {
    let name = |repair: &&Repair| format!("{}/{}", repair.object.namespace, repair.object.name);
    let mut names: Vec<String> = repairs.iter().map(name).collect();
    names.sort_unstable();
    names
}

impl Outcome {
    fn of(candidate: &extension_points::Candidate, base: &Base) -> Self {
        let mut victims = names(candidate.to_be_removed(), base);
        victims.sort_unstable();
        Outcome { node: base.name(candidate.node).to_owned(), victims }
    }
}

impl Candidate {
    fn of(candidate: &extension_points::Candidate, base: &Base) -> Self {
        Candidate {
            node: base.name(candidate.node).to_owned(),
            victims: names(candidate.victims.iter(), base),
            pdb_violations: candidate.violations,
        }
    }
}

fn names<'a>(pods: impl Iterator<Item = &'a Arc<Pod>>, base: &Base) -> Vec<String> {
    pods.map(|pod| pod_name(pod, &base.interner)).collect()
}
