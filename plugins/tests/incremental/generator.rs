//! Generates histories from seeds.

mod nodes;
mod objects;
mod pods;

use std::collections::BTreeMap;

use schedc_core::random::Random;
use serde_json::{Value, json};

use crate::incremental::history::{History, Step};

/// Namespaces of objects.
const NAMESPACES: [&str; 3] = ["default", "other", "third"];

/// Frequencies in a history. They differ between histories, so that every feature and every kind of step is frequent in
/// some histories.
struct HistoryShape {
    nodes: usize,
    /// Whether the pods of the history are in one namespace, and have only the feature of storage claims.
    storage: bool,
    /// Percentage of pods with each [`pods::PodFeature`].
    features: BTreeMap<pods::PodFeature, usize>,
    /// Weight of each kind of step.
    weights: [usize; KINDS.len()],
    /// Number of pods that are scheduled per 100 steps.
    decisions: usize,
    /// Percentage of pods with a unique label.
    unique: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    AddNode,
    UpdateNode,
    DeleteNode,
    AddPod,
    UpdatePod,
    DeletePod,
    Nominate,
    Storage,
    Workload,
    Namespace,
    Budget,
    Nothing,
}

/// The kinds of steps, with their usual weights.
const KINDS: [(Kind, usize); 12] = [
    (Kind::AddNode, 8),
    (Kind::UpdateNode, 25),
    (Kind::DeleteNode, 4),
    (Kind::AddPod, 30),
    (Kind::UpdatePod, 18),
    (Kind::DeletePod, 15),
    (Kind::Nominate, 12),
    (Kind::Storage, 30),
    (Kind::Workload, 20),
    (Kind::Namespace, 8),
    (Kind::Budget, 4),
    (Kind::Nothing, 10),
];

impl HistoryShape {
    fn draw(random: &mut Random) -> HistoryShape {
        let storage = random.below(3) == 0;
        let mut features: BTreeMap<_, _> =
            pods::POD_FEATURES.iter().map(|feature| (*feature, [0, 0, 15, 50][random.below(4)])).collect();
        if storage {
            features.values_mut().for_each(|often| *often = 0);
            features.insert(pods::PodFeature::Claims, 90);
        }
        let has_storage = features[&pods::PodFeature::Claims] > 0;
        let weights = KINDS.map(|(kind, weight)| match (kind, random.below(6)) {
            (Kind::Storage, _) if storage => weight * 3,
            (Kind::Storage, _) if !has_storage => weight / 10,
            (_, 0) => weight * 3,
            (_, 1) => weight / 3,
            _ => weight,
        });
        let most_nodes = if storage { 3 } else { [4, 9][random.below(2)] };
        HistoryShape {
            nodes: 1 + random.below(most_nodes),
            storage,
            features,
            weights,
            decisions: [40, 80, 150][random.below(3)],
            unique: [0, 10, 50][random.below(3)],
        }
    }
}

/// Generates one history.
pub(crate) struct HistoryGenerator {
    random: Random,
    shape: HistoryShape,
    templates: Vec<Value>,
    nodes: BTreeMap<String, Value>,
    /// Pods on nodes and nominated pods, by namespace and name.
    pods: BTreeMap<(String, String), Value>,
    /// Objects of other kinds, by kind, namespace and name.
    others: BTreeMap<(String, String, String), Value>,
    count: usize,
    steps: Vec<Step>,
}

/// Returns the history of a seed, for one of `profiles` profiles.
pub(crate) fn history(seed: u64, profiles: usize) -> History {
    let mut random = Random::new(seed);
    let profile = random.below(profiles);
    let shape = HistoryShape::draw(&mut random);
    let mut generator = HistoryGenerator {
        random,
        shape,
        templates: Vec::new(),
        nodes: BTreeMap::new(),
        pods: BTreeMap::new(),
        others: BTreeMap::new(),
        count: 0,
        steps: Vec::new(),
    };
    generator.begin();
    for _ in 0..10 + generator.random.below(30) {
        generator.step();
    }
    History { seed, profile, steps: generator.steps }
}

impl HistoryGenerator {
    /// Returns true with this probability in percent.
    fn often(&mut self, percent: usize) -> bool {
        self.random.below(100) < percent
    }
    fn pick<T: Clone>(&mut self, list: &[T]) -> T {
        list[self.random.below(list.len())].clone()
    }
    /// Returns some items of a list, each with this probability in percent.
    fn some<T: Clone>(&mut self, list: &[T], percent: usize) -> Vec<T> {
        list.iter().filter(|_| self.random.below(100) < percent).cloned().collect()
    }
    fn any_node(&mut self) -> Option<String> {
        let names: Vec<String> = self.nodes.keys().cloned().collect();
        (!names.is_empty()).then(|| self.pick(&names))
    }

    fn set(&mut self, change: impl Into<String>, manifest: Value) {
        self.steps.push(Step::Set { change: change.into(), manifest });
    }
    fn delete(&mut self, change: impl Into<String>, kind: &str, namespace: &str, name: &str) {
        let reference = json!({"kind": kind, "namespace": namespace, "name": name});
        self.steps.push(Step::Delete { change: change.into(), reference });
    }

    fn begin(&mut self) {
        let count = 2 + self.random.below(5);
        self.templates = (0..count).map(|_| self.template()).collect();
        (0..self.shape.nodes).for_each(|_| self.add_node());
        if self.shape.features[&pods::PodFeature::Claims] > 0 {
            self.all_storage();
        }
        for _ in 0..self.random.below(6) {
            self.add_pod();
        }
    }

    fn step(&mut self) {
        let total = self.shape.weights.iter().sum();
        let mut at = self.random.below(total);
        let kind = KINDS.iter().zip(self.shape.weights).find_map(|((kind, _), weight)| {
            let found = at < weight;
            at = at.saturating_sub(weight);
            found.then_some(*kind)
        });
        match kind.unwrap_or(Kind::Nothing) {
            Kind::AddNode => self.add_node(),
            Kind::UpdateNode => self.update_node(),
            Kind::DeleteNode => self.delete_node(),
            Kind::AddPod => self.add_pod(),
            Kind::UpdatePod => self.update_pod(),
            Kind::DeletePod => self.delete_pod(),
            Kind::Nominate => self.nominate(),
            Kind::Storage => self.storage(),
            Kind::Workload => self.workload(),
            Kind::Namespace => self.namespace(),
            Kind::Budget => self.budget(),
            Kind::Nothing => {}
        }
        let decisions = self.shape.decisions / 100 + usize::from(self.often(self.shape.decisions % 100));
        (0..decisions).for_each(|_| self.decide());
    }

    /// Adds, updates or deletes an object of this kind.
    fn other(
        &mut self,
        kind: &str,
        namespace: &str,
        name: &str,
        draw: impl FnOnce(&mut Self, Option<&Value>) -> Value,
    ) {
        let key = (kind.to_owned(), namespace.to_owned(), name.to_owned());
        let old = self.others.get(&key).cloned();
        if old.is_some() && self.often(35) {
            self.others.remove(&key);
            self.delete(format!("{kind} is deleted"), kind, namespace, name);
            return;
        }
        let manifest = draw(self, old.as_ref());
        let what = if old.is_some() { "changes" } else { "is created" };
        self.others.insert(key, manifest.clone());
        self.set(format!("{kind} {what}"), manifest);
    }
}
