//! Results of PostFilter. The trait `PostFilterPlugin` is in the layer `profile_api`, because a PostFilter plugin
//! evaluates nodes with all plugins of its profile.

use std::sync::Arc;

use smallvec::SmallVec;

use crate::model::object_ref::ObjectRef;
use crate::model::{NodeIndex, Pod, Uid};
use crate::plugin_api::requests::WriteOperation;
use crate::plugin_api::status::{Code, Reason, ReasonList, Status};

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

/// Pods that a PostFilter plugin removes. Usual lists need no allocation.
pub type VictimList = SmallVec<[Uid; 4]>;

/// Result of a PostFilter plugin.
#[derive(Clone, Debug, PartialEq)]
pub struct PostFilterResult {
    /// `Success` if the pod may become schedulable: no further plugin runs. After `Unschedulable` or `Pending`, the next
    /// plugin runs. After any other code, no further plugin runs either.
    pub status: Status,
    /// Change of the pod's nomination.
    pub nomination: Nomination,
    /// Pods to remove.
    pub victims: VictimList,
    /// All candidates, if a node was nominated, for reports and for tests of the choice. Empty unless the caller requests
    /// them ([`PostFilterContext::lists_preemption_candidates`](crate::extension_points::PostFilterContext::lists_preemption_candidates)).
    pub candidates: Vec<Candidate>,
    /// Changes of objects, each of which may make the pod schedulable. The scheduler carries out the first. The others
    /// are equally good alternatives, for reports.
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
    /// Makes a result that has this status and no other effect.
    pub fn nothing(status: Status) -> Self {
        PostFilterResult {
            status,
            nomination: Nomination::Keep,
            victims: VictimList::new(),
            candidates: Vec::new(),
            repairs: Vec::new(),
        }
    }
    /// Makes a result that nominates `node` and removes `victims` from it.
    pub fn nominate(node: NodeIndex, victims: impl IntoIterator<Item = Uid>) -> Self {
        let status = Status { code: Code::Success, plugin: "", reasons: ReasonList::new() };
        PostFilterResult {
            nomination: Nomination::Set(node),
            victims: victims.into_iter().collect(),
            ..Self::nothing(status)
        }
    }
    /// Adds the candidates.
    pub fn with_candidates(mut self, candidates: Vec<Candidate>) -> Self {
        self.candidates = candidates;
        self
    }
    /// Returns the candidate on the nominated node, if the result lists the candidates.
    pub fn nominated(&self) -> Option<&Candidate> {
        let Nomination::Set(node) = self.nomination else { return None };
        self.candidates.iter().find(|candidate| candidate.node == node)
    }
    /// Makes a result without effect; `reason` becomes part of the pod's message.
    pub fn unschedulable(reason: impl Into<Reason>) -> Self {
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
