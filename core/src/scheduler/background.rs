//! Plugins' tasks beside the scheduler: kube-scheduler's plugins have goroutines, a client and informers for that.

use std::collections::BTreeMap;
use std::future::Future;

use futures_util::future::{AbortHandle, Abortable};
use serde_json::Value;

use super::tasks::{Completed, Tasks, Work};
use super::{Scheduler, object_writer};
use crate::background::{ApiRequest, Channel, TaskRequest, Watcher};
use crate::cache::{Base, Cache, PodState, State};
use crate::client::{ApiError, Client};
use crate::events::{
    Action, ChangedObject, ClusterEvent, EventResource, ObjectEvent, PodOnNode, node_changed, object_changed,
};
use crate::map::Map;
use crate::profile::Bundle;

/// The tasks, and what they wait for.
#[derive(Default)]
pub(super) struct Background {
    is_running: bool,
    /// How to end each task.
    tasks: Map<u64, AbortHandle>,
    started: u64,
    /// How to end the task that tells of mail, if there is one: there is as long as there are others.
    notifier: Option<AbortHandle>,
    /// Tasks that sleep, by when they wake up, and in the order in which they went to sleep.
    sleepers: BTreeMap<(i64, u64), Channel<()>>,
    slept: u64,
    watchers: Vec<Watcher>,
}

impl Background {
    /// Whether tasks run that plugins start.
    pub(super) fn is_running(&self) -> bool {
        self.is_running
    }

    /// The first who sleeps wakes up then.
    pub(super) fn next_wake(&self) -> Option<i64> {
        self.sleepers.first_key_value().map(|((at, _), _)| *at)
    }

    /// Wakes those whose time has come.
    pub(super) fn wake(&mut self, now: i64) {
        while let Some(entry) = self.sleepers.first_entry().filter(|entry| entry.key().0 <= now) {
            entry.remove().push(());
        }
    }

    fn sleep(&mut self, until: i64, alarm: Channel<()>) {
        self.slept += 1;
        self.sleepers.insert((until, self.slept), alarm);
    }

    /// Tells tasks of an event.
    pub(super) fn notify_watchers(&mut self, event: ClusterEvent, changed: &ChangedObject, base: &Base) {
        if !self.watchers.is_empty() {
            let happened = ObjectEvent { event, changed: changed.clone() };
            self.watchers.retain(|watcher| watcher(&happened, base));
        }
    }

    /// A task begins, and can be ended from here.
    fn spawn(&mut self, task: impl Future<Output = ()> + Send + 'static, tasks: &mut impl Tasks) {
        self.started += 1;
        let id = self.started;
        let (abort, registration) = AbortHandle::new_pair();
        self.tasks.insert(id, abort);
        let task = Abortable::new(task, registration);
        tasks.spawn(async move {
            // Whether it ended or was ended.
            let _ = task.await;
            Completed(Work::Background(id))
        });
    }
}

impl<B: Bundle, C: Client> Scheduler<B, C> {
    /// From now on the tasks that plugins start run beside the scheduler: it is the one that acts for the cluster, and knows
    /// what it is to know. Whoever does not say so never runs any.
    pub fn start_background(&mut self, tasks: &mut impl Tasks) {
        self.background.is_running = true;
        self.settle(tasks);
    }

    /// The tasks end where they stand, and none begins any more. What they asked the cluster for just before may still be under
    /// way.
    pub fn stop_background(&mut self) {
        let next = Background { started: self.background.started, ..Background::default() };
        let Background { tasks, notifier, .. } = std::mem::replace(&mut self.background, next);
        tasks.into_values().chain(notifier).for_each(|task| task.abort());
    }

    /// How many tasks run for plugins, besides all that is [under way](Scheduler::in_progress): their own, and one that hears what
    /// these ask for.
    pub fn background_tasks(&self) -> usize {
        self.background.tasks.len() + usize::from(self.background.notifier.is_some())
    }

    /// When a task of a plugin's that sleeps wakes up next.
    pub fn next_wake(&self) -> Option<i64> {
        self.background.next_wake()
    }

    /// Does what a task asks for.
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

    /// A task came to its end.
    pub(super) fn background_ended(&mut self, task: u64) {
        self.background.tasks.remove(&task);
        if self.background.tasks.is_empty()
            && let Some(notifier) = self.background.notifier.take()
        {
            notifier.abort();
        }
    }

    /// There is mail, which is read after every step, or nobody waits for any.
    pub(super) fn on_requests_available(&mut self) {
        self.background.notifier = None;
    }

    /// What tasks ask for comes while nothing else happens, and has to be heard then.
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

    fn call(&self, request: ApiRequest, answer: Channel<Result<Value, ApiError>>, tasks: &mut impl Tasks) {
        let client = self.client.clone();
        tasks.spawn(async move {
            answer.push(match request {
                ApiRequest::Get(object) => client.get(&object).await,
                ApiRequest::Write(object, operation) => object_writer::run(&object, &operation, &client).await,
            });
            Completed(Work::Called)
        });
    }

    /// Shows to a task what there is, and has it told of events from now on.
    fn start_watch(&mut self, watcher: Watcher) {
        let base = &self.cache.base;
        if current_objects(&self.cache).all(|came| watcher(&came, base)) {
            self.background.watchers.push(watcher);
        }
    }
}

/// All that there is, each as if it came now.
fn current_objects<S: State>(cache: &Cache<S>) -> impl Iterator<Item = ObjectEvent> {
    let nodes = cache.base.infos().iter().filter_map(|info| info.node.as_ref()).flat_map(|node| {
        let came = move |event| ObjectEvent { event, changed: ChangedObject::Node(None, Some(node.clone())) };
        node_changed(None, Some(node)).into_iter().map(came)
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
