//! Observers of decisions.

use std::fmt;
use std::sync::Arc;

use crate::model::node_mask::NodeMask;
use crate::model::{NodeIndex, Pod};
use crate::plugin_api::status::Code;
use crate::profile_api::extenders::ExtenderRejection;

/// Callbacks around each decision, called by
/// [`Scheduler::schedule_one_with_observer`](crate::scheduler::Scheduler::schedule_one_with_observer). The observer
/// `()` ignores all calls.
pub trait Observer {
    /// Runs before the next pod is popped from the queue, which may be empty.
    fn before_pop(&mut self) {}
    /// Runs after a pod of a profile was popped, before the decision.
    fn attempt_started(&mut self, _profile: usize, _pod: &Pod) {}
    /// Runs before the plugins of an extension point run, but not for updates of cached answers and for pods
    /// that share an attempt because they differ only in the node that they name.
    fn point_started(&mut self, _point: Point) {}
    /// Runs after the plugins of an extension point have run, but not for updates of cached answers and for pods
    /// that share an attempt because they differ only in the node that they name.
    fn point_ended(&mut self, _point: Point, _code: Code) {}
    /// Receives the nodes that extenders removed, and the extenders' rejections. There may be no rejection for a
    /// removed node, and there may be rejections of other nodes.
    fn extenders_filtered(&mut self, _nodes: &NodeMask, _rejections: &[ExtenderRejection]) {}
    /// Receives the scores that extenders added to the totals of feasible nodes.
    fn extenders_scored(&mut self, _scores: &[(NodeIndex, i64)]) {}
    /// Runs after the decision. If it has a node, the pod is assumed and reserved there, and Permit allowed the pod or
    /// makes it wait.
    fn decided(&mut self, _pod: &Arc<Pod>, _has_node: bool) {}
}

impl Observer for () {}

/// Calls both observers in order.
impl<A: Observer, B: Observer> Observer for (A, B) {
    fn before_pop(&mut self) {
        self.0.before_pop();
        self.1.before_pop();
    }
    fn attempt_started(&mut self, profile: usize, pod: &Pod) {
        self.0.attempt_started(profile, pod);
        self.1.attempt_started(profile, pod);
    }
    fn point_started(&mut self, point: Point) {
        self.0.point_started(point);
        self.1.point_started(point);
    }
    fn point_ended(&mut self, point: Point, code: Code) {
        self.0.point_ended(point, code);
        self.1.point_ended(point, code);
    }
    fn extenders_filtered(&mut self, nodes: &NodeMask, rejections: &[ExtenderRejection]) {
        self.0.extenders_filtered(nodes, rejections);
        self.1.extenders_filtered(nodes, rejections);
    }
    fn extenders_scored(&mut self, scores: &[(NodeIndex, i64)]) {
        self.0.extenders_scored(scores);
        self.1.extenders_scored(scores);
    }
    fn decided(&mut self, pod: &Arc<Pod>, has_node: bool) {
        self.0.decided(pod, has_node);
        self.1.decided(pod, has_node);
    }
}

/// Extension points with duration metrics. Names are those of kube-scheduler's metrics.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Point {
    /// PreFilter.
    PreFilter,
    /// Filter, on all nodes that are evaluated.
    Filter,
    /// PostFilter.
    PostFilter,
    /// PreScore, Score and NormalizeScore, on all feasible nodes.
    Score,
    /// Reserve.
    Reserve,
    /// Permit, without the wait.
    Permit,
    /// PreBind.
    PreBind,
    /// Bind.
    Bind,
}

impl Point {
    /// All points.
    pub const ALL: [Point; 8] = [
        Point::PreFilter,
        Point::Filter,
        Point::PostFilter,
        Point::Score,
        Point::Reserve,
        Point::Permit,
        Point::PreBind,
        Point::Bind,
    ];
}

impl fmt::Display for Point {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self, f)
    }
}
