//! Test harness for scenarios: a scheduler, an API server, tasks, and a clock.

use std::collections::BTreeMap;
use std::future::Future;
use std::mem::take;
use std::pin::Pin;
use std::sync::MutexGuard;
use std::task::{Context, Poll, Waker};

use k8s_openapi::api::core::v1::{Pod as ApiPod, PodCondition};
use schedc_core::client::ApiError;
use schedc_core::model::Uid;
use schedc_core::queue::QueuePlace;
use schedc_core::scheduler::{Change, Completed, InProgressCounts, Options, Scheduler, Tasks, TieBreak};
use schedc_objects::{Manifests, Objects, convert_node, convert_object, convert_pod, is_finished};

use crate::scheduler::pipelines::Profiles;
use crate::scheduler::server::{Api, Server};

const SECOND: i64 = 1_000_000_000;

type Task = Pin<Box<dyn Future<Output = Completed>>>;

/// Tasks, each with the pod whose attempt started it. All are polled after every change.
#[derive(Default)]
struct Running {
    tasks: Vec<(String, Task)>,
    /// Pod whose attempt owns new tasks.
    owner: String,
}

impl Tasks for Running {
    fn spawn(&mut self, task: impl Future<Output = Completed> + Send + 'static) {
        self.tasks.push((self.owner.clone(), Box::pin(task)));
    }
}

/// A scheduler in a cluster.
pub(crate) struct Harness {
    scheduler: Scheduler<Profiles, Api>,
    api: Api,
    running: Running,
    /// Uids of the pods that were delivered to the scheduler, by name.
    uids: BTreeMap<String, Uid>,
    now: i64,
}

impl Harness {
    /// Creates a cluster with these objects, delivered to the scheduler, before any attempt.
    pub(crate) fn new(manifests: &str) -> Harness {
        let api = Api::default();
        let options = Options { tie_break: TieBreak::First, ..Options::default() };
        let scheduler = Scheduler::new(api.clone(), options).unwrap();
        let mut harness = Harness { scheduler, api, running: Running::default(), uids: BTreeMap::new(), now: 0 };
        harness.create(manifests);
        harness
    }

    /// Creates or replaces objects.
    pub(crate) fn create(&mut self, manifests: &str) {
        let manifests = Manifests::parse("scenario.yaml", manifests).unwrap_or_else(|error| panic!("{error}"));
        let objects = Objects::new(manifests, Default::default()).unwrap_or_else(|error| panic!("{error}"));
        for node in &objects.nodes {
            let node = convert_node(&node.object, &mut self.scheduler.cache.base.interner);
            self.scheduler.on_change(Change::Node(node), &mut self.running);
        }
        for object in objects.others() {
            if let Some(object) = convert_object(object, &mut self.scheduler.cache.base.interner) {
                self.scheduler.on_change(Change::Object(object), &mut self.running);
            }
        }
        for pod in objects.pods {
            self.server().put(pod.object);
        }
        self.settle();
    }
    /// Deletes a node, but not its pods.
    pub(crate) fn remove_node(&mut self, name: &str) {
        let name = self.scheduler.cache.base.interner.intern(name);
        self.scheduler.on_change(Change::NodeDeleted(name), &mut self.running);
        self.settle();
    }
    /// Deletes a pod with its grace period.
    pub(crate) fn delete(&mut self, pod: &str) {
        let answer = self.server().delete(pod);
        answer.unwrap();
        self.settle();
    }
    /// Removes a pod immediately.
    pub(crate) fn remove(&mut self, pod: &str) {
        self.server().remove(pod);
        self.settle();
    }
    pub(crate) fn edit(&mut self, pod: &str, change: impl FnOnce(&mut ApiPod)) {
        self.server().edit(pod, change);
        self.settle();
    }
    /// Binds a pod, as another scheduler would.
    pub(crate) fn bind(&mut self, pod: &str, node: &str) {
        self.edit(pod, |pod| pod.spec.get_or_insert_default().node_name = Some(node.to_owned()));
    }

    /// Returns the API server.
    pub(crate) fn server(&self) -> MutexGuard<'_, Server> {
        self.api.server()
    }
    /// Holds responses to requests with this prefix.
    pub(crate) fn hold(&mut self, requests: &str) {
        self.hold_of("", requests);
    }
    /// Holds responses to requests with this prefix from a pod's attempt.
    pub(crate) fn hold_of(&mut self, owner: &str, requests: &str) {
        self.server().hold(owner, requests);
    }
    /// Releases held responses.
    pub(crate) fn release(&mut self, requests: &str) {
        self.release_of("", requests);
    }
    /// Releases held responses of a pod's attempt.
    pub(crate) fn release_of(&mut self, owner: &str, requests: &str) {
        self.server().release(owner, requests);
        self.settle();
    }
    /// Fails the next request with this prefix.
    pub(crate) fn fail(&mut self, requests: &str, error: ApiError) {
        self.server().fail(requests, error);
    }
    /// Returns the requests without a response.
    pub(crate) fn pending(&self) -> Vec<String> {
        self.server().pending()
    }
    /// Returns requests, responses and events since the last call.
    pub(crate) fn log(&mut self) -> Vec<String> {
        self.server().take_log()
    }

    /// Tries the next pod, which must be this one, and settles.
    pub(crate) fn schedule(&mut self, pod: &str) {
        assert_eq!(self.schedule_next().as_deref(), Some(pod), "the pod that is tried next");
    }
    /// Tries the next pod after all backoffs, and settles. Returns its name.
    pub(crate) fn schedule_next(&mut self) -> Option<String> {
        self.pass(2);
        let before = self.in_flight();
        let tasks = self.running.tasks.len();
        if !self.scheduler.schedule_one(&mut self.running) {
            return None;
        }
        let begun = self.in_flight().into_iter().find(|name| !before.contains(name));
        let failed = || self.scheduler.take_outcomes().pop().map(|outcome| outcome.pod.name.to_string());
        let pod = begun.or_else(failed).expect("a pod that is tried goes on, or fails");
        for (owner, _) in &mut self.running.tasks[tasks..] {
            owner.clone_from(&pod);
        }
        self.settle();
        Some(pod)
    }
    fn in_flight(&self) -> Vec<String> {
        let is_in_flight = |uid| self.scheduler.place(uid) == Some(QueuePlace::InFlight);
        self.uids.iter().filter(|(_, uid)| is_in_flight(uid)).map(|(name, _)| name.clone()).collect()
    }
    /// Tries pods until none is left to try.
    pub(crate) fn run(&mut self) {
        for _ in 0..100 {
            if self.schedule_next().is_none() {
                return;
            }
        }
        panic!("there is always a pod to try: {:#?}", self.log());
    }
    /// Advances the time without attempts.
    pub(crate) fn pass(&mut self, seconds: i64) {
        self.now += seconds * SECOND;
        self.scheduler.tick(self.now, &mut self.running);
        self.settle();
    }

    /// Answers requests, runs tasks and notifies the scheduler until nothing changes, without attempts.
    fn settle(&mut self) {
        while self.deliver_changes() | self.answer() | self.poll() {}
        self.scheduler.take_outcomes();
    }
    fn answer(&self) -> bool {
        self.server().answer()
    }
    /// Polls all tasks. Returns whether any made progress.
    fn poll(&mut self) -> bool {
        let mut context = Context::from_waker(Waker::noop());
        let request_count = self.server().request_count();
        let mut any = false;
        for (owner, mut task) in take(&mut self.running.tasks) {
            self.server().owner.clone_from(&owner);
            match task.as_mut().poll(&mut context) {
                Poll::Pending => self.running.tasks.push((owner, task)),
                Poll::Ready(completed) => {
                    any = true;
                    self.running.owner = owner;
                    self.scheduler.on_completed(completed, &mut self.running);
                }
            }
        }
        self.running.owner.clear();
        any || self.server().request_count() > request_count
    }
    /// Notifies the scheduler of changed pods.
    fn deliver_changes(&mut self) -> bool {
        let changes = self.server().take_changes();
        let any = !changes.is_empty();
        for (name, pod) in changes {
            let pod = pod.filter(|pod| !is_finished(pod));
            let pod = pod.map(|pod| convert_pod(&pod, &mut self.scheduler.cache.base.interner));
            match pod {
                // The deletion of an earlier pod of this name is not delivered.
                Some(pod) => {
                    self.uids.insert(name, pod.uid.clone());
                    self.scheduler.on_change(Change::Pod(pod), &mut self.running);
                }
                None => {
                    let Some(uid) = self.uids.remove(&name) else { continue };
                    self.scheduler.on_change(Change::PodDeleted(uid), &mut self.running);
                }
            }
        }
        any
    }

    /// Returns the place of a pod in the queue.
    pub(crate) fn place(&self, pod: &str) -> Option<QueuePlace> {
        self.scheduler.place(self.uids.get(pod)?)
    }
    /// Activates a pod. Returns whether its preemption holds it in the queue nevertheless.
    pub(crate) fn stays_held_by_its_preemption(&mut self, pod: &str) -> bool {
        let uid = &self.uids[pod];
        let is_active = self.scheduler.activate(uid);
        let status = self.scheduler.gate_status(uid).map(|status| status.message());
        !is_active && status.as_deref() == Some("waiting for the preemption for this pod to be finished")
    }
    /// Returns the counts of unfinished work in the scheduler.
    pub(crate) fn under_way(&self) -> InProgressCounts {
        self.scheduler.in_progress()
    }
    /// Returns the node of a pod.
    pub(crate) fn node_of(&self, pod: &str) -> Option<String> {
        self.api_pod(pod).spec?.node_name
    }
    /// Returns the nominated node in a pod's status.
    pub(crate) fn nominated(&self, pod: &str) -> Option<String> {
        self.api_pod(pod).status?.nominated_node_name
    }
    /// Returns the reason and the message of a pod's condition.
    pub(crate) fn condition(&self, pod: &str, kind: &str) -> (String, String) {
        let conditions = self.api_pod(pod).status.and_then(|status| status.conditions).unwrap_or_default();
        let found = conditions.into_iter().find(|condition| condition.type_ == kind);
        let PodCondition { reason, message, .. } = found.unwrap_or_default();
        (reason.unwrap_or_default(), message.unwrap_or_default())
    }
    /// Returns whether a pod no longer exists.
    pub(crate) fn is_gone(&self, pod: &str) -> bool {
        self.server().pod(pod).is_none()
    }
    fn api_pod(&self, pod: &str) -> ApiPod {
        self.server().pod(pod).unwrap_or_else(|| panic!("no pod {pod}")).clone()
    }
}

/// After a scenario without held responses, only pods that wait in Permit may be in progress.
impl Drop for Harness {
    fn drop(&mut self) {
        if !std::thread::panicking() && self.running.tasks.is_empty() {
            let waiting = self.under_way().waiting;
            let expected = InProgressCounts { attempts: waiting, bindings: waiting, waiting, ..self.under_way() };
            assert_eq!(self.under_way(), InProgressCounts { status_writes: 0, preemptions: 0, ..expected });
        }
    }
}
