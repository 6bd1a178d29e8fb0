//! Background tasks of plugins. In kube-scheduler, plugins use goroutines, a client and informers for the same purpose.

use std::collections::BTreeMap;
use std::future::Future;

use futures_util::future::{AbortHandle, Abortable};
use serde_json::Value;

use super::tasks::{Completed, Tasks, Work};
use super::{Scheduler, object_writer};
use crate::engine::bundle::Bundle;
use crate::model::cache::{Base, Cache, PodState, State};
use crate::model::map::Map;
use crate::plugin_api::background::{Channel, ObjectRequest, TaskRequest, Watcher};
use crate::plugin_api::client::{ApiError, Client};
use crate::plugin_api::events::{
    Action, ChangedObject, ClusterEvent, EventResource, ObjectEvent, PodOnNode, node_changed, object_changed,
};

/// The tasks, and the events that they wait for.
#[derive(Default)]
pub(super) struct Background {
    is_running: bool,
    /// Abort handle of each task.
    tasks: Map<u64, AbortHandle>,
    started: u64,
    /// Abort handle of the task that signals requests; it exists as long as other tasks do.
    notifier: Option<AbortHandle>,
    /// Sleeping tasks, by wake-up time and by the order in which they went to sleep.
    sleepers: BTreeMap<(i64, u64), Channel<()>>,
    slept: u64,
    watchers: Vec<Watcher>,
}

impl Background {
    /// Returns whether background tasks run.
    pub(super) fn is_running(&self) -> bool {
        self.is_running
    }

    /// Returns the next wake-up time.
    pub(super) fn next_wake(&self) -> Option<i64> {
        self.sleepers.first_key_value().map(|((at, _), _)| *at)
    }

    /// Wakes the tasks whose time has come.
    pub(super) fn wake(&mut self, now: i64) {
        while let Some(entry) = self.sleepers.first_entry().filter(|entry| entry.key().0 <= now) {
            entry.remove().push(());
        }
    }

    fn sleep(&mut self, until: i64, alarm: Channel<()>) {
        self.slept += 1;
        self.sleepers.insert((until, self.slept), alarm);
    }

    /// Notifies tasks of an event.
    pub(super) fn notify_watchers(&mut self, event: ClusterEvent, changed: &ChangedObject, base: &Base) {
        if !self.watchers.is_empty() {
            let happened = ObjectEvent { event, changed: changed.clone() };
            self.watchers.retain(|watcher| watcher(&happened, base));
        }
    }

    /// Starts a task with an abort handle.
    fn spawn(&mut self, task: impl Future<Output = ()> + Send + 'static, tasks: &mut impl Tasks) {
        self.started += 1;
        let id = self.started;
        let (abort, registration) = AbortHandle::new_pair();
        self.tasks.insert(id, abort);
        let task = Abortable::new(task, registration);
        tasks.spawn(async move {
            // Completed or aborted.
            let _ = task.await;
            Completed(Work::Background(id))
        });
    }
}

impl<B: Bundle, C: Client> Scheduler<B, C> {
    /// Starts the background tasks that plugins have requested, and those that they request from now on. Call this when
    /// this scheduler is the leader and its caches have synced. Without this call, no background task runs.
    pub fn start_background(&mut self, tasks: &mut impl Tasks) {
        self.background.is_running = true;
        self.settle(tasks);
    }

    /// Aborts all background tasks, and starts no more. Requests to the cluster that are already in progress continue.
    pub fn stop_background(&mut self) {
        self.handle.requests().discard_requests_of_tasks();
        let next = Background { started: self.background.started, ..Background::default() };
        let Background { tasks, notifier, .. } = std::mem::replace(&mut self.background, next);
        tasks.into_values().chain(notifier).for_each(|task| task.abort());
    }

    /// Returns the number of background tasks, which [`Scheduler::in_progress`] does not count: those of plugins, and
    /// one that signals their requests.
    pub fn background_tasks(&self) -> usize {
        self.background.tasks.len() + usize::from(self.background.notifier.is_some())
    }

    /// Returns the time when a sleeping background task wakes up next.
    pub fn next_wake(&self) -> Option<i64> {
        self.background.next_wake()
    }

    pub(super) fn run_task_request(&mut self, task_request: TaskRequest, tasks: &mut impl Tasks) {
        match task_request {
            TaskRequest::Spawn(task) => self.background.spawn(task, tasks),
            TaskRequest::Call(request, answer) => self.call(request, answer, tasks),
            TaskRequest::Sleep(time, alarm) => {
                let time = i64::try_from(time.as_nanos()).unwrap_or(i64::MAX);
                self.background.sleep(self.now.saturating_add(time), alarm);
            }
            TaskRequest::Watch(watcher) => self.start_watch(watcher),
        }
    }

    /// Removes a task that ended.
    pub(super) fn background_ended(&mut self, task: u64) {
        self.background.tasks.remove(&task);
        if self.background.tasks.is_empty()
            && let Some(notifier) = self.background.notifier.take()
        {
            notifier.abort();
        }
    }

    /// Handles the end of the task that signals requests. The requests themselves are read after every step.
    pub(super) fn on_requests_available(&mut self) {
        self.background.notifier = None;
    }

    /// Starts the task that signals requests, if there are background tasks: their requests may arrive without any
    /// other event.
    #[inline]
    pub(super) fn await_requests(&mut self, tasks: &mut impl Tasks) {
        if !self.background.tasks.is_empty() && self.background.notifier.is_none() {
            self.spawn_request_notifier(tasks);
        }
    }

    fn spawn_request_notifier(&mut self, tasks: &mut impl Tasks) {
        let requests = self.handle.requests().clone();
        let (abort, registration) = AbortHandle::new_pair();
        self.background.notifier = Some(abort);
        let notify = Abortable::new(async move { requests.wait_nonempty().await }, registration);
        tasks.spawn(async move {
            let _ = notify.await;
            Completed(Work::RequestsAvailable)
        });
    }

    fn call(&self, request: ObjectRequest, answer: Channel<Result<Value, ApiError>>, tasks: &mut impl Tasks) {
        let client = self.client.clone();
        tasks.spawn(async move {
            answer.push(match request {
                ObjectRequest::Get(object) => client.get(&object).await,
                ObjectRequest::Write(object, operation) => object_writer::run(&object, &operation, &client).await,
            });
            Completed(Work::Called)
        });
    }

    /// Sends all current objects to a task, and notifies it of events from now on.
    fn start_watch(&mut self, watcher: Watcher) {
        let base = &self.cache.base;
        if current_objects(&self.cache).all(|addition| watcher(&addition, base)) {
            self.background.watchers.push(watcher);
        }
    }
}

/// Returns all current objects, each as an addition.
fn current_objects<S: State>(cache: &Cache<S>) -> impl Iterator<Item = ObjectEvent> {
    let nodes = cache.base.infos().iter().filter_map(|info| info.node.as_ref()).flat_map(|node| {
        let addition = move |event| ObjectEvent { event, changed: ChangedObject::Node(None, Some(node.clone())) };
        node_changed(None, Some(node)).into_iter().map(addition)
    });
    let bound = cache.pods().filter(|(_, _, state)| *state == PodState::Bound);
    let pods = bound.map(|(pod, node, _)| {
        let event = ClusterEvent::new(EventResource::AssignedPod, Action::ADD);
        ObjectEvent { event, changed: ChangedObject::Pod(None, Some(PodOnNode { pod: pod.clone(), node: Some(node) })) }
    });
    let objects = cache.objects().filter_map(|object| {
        let event = object_changed(None, Some(object))?;
        Some(ObjectEvent { event, changed: ChangedObject::Object(None, Some(object.clone())) })
    });
    nodes.chain(pods).chain(objects)
}
