//! Whoever wants to know what happens: metrics, logs, reports.

use schedc_core::erased::{AnyScheduler, AttemptObserver};
use schedc_core::extenders::ExtenderCall;
use schedc_core::scheduler::{Change, Outcome};
use schedc_objects::AnyObject;

/// Is called as things happen, on the task that schedules: whatever takes time here takes it from pods. `()` looks away.
pub trait DriverHooks: AttemptObserver + Sync {
    /// The scheduler is about to be told of a change. It was made of this object; `None`: a list did not have it any more.
    fn before_change(&mut self, _change: &Change, _object: Option<&AnyObject>, _scheduler: &mut dyn AnyScheduler) {}
    /// The scheduler was told of it.
    fn after_change(&mut self, _scheduler: &dyn AnyScheduler) {}
    /// All of the cluster is known from now on.
    fn on_synced(&mut self) {}
    /// An attempt came to an end: the pod is bound, or is not.
    fn on_outcome(&mut self, _outcome: &Outcome, _scheduler: &dyn AnyScheduler) {}
    /// An extender was asked.
    fn on_extender_call(&mut self, _call: &ExtenderCall) {}
    /// What could be done is done, for this turn: there may be more.
    fn on_turn(&mut self, _scheduler: &dyn AnyScheduler) {}
    /// Ready when somebody wants to be shown the scheduler, by [`DriverHooks::on_turn`], though nothing happens.
    fn snapshot_requested(&self) -> impl Future<Output = ()> + Send {
        std::future::pending()
    }
    /// Nothing is left to do until something happens. `on_synced`: we lead, and the whole cluster is known.
    fn on_idle(&mut self, _scheduler: &dyn AnyScheduler, _is_synced: bool) {}
}

impl DriverHooks for () {}

/// One after the other.
impl<X: DriverHooks, Y: DriverHooks> DriverHooks for (X, Y) {
    fn before_change(&mut self, change: &Change, object: Option<&AnyObject>, scheduler: &mut dyn AnyScheduler) {
        self.0.before_change(change, object, scheduler);
        self.1.before_change(change, object, scheduler);
    }
    fn after_change(&mut self, scheduler: &dyn AnyScheduler) {
        self.0.after_change(scheduler);
        self.1.after_change(scheduler);
    }
    fn on_synced(&mut self) {
        self.0.on_synced();
        self.1.on_synced();
    }
    fn on_outcome(&mut self, outcome: &Outcome, scheduler: &dyn AnyScheduler) {
        self.0.on_outcome(outcome, scheduler);
        self.1.on_outcome(outcome, scheduler);
    }
    fn on_extender_call(&mut self, call: &ExtenderCall) {
        self.0.on_extender_call(call);
        self.1.on_extender_call(call);
    }
    fn on_turn(&mut self, scheduler: &dyn AnyScheduler) {
        self.0.on_turn(scheduler);
        self.1.on_turn(scheduler);
    }
    async fn snapshot_requested(&self) {
        tokio::select! {
            () = self.0.snapshot_requested() => {}
            () = self.1.snapshot_requested() => {}
        }
    }
    fn on_idle(&mut self, scheduler: &dyn AnyScheduler, is_synced: bool) {
        self.0.on_idle(scheduler, is_synced);
        self.1.on_idle(scheduler, is_synced);
    }
}
