//! Whoever wants to see what happens in a simulation, or to have a say in it.

use std::sync::Arc;
use std::time::Duration;

use schedc_core::cache::Base;
use schedc_core::client::ApiError;
use schedc_core::erased::{AnyScheduler, AttemptObserver, AttemptRecord};
use schedc_core::model::Pod;
use schedc_core::scheduler::Outcome;

use crate::server::{Change, Request, Response};

/// What becomes of a call of the scheduler.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum CallTreatment {
    /// It is done and answered.
    #[default]
    AtOnce,
    /// It is done and answered later.
    After(Duration),
    /// It is not done, and this is the answer.
    Refuse(ApiError),
    /// It is done, and the answer is lost.
    LoseAnswer,
}

/// Is called while a simulation runs. Everything has a default: `()` looks on and does nothing.
///
/// Times are nanoseconds since 1970 by the clock of the simulation.
pub trait SimulationHooks {
    /// What shall become of a call.
    fn on_call(&mut self, _now: i64, _request: &Request) -> CallTreatment {
        CallTreatment::AtOnce
    }
    /// A call was answered.
    fn on_response(&mut self, _now: i64, _request: &Request, _response: &Response) {}
    /// Something changed in the cluster, and the scheduler is told now.
    fn on_change(&mut self, _now: i64, _change: &Change) {}
    /// The scheduler is about to be told of a change.
    fn before_change(&mut self, _scheduler: &dyn AnyScheduler) {}
    /// The scheduler was told of a change.
    fn after_change(&mut self, _now: i64, _change: &Change, _scheduler: &mut dyn AnyScheduler) {}
    /// The scheduler is about to pop a pod, if there is one.
    fn before_pop(&mut self) {}
    /// The scheduler has decided about a pod. See [`AttemptObserver::decided`].
    fn decided(&mut self, _pod: &Arc<Pod>, _has_node: bool) {}
    /// An attempt came to its end.
    fn on_outcome(&mut self, _now: i64, _outcome: &Outcome, _cluster: &Base) {}
}

impl SimulationHooks for () {}

/// Lets hooks see decisions.
pub(super) struct Decisions<'a, H>(pub(super) &'a mut H);

impl<H: SimulationHooks> AttemptObserver for Decisions<'_, H> {
    fn before_pop(&mut self) {
        self.0.before_pop();
    }
    fn decided(&mut self, pod: &Arc<Pod>, has_node: bool, _: &AttemptRecord) {
        self.0.decided(pod, has_node);
    }
}
