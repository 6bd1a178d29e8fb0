//! Whoever wants to know what happens: metrics, logs, reports.

use schedc_core::client::Client;
use schedc_core::profile::Bundle;
use schedc_core::scheduler::{Change, Observer, Outcome, Scheduler};
use schedc_objects::AnyObject;

/// Is called as things happen, on the task that schedules: whatever takes time here takes it from pods. `()` looks away.
pub trait Hooks: Observer {
    /// The scheduler is about to be told of a change. It was made of this object; `None`: a list did not have it any more.
    fn told<B: Bundle, C: Client>(
        &mut self,
        _change: &Change,
        _object: Option<&AnyObject>,
        _scheduler: &mut Scheduler<B, C>,
    ) {
    }
    /// An attempt came to an end: the pod is bound, or is not.
    fn came_to_end<B: Bundle, C: Client>(&mut self, _outcome: &Outcome, _scheduler: &Scheduler<B, C>) {}
    /// Nothing is left to do until something happens. `knows_all`: we lead, and the whole cluster is known.
    fn rests<B: Bundle, C: Client>(&mut self, _scheduler: &Scheduler<B, C>, _knows_all: bool) {}
}

impl Hooks for () {}
