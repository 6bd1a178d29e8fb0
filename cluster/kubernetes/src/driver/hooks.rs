//! Callbacks of a driver for metrics, logs and reports.

use schedc_core::erased::{AnyScheduler, AttemptObserver};
use schedc_core::extenders::ExtenderCall;
use schedc_core::scheduler::{Change, Outcome};
use schedc_objects::AnyObject;

use crate::watch::reflector::InformerEvent;

/// Callbacks of a driver. They run on the scheduling task and delay pods while they run. `()` ignores all calls.
pub trait DriverHooks: AttemptObserver + Sync {
    /// Runs after the driver processed an event of the informers. The first hook that returns `None` keeps the event;
    /// later hooks do not receive it.
    fn take_informer_event(&mut self, event: InformerEvent) -> Option<InformerEvent> {
        Some(event)
    }
    /// Runs before the scheduler receives a change. `object` is the changed object. It is `None` if the object was
    /// missing in a new list, and the change removes it.
    fn before_change(&mut self, _change: &Change, _object: Option<&AnyObject>, _scheduler: &mut dyn AnyScheduler) {}
    /// Runs after the scheduler received the change.
    fn after_change(&mut self, _scheduler: &dyn AnyScheduler) {}
    /// Runs when all informers have synced, and again after each later list if all informers are still synced.
    fn on_synced(&mut self) {}
    /// Runs at the end of an attempt, whether the pod was bound or not.
    fn on_outcome(&mut self, _outcome: &Outcome, _scheduler: &dyn AnyScheduler) {}
    /// Runs after an extender call.
    fn on_extender_call(&mut self, _call: &ExtenderCall) {}
    /// Runs at the end of a turn, even if more work is pending.
    fn on_turn(&mut self, _scheduler: &mut dyn AnyScheduler) {}
    /// Completes when a caller requests a snapshot of the scheduler. The driver then calls [`DriverHooks::on_turn`]
    /// even if there is no other work.
    fn snapshot_requested(&self) -> impl Future<Output = ()> + Send {
        std::future::pending()
    }
    /// Runs before the driver waits. Tasks may have completed since the last turn. `is_synced`: this replica leads, and all informers have synced.
    fn on_idle(&mut self, _scheduler: &dyn AnyScheduler, _is_synced: bool) {}
}

impl DriverHooks for () {}

/// Calls the hooks of both values, in order.
impl<X: DriverHooks, Y: DriverHooks> DriverHooks for (X, Y) {
    fn take_informer_event(&mut self, event: InformerEvent) -> Option<InformerEvent> {
        self.0.take_informer_event(event).and_then(|event| self.1.take_informer_event(event))
    }
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
    fn on_turn(&mut self, scheduler: &mut dyn AnyScheduler) {
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
