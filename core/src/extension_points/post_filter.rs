//! PostFilter: what can be done for a pod that fits nowhere.

use std::sync::Arc;

use crate::cache::Cache;
use crate::diagnosis::Diagnosis;
use crate::model::{NodeIndex, Pod, Uid};
use crate::plugin::{Plugin, View};
use crate::profile::{PreFilterRun, Profile};
use crate::status::{Code, Status};

/// What becomes of the pod's nominated node.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Nomination {
    /// As it was.
    #[default]
    Keep,
    /// None any more.
    Clear,
    /// This one.
    Set(NodeIndex),
}

/// A PostFilter plugin's answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PostFilterResult {
    /// `Success` if the pod may become schedulable, and then no further plugin runs; `Unschedulable` and
    /// `UnschedulableAndUnresolvable` let the next plugin try (the latter ends it); `Error` ends it.
    pub status: Status,
    /// The pod's nomination.
    pub nomination: Nomination,
    /// Pods to be removed.
    pub victims: Vec<Uid>,
    /// What could have been done, if a node was nominated: for people, and for tests of the choice.
    pub candidates: Vec<Candidate>,
}

impl PostFilterResult {
    /// Nothing comes of it but this status.
    pub fn nothing(status: Status) -> Self {
        PostFilterResult { status, nomination: Nomination::Keep, victims: Vec::new(), candidates: Vec::new() }
    }
    /// Room can be made on `node` by removing `victims`.
    pub fn nominate(node: NodeIndex, victims: Vec<Uid>) -> Self {
        let status = Status { code: Code::Success, plugin: "", reasons: Vec::new() };
        PostFilterResult { nomination: Nomination::Set(node), victims, ..Self::nothing(status) }
    }
    /// Room could be made on these nodes.
    pub fn with_candidates(mut self, candidates: Vec<Candidate>) -> Self {
        self.candidates = candidates;
        self
    }
    /// The candidate that was chosen, if the plugin names its candidates.
    pub fn nominated(&self) -> Option<&Candidate> {
        let Nomination::Set(node) = self.nomination else { return None };
        self.candidates.iter().find(|candidate| candidate.node == node)
    }
    /// Nothing can be done; `reason` becomes part of the pod's message.
    pub fn unschedulable(reason: impl Into<String>) -> Self {
        Self::nothing(Status::unschedulable(reason))
    }
}

/// A node that room could be made on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Candidate {
    /// The node.
    pub node: NodeIndex,
    /// The pods that would have to go, the most important first. Some may be going already.
    pub victims: Arc<[Arc<Pod>]>,
    /// How many of them a disruption budget protects.
    pub violations: usize,
    /// No other candidate is better: one of these is drawn.
    pub best: bool,
}

impl Candidate {
    /// The victims that are not being deleted yet.
    pub fn to_be_removed(&self) -> impl Iterator<Item = &Arc<Pod>> {
        self.victims.iter().filter(|pod| !pod.deleting)
    }
}

/// What a PostFilter plugin sees: the failed attempt, and the profile to try again with in thought.
pub struct PostFilterContext<'a, P: Profile> {
    /// The profile's plugins.
    pub profile: &'a P,
    /// The pod.
    pub pod: &'a Arc<Pod>,
    /// What the profile reads of the pod.
    pub compiled: &'a P::Pod,
    /// The cycle state; none if PreFilter rejected the pod for good.
    pub cycle: Option<&'a P::Cycle>,
    /// A number that stands for what the profile reads of the pod, and for nothing else while the profile is at work: for
    /// all pods that share it, Filter says the same of a node in thought as long as that node and its pods are the same.
    /// None: what Filter says depends on more, or nobody knows.
    pub equivalence_class: Option<u64>,
    /// What PreFilter plugins said.
    pub pre_filter: &'a PreFilterRun,
    /// The cluster.
    pub cache: &'a Cache<P::State>,
    /// Why the pod fits nowhere.
    pub diagnosis: &'a Diagnosis,
    /// The time, in nanoseconds since 1970.
    pub now: i64,
    /// Drawn for this attempt: a plugin that chooses at random makes its [`Random`](crate::random::Random) of it.
    pub seed: u64,
}

impl<P: Profile> PostFilterContext<'_, P> {
    /// Whether a plugin's PreFilter ran in this attempt.
    pub fn ran_pre_filter(&self, plugin: &str) -> bool {
        self.pre_filter.ran(plugin)
    }
}

/// Tries to make a pod schedulable that fits nowhere, for example by preemption.
#[diagnostic::on_unimplemented(
    message = "plugin `{Self}` does not implement the extension point `post-filter`",
    note = "a profile or the plugin's catalog entry lists it there; it must implement `schedc_core::extension_points::PostFilterPlugin`"
)]
pub trait PostFilterPlugin: Plugin {
    /// Tries.
    fn post_filter<P: Profile>(
        &self,
        args: &Self::Args,
        cx: PostFilterContext<'_, P>,
        view: View<'_, Self>,
    ) -> PostFilterResult;
}
