//! The cluster of a simulation: a server, pending requests of the scheduler, and undelivered changes of
//! watches.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use k8s_openapi::api::core::v1 as api;
use schedc_core::client::{ApiError, ApiReason};
use schedc_core::model::Uid;
use schedc_in_memory::server::{Change, ChangeKind, Key, PodRef, Request, Response};
use schedc_in_memory::{ApiServer, ApiServerOptions, Controllers, InMemoryClient, PendingCall, PendingSleep};
use schedc_objects::AnyObject;
use serde_json::{Value, json};

use crate::counts::RunCounts;
use crate::delivered::uid;
use crate::devices;
use crate::history::{Answer, PodChange, Step, Stream};
use crate::manifests::{self, PodFacts};
use crate::object::NAMESPACE;

/// Timeout of requests, in nanoseconds.
const REQUEST_TIMEOUT: i64 = 10_000_000_000;

/// A change that a watch has not delivered yet.
#[derive(Clone, Debug)]
pub(crate) struct UndeliveredChange {
    /// The change.
    pub(crate) change: Change,
    /// Number of attempts at the time of the change.
    pub(crate) attempts: u64,
}

/// The watch of a stream.
#[derive(Clone, Debug, Default)]
pub(crate) struct Watch {
    /// Undelivered changes.
    pub(crate) undelivered: VecDeque<UndeliveredChange>,
    /// Whether the watch must list again before it delivers anything.
    pub(crate) broken: bool,
    /// The last delivered change; `None` if the watch has listed since then.
    pub(crate) last: Option<Change>,
}

impl Watch {
    /// Keeps only the last undelivered change of each object that still exists. Returns the number of removed changes.
    pub(crate) fn merge(&mut self) -> u64 {
        let before = self.undelivered.len();
        let mut last = BTreeMap::new();
        let mut kept: VecDeque<UndeliveredChange> = VecDeque::new();
        for undelivered in self.undelivered.drain(..).rev() {
            let (kind, known) = (undelivered.change.kind, last.len());
            let latest = *last.entry(undelivered.change.key.clone()).or_insert(kind);
            let is_latest = last.len() > known;
            if !is_latest && latest != ChangeKind::Deleted {
                continue;
            }
            kept.push_front(undelivered);
        }
        self.undelivered = kept;
        (before - self.undelivered.len()) as u64
    }
}

/// The world outside of the scheduler.
pub(crate) struct Cluster {
    /// The API server.
    pub(crate) server: ApiServer,
    /// The time, in nanoseconds.
    pub(crate) now: i64,
    /// Watches, in the order of the streams.
    pub(crate) watches: [Watch; Stream::ALL.len()],
    /// Requests without a response so far.
    pub(crate) calls: Vec<PendingCall>,
    /// Requests that get no response, with the times when they time out.
    abandoned: Vec<(i64, PendingCall)>,
    sleeps: Vec<(i64, PendingSleep)>,
    controllers: Controllers,
    /// Version of the server up to which watches have received changes.
    observed: u64,
    /// Nodes of bound pods, by uid.
    bound: BTreeMap<Arc<str>, String>,
    /// Pods that changed their node, which no API server allows.
    pub(crate) moved: Vec<String>,
    /// Uids of pods whose binding by this scheduler succeeded, if the scheduler received the response or was stopped.
    own_bindings: BTreeSet<Arc<str>>,
    /// Uids of claims with a write whose response was lost.
    pub(crate) uncertain: BTreeSet<Arc<str>>,
    /// Uids of claims with a request that failed or was lost.
    pub(crate) faulted: BTreeSet<Arc<str>>,
}

impl Cluster {
    /// Creates a cluster with storage classes.
    pub(crate) fn new() -> Self {
        let options = ApiServerOptions { events_kept: 0, finalizers_hold: true, ..ApiServerOptions::default() };
        let mut cluster = Cluster {
            server: ApiServer::new(options),
            now: 1_700_000_000_000_000_000,
            watches: Default::default(),
            calls: Vec::new(),
            abandoned: Vec::new(),
            sleeps: Vec::new(),
            controllers: Controllers::default(),
            observed: 0,
            bound: BTreeMap::new(),
            moved: Vec::new(),
            own_bindings: BTreeSet::new(),
            uncertain: BTreeSet::new(),
            faulted: BTreeSet::new(),
        };
        for class in manifests::classes() {
            cluster.apply(class);
        }
        cluster
    }

    fn send(&mut self, request: &Request) -> Response {
        self.server.handle(request, self.now)
    }
    /// Creates an object, unless it exists. Returns whether it was created.
    fn create(&mut self, object: AnyObject) -> bool {
        self.send(&Request::Create(Box::new(object))).is_ok()
    }
    fn apply(&mut self, object: AnyObject) {
        // Invalid objects are refused as in a real cluster, without effect.
        let _ = self.send(&Request::Apply(Box::new(object)));
    }
    fn delete(&mut self, key: Key) {
        let _ = self.send(&Request::Delete(key, None));
    }

    /// Returns a pod, if it exists.
    pub(crate) fn pod(&self, id: u8) -> Option<&api::Pod> {
        match self.server.get(&Key::pod(NAMESPACE, format!("p{id}"))).map(|object| &**object) {
            Some(AnyObject::Pod(pod)) => Some(pod),
            _ => None,
        }
    }

    fn pod_ref(&self, id: u8) -> Option<PodRef> {
        let uid = self.pod(id)?.metadata.uid.as_deref()?;
        Some(PodRef { namespace: NAMESPACE.into(), name: format!("p{id}").into(), uid: Uid(uid.into()) })
    }

    fn patch_pod(&mut self, id: u8, patch: Value) {
        let pod = Key::pod(NAMESPACE, format!("p{id}"));
        let _ = self.send(&Request::Patch(pod, patch));
    }

    /// Performs a step outside of the scheduler. Returns whether the step had an effect; `None` for all other steps.
    pub(crate) fn step(&mut self, step: &Step) -> Option<bool> {
        let before = self.server.store().version();
        match step {
            Step::Node(node) => self.apply(manifests::node(node)),
            Step::DeleteNode(node) => self.delete(Key::cluster("Node", format!("n{node}"))),
            Step::Pod(pod) => {
                return Some(self.create(manifests::pod(pod)));
            }
            Step::ChangePod(id, change) => {
                // If the request of a nominated pod decreases, pods that fit as a result are not requeued, as in
                // kube-scheduler. Therefore, nominated pods keep their requests.
                let is_nominated_resize = |pod: &&api::Pod| {
                    let status = pod.status.as_ref();
                    matches!(change, PodChange::Resize(_)) && status.is_some_and(|s| s.nominated_node_name.is_some())
                };
                if let Some(pod) = self.pod(*id).filter(|pod| !is_nominated_resize(pod)) {
                    let patch = manifests::pod_change(pod, *change);
                    self.patch_pod(*id, patch);
                }
            }
            Step::DeletePod(pod) => self.delete(Key::pod(NAMESPACE, format!("p{pod}"))),
            Step::FinishPod(id) => {
                if self.pod(*id).is_some_and(|pod| PodFacts::of(pod).node.is_some()) {
                    self.patch_pod(*id, json!({"status": {"phase": "Succeeded"}}));
                }
            }
            Step::BindElsewhere(pod, node) => {
                if let Some(pod) = self.pod_ref(*pod) {
                    let _ = self.send(&Request::Bind { pod, node: format!("n{node}").into() });
                }
            }
            Step::Nominate(id, node) => {
                if self.pod(*id).is_some_and(|pod| PodFacts::of(pod).node.is_none()) {
                    let node = node.map(|node| format!("n{node}"));
                    self.patch_pod(*id, json!({"status": {"nominatedNodeName": node}}));
                }
            }
            Step::Budget(group, available) => self.apply(manifests::budget(*group, *available)),
            Step::DeleteBudget(group) => self.delete(namespaced("PodDisruptionBudget", format!("b{group}"))),
            Step::Claim(claim, storage) => {
                return Some(self.create(manifests::claim(*claim, *storage)));
            }
            Step::DeleteClaim(claim) => {
                let name = format!("c{claim}");
                // A claim in use is protected.
                let mounts = |pod: &api::Pod| PodFacts::of(pod).claim.as_ref() == Some(&name);
                if !self.server.list("Pod").filter_map(|object| as_pod(object)).any(mounts) {
                    self.delete(namespaced("PersistentVolumeClaim", name));
                }
            }
            Step::Volume(volume, zone) => {
                let key = Key::cluster("PersistentVolume", format!("v{volume}"));
                if let Some(AnyObject::PersistentVolume(old)) = self.server.get(&key).map(|object| &**object)
                    && old.status.as_ref().and_then(|status| status.phase.as_deref()) == Some("Released")
                {
                    self.delete(key);
                }
                return Some(self.create(manifests::volume(*volume, *zone)));
            }
            Step::Slices(slices) => {
                for object in devices::class_and_templates() {
                    self.create(object);
                }
                devices::slices(slices).into_iter().for_each(|slice| self.apply(slice));
            }
            Step::DeleteSlices(node, generation) => {
                let names = devices::slice_names(*node, *generation);
                names.into_iter().for_each(|name| self.delete(Key::cluster("ResourceSlice", name)));
            }
            Step::ResourceClaim(claim, request) => {
                return Some(self.create(devices::claim(*claim, *request)));
            }
            Step::DeleteResourceClaim(claim) => self.delete(namespaced("ResourceClaim", format!("r{claim}"))),
            Step::Controllers => self.controllers.run(&mut self.server, self.now),
            _ => return None,
        }
        Some(self.server.store().version() > before)
    }

    /// Deletes pods on nodes that do not exist, like Kubernetes' garbage collection. Returns whether it deleted a pod.
    pub(crate) fn collect_garbage(&mut self) -> bool {
        let is_lost = |pod: &api::Pod| {
            let PodFacts { node, deleting, .. } = PodFacts::of(pod);
            node.is_some_and(|node| self.server.get(&Key::cluster("Node", node)).is_none()) && !deleting
        };
        let pods = self.server.list("Pod").filter(|object| as_pod(object).is_some_and(is_lost));
        let lost: Vec<Key> = pods.map(|object| Key::of(object)).collect();
        let has_lost = !lost.is_empty();
        lost.into_iter().for_each(|pod| self.delete(pod));
        has_lost
    }

    /// Passes changes of the server to the watches. `attempts` is the number of attempts so far.
    pub(crate) fn observe(&mut self, attempts: u64, counts: &mut RunCounts) {
        while let Some(change) = self.server.store().after(self.observed).cloned() {
            self.observed = change.version;
            if let AnyObject::Pod(pod) = &*change.object
                && let PodFacts { name, node: Some(node), .. } = PodFacts::of(pod)
                && let Some(earlier) = self.bound.insert(uid(&change.object), node.clone())
                && earlier != node
            {
                self.moved.push(format!("{name} moved from {earlier} to {node}"));
            }
            let Some(at) = Stream::ALL.iter().position(|stream| stream.kind() == change.object.kind()) else {
                continue;
            };
            if self.watches[at].broken {
                counts.add("fault", "change lost with its watch");
                continue;
            }
            self.watches[at].undelivered.push_back(UndeliveredChange { change, attempts });
        }
    }

    /// Runs the controllers. Then discards the server's changes, if the watches have received all of them.
    pub(crate) fn forget_changes(&mut self) {
        self.controllers.run(&mut self.server, self.now);
        if self.observed == self.server.store().version() {
            self.server.forget(self.observed);
        }
    }

    /// Accepts and returns the new requests of the scheduler's client. Events are dropped: they need no response.
    pub(crate) fn take_calls(&mut self, client: &InMemoryClient) -> Vec<Request> {
        let mut requests = Vec::new();
        for call in client.take_calls() {
            if matches!(call.request, Request::Record(_)) {
                continue;
            }
            requests.push(call.request.clone());
            self.calls.push(call);
        }
        for sleep in client.take_sleeps() {
            let until = self.now.saturating_add(i64::try_from(sleep.time.as_nanos()).unwrap_or(i64::MAX));
            self.sleeps.push((until, sleep));
        }
        requests
    }

    /// Responds to the pending request at an index, modulo the number of pending requests. Returns the request; `None`
    /// if none is pending.
    pub(crate) fn answer(&mut self, at: usize, answer: Answer) -> Option<Request> {
        if self.calls.is_empty() {
            return None;
        }
        let call = self.calls.remove(at % self.calls.len());
        let request = call.request.clone();
        if let Some(claim) = claim_of(&request).and_then(|key| self.server.get(key)).map(|claim| uid(claim)) {
            // A cancelled caller receives no response, either. For example, preemption cancels PreBind of its victims.
            let is_lost = answer == Answer::Lost || call.is_abandoned();
            if is_lost {
                self.uncertain.insert(claim.clone());
            }
            if is_lost || answer != Answer::Done {
                self.faulted.insert(claim);
            }
        }
        match answer {
            Answer::Done => {
                let response = self.send(&request);
                if let (Request::Bind { pod, .. }, Ok(_)) = (&request, &response) {
                    self.own_bindings.insert(pod.uid.0.clone());
                }
                call.answer(response);
            }
            Answer::Lost => {
                let _ = self.send(&request);
                self.abandoned.push((self.now + REQUEST_TIMEOUT, call));
            }
            Answer::TimeOut => self.abandoned.push((self.now + REQUEST_TIMEOUT, call)),
            Answer::Conflict => {
                call.answer(Err(ApiError::new(ApiReason::Conflict, "the object has been modified; please try again")));
            }
            Answer::Refused => {
                call.answer(Err(ApiError::new(ApiReason::Other, "etcdserver: leader changed")));
            }
        }
        Some(request)
    }

    /// Responds to the pending request at an index, like [`Cluster::answer`], but without executing it.
    pub(crate) fn answer_without_effect(&mut self, at: usize, response: Response) -> Option<Request> {
        if self.calls.is_empty() {
            return None;
        }
        let call = self.calls.remove(at % self.calls.len());
        let request = call.request.clone();
        call.answer(response);
        Some(request)
    }

    /// Moves a pod to a node, even if the pod already has another node.
    pub(crate) fn force_node(&mut self, pod: &PodRef, node: &str) {
        if let Some(AnyObject::Pod(old)) = self.server.get(&pod.key()).map(|object| &**object) {
            let mut moved = old.clone();
            moved.spec.get_or_insert_default().node_name = Some(node.to_owned());
            let _ = self.server.update(AnyObject::Pod(moved));
        }
    }

    /// Returns the indexes of pending requests other than bindings, status patches and requests for resource claims.
    pub(crate) fn rare_calls(&self) -> Vec<u8> {
        self.calls_with(|request| {
            !matches!(request, Request::Bind { .. } | Request::PatchPodStatus { .. }) && claim_of(request).is_none()
        })
    }

    /// Returns the indexes of pending requests for resource claims.
    pub(crate) fn claim_calls(&self) -> Vec<u8> {
        self.calls_with(|request| claim_of(request).is_some())
    }

    fn calls_with(&self, is_wanted: impl Fn(&Request) -> bool) -> Vec<u8> {
        let wanted = self.calls.iter().enumerate().filter(|(_, call)| is_wanted(&call.request));
        wanted.filter_map(|(at, _)| at.try_into().ok()).collect()
    }

    /// Returns the requests that were sent and have no response.
    pub(crate) fn outstanding(&self) -> impl Iterator<Item = &PendingCall> {
        self.calls.iter().chain(self.abandoned.iter().map(|(_, call)| call))
    }

    /// Drops the scheduler. Its pending requests are executed if `requests_arrive`.
    pub(crate) fn drop_scheduler(&mut self, requests_arrive: bool) {
        // Requests of Unreserve are possibly among the dropped requests, or are never sent. Therefore all claims count
        // as faulted.
        self.faulted.extend(self.server.list("ResourceClaim").map(|claim| uid(claim)));
        for call in std::mem::take(&mut self.calls) {
            if requests_arrive
                && self.send(&call.request).is_ok()
                && let Request::Bind { pod, .. } = &call.request
            {
                self.own_bindings.insert(pod.uid.0.clone());
            }
        }
        self.abandoned.clear();
        self.sleeps.clear();
    }

    /// Advances the time.
    pub(crate) fn pass(&mut self, time: Duration) {
        self.now = self.now.saturating_add(i64::try_from(time.as_nanos()).unwrap_or(i64::MAX));
        let now = self.now;
        self.server.tick(now);
        for (_, sleep) in self.sleeps.extract_if(.., |(until, _)| *until <= now) {
            sleep.wake();
        }
        // The callers of dropped calls receive a timeout error.
        self.abandoned.retain(|(until, _)| *until > now);
    }

    /// Returns the time of the next event, if any.
    pub(crate) fn next_time(&self) -> Option<i64> {
        let sleeps = self.sleeps.iter().filter(|(_, sleep)| !sleep.is_abandoned()).map(|(until, _)| *until);
        let abandoned = self.abandoned.iter().map(|(until, _)| *until);
        sleeps.chain(abandoned).chain(self.server.next_removal()).min()
    }

    /// Returns whether this scheduler bound a pod, and received the response or was stopped before it.
    pub(crate) fn has_bound(&self, uid: &str) -> bool {
        self.own_bindings.contains(uid)
    }

    /// Returns the result of a list request of a watch.
    pub(crate) fn list(&self, stream: Stream) -> Vec<Arc<AnyObject>> {
        self.server.list(stream.kind()).cloned().collect()
    }
}

impl Default for Cluster {
    fn default() -> Self {
        Cluster::new()
    }
}

fn namespaced(kind: &'static str, name: String) -> Key {
    Key { kind, namespace: NAMESPACE.into(), name: name.into() }
}

/// Returns the claim of a request for a resource claim.
pub(crate) fn claim_of(request: &Request) -> Option<&Key> {
    match request {
        Request::Get(key) | Request::Patch(key, _) | Request::Delete(key, _) if key.kind == "ResourceClaim" => {
            Some(key)
        }
        _ => None,
    }
}

fn as_pod(object: &AnyObject) -> Option<&api::Pod> {
    match object {
        AnyObject::Pod(pod) => Some(pod),
        _ => None,
    }
}
