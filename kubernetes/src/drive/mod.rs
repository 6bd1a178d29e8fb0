//! Drives a scheduler at an API server.
//!
//! Everything happens on one task: what followers tell reaches the scheduler, tasks that are done go back to it, time passes,
//! and pods are tried as long as we lead and know the cluster. Other tasks of the same runtime talk to the API server.
//!
//! | module | idea |
//! |---|---|
//! | `apart` | a thread for a scheduler that is blocked at times |
//! | [`client`] | what is asked of the scheduler's client |
//! | [`hooks`] | whoever wants to know what happens |
//! | [`informers`] | who follows the cluster, and whether all of it is known |
//! | [`leadership`] | whether we lead, and that nothing is sent that takes leading when we do not |
//! | [`tasks`] | calls that are under way |
//! | `words` | what is logged of pods |

pub mod client;
pub mod hooks;
pub mod informers;
pub mod leadership;
pub mod tasks;
mod words;

use std::sync::Arc;
use std::time::Duration;

use futures_util::future::Either;
use schedc_core::erased::{AnyBundle, AnyClient, AnyScheduler};
use schedc_core::originals::RequiredOriginals;
use schedc_core::profile::StartErrors;
use schedc_core::scheduler::{Change, Completed, Options};
use schedc_objects::{AnyObject, Kinds};
use tokio::sync::watch as channel;

use crate::health::Health;
use crate::pods::Records;
use crate::resources::Resource;
use crate::watch::follow::Told;
use crate::watch::followed::Followed;
use crate::watch::whole::Whole;
use crate::wire::Streams;
use crate::write::{Bindings, Events, KubeClient};

pub use client::DrivenClient;
pub use hooks::Hooks;
pub use informers::Informers;
pub use leadership::{Fenced, Leadership};
use tasks::Spawned;
use words::Words;

/// How many changes are told, and how many pods tried, before tasks that talk to the API server get their turn.
const CHANGES_AT_ONCE: usize = 256;
const PODS_AT_ONCE: usize = 16;
/// How many bindings are under way at most. The server works on fewer at a time, and a pod that is decided on later is decided
/// on with more known, so that nothing is gained by more; each takes memory.
const BINDINGS_AT_ONCE: usize = 96;
/// How long bindings that are under way may take when the scheduler is stopped, and whatever else is: it may be that somebody
/// waits for a volume, who is tried again by who comes next.
const GRACE: Duration = Duration::from_secs(10);
const GRACE_OF_OTHERS: Duration = Duration::from_secs(1);

/// What a scheduler is driven with.
#[derive(Clone, Debug)]
pub struct Setup<S> {
    /// The way to the API server.
    pub streams: S,
    /// The kinds that the profiles look at.
    pub kinds: Vec<&'static Resource>,
    /// Whether we lead.
    pub leadership: Leadership,
    /// What is done until we lead.
    pub standby: Standby,
    /// The scheduler's options.
    pub options: Options,
}

/// What is done by a replica that does not lead.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Standby {
    /// It follows the cluster, so that it can take over sooner.
    #[default]
    Warm,
    /// It knows nothing of the cluster, and takes next to no memory.
    Small,
}

/// How it ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// It was stopped. Bindings that were under way are done, or their time was over.
    Stopped,
    /// The lease was lost.
    Lost,
}

/// A scheduler, and what it is driven with.
pub struct Driver<S: Streams, C: DrivenClient, H> {
    scheduler: Box<dyn AnyScheduler>,
    originals: RequiredOriginals,
    client: C,
    streams: S,
    kinds: Vec<&'static Resource>,
    seed: u64,
    leadership: Leadership,
    standby: Standby,
    informers: Option<Informers>,
    followed: Followed,
    tasks: Spawned,
    hooks: (Words, H),
    health: Health,
    /// The scheduler's time when the clock began.
    epoch: i64,
    is_leading: bool,
    /// Plugins' tasks run beside the scheduler.
    has_begun: bool,
    looks_on: bool,
}

impl<S: Streams, E: Events, H: Hooks> Driver<S, KubeClient<Fenced<S>, E>, H> {
    /// A scheduler that knows nothing yet, and writes to the API server. Its bindings are counted where the caller can see
    /// it.
    ///
    /// # Errors
    /// Plugins that cannot start.
    pub fn new(
        bundle: &AnyBundle,
        setup: Setup<S>,
        events: E,
        bindings: Bindings,
        hooks: H,
    ) -> Result<Self, StartErrors> {
        let records = Records::default();
        let fenced = Fenced::new(setup.streams.clone(), setup.leadership.clone());
        let client =
            KubeClient::new(fenced, records.clone(), events).knowing(Kinds::declared(bundle.kinds)).counting(bindings);
        Driver::with_client(bundle, setup, client, records, hooks)
    }
}

impl<S: Streams, C: DrivenClient, H: Hooks> Driver<S, C, H> {
    /// A scheduler that knows nothing yet, and acts through this client. Records of pods are kept for it.
    ///
    /// # Errors
    /// Plugins that cannot start.
    pub fn with_client(
        bundle: &AnyBundle,
        setup: Setup<S>,
        client: C,
        records: Records,
        hooks: H,
    ) -> Result<Self, StartErrors> {
        let Setup { streams, kinds, leadership, standby, options } = setup;
        let calendar = i64::try_from(streams.now().as_nanosecond()).unwrap_or(i64::MAX);
        Ok(Driver {
            scheduler: bundle.scheduler(AnyClient::new(client.clone()), options)?,
            originals: bundle.originals,
            client,
            epoch: calendar.saturating_sub(nanoseconds(streams.clock())),
            streams,
            kinds,
            seed: options.seed,
            leadership,
            standby,
            informers: None,
            followed: Followed::new(records),
            tasks: Spawned::default(),
            hooks: (Words, hooks),
            health: Health::new(None),
            is_leading: false,
            has_begun: false,
            looks_on: false,
        })
    }

    /// Whoever asks how the scheduler is learns from this when all of the cluster is known, and when the end is near.
    pub fn telling(self, health: Health) -> Self {
        Driver { health, ..self }
    }

    /// It follows the cluster, tries no pod, and runs no tasks of plugins.
    pub fn looking_on(self) -> Self {
        Driver { looks_on: true, ..self }
    }

    /// Schedules until `stop` is true or its sender is dropped, or the lease is lost.
    pub async fn run(mut self, mut stop: channel::Receiver<bool>) -> End {
        let end = self.drive(&mut stop).await;
        if end == End::Stopped { self.finish().await } else { end }
    }

    async fn drive(&mut self, stop: &mut channel::Receiver<bool>) -> End {
        loop {
            if *stop.borrow() || stop.has_changed().is_err() {
                return End::Stopped;
            }
            if let Err(end) = self.look_who_leads() {
                return end;
            }
            let has_more = self.turn();
            if has_more {
                tokio::task::yield_now().await;
            } else {
                self.rest(stop).await;
            }
        }
    }

    /// Does what can be done now. Returns whether there may be more.
    fn turn(&mut self) -> bool {
        self.scheduler.at(self.now());
        let has_heard = self.hear();
        while let Some(done) = self.tasks.take_done() {
            self.completed(done);
        }
        self.scheduler.tick(self.now(), &mut self.tasks);
        let has_tried = self.knows_all() && self.act();
        self.report();
        self.hooks.turned(&*self.scheduler);
        has_heard || has_tried
    }

    /// Takes in what followers told. Returns whether there may be more.
    fn hear(&mut self) -> bool {
        for _ in 0..CHANGES_AT_ONCE {
            let Some(told) = self.informers.as_mut().and_then(Informers::try_next) else { return false };
            self.told(told);
        }
        true
    }

    fn told(&mut self, told: Told) {
        let interner = &mut self.scheduler.base_mut().interner;
        match told {
            Told::Is(object, epoch) => {
                let change = self.followed.is_there(&object, epoch, interner);
                self.changed(change, Some(&object), None);
            }
            Told::Whole(object, epoch, original) => {
                let change = self.followed.is_there(&object, epoch, interner);
                self.changed(change, Some(&object), Some(original));
            }
            Told::Gone(object) => {
                let change = self.followed.is_gone(&object, interner);
                self.changed(change, Some(&object), None);
            }
            Told::Complete { resource, epoch, round } => {
                let gone = self.followed.is_complete(resource.kind, epoch);
                self.changed(gone, None, None);
                if let Some(informers) = &mut self.informers {
                    informers.is_complete(resource, round);
                    // Once it is, it stays so: what a new leader lists anew is its own matter.
                    if informers.know_all() {
                        self.hooks.knows_all();
                        self.health.set_synced(true);
                    }
                }
            }
            Told::Trouble(resource, why) => tracing::warn!(kind = resource.kind, err = why, "Failed to watch"),
        }
    }

    fn changed(
        &mut self,
        changes: impl IntoIterator<Item = Change>,
        object: Option<&AnyObject>,
        mut original: Option<Arc<str>>,
    ) {
        for change in changes {
            if let Some(change) = self.client.amended(change) {
                self.hooks.told(&change, object, &mut *self.scheduler);
                self.scheduler.base_mut().originals.keep(self.originals, &change, || original.take());
                self.scheduler.on_change(change, &mut self.tasks);
                self.hooks.took_in(&*self.scheduler);
            }
        }
    }

    fn completed(&mut self, done: Completed) {
        self.scheduler.at(self.now());
        for change in self.client.take_changes() {
            self.scheduler.on_change(change, &mut self.tasks);
        }
        self.scheduler.on_completed(done, &mut self.tasks);
    }

    /// Whether we lead, and know the cluster as it was when we began to, or later.
    fn knows_all(&self) -> bool {
        self.is_leading && self.informers.as_ref().is_some_and(Informers::know_all)
    }

    /// We are the one that acts: tries some pods, and lets plugins' tasks run. Returns whether there may be more pods that can be
    /// tried now.
    fn act(&mut self) -> bool {
        if self.looks_on {
            return false;
        }
        if !self.has_begun {
            self.has_begun = true;
            self.scheduler.start_background(&mut self.tasks);
        }
        self.try_pods()
    }

    fn try_pods(&mut self) -> bool {
        for _ in 0..PODS_AT_ONCE {
            let may_try = self.leadership.leads(self.streams.clock()) && self.client.bindings() < BINDINGS_AT_ONCE;
            if !may_try {
                return false;
            }
            if words::logs_attempts()
                && let Some(pod) = self.scheduler.next_pod(&mut self.tasks)
            {
                words::attempts(&pod);
            }
            if !self.scheduler.schedule_one(&mut self.tasks, &mut self.hooks) {
                return false;
            }
        }
        true
    }

    fn report(&mut self) {
        // Of a profile without extenders nothing is kept.
        if self.originals.any() {
            for call in self.scheduler.take_extender_calls() {
                self.hooks.asked_extender(&call);
            }
        }
        for outcome in self.scheduler.take_outcomes() {
            self.hooks.came_to_end(&outcome, &*self.scheduler);
        }
    }

    /// Whether we lead, from now on or not any more.
    fn look_who_leads(&mut self) -> Result<(), End> {
        let leads = self.leadership.leads(self.streams.clock());
        if self.leadership.is_lost() || self.is_leading && !leads {
            return Err(End::Lost);
        }
        if leads && !self.is_leading {
            self.is_leading = true;
            // Whoever led before may have bound pods since all was listed.
            if let Some(informers) = &mut self.informers {
                informers.begin_anew();
            }
        }
        let is_to_know = leads || self.standby == Standby::Warm && self.leadership.is_known();
        if is_to_know && self.informers.is_none() {
            let whole = if self.originals.any() { Some(Whole::new(self.originals)) } else { None };
            self.informers = Some(Informers::start(&self.streams, &self.kinds, self.seed, whole));
        }
        Ok(())
    }

    /// Waits until there is something to do.
    async fn rest(&mut self, stop: &mut channel::Receiver<bool>) {
        self.hooks.rests(&*self.scheduler, self.knows_all());
        let next_tick = self.scheduler.next_tick().map(|tick| self.until(tick));
        let next = match &mut self.informers {
            Some(informers) => Either::Left(informers.next()),
            None => Either::Right(std::future::pending()),
        };
        tokio::select! {
            told = next => {
                self.scheduler.at(self.now());
                self.told(told);
            }
            done = self.tasks.done() => self.completed(done),
            () = self.leadership.changed() => {}
            () = self.hooks.asked() => {}
            () = is_stopped(stop) => {}
            () = self.streams.sleep(next_tick.unwrap_or_default()), if next_tick.is_some() => {}
        }
    }

    /// Nothing is begun any more, and plugins' tasks end. Bindings that are under way come to an end, if that does not take too
    /// long.
    async fn finish(mut self) -> End {
        self.health.set_stopping();
        self.scheduler.stop_background();
        let begin = self.streams.clock();
        while !self.tasks.is_empty() {
            if self.look_who_leads().is_err() {
                return End::Lost;
            }
            let grace = if self.client.bindings() > 0 { GRACE } else { GRACE_OF_OTHERS };
            let left = (begin + grace).saturating_sub(self.streams.clock());
            if left.is_zero() {
                break;
            }
            tokio::select! {
                done = self.tasks.done() => self.completed(done),
                () = self.streams.sleep(left) => {}
            }
        }
        self.report();
        End::Stopped
    }

    /// The scheduler's time.
    fn now(&self) -> i64 {
        self.epoch.saturating_add(nanoseconds(self.streams.clock()))
    }

    fn until(&self, time: i64) -> Duration {
        Duration::from_nanos(u64::try_from(time.saturating_sub(self.now())).unwrap_or(0))
    }
}

/// Returns when `stop` is true or its sender is dropped.
async fn is_stopped(stop: &mut channel::Receiver<bool>) {
    let _ = stop.wait_for(|stop| *stop).await;
}

fn nanoseconds(time: Duration) -> i64 {
    i64::try_from(time.as_nanos()).unwrap_or(i64::MAX)
}
