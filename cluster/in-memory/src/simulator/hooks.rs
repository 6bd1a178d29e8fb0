//! Hooks that observe a simulation and inject faults.

use std::sync::Arc;
use std::time::Duration;

use schedc_core::cache::Base;
use schedc_core::client::ApiError;
use schedc_core::erased::{AnyScheduler, AttemptObserver, AttemptRecord};
use schedc_core::model::Pod;
use schedc_core::scheduler::Outcome;

use crate::server::{Change, Request, Response};

/// Treatment of a call of the scheduler.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum CallTreatment {
    /// The call is processed, and its response is immediate.
    #[default]
    Immediate,
    /// The call is processed after this delay.
    After(Duration),
    /// The call is not processed, and returns this error.
    Refuse(ApiError),
    /// The call is processed, but its response is lost, and the caller gets a timeout error.
    LoseResponse,
}

/// Callbacks of a simulation. All have default implementations; `()` ignores all events.
///
/// Times are nanoseconds since 1970 by the simulation clock.
pub trait SimulationHooks {
    /// Returns the treatment of a call.
    fn on_call(&mut self, _now: i64, _request: &Request) -> CallTreatment {
        CallTreatment::Immediate
    }
    /// Is called with the response to a call of the scheduler or to a request of a user, even if the response is lost.
    fn on_response(&mut self, _now: i64, _request: &Request, _response: &Response) {}
    /// Is called for each change of the cluster, even if the scheduler ignores it.
    fn on_change(&mut self, _now: i64, _change: &Change) {}
    /// Is called before the scheduler processes a change.
    fn before_change(&mut self, _scheduler: &dyn AnyScheduler) {}
    /// Is called after the scheduler has processed a change.
    fn after_change(&mut self, _now: i64, _change: &Change, _scheduler: &mut dyn AnyScheduler) {}
    /// Returns whether [`SimulationHooks::before_attempt`] is to be called.
    fn observes_attempts(&self) -> bool {
        false
    }
    /// Is called before each attempt.
    fn before_attempt(&mut self, _now: i64, _pod: &Arc<Pod>, _scheduler: &mut dyn AnyScheduler) {}
    /// Is called before the scheduler pops the next pod. See [`AttemptObserver::before_pop`].
    fn before_pop(&mut self) {}
    /// Is called after the scheduler's decision about a pod. See [`AttemptObserver::decided`].
    fn decided(&mut self, _pod: &Arc<Pod>, _has_node: bool) {}
    /// Is called at the end of an attempt.
    fn on_outcome(&mut self, _now: i64, _outcome: &Outcome, _cluster: &Base) {}
}

impl SimulationHooks for () {}

/// Forwards the calls of [`AttemptObserver`] to hooks.
pub(super) struct Decisions<'a, H>(pub(super) &'a mut H);

impl<H: SimulationHooks> AttemptObserver for Decisions<'_, H> {
    fn before_pop(&mut self) {
        self.0.before_pop();
    }
    fn decided(&mut self, pod: &Arc<Pod>, has_node: bool, _: &AttemptRecord) {
        self.0.decided(pod, has_node);
    }
}
