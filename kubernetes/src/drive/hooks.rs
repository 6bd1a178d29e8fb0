//! Whoever wants to know what happens: metrics, logs, reports.

use schedc_core::erased::{AnyScheduler, AttemptObserver};
use schedc_core::extenders::ExtenderCall;
use schedc_core::scheduler::{Change, Outcome};
use schedc_objects::AnyObject;

/// Is called as things happen, on the task that schedules: whatever takes time here takes it from pods. `()` looks away.
pub trait Hooks: AttemptObserver + Sync {
    /// The scheduler is about to be told of a change. It was made of this object; `None`: a list did not have it any more.
    fn told(&mut self, _change: &Change, _object: Option<&AnyObject>, _scheduler: &mut dyn AnyScheduler) {}
    /// The scheduler was told of it.
    fn took_in(&mut self, _scheduler: &dyn AnyScheduler) {}
    /// All of the cluster is known from now on.
    fn knows_all(&mut self) {}
    /// An attempt came to an end: the pod is bound, or is not.
    fn came_to_end(&mut self, _outcome: &Outcome, _scheduler: &dyn AnyScheduler) {}
    /// An extender was asked.
    fn asked_extender(&mut self, _call: &ExtenderCall) {}
    /// What could be done is done, for this turn: there may be more.
    fn turned(&mut self, _scheduler: &dyn AnyScheduler) {}
    /// Ready when somebody wants to be shown the scheduler, by [`Hooks::turned`], though nothing happens.
    fn asked(&self) -> impl Future<Output = ()> + Send {
        std::future::pending()
    }
    /// Nothing is left to do until something happens. `knows_all`: we lead, and the whole cluster is known.
    fn rests(&mut self, _scheduler: &dyn AnyScheduler, _knows_all: bool) {}
}

impl Hooks for () {}

/// One after the other.
impl<X: Hooks, Y: Hooks> Hooks for (X, Y) {
    fn told(&mut self, change: &Change, object: Option<&AnyObject>, scheduler: &mut dyn AnyScheduler) {
        self.0.told(change, object, scheduler);
        self.1.told(change, object, scheduler);
    }
    fn took_in(&mut self, scheduler: &dyn AnyScheduler) {
        self.0.took_in(scheduler);
        self.1.took_in(scheduler);
    }
    fn knows_all(&mut self) {
        self.0.knows_all();
        self.1.knows_all();
    }
    fn came_to_end(&mut self, outcome: &Outcome, scheduler: &dyn AnyScheduler) {
        self.0.came_to_end(outcome, scheduler);
        self.1.came_to_end(outcome, scheduler);
    }
    fn asked_extender(&mut self, call: &ExtenderCall) {
        self.0.asked_extender(call);
        self.1.asked_extender(call);
    }
    fn turned(&mut self, scheduler: &dyn AnyScheduler) {
        self.0.turned(scheduler);
        self.1.turned(scheduler);
    }
    async fn asked(&self) {
        tokio::select! {
            () = self.0.asked() => {}
            () = self.1.asked() => {}
        }
    }
    fn rests(&mut self, scheduler: &dyn AnyScheduler, knows_all: bool) {
        self.0.rests(scheduler, knows_all);
        self.1.rests(scheduler, knows_all);
    }
}
