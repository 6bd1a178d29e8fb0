//! A reverted fork leaves a snapshot unchanged; a committed fork has the same effect as the changes without a
//! fork. Snapshots return the same answers as the scheduler.

use std::collections::HashMap;
use std::sync::Arc;

use schedc_core::cache::{Cache, State};
use schedc_core::engine::{Decision, Engine};
use schedc_core::handle::Handle;
use schedc_core::intern::Symbol;
use schedc_core::model::{NodeIndex, ObjectKey, Pod, Uid};
use schedc_core::profile::{Bundle, Profile, Visitor};
use schedc_core::random::Random;
use schedc_core::snapshot::Snapshot;
use schedc_core::verdict::Verdict;
use schedc_objects::{AnyObject, convert_node, convert_object, convert_pod, is_finished};
use serde_json::Value;

use super::generator;
use super::history::{History, Step};
use super::scheduler::Profiles;
use super::test_cluster::object;

/// Number of histories.
const CASES: u64 = 100;
/// Number of histories without slow tests.
const FEW_CASES: u64 = 25;

/// All answers of a snapshot: each pod on each node, the decisions, and the pods of each node in order.
type Answers = (Vec<(Vec<Result<(), Verdict>>, Decision)>, Vec<Vec<Uid>>);

/// A snapshot that a history changes.
struct Side<P: Profile> {
    snapshot: Snapshot<P>,
    others: HashMap<(String, String, String), ObjectKey>,
}

impl<P: Profile> Side<P> {
    fn new() -> Self {
        Side { snapshot: Snapshot::new().ok().unwrap(), others: HashMap::new() }
    }

    /// Returns a new snapshot with these steps applied.
    fn after(steps: &[Step]) -> Self {
        let mut side = Side::new();
        steps.iter().enumerate().for_each(|(at, step)| side.apply(step, at));
        side
    }

    fn apply(&mut self, step: &Step, draw: usize) {
        match step {
            Step::Set { manifest, .. } => self.set(manifest),
            Step::Delete { reference, .. } => self.delete(reference),
            Step::Schedule { pod, is_placed } => {
                let pod = self.pod(pod);
                let decision = self.snapshot.decide(&pod, |n| draw % n);
                if let (true, Decision::Node(node)) = (is_placed, decision)
                    && !self.shares_a_port(
                        &pod,
                        self.snapshot.cluster().base.infos()[node.get()].node.as_ref().map(|node| node.name),
                    )
                {
                    // A pod that already has a node does not get another one.
                    let is_there = self.snapshot.cluster().pod(&pod.uid).is_some();
                    let done = self.snapshot.schedule(&pod, node);
                    assert!(done.is_ok() || is_there, "{done:?}");
                }
            }
        }
    }

    /// Returns whether another pod of the node has one of the pod's host ports. If two pods shared a port, removing one
    /// of them would free the port, as in kube-scheduler. The ports in use would then depend on the history.
    fn shares_a_port(&self, pod: &Pod, node: Option<Symbol>) -> bool {
        let neighbours =
            self.snapshot.cluster().pods().filter(|(other, on, _)| Some(*on) == node && other.uid != pod.uid);
        let mut taken = neighbours.flat_map(|(other, ..)| &other.spec.host_ports);
        taken.any(|port| pod.spec.host_ports.contains(port))
    }

    fn set(&mut self, manifest: &Value) {
        let snapshot = &mut self.snapshot;
        match object(manifest) {
            AnyObject::Node(node) => {
                let node = convert_node(&node, snapshot.interner());
                snapshot.set_node(node);
            }
            AnyObject::Pod(pod) => {
                let converted = convert_pod(&pod, snapshot.interner());
                let node = converted.spec.node_name.filter(|_| !is_finished(&pod));
                match node.filter(|node| !self.shares_a_port(&converted, Some(*node))) {
                    Some(node) => self.snapshot.add_pod(Arc::new(converted), node),
                    None => {
                        self.snapshot.remove_pod(&converted.uid);
                    }
                }
            }
            other => {
                if let Some(object) = convert_object(&other, snapshot.interner()) {
                    let name = (other.kind().to_owned(), other.namespace().to_owned(), other.name().to_owned());
                    self.others.insert(name, object.key());
                    snapshot.set_object(object);
                }
            }
        }
    }

    fn delete(&mut self, reference: &Value) {
        let [kind, namespace, name] =
            ["kind", "namespace", "name"].map(|field| reference[field].as_str().unwrap_or_default());
        match kind {
            "Pod" => {
                let is_it = |pod: &Pod| (&*pod.namespace, &*pod.name) == (namespace, name);
                let found =
                    self.snapshot.cluster().pods().find(|(pod, ..)| is_it(pod)).map(|(pod, ..)| pod.uid.clone());
                found.map(|uid| self.snapshot.remove_pod(&uid));
            }
            "Node" => {
                let name = self.snapshot.interner().intern(name);
                self.snapshot.remove_node(name);
            }
            _ => {
                let name = (kind.to_owned(), namespace.to_owned(), name.to_owned());
                if let Some(key) = self.others.get(&name) {
                    self.snapshot.remove_object(key);
                }
            }
        }
    }

    fn pod(&mut self, manifest: &Value) -> Arc<Pod> {
        let AnyObject::Pod(pod) = object(manifest) else { panic!("{manifest} is no pod") };
        Arc::new(convert_pod(&pod, self.snapshot.interner()))
    }

    fn answers(&mut self, pods: &[&Value]) -> Answers {
        let nodes: Vec<NodeIndex> = self.snapshot.cluster().base.alive().iter().collect();
        let answers = pods.iter().map(|pod| {
            let pod = self.pod(pod);
            let checks = nodes.iter().map(|&node| self.snapshot.check(&pod, node)).collect();
            (checks, self.snapshot.decide(&pod, |_| 0))
        });
        let answers = answers.collect();
        let infos = self.snapshot.cluster().base.infos();
        let here = |node: &NodeIndex| infos[node.get()].pods.iter().map(|pod| pod.uid.clone()).collect();
        (answers, nodes.iter().map(here).collect())
    }
}

/// Returns the pods that a history schedules.
fn scheduled_pods(steps: &[Step]) -> Vec<&Value> {
    let pods = steps.iter().filter_map(|step| match step {
        Step::Schedule { pod, .. } => Some(pod),
        _ => None,
    });
    pods.collect()
}

struct Check<'a>(&'a History);

impl<S: State> Visitor<S> for Check<'_> {
    type Output = usize;
    fn visit<P: Profile<State = S>>(self, _: &mut Engine<P>) -> usize {
        let History { seed, steps, .. } = self.0;
        let mut random = Random::new(*seed);
        let (before, after) = steps.split_at(random.below(steps.len() + 1));
        let pods = scheduled_pods(steps);
        let answers_before = Side::<P>::after(before).answers(&pods);
        let answers_after = Side::<P>::after(steps).answers(&pods);

        let mut side = Side::<P>::after(before);
        side.snapshot.fork();
        for (at, step) in after.iter().enumerate() {
            // Nested forks: some are committed, some are reverted.
            match random.below(6) {
                0 => side.snapshot.fork(),
                1 if side.snapshot.forks() > 1 => side.snapshot.commit(),
                2 => {
                    side.snapshot.fork();
                    after[at..].iter().take(4).for_each(|step| side.apply(step, random.below(9)));
                    side.snapshot.revert();
                }
                _ => {}
            }
            side.apply(step, before.len() + at);
        }
        assert_equal_answers(*seed, "forked", &side.answers(&pods), &answers_after);
        while side.snapshot.forks() > 0 {
            side.snapshot.revert();
        }
        assert_equal_answers(*seed, "reverted", &side.answers(&pods), &answers_before);
        side.snapshot.fork();
        after.iter().enumerate().for_each(|(at, step)| side.apply(step, before.len() + at));
        side.snapshot.commit();
        assert_equal_answers(*seed, "committed", &side.answers(&pods), &answers_after);

        // Pods that the snapshot places have reservations, which the scheduler in `assert_agrees_with_scheduler` does
        // not have.
        let changes: Vec<Step> = steps.iter().filter(|step| !matches!(step, Step::Schedule { .. })).cloned().collect();
        let mut side = Side::<P>::after(&changes);
        for pod in &pods {
            let pod = side.pod(pod);
            assert_agrees_with_scheduler(*seed, &mut side.snapshot, &pod);
        }
        pods.len()
    }
}

fn assert_equal_answers(seed: u64, when: &str, found: &Answers, expected: &Answers) {
    for (found, expected) in found.0.iter().zip(&expected.0) {
        for (found, expected) in found.0.iter().zip(&expected.0) {
            assert_eq!(found, expected, "seed {seed}, {when}");
        }
        assert_eq!(found.1, expected.1, "seed {seed}, {when}");
    }
    assert_eq!(found, expected, "seed {seed}, {when}");
}

/// Checks that the snapshot's answer for each node equals the scheduler's. Neither has nominated pods.
fn assert_agrees_with_scheduler<P: Profile>(seed: u64, snapshot: &mut Snapshot<P>, pod: &Arc<Pod>) {
    let mut engine = Engine::<P>::new(&Handle::default()).ok().unwrap();
    let mut cache = copy(snapshot.cluster());
    let found = engine.explain(pod, &mut cache, false);
    if found.gated_by.is_some() {
        return;
    }
    for node in &found.nodes {
        let index = snapshot.node(&node.node).unwrap();
        let expected = node.verdicts.first().cloned().map_or(Ok(()), Err);
        assert_eq!(snapshot.check(pod, index), expected, "seed {seed}, {}, {}", pod.name, node.node);
    }
}

/// Returns a copy of the cluster, built from its objects.
fn copy<S: State>(from: &Cache<S>) -> Cache<S> {
    let mut cache = Cache::default();
    cache.base.interner = from.base.interner.clone();
    from.objects().for_each(|object| cache.set_object(object.clone()));
    for node in from.base.infos().iter().filter_map(|info| info.node.as_deref()) {
        cache.set_node(node.clone());
    }
    for (pod, node, state) in from.pods() {
        cache.add_pod(pod.clone(), node, state);
    }
    cache
}

#[test]
fn forked_snapshots_answer_like_unforked_ones_and_the_scheduler() {
    let cases = if slow_tests::is_enabled() { CASES } else { FEW_CASES };
    let mut bundle = Profiles::new(&Handle::default()).unwrap();
    let pods: usize = (0..cases)
        .map(|seed| {
            let history = generator::history(seed, Profiles::PROFILES.len());
            bundle.with(history.profile, Check(&history))
        })
        .sum();
    assert!(pods > 10 * cases as usize, "{pods} pods");
}
