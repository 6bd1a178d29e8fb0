//! Whoever wants to know what happens: metrics, logs, reports.

use schedc_core::client::Client;
use schedc_core::extenders::Call;
use schedc_core::profile::Bundle;
use schedc_core::scheduler::{Change, Observer, Outcome, Scheduler};
use schedc_objects::AnyObject;

/// Is called as things happen, on the task that schedules: whatever takes time here takes it from pods. `()` looks away.
pub trait Hooks: Observer + Sync {
    /// The scheduler is about to be told of a change. It was made of this object; `None`: a list did not have it any more.
    fn told<B: Bundle, C: Client>(
        &mut self,
        _change: &Change,
        _object: Option<&AnyObject>,
        _scheduler: &mut Scheduler<B, C>,
    ) {
    }
    /// The scheduler was told of it.
    fn took_in<B: Bundle, C: Client>(&mut self, _scheduler: &Scheduler<B, C>) {}
    /// All of the cluster is known from now on.
    fn knows_all(&mut self) {}
    /// An attempt came to an end: the pod is bound, or is not.
    fn came_to_end<B: Bundle, C: Client>(&mut self, _outcome: &Outcome, _scheduler: &Scheduler<B, C>) {}
    /// An extender was asked.
    fn asked_extender(&mut self, _call: &Call) {}
    /// What could be done is done, for this turn: there may be more.
    fn turned<B: Bundle, C: Client>(&mut self, _scheduler: &Scheduler<B, C>) {}
    /// Ready when somebody wants to be shown the scheduler, by [`Hooks::turned`], though nothing happens.
    fn asked(&self) -> impl Future<Output = ()> + Send {
        std::future::pending()
    }
    /// Nothing is left to do until something happens. `knows_all`: we lead, and the whole cluster is known.
    fn rests<B: Bundle, C: Client>(&mut self, _scheduler: &Scheduler<B, C>, _knows_all: bool) {}
}

impl Hooks for () {}

/// One after the other.
impl<X: Hooks, Y: Hooks> Hooks for (X, Y) {
    fn told<B: Bundle, C: Client>(
        &mut self,
        change: &Change,
        object: Option<&AnyObject>,
        scheduler: &mut Scheduler<B, C>,
    ) {
        self.0.told(change, object, scheduler);
        self.1.told(change, object, scheduler);
    }
    fn took_in<B: Bundle, C: Client>(&mut self, scheduler: &Scheduler<B, C>) {
        self.0.took_in(scheduler);
        self.1.took_in(scheduler);
    }
    fn knows_all(&mut self) {
        self.0.knows_all();
        self.1.knows_all();
    }
    fn came_to_end<B: Bundle, C: Client>(&mut self, outcome: &Outcome, scheduler: &Scheduler<B, C>) {
        self.0.came_to_end(outcome, scheduler);
        self.1.came_to_end(outcome, scheduler);
    }
    fn asked_extender(&mut self, call: &Call) {
        self.0.asked_extender(call);
        self.1.asked_extender(call);
    }
    fn turned<B: Bundle, C: Client>(&mut self, scheduler: &Scheduler<B, C>) {
        self.0.turned(scheduler);
        self.1.turned(scheduler);
    }
    async fn asked(&self) {
        tokio::select! {
            () = self.0.asked() => {}
            () = self.1.asked() => {}
        }
    }
    fn rests<B: Bundle, C: Client>(&mut self, scheduler: &Scheduler<B, C>, knows_all: bool) {
        self.0.rests(scheduler, knows_all);
        self.1.rests(scheduler, knows_all);
    }
}
