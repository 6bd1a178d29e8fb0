//! Updated states equal newly computed states.

use std::collections::{BTreeMap, BTreeSet};

use schedc_core::extension_points::{NormalizeScore, ScoreClass};
use schedc_core::incremental::{FilterUpdate, Incremental, NodeChanges, ScoreUpdate};
use schedc_core::intern::Symbol;
use schedc_core::model::{InclusionPolicy, LabelsExt, TopologySpreadConstraint, UnsatisfiableAction};
use schedc_core::node_set::NodeSet;
use schedc_core::plugin::{CycleSlot, View};

use super::*;

/// The nodes that change. They are in three words of a mask.
const SLOTS: [usize; 8] = [0, 1, 2, 63, 64, 65, 127, 130];
const NODES: usize = 131;

#[derive(Clone, Debug)]
enum Step {
    Add(usize, &'static str),
    Remove(usize),
    Node(usize, &'static str, &'static str),
    NoNode(usize),
    Service(bool),
    /// The feasibility of a node changes for another reason.
    Flip(usize),
    Evaluate,
}

fn any_step() -> impl Strategy<Value = Step> {
    let node = || prop::sample::select(SLOTS.to_vec());
    let labels = prop::sample::select(vec![
        "zone: a, host: h, disk: ssd",
        "zone: b, host: h",
        "zone: '', host: h, disk: ssd",
        "zone: c, host: same",
        "host: h, disk: ssd",
        "zone: a",
    ]);
    let spec = prop::sample::select(vec!["{}", "{}", "{taints: [{key: full, effect: NoSchedule}]}"]);
    prop_oneof![
        10 => (0..NODES, prop::sample::select(vec!["web", "web", "db"])).prop_map(|(node, app)| Step::Add(node, app)),
        10 => (node(), prop::sample::select(vec!["web", "web", "db"])).prop_map(|(node, app)| Step::Add(node, app)),
        10 => any::<usize>().prop_map(Step::Remove),
        3 => (node(), labels, spec).prop_map(|(node, labels, spec)| Step::Node(node, labels, spec)),
        1 => node().prop_map(Step::NoNode),
        1 => any::<bool>().prop_map(Step::Service),
        5 => (0..NODES).prop_map(Step::Flip),
        12 => Just(Step::Evaluate),
    ]
}

/// Returns the manifests of pods with different constraints and other fields.
fn pod_manifests() -> Vec<String> {
    let (zone, host) = ("topology.kubernetes.io/zone", "kubernetes.io/hostname");
    let hard = |key, max_skew, more: &str| constraint("DoNotSchedule", key, max_skew, more);
    let soft = |key, max_skew, more: &str| constraint("ScheduleAnyway", key, max_skew, more);
    let both = |one: String, other: String| format!("{one}, {other}");
    let taints = ", nodeTaintsPolicy: Honor";
    let ssd = ", nodeSelector: {disk: ssd}";
    let tolerant = ", tolerations: [{operator: Exists}]";
    vec![
        pod("", ""),
        pod(&hard(zone, 1, ""), ""),
        pod(&hard(host, 1, ""), ""),
        pod(&both(hard(zone, 1, ""), hard(host, 2, "")), ""),
        pod(&both(hard(zone, 2, &format!(", minDomains: 4{taints}")), hard(host, 1, "")), ""),
        pod(&both(hard(zone, 1, taints), hard(zone, 2, "").replace("web", "db")), ssd),
        pod(&hard(zone, 1, ", nodeAffinityPolicy: Ignore"), ssd),
        pod(&both(hard(zone, 1, ""), hard("disk", 1, "")), tolerant),
        pod(&hard(zone, 1, "").replace("{matchLabels: {app: web}}", "{}"), ""),
        pod(&soft(zone, 1, ""), ""),
        pod(&both(soft(host, 3, ""), soft(zone, 5, "")), ""),
        pod(&both(soft(zone, 1, taints), soft("disk", 1, "")), ssd),
        pod(&both(soft(host, 1, taints), soft(zone, 0, "").replace("web", "db")), ""),
        pod(&both(hard(zone, 1, ""), soft(host, 1, "")), ssd),
        pod(&soft(zone, 1, "").replace("labelSelector: {matchLabels: {app: web}}", "minDomains: null"), ""),
    ]
}

fn node(cluster: &mut Cluster, n: usize, labels: &str, spec: &str) {
    let labels =
        labels.replace("zone", "topology.kubernetes.io/zone").replace("host: same", "kubernetes.io/hostname: same");
    let labels = labels.replace("host: h", &format!("kubernetes.io/hostname: n{n}"));
    let yaml = format!("metadata: {{name: n{n}, labels: {{{labels}}}}}\nspec: {spec}");
    let node = testing::node(&yaml, &mut cluster.cache.base.interner);
    cluster.cache.set_node(node);
}

/// A pod's cached answer, updated as the engine does.
struct Answer {
    filter: CycleSlot<SpreadCounts>,
    passing: NodeMask,
    scores: CycleSlot<SpreadScores>,
    feasible: NodeMask,
    classes: Vec<Option<ScoreClass>>,
    of_class: BTreeMap<u64, i64>,
}

impl Answer {
    fn new(
        plugin: &PodTopologySpread,
        pod: &PodTopologySpreadPod,
        view: View<'_, PodTopologySpread>,
        otherwise_feasible: &NodeMask,
    ) -> Answer {
        let filter = plugin.pre_filter(&DEFAULT, pod, view).expect("a state").slot;
        let passes = |node: &NodeIndex| {
            filter.skip || PodTopologySpread::filter(&DEFAULT, pod, &filter.state, view.row(*node)).is_ok()
        };
        let mut passing = NodeMask::default();
        passing.resize(view.base.infos().len());
        passing.extend(view.base.alive().iter().filter(passes));
        let mut feasible = passing.clone();
        feasible.intersect(otherwise_feasible);
        let scores = plugin.pre_score(&DEFAULT, pod, view, &feasible).expect("a state");
        let classes = vec![None; view.base.infos().len()];
        let mut answer = Answer { filter, passing, scores, feasible, classes, of_class: BTreeMap::new() };
        answer.feasible.clone().iter().for_each(|node| answer.classify(pod, view, node));
        answer
    }

    /// Determines the class of a node, and the score of a new class.
    fn classify(&mut self, pod: &PodTopologySpreadPod, view: View<'_, PodTopologySpread>, node: NodeIndex) {
        if !self.scores.skip {
            let state = &self.scores.state;
            let class = PodTopologySpread::score_class(&DEFAULT, pod, state, view.row(node)).expect("a class");
            self.classes[node.get()] = Some(class);
            let score_of_class = PodTopologySpread::score_of_class(&DEFAULT, pod, state, class);
            let score = PodTopologySpread::score(&DEFAULT, pod, state, view.row(node)).expect("a score");
            assert_eq!(score, score_of_class);
            self.of_class.entry(class.0).or_insert(score);
        }
    }

    fn raw(&self, node: NodeIndex) -> i64 {
        self.classes[node.get()].map_or(0, |class| self.of_class[&class.0])
    }

    /// Updates the answer.
    fn update(
        &mut self,
        plugin: &PodTopologySpread,
        pod: &PodTopologySpreadPod,
        view: View<'_, PodTopologySpread>,
        otherwise_feasible: &NodeMask,
        changed: NodeChanges<'_>,
    ) {
        let slots = view.base.infos().len();
        let [mut reevaluated, mut flipped] = [NodeSet::default(), NodeSet::default()];
        reevaluated.reset(slots);
        flipped.reset(slots);
        let mut verdicts =
            FilterUpdate::new(changed, &mut self.passing, &mut reevaluated, &mut flipped, view.base.alive());
        Incremental::update_filter(plugin, &DEFAULT, pod, &mut self.filter, view, &mut verdicts).expect("a state");
        changed.nodes.iter().for_each(|node| reevaluated.insert(*node));
        for node in reevaluated.iter() {
            let passes = view.base.alive().contains(node)
                && (self.filter.skip
                    || PodTopologySpread::filter(&DEFAULT, pod, &self.filter.state, view.row(node)).is_ok());
            if passes { self.passing.insert(node) } else { self.passing.remove(node) }
        }
        let mut feasible = self.passing.clone();
        feasible.intersect(otherwise_feasible);
        flipped.reset(slots);
        let before = std::mem::replace(&mut self.feasible, feasible);
        for (word, bits) in self.feasible.words().iter().enumerate() {
            flipped.insert_word(word, bits ^ before.words().get(word).unwrap_or(&0));
        }
        reevaluated.reset(slots);
        let mut classes_changed = false;
        let mut rescore = ScoreUpdate::new(changed, &self.feasible, &flipped, &mut reevaluated, &mut classes_changed);
        Incremental::update_score(plugin, &DEFAULT, pod, &mut self.scores, view, &mut rescore).expect("a state");
        changed.nodes.iter().for_each(|node| reevaluated.insert(*node));
        reevaluated.extend(&flipped);
        if classes_changed {
            let known: Vec<ScoreClass> = self.of_class.keys().copied().map(ScoreClass).collect();
            let score = |class| PodTopologySpread::score_of_class(&DEFAULT, pod, &self.scores.state, class);
            self.of_class = known.into_iter().map(|class| (class.0, score(class))).collect();
        }
        for node in reevaluated.iter().filter(|node| self.feasible.contains(*node)).collect::<Vec<_>>() {
            self.classify(pod, view, node);
        }
    }

    fn check(&self, new: &Answer, pod: &str) {
        assert!(self.filter == new.filter, "{pod}");
        assert_eq!(self.passing, new.passing, "{pod}");
        assert!(self.scores == new.scores, "{pod}");
        for node in new.feasible.iter() {
            assert_eq!(self.raw(node), new.raw(node), "{pod} {node:?}");
        }
    }
}

/// Computes the scores of feasible nodes as kube-scheduler does: for each domain and each pod.
fn reference_scores(cluster: &mut Cluster, pod: &Pod, feasible: &NodeMask) -> Vec<(NodeIndex, i64)> {
    let interner = &mut cluster.cache.base.interner;
    let (hostname, own) = (interner.intern(HOSTNAME), !pod.spec.spread.is_empty());
    let mut constraints = if own { pod.spec.spread.to_vec() } else { DEFAULT.constraints(interner) };
    let selector = cluster.cache.state.workloads.default_selector(&pod.spec);
    if !own {
        constraints.iter_mut().for_each(|constraint| constraint.selector = Ok(Some(selector.clone())));
    }
    constraints.retain(|constraint| constraint.when_unsatisfiable == UnsatisfiableAction::ScheduleAnyway);
    let infos = cluster.cache.base.infos();
    let label = |node: NodeIndex, key| infos[node.get()].node.as_ref().and_then(|node| node.labels.value(key));
    let is_scored = |node| !own || constraints.iter().all(|constraint| label(node, constraint.topology_key).is_some());
    let scored: Vec<NodeIndex> = feasible.iter().filter(|node| is_scored(*node)).collect();
    let pods = |node: NodeIndex, selector: &Option<LabelSelector>| {
        let is_counted = |other: &&Arc<Pod>| {
            let selects = selector.as_ref().is_some_and(|s| !s.is_empty() && s.matches(&other.spec.labels));
            selects && !other.deleting && other.spec.namespace == pod.spec.namespace
        };
        infos[node.get()].pods.iter().filter(is_counted).count()
    };
    let counts_on = |node: NodeIndex, constraint: &TopologySpreadConstraint| {
        let Some(node) = infos[node.get()].node.as_ref() else { return false };
        let selected = pod.spec.node_selector.iter().all(|(key, value)| node.labels.value(*key) == Some(*value));
        let tolerated = node.taints.is_empty() || !pod.spec.tolerations.is_empty();
        (selected || constraint.node_affinity_policy == InclusionPolicy::Ignore)
            && (tolerated || constraint.node_taints_policy == InclusionPolicy::Ignore)
    };
    let mut sums = vec![0.0; infos.len()];
    for constraint in &constraints {
        let (key, selector) = (constraint.topology_key, constraint.selector.as_ref().expect("a valid selector"));
        let domain = |node| label(node, key).unwrap_or(Symbol::EMPTY);
        let domains: BTreeSet<_> = scored.iter().map(|node| domain(*node)).collect();
        let mut counts: BTreeMap<Symbol, usize> = BTreeMap::new();
        for node in cluster.cache.base.alive().iter().filter(|node| is_scored(*node) && counts_on(*node, constraint)) {
            *counts.entry(domain(node)).or_default() += pods(node, selector);
        }
        for &node in scored.iter().filter(|node| label(**node, key).is_some()) {
            let (domain_count, count) = match key == hostname {
                true => (scored.len(), pods(node, selector)),
                false => (domains.len(), counts.get(&domain(node)).copied().unwrap_or(0)),
            };
            sums[node.get()] += count as f64 * ((domain_count + 2) as f64).ln() + f64::from(constraint.max_skew - 1);
        }
    }
    let score = |node: NodeIndex| sums[node.get()].round() as i64;
    let ignored = |node| (node, PodTopologySpread::IGNORED);
    feasible.iter().map(|node| if is_scored(node) { (node, score(node)) } else { ignored(node) }).collect()
}

/// A cluster, and pods with cached answers.
struct History {
    cluster: Cluster,
    plugin: PodTopologySpread,
    pods: Vec<(String, Pod)>,
    cached: Vec<Option<(PodTopologySpreadPod, Answer)>>,
    otherwise_feasible: NodeMask,
    changed: Vec<NodeIndex>,
    node_objects_changed: bool,
    uids: Vec<(Uid, Symbol)>,
    added: usize,
}

impl History {
    fn new() -> History {
        let mut cluster = Cluster { cache: Cache::default() };
        for n in 0..NODES {
            let zone = ["zone: a, ", "zone: b, ", "zone: a, ", "zone: '', ", ""][n % 5];
            node(&mut cluster, n, &format!("{zone}host: h{}", if n % 3 == 0 { "" } else { ", disk: ssd" }), "{}");
        }
        let pods: Vec<_> = pod_manifests().into_iter().map(|yaml| (yaml.clone(), cluster.pod(&yaml))).collect();
        let cached = pods.iter().map(|_| None).collect();
        let (otherwise_feasible, plugin) = ((0..NODES as u32).map(NodeIndex).collect(), PodTopologySpread::default());
        let (changed, uids) = (Vec::new(), Vec::new());
        History {
            cluster,
            plugin,
            pods,
            cached,
            otherwise_feasible,
            changed,
            node_objects_changed: false,
            uids,
            added: 0,
        }
    }

    fn step(&mut self, step: Step) {
        let name = |cluster: &mut Cluster, n: usize| cluster.cache.base.interner.intern(&format!("n{n}"));
        match step {
            Step::Add(n, app) => {
                self.added += 1;
                let mut pod = self.cluster.pod(&format!("metadata: {{labels: {{app: {app}}}}}"));
                pod.uid = Uid(format!("{}", self.added).into());
                let node = name(&mut self.cluster, n);
                self.uids.push((pod.uid.clone(), node));
                self.changed.extend(self.cluster.cache.base.node(node));
                self.cluster.cache.add_pod(Arc::new(pod), node, PodState::Bound);
            }
            Step::Remove(_) if self.uids.is_empty() => {}
            Step::Remove(at) => {
                let (uid, node) = self.uids.swap_remove(at % self.uids.len());
                self.changed.extend(self.cluster.cache.base.node(node));
                self.cluster.cache.remove_pod(&uid);
            }
            Step::Node(n, labels, spec) => {
                node(&mut self.cluster, n, labels, spec);
                let name = name(&mut self.cluster, n);
                self.changed.extend(self.cluster.cache.base.node(name));
                self.node_objects_changed = true;
            }
            Step::NoNode(n) => {
                let name = name(&mut self.cluster, n);
                self.changed.extend(self.cluster.cache.base.node(name));
                self.node_objects_changed = true;
                self.cluster.cache.remove_node(name);
            }
            Step::Service(true) => self.cluster.workload(WorkloadKind::Service, "web", "web"),
            Step::Service(false) => self.cluster.workload(WorkloadKind::Service, "web", "db"),
            Step::Flip(n) => {
                let node = NodeIndex(n as u32);
                if self.otherwise_feasible.contains(node) {
                    self.otherwise_feasible.remove(node)
                } else {
                    self.otherwise_feasible.insert(node)
                }
            }
            Step::Evaluate => self.evaluate(),
        }
    }

    fn evaluate(&mut self) {
        self.changed.sort_unstable();
        self.changed.dedup();
        for ((yaml, pod), cached) in self.pods.iter().zip(&mut self.cached) {
            let compiled = self.cluster.compile(&DEFAULT, pod);
            let (plugin, view) = (&self.plugin, self.cluster.view());
            let new = Answer::new(plugin, &compiled, view, &self.otherwise_feasible);
            match cached {
                Some((known, answer)) if *known == compiled => {
                    let changed = NodeChanges { nodes: &self.changed, node_objects: self.node_objects_changed };
                    answer.update(plugin, &compiled, view, &self.otherwise_feasible, changed);
                    answer.check(&new, yaml);
                }
                _ => *cached = Some((compiled, new)),
            }
            let Some((_, answer)) = cached else { continue };
            if !answer.scores.skip {
                let raw: Vec<_> = answer.feasible.iter().map(|node| (node, answer.raw(node))).collect();
                assert_eq!(raw, reference_scores(&mut self.cluster, pod, &answer.feasible), "{yaml}");
            }
        }
        self.changed.clear();
        self.node_objects_changed = false;
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(ProptestConfig::default().cases / 4))]
    #[test]
    fn updated_answers_equal_full_evaluation(steps in prop::collection::vec(any_step(), 1..80)) {
        let mut history = History::new();
        for step in steps {
            history.step(step);
        }
        history.evaluate();
        history.evaluate();
    }
}

#[test]
fn a_truncated_log_counts_again() {
    let mut history = History::new();
    history.evaluate();
    for n in 0..2500 {
        history.step(Step::Add(n % 7, "web"));
    }
    history.evaluate();
    (0..1000).for_each(|_| history.step(Step::Remove(3)));
    history.evaluate();
    history.evaluate();
}
