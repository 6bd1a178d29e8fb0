//! Plugins' tasks beside the scheduler: kube-scheduler's plugins have goroutines, a client and informers for that.

use std::collections::BTreeMap;
use std::future::Future;

use futures_util::future::{AbortHandle, Abortable};
use serde_json::Value;

use super::tasks::{Completed, Tasks, Work};
use super::{Scheduler, object_writer};
use crate::background::{Inbox, Order, Request, Watcher};
use crate::cache::{Base, Cache, PodState, State};
use crate::client::{ApiError, Client};
use crate::events::{Action, Changed, ClusterEvent, EventResource, Happened, PodOnNode, node_changed, object_changed};
use crate::map::Map;
use crate::profile::Bundle;

/// The tasks, and what they wait for.
#[derive(Default)]
pub(super) struct Background {
    is_running: bool,
    /// How to end each task.
    tasks: Map<u64, AbortHandle>,
    begun: u64,
    /// How to end the task that tells of mail, if there is one: there is as long as there are others.
    postman: Option<AbortHandle>,
    /// Tasks that sleep, by when they wake up, and in the order in which they went to sleep.
    sleepers: BTreeMap<(i64, u64), Inbox<()>>,
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

    fn sleep(&mut self, until: i64, alarm: Inbox<()>) {
        self.slept += 1;
        self.sleepers.insert((until, self.slept), alarm);
    }

    /// Tells tasks of an event.
    pub(super) fn tell(&mut self, event: ClusterEvent, changed: &Changed, base: &Base) {
        if !self.watchers.is_empty() {
            let happened = Happened { event, changed: changed.clone() };
            self.watchers.retain(|watcher| watcher(&happened, base));
        }
    }

    /// A task begins, and can be ended from here.
    fn spawn(&mut self, task: impl Future<Output = ()> + Send + 'static, tasks: &mut impl Tasks) {
        self.begun += 1;
        let id = self.begun;
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
        let next = Background { begun: self.background.begun, ..Background::default() };
        let Background { tasks, postman, .. } = std::mem::replace(&mut self.background, next);
        tasks.into_values().chain(postman).for_each(|task| task.abort());
    }

    /// How many tasks run for plugins, besides all that is [under way](Scheduler::under_way): their own, and one that hears what
    /// these ask for.
    pub fn background_tasks(&self) -> usize {
        self.background.tasks.len() + usize::from(self.background.postman.is_some())
    }

    /// When a task of a plugin's that sleeps wakes up next.
    pub fn next_wake(&self) -> Option<i64> {
        self.background.next_wake()
    }

    /// Does what a task asks for.
    pub(super) fn obey_order(&mut self, order: Order, tasks: &mut impl Tasks) {
        match order {
            Order::Spawn(task) => self.background.spawn(task, tasks),
            Order::Call(request, answer) => self.call(request, answer, tasks),
            Order::Sleep(time, alarm) => {
                let time = i64::try_from(time.as_nanos()).unwrap_or(i64::MAX);
                self.background.sleep(self.now.saturating_add(time), alarm);
            }
            Order::Watch(watcher) => self.show(watcher),
        }
    }

    /// A task came to its end.
    pub(super) fn background_ended(&mut self, task: u64) {
        self.background.tasks.remove(&task);
        if self.background.tasks.is_empty()
            && let Some(postman) = self.background.postman.take()
        {
            postman.abort();
        }
    }

    /// There is mail, which is read after every step, or nobody waits for any.
    pub(super) fn mail_came(&mut self) {
        self.background.postman = None;
    }

    /// What tasks ask for comes while nothing else happens, and has to be heard then.
    #[inline]
    pub(super) fn await_mail(&mut self, tasks: &mut impl Tasks) {
        if !self.background.tasks.is_empty() && self.background.postman.is_none() {
            self.send_postman(tasks);
        }
    }

    fn send_postman(&mut self, tasks: &mut impl Tasks) {
        let mailbox = self.handle.mailbox().clone();
        let (abort, registration) = AbortHandle::new_pair();
        self.background.postman = Some(abort);
        let mail = Abortable::new(async move { mailbox.has_mail().await }, registration);
        tasks.spawn(async move {
            let _ = mail.await;
            Completed(Work::Mail)
        });
    }

    fn call(&self, request: Request, answer: Inbox<Result<Value, ApiError>>, tasks: &mut impl Tasks) {
        let client = self.client.clone();
        tasks.spawn(async move {
            answer.push(match request {
                Request::Get(object) => client.get(&object).await,
                Request::Do(object, deed) => object_writer::run(&object, &deed, &client).await,
            });
            Completed(Work::Called)
        });
    }

    /// Shows to a task what there is, and has it told of events from now on.
    fn show(&mut self, watcher: Watcher) {
        let base = &self.cache.base;
        if what_is_there(&self.cache).all(|came| watcher(&came, base)) {
            self.background.watchers.push(watcher);
        }
    }
}

/// All that there is, each as if it came now.
fn what_is_there<S: State>(cache: &Cache<S>) -> impl Iterator<Item = Happened> {
    let nodes = cache.base.infos().iter().filter_map(|info| info.node.as_ref()).flat_map(|node| {
        let came = move |event| Happened { event, changed: Changed::Node(None, Some(node.clone())) };
        node_changed(None, Some(node)).into_iter().map(came)
    });
    let bound = cache.pods().filter(|(_, _, state)| *state == PodState::Bound);
    let pods = bound.map(|(pod, node, _)| {
        let event = ClusterEvent::new(EventResource::AssignedPod, Action::ADD);
        Happened { event, changed: Changed::Pod(None, Some(PodOnNode { pod: pod.clone(), node: Some(node) })) }
    });
    let objects = cache.objects().filter_map(|object| {
        let event = object_changed(None, Some(object))?;
        Some(Happened { event, changed: Changed::Object(None, Some(object.clone())) })
    });
    nodes.chain(pods).chain(objects)
}
