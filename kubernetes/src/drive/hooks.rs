//! Whoever wants to know what happens: metrics, logs.

use schedc_core::client::Client;
use schedc_core::profile::Bundle;
use schedc_core::scheduler::{Change, Observer, Outcome, Scheduler};

/// Is called as things happen, on the task that schedules: whatever takes time here takes it from pods. `()` looks away.
pub trait Hooks: Observer {
    /// The scheduler is about to be told of a change.
    fn told(&mut self, _change: &Change) {}
    /// An attempt came to an end: the pod is bound, or is not.
    fn came_to_end(&mut self, _outcome: &Outcome) {}
    /// Nothing is left to do until something happens. `knows_all`: we lead, and the whole cluster is known.
    fn rests<B: Bundle, C: Client>(&mut self, _scheduler: &Scheduler<B, C>, _knows_all: bool) {}
}

impl Hooks for () {}
