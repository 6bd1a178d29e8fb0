//! Runs a scheduler at an API server.
//!
//! One task does all scheduling work. It passes events of the informers and completed tasks to the scheduler, and
//! advances the scheduler's time. It schedules pods while this replica leads and its informers have synced. Other tasks
//! of the same runtime call the API server.
//!
//! | module | content |
//! |---|---|
//! | [`client`] | requirements on the scheduler's client |
//! | [`hooks`] | callbacks for metrics, logs and reports |
//! | [`informers`] | the reflectors of all kinds |
//! | [`leadership`] | leadership of this replica, and fencing of its writes |
//! | [`memory`] | return of memory after bursts |
//! | [`tasks`] | tasks of the scheduler in flight |
//! | `pod_log` | log messages about pods |

pub mod client;
pub mod hooks;
pub mod informers;
pub mod leadership;
pub mod memory;
mod pod_log;
pub mod tasks;

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
use crate::resources::Resource;
use crate::transport::StreamingTransport;
use crate::watch::known_objects::KnownObjects;
use crate::watch::originals::OriginalsReader;
use crate::watch::reflector::InformerEvent;
use crate::write::PodRecords;
use crate::write::{Bindings, EventSink, KubeClient};

pub use client::DriverClient;
pub use hooks::DriverHooks;
pub use informers::Informers;
pub use leadership::{FencedTransport, Leadership};
pub use memory::FreeMemory;
use pod_log::PodLog;
use tasks::SpawnedTasks;

/// Maximum number of events per turn. Tasks that call the API server run between turns.
const MAX_EVENTS_PER_TURN: usize = 256;
/// Maximum number of pods per turn.
const MAX_PODS_PER_TURN: usize = 16;
/// Maximum number of bindings in flight. The server processes fewer at a time, so a higher maximum would gain nothing.
/// It would cost memory, and pods would be scheduled earlier, with an older state of the cluster.
const MAX_BINDINGS: usize = 96;
/// Grace period of bindings in flight when the scheduler stops.
const BINDINGS_GRACE: Duration = Duration::from_secs(10);
/// Grace period of other tasks when the scheduler stops. A task that waits for a volume may take longer; the next
/// leader then retries its pod.
const OTHER_TASKS_GRACE: Duration = Duration::from_secs(1);

/// Inputs of a driver.
#[derive(Clone, Debug)]
pub struct Setup<S> {
    /// Transport to the API server.
    pub streams: S,
    /// Kinds that the profiles read.
    pub kinds: Vec<&'static Resource>,
    /// Leadership of this replica.
    pub leadership: Leadership,
    /// Behaviour until this replica leads.
    pub standby: Standby,
    /// Options of the scheduler.
    pub options: Options,
}

/// Behaviour of a replica on standby.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Standby {
    /// Watches the cluster, to take over sooner.
    #[default]
    Warm,
    /// Watches nothing, and takes little memory.
    Small,
}

/// Reason that a driver stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StopReason {
    /// The driver was asked to stop. Bindings in flight completed or exceeded their grace period.
    Stopped,
    /// The lease was lost.
    LeaseLost,
}

/// Scheduler with its client, transport and informers.
pub struct Driver<S: StreamingTransport, C: DriverClient, H> {
    scheduler: Box<dyn AnyScheduler>,
    originals: RequiredOriginals,
    client: C,
    streams: S,
    kinds: Vec<&'static Resource>,
    seed: u64,
    leadership: Leadership,
    standby: Standby,
    informers: Option<Informers>,
    known_objects: KnownObjects,
    tasks: SpawnedTasks,
    hooks: (PodLog, H),
    health: Health,
    /// Calendar time when the transport's clock was 0, in nanoseconds since 1970.
    epoch: i64,
    is_leading: bool,
    /// Whether background tasks of plugins have started.
    has_begun: bool,
    is_observer: bool,
}

impl<S: StreamingTransport, E: EventSink, H: DriverHooks> Driver<S, KubeClient<FencedTransport<S>, E>, H> {
    /// Creates a driver with a scheduler that writes to the API server. The caller can read the number of bindings in
    /// flight from `bindings`.
    ///
    /// # Errors
    /// A plugin cannot start.
    pub fn new(
        bundle: &AnyBundle,
        setup: Setup<S>,
        events: E,
        bindings: Bindings,
        hooks: H,
    ) -> Result<Self, StartErrors> {
        let records = PodRecords::default();
        let fenced = FencedTransport::new(setup.streams.clone(), setup.leadership.clone());
        let client = KubeClient::new(fenced, records.clone(), events)
            .with_kinds(Kinds::declared(bundle.kinds))
            .with_bindings(bindings);
        Driver::with_client(bundle, setup, client, records, hooks)
    }
}

impl<S: StreamingTransport, C: DriverClient, H: DriverHooks> Driver<S, C, H> {
    /// Creates a driver with a scheduler that acts through this client. The driver updates `records` for the client.
    ///
    /// # Errors
    /// A plugin cannot start.
    pub fn with_client(
        bundle: &AnyBundle,
        setup: Setup<S>,
        client: C,
        records: PodRecords,
        hooks: H,
    ) -> Result<Self, StartErrors> {
        let Setup { streams, kinds, leadership, standby, options } = setup;
        let calendar = i64::try_from(streams.now().as_nanosecond()).unwrap_or(i64::MAX);
        Ok(Driver {
            scheduler: bundle.scheduler(AnyClient::new(client.clone()), Options { real_time: true, ..options })?,
            originals: bundle.originals,
            client,
            epoch: calendar.saturating_sub(nanoseconds(streams.clock())),
            streams,
            kinds,
            seed: options.seed,
            leadership,
            standby,
            informers: None,
            known_objects: KnownObjects::new(records),
            tasks: SpawnedTasks::default(),
            hooks: (PodLog, hooks),
            health: Health::new(None),
            is_leading: false,
            has_begun: false,
            is_observer: false,
        })
    }

    /// Reports to `health` when the informers have synced, and when the scheduler stops.
    pub fn with_health(self, health: Health) -> Self {
        Driver { health, ..self }
    }

    /// Makes the driver an observer: it watches the cluster, schedules no pod, and runs no background tasks of plugins.
    pub fn as_observer(self) -> Self {
        Driver { is_observer: true, ..self }
    }

    /// Schedules until `stop` is true or its sender is dropped, or the lease is lost.
    pub async fn run(mut self, mut stop: channel::Receiver<bool>) -> StopReason {
        let end = self.drive(&mut stop).await;
        if end == StopReason::Stopped { self.finish().await } else { end }
    }

    async fn drive(&mut self, stop: &mut channel::Receiver<bool>) -> StopReason {
        loop {
            if *stop.borrow() || stop.has_changed().is_err() {
                return StopReason::Stopped;
            }
            if let Err(end) = self.check_leadership() {
                return end;
            }
            let has_more = self.turn();
            // New tasks send their requests before the driver prepares to wait.
            if self.tasks.take_new() || has_more {
                tokio::task::yield_now().await;
            }
            if !has_more {
                self.wait_for_work(stop).await;
            }
        }
    }

    /// Does the pending work. Returns whether there may be more.
    fn turn(&mut self) -> bool {
        self.scheduler.free_unused_strings();
        self.scheduler.set_now(self.now());
        let has_more_events = self.receive_events();
        while let Some(done) = self.tasks.take_completed() {
            self.completed(done);
        }
        self.scheduler.tick(self.now(), &mut self.tasks);
        let has_more_pods = self.is_synced() && self.run_scheduler();
        self.report_outcomes();
        self.hooks.on_turn(&mut *self.scheduler);
        has_more_events || has_more_pods
    }

    /// Handles events of the informers. Returns whether there may be more.
    fn receive_events(&mut self) -> bool {
        for _ in 0..MAX_EVENTS_PER_TURN {
            let Some(event) = self.informers.as_mut().and_then(Informers::try_next) else { return false };
            self.on_informer_event(event);
        }
        true
    }

    fn on_informer_event(&mut self, event: InformerEvent) {
        let interner = &mut self.scheduler.base_mut().interner;
        match &event {
            InformerEvent::Upsert(object, arrival) => {
                let change = self.known_objects.upsert(object, *arrival, interner);
                self.apply_changes(change, Some(object), None);
            }
            InformerEvent::UpsertWithOriginal(object, arrival, original) => {
                let change = self.known_objects.upsert(object, *arrival, interner);
                self.apply_changes(change, Some(object), Some(original.clone()));
            }
            InformerEvent::Removal(object) => {
                let change = self.known_objects.removal(object, interner);
                self.apply_changes(change, Some(object), None);
            }
            InformerEvent::ListComplete { resource, epoch, round } => {
                let gone = self.known_objects.complete_list(resource.kind, *epoch);
                self.apply_changes(gone, None, None);
                if let Some(informers) = &mut self.informers {
                    informers.mark_complete(resource, *round);
                    // The health state stays synced: the relist of a new leader does not reset it.
                    if informers.has_synced() {
                        self.hooks.on_synced();
                        self.health.set_synced(true);
                    }
                }
            }
            InformerEvent::Error(resource, why) => tracing::warn!(kind = resource.kind, err = why, "Failed to watch"),
        }
        self.hooks.take_informer_event(event);
    }

    fn apply_changes(
        &mut self,
        changes: impl IntoIterator<Item = Change>,
        object: Option<&AnyObject>,
        mut original: Option<Arc<str>>,
    ) {
        for change in changes {
            if let Some(change) = self.client.adjust_change(change) {
                self.hooks.before_change(&change, object, &mut *self.scheduler);
                self.scheduler.base_mut().originals.update(self.originals, &change, || original.take());
                self.scheduler.on_change(change, &mut self.tasks);
                self.hooks.after_change(&*self.scheduler);
            }
        }
    }

    fn completed(&mut self, done: Completed) {
        self.scheduler.set_now(self.now());
        for change in self.client.take_changes() {
            self.scheduler.on_change(change, &mut self.tasks);
        }
        self.scheduler.on_completed(done, &mut self.tasks);
    }

    /// Returns whether this replica leads and has listed the cluster since it began to lead.
    fn is_synced(&self) -> bool {
        self.is_leading && self.informers.as_ref().is_some_and(Informers::has_synced)
    }

    /// Starts background tasks and schedules pods. Returns whether more pods may be ready.
    fn run_scheduler(&mut self) -> bool {
        if self.is_observer {
            return false;
        }
        if !self.has_begun {
            self.has_begun = true;
            self.scheduler.start_background(&mut self.tasks);
        }
        self.schedule_pods()
    }

    fn schedule_pods(&mut self) -> bool {
        for _ in 0..MAX_PODS_PER_TURN {
            let can_schedule = self.leadership.leads(self.streams.clock()) && self.client.bindings() < MAX_BINDINGS;
            if !can_schedule {
                return false;
            }
            if pod_log::logs_attempts()
                && let Some(pod) = self.scheduler.next_pod(&mut self.tasks)
            {
                pod_log::log_attempt(&pod);
            }
            if !self.scheduler.schedule_one(&mut self.tasks, &mut self.hooks) {
                return false;
            }
        }
        true
    }

    fn report_outcomes(&mut self) {
        // Every extender requires originals, so without originals there are no extender calls.
        if self.originals.any() {
            for call in self.scheduler.take_extender_calls() {
                self.hooks.on_extender_call(&call);
            }
        }
        for outcome in self.scheduler.take_outcomes() {
            self.hooks.on_outcome(&outcome, &*self.scheduler);
        }
    }

    /// Updates `is_leading`, and starts the informers when they are needed.
    fn check_leadership(&mut self) -> Result<(), StopReason> {
        let leads = self.leadership.leads(self.streams.clock());
        if self.leadership.is_lost() || self.is_leading && !leads {
            return Err(StopReason::LeaseLost);
        }
        if leads && !self.is_leading {
            self.is_leading = true;
            // The previous leader may have bound pods since the last list.
            if let Some(informers) = &mut self.informers {
                informers.relist();
            }
        }
        let needs_informers = leads || self.standby == Standby::Warm && self.leadership.is_known();
        if needs_informers && self.informers.is_none() {
            let originals_reader = if self.originals.any() { Some(OriginalsReader::new(self.originals)) } else { None };
            self.informers = Some(Informers::start(&self.streams, &self.kinds, self.seed, originals_reader));
        }
        Ok(())
    }

    /// Waits for an event, a completed task, a deadline or a signal. Handles the event or the completed task.
    async fn wait_for_work(&mut self, stop: &mut channel::Receiver<bool>) {
        for size in self.known_objects.cache_sizes() {
            self.streams.report_cache(size);
        }
        self.hooks.on_idle(&*self.scheduler, self.is_synced());
        let next_tick = self.scheduler.next_tick().map(|tick| self.duration_until(tick));
        let next = match &mut self.informers {
            Some(informers) => Either::Left(informers.next()),
            None => Either::Right(std::future::pending()),
        };
        tokio::select! {
            event = next => {
                self.scheduler.set_now(self.now());
                self.on_informer_event(event);
            }
            done = self.tasks.next_completed() => self.completed(done),
            () = self.leadership.changed() => {}
            () = self.hooks.snapshot_requested() => {}
            () = stopped(stop) => {}
            () = self.streams.sleep(next_tick.unwrap_or_default()), if next_tick.is_some() => {}
        }
    }

    /// Stops background tasks, and waits for bindings in flight and other tasks, up to the grace period of each.
    async fn finish(mut self) -> StopReason {
        self.health.set_stopping();
        self.scheduler.stop_background();
        let begin = self.streams.clock();
        while !self.tasks.is_empty() {
            if self.check_leadership().is_err() {
                return StopReason::LeaseLost;
            }
            let grace = if self.client.bindings() > 0 { BINDINGS_GRACE } else { OTHER_TASKS_GRACE };
            let left = (begin + grace).saturating_sub(self.streams.clock());
            if left.is_zero() {
                break;
            }
            tokio::select! {
                done = self.tasks.next_completed() => self.completed(done),
                () = self.streams.sleep(left) => {}
            }
        }
        self.report_outcomes();
        StopReason::Stopped
    }

    /// Returns the current scheduler time in nanoseconds.
    fn now(&self) -> i64 {
        self.epoch.saturating_add(nanoseconds(self.streams.clock()))
    }

    fn duration_until(&self, time: i64) -> Duration {
        Duration::from_nanos(u64::try_from(time.saturating_sub(self.now())).unwrap_or(0))
    }
}

/// Returns when `stop` is true or its sender is dropped.
async fn stopped(stop: &mut channel::Receiver<bool>) {
    let _ = stop.wait_for(|stop| *stop).await;
}

fn nanoseconds(time: Duration) -> i64 {
    i64::try_from(time.as_nanos()).unwrap_or(i64::MAX)
}
