//! Whoever wants to know when a decision begins and ends.

use std::fmt;
use std::sync::Arc;

use crate::extenders::ExtenderRejection;
use crate::mask::Mask;
use crate::model::{NodeIndex, Pod};
use crate::status::Code;

/// Is called around each decision, by [`Scheduler::schedule_one_observed`](super::Scheduler::schedule_one_observed). `()` looks away.
pub trait Observer {
    /// The next pod is about to be popped, if there is one.
    fn pops(&mut self) {}
    /// A pod of a profile was popped, and is about to be decided on.
    fn attempts(&mut self, _profile: usize, _pod: &Pod) {}
    /// The plugins of an extension point are about to run.
    fn begins(&mut self, _point: Point) {}
    /// They have run. An answer that is brought up to date instead is not told of.
    fn ends(&mut self, _point: Point, _code: Code) {}
    /// Extenders took these nodes out after Filter, and this is what they said: not of each of them, and of others, too.
    fn extenders_took_out(&mut self, _nodes: &Mask, _said: &[ExtenderRejection]) {}
    /// Extenders added this to the totals of the feasible nodes.
    fn extenders_added(&mut self, _scores: &[(NodeIndex, i64)]) {}
    /// A pod has its node, is assumed and reserved there and passed Permit; or it has none.
    fn decided(&mut self, _pod: &Arc<Pod>, _has_node: bool) {}
}

impl Observer for () {}

/// One after the other.
impl<A: Observer, B: Observer> Observer for (A, B) {
    fn pops(&mut self) {
        self.0.pops();
        self.1.pops();
    }
    fn attempts(&mut self, profile: usize, pod: &Pod) {
        self.0.attempts(profile, pod);
        self.1.attempts(profile, pod);
    }
    fn begins(&mut self, point: Point) {
        self.0.begins(point);
        self.1.begins(point);
    }
    fn ends(&mut self, point: Point, code: Code) {
        self.0.ends(point, code);
        self.1.ends(point, code);
    }
    fn extenders_took_out(&mut self, nodes: &Mask, said: &[ExtenderRejection]) {
        self.0.extenders_took_out(nodes, said);
        self.1.extenders_took_out(nodes, said);
    }
    fn extenders_added(&mut self, scores: &[(NodeIndex, i64)]) {
        self.0.extenders_added(scores);
        self.1.extenders_added(scores);
    }
    fn decided(&mut self, pod: &Arc<Pod>, has_node: bool) {
        self.0.decided(pod, has_node);
        self.1.decided(pod, has_node);
    }
}

/// Extension points whose time is told, with the names of kube-scheduler's metrics.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Point {
    /// PreFilter.
    PreFilter,
    /// Filter, on all nodes.
    Filter,
    /// PostFilter.
    PostFilter,
    /// PreScore, Score and NormalizeScore, on all feasible nodes.
    Score,
    /// Reserve.
    Reserve,
    /// Permit, without the waiting.
    Permit,
    /// PreBind.
    PreBind,
    /// Bind.
    Bind,
}

impl Point {
    /// All of them.
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
