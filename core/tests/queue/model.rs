//! Random histories, compared with a reference queue. For every event, the reference queue checks all parked pods, and
//! stores a copy of the event in each pod in flight.

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;
use schedc_core::queue::QueuePlace::{self, Active, Backoff, ErrorBackoff, Gated, InFlight, Unschedulable};
use schedc_core::queue::{Attempt, PodUpdate, Rejectors};

use crate::queue::queue_fixture::{Event, QueueFixture, SECOND};

const PODS: usize = 6;
const PLUGINS: [&str; 3] = ["Fit", "Affinity", "Gate"];

/// One step of a history.
#[derive(Clone, Debug)]
enum Step {
    Create(usize),
    /// The pod gets another priority, with an event for which this plugin is registered.
    Change(usize, usize),
    Delete(usize),
    Activate(usize),
    /// An event whose hint is `Queue` for these pods.
    Send(usize, BTreeSet<usize>),
    /// PreEnqueue holds the pod from now on, or no longer.
    Gate(usize, bool),
    Nominate(usize),
    Pop,
    /// One of the pods in flight is rejected by the plugins of the first set, while those of the second set return
    /// `Pending`. If both sets are empty, the attempt fails with an error.
    Reject(usize, BTreeSet<usize>, BTreeSet<usize>),
    Permit(usize),
    Bind(usize),
    Drop(usize),
    /// The [`Attempt`] is dropped without a call that ends it.
    Lose(usize),
    /// This number of tenths of a second passes.
    Wait(u16),
}

fn step() -> impl Strategy<Value = Step> {
    let pod = || 0..PODS;
    let plugins = || prop::collection::btree_set(0..PLUGINS.len(), 0..3);
    prop_oneof![
        6 => pod().prop_map(Step::Create),
        3 => (pod(), 0..PLUGINS.len()).prop_map(|(pod, plugin)| Step::Change(pod, plugin)),
        2 => pod().prop_map(Step::Delete),
        2 => pod().prop_map(Step::Activate),
        6 => (0..PLUGINS.len(), prop::collection::btree_set(pod(), 0..PODS)).prop_map(|(of, pods)| Step::Send(of, pods)),
        2 => (pod(), any::<bool>()).prop_map(|(pod, held)| Step::Gate(pod, held)),
        1 => pod().prop_map(Step::Nominate),
        8 => Just(Step::Pop),
        6 => (pod(), plugins(), plugins()).prop_map(|(at, rejected, pending)| Step::Reject(at, rejected, pending)),
        1 => pod().prop_map(Step::Permit),
        1 => pod().prop_map(Step::Bind),
        1 => pod().prop_map(Step::Drop),
        1 => pod().prop_map(Step::Lose),
        4 => (1_u16..40).prop_map(Step::Wait),
        1 => (3000_u16..4000).prop_map(Step::Wait),
    ]
}

/// A pod of the reference queue.
#[derive(Clone)]
struct ReferencePod {
    place: QueuePlace,
    priority: i32,
    timestamp: i64,
    /// Number of consecutive attempts that ended with an error, and number of attempts that plugins rejected.
    failures: (u32, u32),
    ready: Option<i64>,
    since: i64,
    rejectors: (Vec<usize>, Vec<usize>),
    gated: bool,
    /// All events from its pop until plugins could no longer reject it.
    events: Vec<(usize, BTreeSet<usize>)>,
    /// Events about this pod since its pop.
    own_events: Vec<(usize, BTreeSet<usize>)>,
    retry: bool,
    permitted: bool,
    gone: bool,
}

#[derive(Default)]
struct Model {
    pods: BTreeMap<usize, ReferencePod>,
    gates: BTreeSet<usize>,
    now: i64,
    next_leftovers: i64,
}

impl Model {
    fn enter(&mut self, pod: usize, place: QueuePlace) {
        let reference = self.pods.get_mut(&pod).unwrap();
        let pre_enqueue = reference.place != Backoff && reference.place != ErrorBackoff;
        reference.gated = pre_enqueue && self.gates.contains(&pod) && matches!(place, Active | Backoff);
        reference.place = match place {
            _ if reference.gated => Gated,
            Backoff if reference.failures.0 > 0 => ErrorBackoff,
            place => place,
        };
        if matches!(reference.place, Gated | Unschedulable) {
            reference.since = self.now;
        }
    }

    fn backs_off(&self, pod: usize) -> bool {
        self.pods[&pod].ready.is_some_and(|ready| ready / SECOND >= self.now / SECOND)
    }

    fn wake(&mut self, pod: usize, at_once: bool) {
        let place = if !at_once && self.backs_off(pod) { Backoff } else { Active };
        self.enter(pod, place);
    }

    /// Returns whether an event requeues a pod: `Some(true)` at once, `Some(false)` after its backoff, `None` not at
    /// all.
    fn causes_attempt(&self, pod: usize, (of, pods): &(usize, BTreeSet<usize>)) -> Option<bool> {
        let ReferencePod { rejectors, gated, .. } = &self.pods[&pod];
        if !pods.contains(&pod) || *gated && PLUGINS[*of] != "Gate" {
            return None;
        }
        let at_once = rejectors.1.contains(of);
        (at_once || *gated || rejectors.0.contains(of)).then_some(at_once)
    }

    fn parked(&self) -> Vec<usize> {
        let parked = self.pods.iter().filter(|(_, reference)| matches!(reference.place, Unschedulable | Gated));
        parked.map(|(pod, _)| *pod).collect()
    }

    fn next(&self) -> Option<usize> {
        let first = |place: QueuePlace| {
            let in_place = self.pods.iter().filter(move |(_, reference)| reference.place == place);
            let key = |reference: &ReferencePod| {
                (if place == Backoff { reference.ready } else { None }, -reference.priority, reference.timestamp)
            };
            in_place.min_by_key(|(_, reference)| key(reference)).map(|(pod, _)| *pod)
        };
        first(Active).or_else(|| first(Backoff))
    }

    fn requeue(&mut self, pod: usize, rejected: &BTreeSet<usize>, pending: &BTreeSet<usize>) {
        if self.pods[&pod].gone {
            self.pods.remove(&pod);
            return;
        }
        let now = self.now;
        let reference = self.pods.get_mut(&pod).unwrap();
        let has_failed = rejected.is_empty() && pending.is_empty();
        reference.failures =
            if has_failed { (reference.failures.0 + 1, reference.failures.1) } else { (0, reference.failures.1 + 1) };
        let failures = if has_failed { reference.failures.0 } else { reference.failures.1 };
        reference.ready = Some(now + SECOND * [1, 2, 4, 8, 10][failures.min(5) as usize - 1]);
        reference.ready = reference.ready.map(|ready| ready / SECOND * SECOND);
        reference.timestamp = now;
        reference.rejectors = (rejected.iter().copied().collect(), pending.iter().copied().collect());
        let own_events = std::mem::take(&mut reference.own_events);
        let events = std::mem::take(&mut reference.events);
        let retry = has_failed || reference.retry || reference.permitted;
        let reasons: Vec<bool> =
            events.iter().chain(&own_events).filter_map(|event| self.causes_attempt(pod, event)).collect();
        if reasons.contains(&true) {
            self.wake(pod, true);
        } else if retry || reasons.contains(&false) {
            self.wake(pod, false);
        } else {
            self.enter(pod, Unschedulable);
        }
    }
}

/// The queue and the reference queue, side by side.
struct Both {
    fixture: QueueFixture,
    model: Model,
    /// The pods in flight with their attempts.
    attempts: Vec<(usize, Attempt)>,
    popped_gated: bool,
}

fn name(pod: usize) -> String {
    format!("p{pod}")
}

impl Both {
    fn new() -> Self {
        let fixture = QueueFixture::new();
        let model = Model { now: fixture.now, ..Model::default() };
        Both { fixture, model, attempts: Vec::new(), popped_gated: false }
    }

    fn take(&mut self, at: usize) -> Option<(usize, Attempt)> {
        (!self.attempts.is_empty()).then(|| self.attempts.remove(at % self.attempts.len()))
    }

    fn apply(&mut self, step: Step) {
        let none_parked = self.model.parked().is_empty();
        let now = self.fixture.now;
        let (fixture, model) = (&mut self.fixture, &mut self.model);
        match step {
            Step::Create(pod) => {
                // Priorities differ: the order of pops is unique.
                let priority = model.pods.get(&pod).map_or(pod as i32, |known| known.priority);
                fixture.add_pod(fixture.pod(&name(pod), priority));
                match model.pods.get_mut(&pod) {
                    Some(known) if known.place == InFlight => {
                        if known.gone {
                            (known.timestamp, known.failures) = (now, (0, 0));
                        }
                        (known.gone, known.retry) = (false, true);
                    }
                    Some(_) => {}
                    None => {
                        model.pods.insert(pod, reference_pod(priority, now));
                        model.enter(pod, Active);
                    }
                }
            }
            Step::Change(pod, plugin) => {
                let Some(known) = model.pods.get_mut(&pod).filter(|known| !known.gone) else { return };
                let old = fixture.pod(&name(pod), known.priority);
                known.priority = (known.priority + 10) % 50;
                let new = fixture.pod(&name(pod), known.priority);
                let event = Event { plugin: PLUGINS[plugin], for_pods: None };
                fixture.queue.update(0, PodUpdate { old: &old, new, events: [event] }, &mut fixture.plugins, now);
                let event = (plugin, BTreeSet::from([pod]));
                match known.place {
                    InFlight if known.permitted => known.retry = true,
                    InFlight => known.own_events.push(event),
                    Unschedulable | Gated => {
                        if let Some(at_once) = model.causes_attempt(pod, &event) {
                            model.wake(pod, at_once);
                        }
                    }
                    Active | Backoff | ErrorBackoff => {}
                }
            }
            Step::Delete(pod) => {
                let known = model.pods.get_mut(&pod).filter(|known| !known.gone);
                assert_eq!(fixture.delete(&name(pod)), known.is_some());
                match known {
                    Some(known) if known.place == InFlight => known.gone = true,
                    Some(_) => drop(model.pods.remove(&pod)),
                    None => {}
                }
            }
            Step::Activate(pod) => {
                fixture.activate(&name(pod));
                match model.pods.get_mut(&pod) {
                    Some(known) if known.place == InFlight => known.retry |= !known.gone,
                    Some(known) if known.place != Active => model.enter(pod, Active),
                    _ => {}
                }
            }
            Step::Send(of, pods) => {
                let names = pods.iter().map(|pod| name(*pod)).collect();
                fixture.send(Event { plugin: PLUGINS[of], for_pods: Some(names) });
                let event = (of, pods);
                for pod in model.parked() {
                    if let Some(at_once) = model.causes_attempt(pod, &event) {
                        model.wake(pod, at_once);
                    }
                }
                for known in model.pods.values_mut().filter(|known| known.place == InFlight && !known.permitted) {
                    known.events.push(event.clone());
                }
            }
            Step::Gate(pod, true) => {
                fixture.gate(&name(pod), "Gate");
                model.gates.insert(pod);
            }
            Step::Gate(pod, false) => {
                fixture.open(&name(pod));
                model.gates.remove(&pod);
            }
            Step::Nominate(pod) => {
                if fixture.place(&name(pod)).is_some_and(|place| place != InFlight) {
                    let node = fixture.node("n1");
                    fixture.plugins.nominator.nominate(fixture.pod(&name(pod), 0), node);
                }
            }
            Step::Pop => {
                let popped = fixture.try_pop();
                let next = model.next();
                assert_eq!(popped.as_ref().map(|attempt| attempt.pod().name.to_string()), next.map(name));
                if let (Some(pod), Some(attempt)) = (next, popped) {
                    let known = model.pods.get_mut(&pod).unwrap();
                    self.popped_gated |= known.gated;
                    known.place = InFlight;
                    (known.retry, known.permitted) = (false, false);
                    (known.events, known.own_events) = (Vec::new(), Vec::new());
                    self.attempts.push((pod, attempt));
                }
            }
            Step::Reject(at, rejected, pending) => {
                let Some((pod, attempt)) = self.take(at) else { return };
                let names = |plugins: &BTreeSet<usize>| -> Vec<&'static str> {
                    plugins.iter().map(|plugin| PLUGINS[*plugin]).collect()
                };
                let rejectors = Rejectors::new(names(&rejected), names(&pending));
                self.fixture.queue.requeue(attempt, rejectors, &mut self.fixture.plugins, now);
                self.model.requeue(pod, &rejected, &pending);
            }
            Step::Permit(at) => {
                let Some(at) = at.checked_rem(self.attempts.len()) else { return };
                let (pod, attempt) = &self.attempts[at];
                fixture.queue.permitted(attempt);
                let known = model.pods.get_mut(pod).unwrap();
                known.permitted = true;
                known.events.clear();
            }
            Step::Bind(at) => {
                let Some((pod, attempt)) = self.take(at) else { return };
                self.fixture.bind(attempt);
                self.model.pods.remove(&pod);
            }
            Step::Drop(at) => {
                let Some((pod, attempt)) = self.take(at) else { return };
                self.fixture.drop_attempt(attempt);
                self.model.pods.remove(&pod);
            }
            Step::Lose(at) => {
                let Some((pod, attempt)) = self.take(at) else { return };
                drop(attempt);
                self.fixture.wait(0.0);
                self.model.requeue(pod, &BTreeSet::new(), &BTreeSet::new());
                self.tick();
            }
            Step::Wait(tenths) => {
                fixture.wait(f64::from(tenths) / 10.0);
                model.now = fixture.now;
                self.tick();
            }
        }
        if none_parked && !self.model.parked().is_empty() {
            self.model.next_leftovers = self.model.now + 30 * SECOND;
        }
    }

    fn tick(&mut self) {
        let model = &mut self.model;
        let waiting = |reference: &ReferencePod| matches!(reference.place, Backoff | ErrorBackoff);
        let pods: Vec<usize> =
            model.pods.iter().filter(|(_, reference)| waiting(reference)).map(|(pod, _)| *pod).collect();
        for pod in pods {
            if !model.backs_off(pod) {
                model.enter(pod, Active);
            }
        }
        let parked = model.parked();
        if !parked.is_empty() && model.now >= model.next_leftovers {
            model.next_leftovers = model.now + 30 * SECOND;
            for pod in parked {
                if model.pods[&pod].since < model.now - 300 * SECOND {
                    model.wake(pod, false);
                }
            }
        }
    }

    fn check_equality(&self) {
        for pod in 0..PODS {
            let expected = self.model.pods.get(&pod).filter(|known| !known.gone).map(|known| known.place);
            assert_eq!(self.fixture.place(&name(pod)), expected, "{}", name(pod));
        }
        let queue = &self.fixture.queue;
        assert_eq!(queue.len(), self.model.pods.values().filter(|known| !known.gone).count());
        let ready = self.model.pods.values().filter(|known| matches!(known.place, Active | Backoff)).count();
        assert_eq!((queue.ready(), queue.in_flight()), (ready, self.attempts.len()));
        assert_eq!(queue.len(), self.fixture.plugins.pending.len(), "the notifications match the queue");
        assert!(!self.popped_gated);
        if self.attempts.is_empty() {
            assert_eq!(queue.in_flight_events(), 0, "without pods in flight, no events are kept");
        }
        for (_, pods) in self.fixture.plugins.nominator.iter() {
            for pod in pods {
                assert!(queue.place(&pod.uid).is_some(), "{} is nominated, but not in the queue", pod.name);
            }
        }
    }
}

fn reference_pod(priority: i32, now: i64) -> ReferencePod {
    ReferencePod {
        place: InFlight,
        priority,
        timestamp: now,
        failures: (0, 0),
        ready: None,
        since: now,
        rejectors: (Vec::new(), Vec::new()),
        gated: false,
        events: Vec::new(),
        own_events: Vec::new(),
        retry: false,
        permitted: false,
        gone: false,
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 512, ..ProptestConfig::default() })]

    #[test]
    fn the_queue_equals_a_reference_queue(steps in prop::collection::vec(step(), 1..150)) {
        let mut both = Both::new();
        for step in steps {
            both.apply(step);
            both.check_equality();
        }
        // The pods in flight return, and then no events are kept.
        while let Some((pod, attempt)) = both.take(0) {
            both.fixture.reject(attempt, &["Fit"]);
            both.model.requeue(pod, &BTreeSet::from([0]), &BTreeSet::new());
        }
        both.check_equality();
        for pod in 0..PODS {
            both.fixture.delete(&name(pod));
        }
        assert!(both.fixture.queue.is_empty());
    }
}
