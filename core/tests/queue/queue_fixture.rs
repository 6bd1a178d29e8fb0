//! A queue with short functions: pods have names, plugins have configured answers, and time is in seconds.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::sync::Arc;

use schedc_core::cache::Nominator;
use schedc_core::extension_points::{QueuedPod, QueueingHint};
use schedc_core::intern::{Interner, Symbol};
use schedc_core::model::{Pod, PodSpec, Uid};
use schedc_core::queue::{
    Attempt, Options, PodUpdate, QueueContext, QueueOrder, QueuePlace, Rejectors, SchedulingQueue,
};
use schedc_core::status::Status;
use schedc_objects::testing;

pub const SECOND: i64 = 1_000_000_000;

/// Higher priority first, then earlier arrival.
pub struct PrioritySort;
impl QueueOrder for PrioritySort {
    fn less(a: &QueuedPod, b: &QueuedPod) -> bool {
        let (higher, lower) = (a.pod.spec.priority, b.pod.spec.priority);
        higher > lower || higher == lower && a.timestamp < b.timestamp
    }
}

/// An event that one plugin is registered for.
#[derive(Clone, Debug)]
pub struct Event {
    /// The registered plugin.
    pub plugin: &'static str,
    /// The pods for which the plugin's hint is `Queue`; `None`: all pods.
    pub for_pods: Option<Vec<String>>,
}

/// Plugins with configured answers.
#[derive(Default)]
pub struct Plugins {
    /// Pods, and the PreEnqueue plugin that holds each.
    pub gates: BTreeMap<String, &'static str>,
    pub nominator: Nominator,
    /// The pods in the queue, according to its notifications.
    pub pending: BTreeMap<String, Pod>,
    /// Number of PreEnqueue runs.
    pub pre_enqueues: usize,
    /// Number of lookups of interested plugins.
    pub interests: Cell<usize>,
    /// Number of hint calls.
    pub hints: usize,
}

impl QueueContext for Plugins {
    type Event = Event;
    type Interested = ();

    fn pre_enqueue(&mut self, _: usize, pod: &Pod) -> Result<(), Status> {
        self.pre_enqueues += 1;
        match self.gates.get(&*pod.name) {
            Some(gate) => Err(Status::unresolvable("not yet").with_plugin(gate)),
            None => Ok(()),
        }
    }
    fn interested(&mut self, _: usize, plugins: &[&'static str], event: &Event) -> Option<()> {
        self.interests.set(self.interests.get() + 1);
        plugins.contains(&event.plugin).then_some(())
    }
    fn hint(&mut self, _: usize, (): &(), pod: &QueuedPod, event: &Event) -> QueueingHint {
        self.hints += 1;
        match &event.for_pods {
            Some(pods) if !pods.contains(&pod.pod.name.to_string()) => QueueingHint::Skip,
            _ => QueueingHint::Queue,
        }
    }
    fn nominator(&mut self) -> &mut Nominator {
        &mut self.nominator
    }
    fn pending(&mut self, old: Option<&Pod>, new: Option<&Pod>) {
        if let Some(old) = old {
            assert_eq!(self.pending.remove(&*old.name).as_ref(), Some(old));
        }
        if let Some(new) = new {
            assert_eq!(self.pending.insert(new.name.to_string(), new.clone()), None);
        }
    }
}

/// A queue and its context.
pub struct QueueFixture {
    pub queue: SchedulingQueue<PrioritySort, Event>,
    pub plugins: Plugins,
    /// The time in nanoseconds.
    pub now: i64,
    pub interner: Interner,
    template: Pod,
}

impl QueueFixture {
    pub fn new() -> Self {
        QueueFixture::with(Options::default())
    }
    pub fn with(options: Options) -> Self {
        let mut interner = Interner::default();
        let template = testing::pod("metadata: { name: any }", &mut interner);
        QueueFixture {
            queue: SchedulingQueue::new(options),
            plugins: Plugins::default(),
            now: 100 * SECOND,
            interner,
            template,
        }
    }

    /// Makes a pod with a priority. Its uid is its name.
    pub fn pod(&self, name: &str, priority: i32) -> Arc<Pod> {
        let spec = Arc::new(PodSpec { priority, ..PodSpec::clone(&self.template.spec) });
        Arc::new(Pod { uid: uid(name), name: name.into(), spec, ..self.template.clone() })
    }
    /// Makes a pod that is nominated for a node.
    pub fn nominated(&mut self, name: &str, node: &str) -> Arc<Pod> {
        let node = self.node(node);
        Arc::new(Pod { nominated_node: Some(node), ..Pod::clone(&self.pod(name, 0)) })
    }
    pub fn node(&mut self, name: &str) -> Symbol {
        self.interner.intern(name)
    }

    pub fn add(&mut self, name: &str) {
        self.add_pod(self.pod(name, 0));
    }
    pub fn add_all<const N: usize>(&mut self, names: [&str; N]) {
        names.into_iter().for_each(|name| self.add(name));
    }
    pub fn add_pod(&mut self, pod: Arc<Pod>) {
        let _held = self.queue.add(0, pod, self.now, &mut self.plugins, self.now);
    }
    /// Lets PreEnqueue of a plugin hold the pod with this name.
    pub fn gate(&mut self, name: &str, plugin: &'static str) {
        self.plugins.gates.insert(name.into(), plugin);
    }
    pub fn open(&mut self, name: &str) {
        self.plugins.gates.remove(name);
    }
    /// Changes the pod, with an event that a plugin is registered for.
    pub fn update(&mut self, name: &str, plugin: &'static str) {
        let pod = self.pod(name, 0);
        let event = Event { plugin, for_pods: None };
        self.queue.update(0, PodUpdate { old: &pod.clone(), new: pod, events: [event] }, &mut self.plugins, self.now);
    }
    pub fn delete(&mut self, name: &str) -> bool {
        self.queue.delete(&uid(name), &mut self.plugins)
    }
    pub fn activate(&mut self, name: &str) -> bool {
        self.queue.activate(&uid(name), &mut self.plugins, self.now)
    }
    /// Sends an event that a plugin is registered for, with a hint of `Queue` for all pods.
    pub fn event(&mut self, plugin: &'static str) {
        self.send(Event { plugin, for_pods: None });
    }
    /// Sends an event that a plugin is registered for, with a hint of `Queue` for some pods.
    pub fn event_for(&mut self, plugin: &'static str, pods: &[&str]) {
        self.send(Event { plugin, for_pods: Some(pods.iter().map(ToString::to_string).collect()) });
    }
    pub fn send(&mut self, event: Event) {
        self.queue.on_event(event, |_| true, &mut self.plugins, self.now);
    }
    /// Advances the time by seconds.
    pub fn wait(&mut self, seconds: f64) {
        self.now += (seconds * 1e9).round() as i64;
        self.queue.tick(&mut self.plugins, self.now);
    }

    pub fn try_pop(&mut self) -> Option<Attempt> {
        self.queue.pop(&mut self.plugins, self.now)
    }
    pub fn pop(&mut self) -> Attempt {
        self.try_pop().unwrap()
    }
    /// Pops and binds all pods, and returns their names.
    pub fn drain(&mut self) -> Vec<String> {
        std::iter::from_fn(|| {
            let attempt = self.try_pop()?;
            let name = attempt.pod().name.to_string();
            self.bind(attempt);
            Some(name)
        })
        .collect()
    }
    pub fn bind(&mut self, attempt: Attempt) {
        self.queue.bound(attempt, &mut self.plugins);
    }
    pub fn drop_attempt(&mut self, attempt: Attempt) {
        self.queue.dropped(attempt, &mut self.plugins);
    }
    /// Ends an attempt with rejections by plugins, or, if there are no plugins, with an error.
    pub fn reject(&mut self, attempt: Attempt, plugins: &[&'static str]) -> Option<QueuePlace> {
        let rejectors = Rejectors::new(plugins.iter().copied(), []);
        self.queue.requeue(attempt, rejectors, &mut self.plugins, self.now)
    }
    /// Ends an attempt with the status `Pending` of a plugin.
    pub fn pend(&mut self, attempt: Attempt, plugin: &'static str) -> Option<QueuePlace> {
        self.queue.requeue(attempt, Rejectors::new([], [plugin]), &mut self.plugins, self.now)
    }
    /// Adds a pod that a plugin rejects at once.
    pub fn add_parked(&mut self, name: &str, plugin: &'static str) {
        self.add(name);
        let attempt = self.pop();
        assert_eq!(&*attempt.pod().name, name);
        assert_eq!(self.reject(attempt, &[plugin]), Some(QueuePlace::Unschedulable));
    }

    pub fn place(&self, name: &str) -> Option<QueuePlace> {
        self.queue.place(&uid(name))
    }
    /// Returns the nominated node of a pod.
    pub fn nomination(&self, name: &str) -> Option<&str> {
        self.plugins.nominator.node(&uid(name)).map(|node| self.interner.resolve(node))
    }
}

pub fn uid(name: &str) -> Uid {
    Uid(name.into())
}
