//! What plugins may hold and call: kube-scheduler's framework handle.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::future::Future;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde_json::Value;

use crate::background::{BackgroundClient, RequestQueue, TaskRequest};
use crate::client::ObjectRef;
use crate::extension_points::Placement;
use crate::go_duration::go_duration;
use crate::map::{Map, Set};
use crate::model::Uid;

/// A request of a plugin to the scheduler.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Command {
    /// The plugin stops holding a pod that waits in Permit.
    Allow {
        /// The waiting pod.
        pod: Uid,
        /// The plugin that made it wait.
        plugin: &'static str,
    },
    /// The plugin rejects a pod that waits in Permit.
    Reject {
        /// The waiting pod.
        pod: Uid,
        /// The plugin that rejects it.
        plugin: &'static str,
        /// Why.
        reason: String,
    },
    /// A parked pod is tried again.
    Activate(Uid),
    /// The same, when the time has come.
    ActivateAt(Uid, i64),
    /// An event about a pod, for people.
    Event {
        /// The pod.
        pod: Uid,
        /// A word, as in `kubectl get events`.
        reason: &'static str,
        /// A sentence.
        note: String,
    },
    /// Something is written to the cluster.
    Write(WriteRequest),
}

/// What a plugin has done to an object of the cluster, beside everything else.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WriteRequest {
    /// The object.
    pub object: ObjectRef,
    /// What is done to it.
    pub operation: WriteOperation,
    /// The plugin.
    pub plugin: &'static str,
    /// The pod for whose sake: people are told there if it fails.
    pub pod: Uid,
}

/// What is done to an object. See [`Client`](crate::client::Client) for each.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WriteOperation {
    /// It is created, from this manifest.
    Create(Value),
    /// It is changed by a JSON merge patch.
    Patch(Value),
    /// Its status is.
    PatchStatus(Value),
    /// It is deleted; of this uid, if one is given.
    Delete(Option<Uid>),
}

/// A plugin's way to the scheduler. It has no lifetime and knows no client: what is asked for goes to a mailbox that the
/// scheduler empties before its next step, so that a call from a binding task and one from a cycle behave alike.
///
/// The cluster's state comes with each call as a [`View`](crate::plugin::View), the client with each call that may talk
/// to the cluster.
#[derive(Clone, Debug, Default)]
pub struct Handle {
    requests: RequestQueue,
    waiting: Arc<Mutex<BTreeSet<Uid>>>,
    preempting: Arc<Mutex<Set<Uid>>>,
    now: Arc<AtomicI64>,
}

impl Handle {
    /// Stops holding a pod that waits because of `plugin`.
    pub fn allow(&self, pod: Uid, plugin: &'static str) {
        self.send(Command::Allow { pod, plugin });
    }
    /// Rejects a pod that waits in Permit.
    pub fn reject(&self, pod: Uid, plugin: &'static str, reason: impl Into<String>) {
        self.send(Command::Reject { pod, plugin, reason: reason.into() });
    }
    /// Tries a parked pod again.
    pub fn activate(&self, pod: Uid) {
        self.send(Command::Activate(pod));
    }
    /// Tries a parked pod again when the time has come, in nanoseconds of the scheduler's clock: for a plugin that rejects a pod
    /// for some time, since no event tells that it is over. One time for a
    /// pod: the last word counts.
    pub fn activate_at(&self, pod: Uid, time: i64) {
        self.send(Command::ActivateAt(pod, time));
    }
    /// Records an event about a pod.
    pub fn event(&self, pod: Uid, reason: &'static str, note: impl Into<String>) {
        self.send(Command::Event { pod, reason, note: note.into() });
    }
    /// Writes something to the cluster, in the background: errands for one object are run one after the other, in the order in
    /// which they are given. What comes of it is told by the watches. If it fails, the pod gets an event, and
    /// whoever needs it tries again. What has to be done before a pod is bound belongs into PreBind, which can wait for it.
    pub fn write(&self, request: WriteRequest) {
        self.send(Command::Write(request));
    }
    /// Starts a task beside the scheduler: one that keeps something in order as long as there is a scheduler, or does something
    /// that nobody waits for and that takes more than one write. It begins when this scheduler is the one that acts, which is
    /// at once where there is no other, and is dropped where it stands when that is over. Then nothing that it asks for is
    /// begun any more.
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
    ///         // Whatever became of it, there is a next time.
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
    /// The pods that wait in Permit, sorted by uid.
    pub fn waiting_pods(&self) -> Vec<Uid> {
        lock(&self.waiting).iter().cloned().collect()
    }

    /// Whether pods are being removed to make room for this one: it is not to be tried before that is done.
    pub fn is_preempting(&self, pod: &Uid) -> bool {
        lock(&self.preempting).contains(pod)
    }
    /// Returns whether that is new.
    pub(crate) fn begin_preempting(&self, pod: Uid) -> bool {
        lock(&self.preempting).insert(pod)
    }
    pub(crate) fn preempting(&self) -> usize {
        lock(&self.preempting).len()
    }
    pub(crate) fn end_preempting(&self, pod: &Uid) {
        lock(&self.preempting).remove(pod);
    }
    /// The time, in nanoseconds of the scheduler's clock, as of the last step.
    pub fn now(&self) -> i64 {
        self.now.load(Ordering::Relaxed)
    }

    fn send(&self, command: Command) {
        self.requests.send(command);
    }
    pub(crate) fn requests(&self) -> &RequestQueue {
        &self.requests
    }
    pub(crate) fn publish_now(&self, now: i64) {
        self.now.store(now, Ordering::Relaxed);
    }
    pub(crate) fn begin_waiting(&self, pod: Uid) {
        lock(&self.waiting).insert(pod);
    }
    pub(crate) fn end_waiting(&self, pod: &Uid) {
        lock(&self.waiting).remove(pod);
    }
}

/// Nothing is left half done under these locks, so a panic elsewhere does not spoil what they hold.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A pod that waits in Permit.
#[derive(Clone, Debug)]
pub struct WaitingPod {
    /// Where it shall go.
    pub placement: Placement,
    /// When it began to wait, in nanoseconds of the scheduler's clock.
    pub since: i64,
    /// The plugins that hold it, each with the time when its patience ends, in nanoseconds of the scheduler's clock.
    pub pending: Vec<(&'static str, i64)>,
    /// Who ended its waiting, and why.
    pub rejected: Option<PermitRejection>,
}

/// Why a pod does not wait in Permit any longer, and is not bound either.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PermitRejection {
    /// Who ended it.
    pub plugin: &'static str,
    /// Why.
    pub reason: String,
    /// It made room for another pod, and can be tried again: nobody found it unschedulable.
    pub preempted: bool,
}

impl WaitingPod {
    /// Whether its waiting is over, in one way or the other.
    pub fn is_settled(&self) -> bool {
        self.rejected.is_some() || self.pending.is_empty()
    }
}

/// All pods that wait in Permit, in the order in which they came.
#[derive(Default)]
pub(crate) struct WaitingPodMap {
    pods: BTreeMap<u64, WaitingPod>,
    tickets: Map<Uid, u64>,
    next: u64,
    /// Pods whose waiting is over, which nobody has taken note of yet.
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
    /// When the next patience ends.
    pub(crate) fn next_deadline(&self) -> Option<i64> {
        let unsettled = self.pods.values().filter(|pod| !pod.is_settled());
        unsettled.flat_map(|pod| &pod.pending).map(|(_, deadline)| *deadline).min()
    }
    /// Rejects all whose patience is over.
    pub(crate) fn time_out(&mut self, now: i64) {
        for (_, pod) in self.pods.iter_mut().filter(|(_, pod)| !pod.is_settled()) {
            let over =
                pod.pending.iter().filter(|(_, deadline)| *deadline <= now).min_by_key(|(_, deadline)| *deadline);
            let Some(&(plugin, deadline)) = over else { continue };
            let waited = go_duration(deadline - pod.since);
            let reason = format!("rejected due to timeout after waiting {waited} at plugin {plugin}");
            pod.rejected = Some(PermitRejection { plugin, reason, preempted: false });
            self.settled.push_back(pod.placement.pod.uid.clone());
        }
    }
    pub(crate) fn allow(&mut self, uid: &Uid, plugin: &'static str) {
        self.settle(uid, |pod| pod.pending.retain(|(holder, _)| *holder != plugin));
    }
    /// Returns whether it was not too late.
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

/// The pods that wait in Permit, as a Permit plugin sees them.
pub struct WaitingPods<'a> {
    pub(crate) waiting: &'a mut WaitingPodMap,
    /// The time, in nanoseconds of the scheduler's clock.
    pub now: i64,
}

impl WaitingPods<'_> {
    /// The pods.
    pub fn iter(&self) -> impl Iterator<Item = &WaitingPod> {
        self.waiting.iter()
    }
    /// `plugin` stops holding a pod.
    pub fn allow(&mut self, pod: &Uid, plugin: &'static str) {
        self.waiting.allow(pod, plugin);
    }
    /// `plugin` rejects a pod. Too late if all plugins have let go of it.
    pub fn reject(&mut self, pod: &Uid, plugin: &'static str, reason: impl Into<String>) {
        self.waiting.reject(pod, PermitRejection { plugin, reason: reason.into(), preempted: false });
    }
}
