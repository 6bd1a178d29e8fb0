//! Whoever wants to know when a decision begins and ends.

use std::sync::Arc;

use crate::model::Pod;

/// Is called around each decision, by [`Scheduler::schedule_one_observed`](super::Scheduler::schedule_one_observed). `()` looks away.
pub trait Observer {
    /// The next pod is about to be popped, if there is one.
    fn pops(&mut self) {}
    /// A pod has its node, is assumed and reserved there and passed Permit; or it has none.
    fn decided(&mut self, _pod: &Arc<Pod>, _has_node: bool) {}
}

impl Observer for () {}
