//! The plugins' handle of the scheduler: kube-scheduler's framework handle.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::future::Future;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

pub use super::requests::{Command, WriteOperation, WriteRequest};

use crate::model::Uid;
use crate::model::cache_size::CacheSize;
pub use crate::model::cache_size::PluginCacheSize;
use crate::model::map::{Map, Set};
use crate::model::placement::Placement;
use crate::plugin_api::args::format_nanoseconds;
use crate::plugin_api::background::{BackgroundClient, RequestQueue, TaskRequest};
use crate::plugin_api::claim_metrics::ClaimMetrics;
use crate::plugin_api::device_counts::DeviceCounts;
use crate::plugin_api::pending_allocations::PendingAllocations;

/// A plugin's connection to the scheduler. It has no lifetime and no client. Requests go to a queue that the scheduler
/// empties before its next step, so calls from binding tasks and from scheduling cycles have the same effect.
///
/// Extension points receive the cluster's state as a [`View`](crate::plugin::View), and the client if they may send
/// requests.
#[derive(Clone, Debug, Default)]
pub struct Handle {
    requests: RequestQueue,
    waiting: Arc<Mutex<BTreeSet<Uid>>>,
    preempting: Arc<Mutex<Set<Uid>>>,
    pending_allocations: Arc<Mutex<PendingAllocations>>,
    claim_metrics: Arc<Mutex<ClaimMetrics>>,
    device_counts: Arc<Mutex<DeviceCounts>>,
    cache_sizes: Arc<Mutex<Vec<Arc<PluginCacheSize>>>>,
    now: Arc<AtomicI64>,
    has_real_time: bool,
}

impl Handle {
    /// Allows a pod that waits because of `plugin`.
    pub fn allow(&self, pod: Uid, plugin: &'static str) {
        self.send(Command::Allow { pod, plugin });
    }
    /// Rejects a pod that waits in Permit.
    pub fn reject(&self, pod: Uid, plugin: &'static str, reason: impl Into<String>) {
        self.send(Command::Reject { pod, plugin, reason: reason.into() });
    }
    /// Retries a pod that is unschedulable or in backoff.
    pub fn activate(&self, pod: Uid) {
        self.send(Command::Activate(pod));
    }
    /// Retries a pod like [`Handle::activate`], at a time in nanoseconds of the scheduler's clock. A plugin that rejects a
    /// pod for some time uses this, because no event marks the end of that time. Each pod has one such time; a later call
    /// replaces it.
    pub fn activate_at(&self, pod: Uid, time: i64) {
        self.send(Command::ActivateAt(pod, time));
    }
    /// Records an event about a pod that is pending or on a node. Without such a pod, the call has no effect.
    pub fn event(&self, pod: Uid, reason: &'static str, note: impl Into<String>) {
        self.send(Command::Event { pod, reason, note: note.into() });
    }
    /// Queues a fire-and-forget write. Writes to one object run one after the other, in the order of the calls. The
    /// result arrives through the watches. If a write fails, an event is recorded about the request's pod; the plugin
    /// has to retry where necessary. Writes that must precede the binding belong in PreBind, which can wait for them.
    pub fn write(&self, request: WriteRequest) {
        self.send(Command::Write(request));
    }
    /// Starts a background task: a controller loop, or an operation with more than one write. It starts when this
    /// scheduler becomes the leader, or at once without leader election. It is dropped when leadership ends; from then
    /// on, none of its requests is sent.
    ///
    /// ```
    /// use std::time::Duration;
    ///
    /// use schedc_core::background::BackgroundClient;
    /// use schedc_core::client::{Client, ObjectRef};
    /// use schedc_core::handle::Handle;
    /// use serde_json::json;
    ///
    /// async fn tick(object: ObjectRef, client: BackgroundClient) {
    ///     for ticks in 1.. {
    ///         // An error is ignored: the next patch replaces this one.
    ///         let _ = client.patch_status(&object, &json!({"status": {"ticks": ticks}})).await;
    ///         client.sleep(Duration::from_secs(60)).await;
    ///     }
    /// }
    ///
    /// fn start(handle: &Handle, object: ObjectRef) {
    ///     handle.spawn(|client| tick(object, client));
    /// }
    /// ```
    pub fn spawn<F: Future<Output = ()> + Send + 'static>(&self, task: impl FnOnce(BackgroundClient) -> F) {
        let task = task(BackgroundClient::new(self.requests.clone()));
        self.requests.send_task_request(TaskRequest::Spawn(Box::pin(task)));
    }
    /// Returns the uids of the pods that wait in Permit, sorted.
    pub fn waiting_pods(&self) -> Vec<Uid> {
        lock(&self.waiting).iter().cloned().collect()
    }

    /// Returns the allocations of resource claims that are decided, but not received from the API server yet.
    pub fn pending_allocations(&self) -> MutexGuard<'_, PendingAllocations> {
        lock(&self.pending_allocations)
    }
    /// Returns the devices that back extended resources, for scores.
    pub fn device_counts(&self) -> MutexGuard<'_, DeviceCounts> {
        lock(&self.device_counts)
    }
    /// Returns the counts of writes and waits for resource claims.
    pub fn claim_metrics(&self) -> MutexGuard<'_, ClaimMetrics> {
        lock(&self.claim_metrics)
    }
    /// Registers a plugin's cache for metrics; the plugin keeps the returned size up to date. Sizes of caches with
    /// equal names are added.
    pub fn register_cache(&self, cache: &'static str, limit: usize) -> Arc<PluginCacheSize> {
        let size = Arc::new(PluginCacheSize::new(cache, limit));
        lock(&self.cache_sizes).push(size.clone());
        size
    }
    /// Returns the sizes of the registered caches.
    pub(crate) fn cache_sizes(&self) -> Vec<CacheSize> {
        lock(&self.cache_sizes).iter().map(|size| size.get()).collect()
    }
    /// Returns whether victims of this preemptor are being removed. The pod must not be retried before their removal
    /// ends.
    pub fn is_preempting(&self, pod: &Uid) -> bool {
        lock(&self.preempting).contains(pod)
    }
    /// Marks a pod as a preemptor whose victims are being removed. Returns false if it was marked already.
    pub(crate) fn begin_preempting(&self, pod: Uid) -> bool {
        lock(&self.preempting).insert(pod)
    }
    pub(crate) fn n_preempting(&self) -> usize {
        lock(&self.preempting).len()
    }
    pub(crate) fn end_preempting(&self, pod: &Uid) {
        lock(&self.preempting).remove(pod);
    }
    /// Returns the time of the last [`Scheduler::tick`](crate::scheduler::Scheduler::tick), in nanoseconds of the
    /// scheduler's clock.
    pub fn now(&self) -> i64 {
        self.now.load(Ordering::Relaxed)
    }

    /// Returns a handle of a scheduler whose timeouts within a decision use the real time.
    pub(crate) fn in_real_time() -> Self {
        Handle { has_real_time: true, ..Handle::default() }
    }
    /// Returns whether timeouts within a decision, or within a step of a task, use the real time. Otherwise time does
    /// not pass within a step.
    pub fn has_real_time(&self) -> bool {
        self.has_real_time
    }

    fn send(&self, command: Command) {
        self.requests.send(command);
    }
    pub(crate) fn requests(&self) -> &RequestQueue {
        &self.requests
    }
    /// Sets the time that plugins read, in nanoseconds of the scheduler's clock.
    /// [`Scheduler::tick`](crate::scheduler::Scheduler::tick) calls this function.
    pub fn publish_now(&self, now: i64) {
        self.now.store(now, Ordering::Relaxed);
    }
    pub(crate) fn begin_waiting(&self, pod: Uid) {
        lock(&self.waiting).insert(pod);
    }
    pub(crate) fn end_waiting(&self, pod: &Uid) {
        lock(&self.waiting).remove(pod);
    }
}

/// Locks a mutex. A panic under the lock leaves no incomplete change, so the data are valid.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A pod that waits in Permit.
#[derive(Clone, Debug)]
pub struct WaitingPod {
    /// The pod, and the node to which it will be bound.
    pub placement: Placement,
    /// Time when it began to wait, in nanoseconds of the scheduler's clock.
    pub since: i64,
    /// The plugins that hold it, each with its deadline in nanoseconds of the scheduler's clock.
    pub pending: Vec<(&'static str, i64)>,
    /// The rejection, if it was rejected.
    pub rejected: Option<PermitRejection>,
}

/// Rejection of a pod that waited in Permit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PermitRejection {
    /// The plugin that rejected it; empty if the pod was removed, or bound by another scheduler.
    pub plugin: &'static str,
    /// The reason.
    pub reason: String,
    /// Whether the pod was preempted for another pod. It can then be retried, because it is not unschedulable.
    pub preempted: bool,
}

impl WaitingPod {
    /// Returns whether it is allowed or rejected.
    pub(crate) fn is_settled(&self) -> bool {
        self.rejected.is_some() || self.pending.is_empty()
    }
}

/// All pods that wait in Permit, in order of arrival.
#[derive(Default)]
pub(crate) struct WaitingPodMap {
    pods: BTreeMap<u64, WaitingPod>,
    tickets: Map<Uid, u64>,
    next: u64,
    /// Pods that are allowed or rejected, and that the scheduler has not taken yet.
    settled: VecDeque<Uid>,
}

impl WaitingPodMap {
    pub(crate) fn insert(&mut self, pod: WaitingPod) {
        let uid = pod.placement.pod.uid.clone();
        self.tickets.insert(uid, self.next);
        self.pods.insert(self.next, pod);
        self.next += 1;
    }
    pub(crate) fn get(&self, uid: &Uid) -> Option<&WaitingPod> {
        self.pods.get(self.tickets.get(uid)?)
    }
    pub(crate) fn remove(&mut self, uid: &Uid) -> Option<WaitingPod> {
        self.pods.remove(&self.tickets.remove(uid)?)
    }
    pub(crate) fn iter(&self) -> impl Iterator<Item = &WaitingPod> {
        self.pods.values()
    }
    pub(crate) fn take_settled(&mut self) -> Option<Uid> {
        self.settled.pop_front()
    }
    /// Returns the next deadline.
    pub(crate) fn next_deadline(&self) -> Option<i64> {
        let unsettled = self.pods.values().filter(|pod| !pod.is_settled());
        unsettled.flat_map(|pod| &pod.pending).map(|(_, deadline)| *deadline).min()
    }
    /// Rejects all pods whose deadline has passed.
    pub(crate) fn time_out(&mut self, now: i64) {
        for (_, pod) in self.pods.iter_mut().filter(|(_, pod)| !pod.is_settled()) {
            let expired =
                pod.pending.iter().filter(|(_, deadline)| *deadline <= now).min_by_key(|(_, deadline)| *deadline);
            let Some(&(plugin, deadline)) = expired else { continue };
            let waited = format_nanoseconds(deadline - pod.since);
            let reason = format!("rejected due to timeout after waiting {waited} at plugin {plugin}");
            pod.rejected = Some(PermitRejection { plugin, reason, preempted: false });
            self.settled.push_back(pod.placement.pod.uid.clone());
        }
    }
    pub(crate) fn allow(&mut self, uid: &Uid, plugin: &'static str) {
        self.settle(uid, |pod| pod.pending.retain(|(holder, _)| *holder != plugin));
    }
    /// Rejects a pod. Returns false if it does not wait, or is already allowed or rejected.
    pub(crate) fn reject(&mut self, uid: &Uid, rejection: PermitRejection) -> bool {
        self.settle(uid, |pod| pod.rejected = Some(rejection))
    }
    fn settle(&mut self, uid: &Uid, change: impl FnOnce(&mut WaitingPod)) -> bool {
        let pod = self.tickets.get(uid).and_then(|ticket| self.pods.get_mut(ticket));
        let Some(pod) = pod.filter(|pod| !pod.is_settled()) else { return false };
        change(pod);
        if pod.is_settled() {
            self.settled.push_back(uid.clone());
        }
        true
    }
}

/// The pods that wait in Permit, for a Permit plugin.
pub struct WaitingPods<'a> {
    pub(crate) waiting: &'a mut WaitingPodMap,
    /// Time in nanoseconds of the scheduler's clock.
    pub now: i64,
}

impl WaitingPods<'_> {
    /// Returns the pods.
    pub fn iter(&self) -> impl Iterator<Item = &WaitingPod> {
        self.waiting.iter()
    }
    /// Allows a pod that `plugin` holds.
    pub fn allow(&mut self, pod: &Uid, plugin: &'static str) {
        self.waiting.allow(pod, plugin);
    }
    /// Rejects a pod. This has no effect if the pod is already allowed by all plugins, or rejected.
    pub fn reject(&mut self, pod: &Uid, plugin: &'static str, reason: impl Into<String>) {
        self.waiting.reject(pod, PermitRejection { plugin, reason: reason.into(), preempted: false });
    }
}
