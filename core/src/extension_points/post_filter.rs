//! PostFilter: handles pods without a feasible node.

use std::sync::Arc;

use crate::cache::Cache;
use crate::client::ObjectRef;
use crate::diagnosis::Diagnosis;
use crate::handle::WriteOperation;
use crate::model::{NodeIndex, Pod, Uid};
use crate::plugin::{Plugin, View};
use crate::profile::{PreFilterRun, Profile};
use crate::status::{Code, Status};

/// Change of the pod's nominated node.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Nomination {
    /// The nomination stays.
    #[default]
    Keep,
    /// The nomination is removed.
    Clear,
    /// The nomination becomes this node.
    Set(NodeIndex),
}

/// Result of a PostFilter plugin.
#[derive(Clone, Debug, PartialEq)]
pub struct PostFilterResult {
    /// `Success` if the pod may become schedulable: no further plugin runs. After `Unschedulable`, the next plugin
    /// runs. `UnschedulableAndUnresolvable` and `Error` end the loop.
    pub status: Status,
    /// Change of the pod's nomination.
    pub nomination: Nomination,
    /// Pods to remove.
    pub victims: Vec<Uid>,
    /// All candidates, if a node was nominated: for reports, and for tests of the choice.
    pub candidates: Vec<Candidate>,
    /// Changes of objects, each of which may make the pod schedulable. The scheduler carries out the first; the others
    /// are equally good, for reports.
    pub repairs: Vec<Repair>,
}

/// Change of an object for a pod without a feasible node.
#[derive(Clone, Debug, PartialEq)]
pub struct Repair {
    /// The object.
    pub object: ObjectRef,
    /// The writes, in order.
    pub operations: Vec<WriteOperation>,
}

impl PostFilterResult {
    /// Makes a result without effect except this status.
    pub fn nothing(status: Status) -> Self {
        PostFilterResult {
            status,
            nomination: Nomination::Keep,
            victims: Vec::new(),
            candidates: Vec::new(),
            repairs: Vec::new(),
        }
    }
    /// Makes a result that nominates `node` and removes `victims` from it.
    pub fn nominate(node: NodeIndex, victims: Vec<Uid>) -> Self {
        let status = Status { code: Code::Success, plugin: "", reasons: Vec::new() };
        PostFilterResult { nomination: Nomination::Set(node), victims, ..Self::nothing(status) }
    }
    /// Adds the candidates.
    pub fn with_candidates(mut self, candidates: Vec<Candidate>) -> Self {
        self.candidates = candidates;
        self
    }
    /// Returns the chosen candidate, if the plugin names its candidates.
    pub fn nominated(&self) -> Option<&Candidate> {
        let Nomination::Set(node) = self.nomination else { return None };
        self.candidates.iter().find(|candidate| candidate.node == node)
    }
    /// Makes a result without effect; `reason` becomes part of the pod's message.
    pub fn unschedulable(reason: impl Into<String>) -> Self {
        Self::nothing(Status::unschedulable(reason))
    }
}

/// A node on which the removal of victims makes room for the pod.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Candidate {
    /// The node.
    pub node: NodeIndex,
    /// The pods to remove, the most important first. Some may have a deletion timestamp already.
    pub victims: Arc<[Arc<Pod>]>,
    /// Number of victims that a disruption budget protects.
    pub violations: usize,
    /// Whether no other candidate is better. One of the best candidates is drawn at random.
    pub best: bool,
}

impl Candidate {
    /// Returns the victims that are not being deleted yet.
    pub fn to_be_removed(&self) -> impl Iterator<Item = &Arc<Pod>> {
        self.victims.iter().filter(|pod| !pod.deleting)
    }
}

/// Input of a PostFilter plugin: the failed attempt, and the profile for hypothetical evaluations.
pub struct PostFilterContext<'a, P: Profile> {
    /// The profile's plugins.
    pub profile: &'a P,
    /// The pod.
    pub pod: &'a Arc<Pod>,
    /// All that the profile reads of the pod.
    pub compiled: &'a P::Pod,
    /// The cycle state; `None` if PreFilter rejected the pod without a state.
    pub cycle: Option<&'a P::Cycle>,
    /// Number of the pod's equivalence class, valid during this run of the profile. For all pods of a class, Filter has
    /// the same result on a hypothetical node, until the node or its pods change. `None`: Filter may depend on more.
    pub equivalence_class: Option<u64>,
    /// Results of the PreFilter plugins.
    pub pre_filter: &'a PreFilterRun,
    /// The cluster.
    pub cache: &'a Cache<P::State>,
    /// The reasons why no node is feasible.
    pub diagnosis: &'a Diagnosis,
    /// Time in nanoseconds since 1970.
    pub now: i64,
    /// Random seed of this attempt, for a plugin's own [`Random`](crate::random::Random).
    pub seed: u64,
}

impl<P: Profile> PostFilterContext<'_, P> {
    /// Returns whether a plugin's PreFilter ran in this attempt.
    pub fn ran_pre_filter(&self, plugin: &str) -> bool {
        self.pre_filter.ran(plugin)
    }
}

/// Tries to make a pod without a feasible node schedulable, for example by preemption.
#[diagnostic::on_unimplemented(
    message = "plugin `{Self}` does not implement the extension point `post-filter`",
    note = "a profile or the plugin's catalog entry lists it there; it must implement `schedc_core::extension_points::PostFilterPlugin`"
)]
pub trait PostFilterPlugin: Plugin {
    /// Runs the plugin.
    fn post_filter<P: Profile>(
        &self,
        args: &Self::Args,
        cx: PostFilterContext<'_, P>,
        view: View<'_, Self>,
    ) -> PostFilterResult;
}
