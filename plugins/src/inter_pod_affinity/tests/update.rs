//! Incrementally updated states.

use std::collections::HashMap;

use schedc_core::extension_points::ScoreClass;
use schedc_core::incremental::{FilterUpdate, Incremental, NeedsFullEvaluation, NodeChanges, ScoreUpdate};
use schedc_core::node_set::NodeSet;
use schedc_core::plugin::CycleSlot;

use super::*;

/// The cached state for pods with equal signatures.
struct CachedState {
    pod: InterPodAffinityPod,
    filtering: CycleSlot<InterPodAffinityState>,
    passing: NodeMask,
    scoring: CycleSlot<InterPodAffinityScores>,
    scores: Raw,
    seen: u64,
}

/// The classes of nodes, and their raw scores.
#[derive(Default)]
struct Raw {
    of_node: Vec<Option<ScoreClass>>,
    of_class: HashMap<ScoreClass, i64>,
}

impl Raw {
    fn set(
        &mut self,
        node: NodeIndex,
        class: Option<ScoreClass>,
        pod: &InterPodAffinityPod,
        slot: &CycleSlot<InterPodAffinityScores>,
    ) {
        let len = self.of_node.len().max(node.get() + 1);
        self.of_node.resize(len, None);
        self.of_node[node.get()] = class;
        if let Some(class) = class {
            let score = || InterPodAffinity::score_of_class(&DEFAULT, pod, &slot.state, class);
            self.of_class.entry(class).or_insert_with(score);
        }
    }

    /// Recomputes the scores of all classes.
    fn refresh(&mut self, pod: &InterPodAffinityPod, slot: &CycleSlot<InterPodAffinityScores>) {
        for class in self.of_node.iter().flatten() {
            self.of_class.insert(*class, InterPodAffinity::score_of_class(&DEFAULT, pod, &slot.state, *class));
        }
    }

    fn score(&self, node: NodeIndex) -> Option<i64> {
        self.of_node.get(node.get()).copied().flatten().map(|class| self.of_class[&class])
    }
}

/// The nodes to evaluate again.
#[derive(Debug, Default)]
struct AffectedNodes {
    filtering: NodeSet,
    scoring: NodeSet,
}

impl Cluster {
    fn passes(&self, pod: &InterPodAffinityPod, slot: &CycleSlot<InterPodAffinityState>, node: NodeIndex) -> bool {
        let alive = self.cache.base.alive().contains(node);
        alive && (slot.skip || InterPodAffinity::filter(&DEFAULT, pod, &slot.state, node).is_ok())
    }

    fn class(
        &self,
        pod: &InterPodAffinityPod,
        slot: &CycleSlot<InterPodAffinityScores>,
        node: NodeIndex,
    ) -> Option<ScoreClass> {
        let alive = self.cache.base.alive().contains(node) && !slot.skip;
        alive.then(|| InterPodAffinity::score_class(&DEFAULT, pod, &slot.state, node).expect("a score"))
    }

    fn score(
        &self,
        pod: &InterPodAffinityPod,
        slot: &CycleSlot<InterPodAffinityScores>,
        node: NodeIndex,
    ) -> Option<i64> {
        let alive = self.cache.base.alive().contains(node) && !slot.skip;
        alive.then(|| InterPodAffinity::score(&DEFAULT, pod, &slot.state, node).expect("a score"))
    }

    fn slots(&self) -> impl Iterator<Item = NodeIndex> + use<> {
        (0..self.cache.base.infos().len() as u32).map(NodeIndex)
    }

    fn evaluate(&mut self, pod: &Pod) -> CachedState {
        let pod = self.compile(&DEFAULT, pod);
        let plugin = InterPodAffinity::default();
        let filtering = plugin.pre_filter(&DEFAULT, &pod, self.view()).expect("terms are valid").slot;
        let alive = self.cache.base.alive();
        let scoring = plugin.pre_score(&DEFAULT, &pod, self.view(), alive).expect("terms are valid");
        let mut passing = NodeMask::default();
        passing.resize(self.cache.base.infos().len());
        self.slots().filter(|node| self.passes(&pod, &filtering, *node)).for_each(|node| passing.insert(node));
        let mut scores = Raw::default();
        self.slots().for_each(|node| scores.set(node, self.class(&pod, &scoring, node), &pod, &scoring));
        CachedState { pod, filtering, passing, scoring, scores, seen: self.cache.log.end() }
    }

    /// Updates a cached state as the engine does. For scores, every node counts as feasible.
    fn update(&self, cached: &mut CachedState, affected: &mut AffectedNodes) -> Result<(), NeedsFullEvaluation> {
        let entries: Vec<_> = self.cache.log.since(cached.seen).expect("the log is long enough").collect();
        let node_objects_changed = entries.iter().any(|entry| entry.is_node_change());
        let nodes: Vec<_> = entries.iter().map(|entry| entry.slot()).collect::<NodeMask>().iter().collect();
        let changed = NodeChanges { nodes: &nodes, node_objects: node_objects_changed };
        let slots = self.cache.base.infos().len();
        let (plugin, alive) = (InterPodAffinity::default(), self.cache.base.alive());
        cached.passing.resize(slots);
        affected.filtering.reset(slots);
        affected.scoring.reset(slots);
        let mut flipped = NodeSet::default();
        flipped.reset(slots);
        let mut verdicts =
            FilterUpdate::new(changed, &mut cached.passing, &mut affected.filtering, &mut flipped, alive);
        Incremental::update_filter(&plugin, &DEFAULT, &cached.pod, &mut cached.filtering, self.view(), &mut verdicts)?;
        let mut classes_changed = false;
        let mut rescore = ScoreUpdate::new(changed, alive, &flipped, &mut affected.scoring, &mut classes_changed);
        Incremental::update_score(&plugin, &DEFAULT, &cached.pod, &mut cached.scoring, self.view(), &mut rescore)?;
        for node in nodes.iter().copied().chain(affected.filtering.iter()) {
            if self.passes(&cached.pod, &cached.filtering, node) {
                cached.passing.insert(node);
            } else {
                cached.passing.remove(node);
            }
        }
        if classes_changed {
            cached.scores.of_class.clear();
        }
        for node in nodes.into_iter().chain(affected.scoring.iter()) {
            let class = self.class(&cached.pod, &cached.scoring, node);
            cached.scores.set(node, class, &cached.pod, &cached.scoring);
        }
        if classes_changed {
            cached.scores.refresh(&cached.pod, &cached.scoring);
        }
        cached.seen = self.cache.log.end();
        Ok(())
    }

    /// Adds or changes a node, with these labels; `None` removes it.
    fn set_node(&mut self, name: &str, labels: Option<&str>) {
        let yaml = format!("metadata: {{name: {name}, labels: {{host: {name}, {}}}}}", labels.unwrap_or_default());
        let node = testing::node(&yaml, &mut self.cache.base.interner);
        if labels.is_some() {
            self.cache.set_node(node);
        } else {
            self.cache.remove_node(node.name);
        }
    }
}

/// A change of the cluster.
#[derive(Clone, Debug)]
enum Event {
    /// A pod is added or replaced: the numbers of the pod, of its template and of its node.
    Pod(usize, usize, u32),
    NoPod(usize),
    /// The node gets these labels.
    Node(u32, &'static str),
    NoNode(u32),
    Namespace(&'static str, &'static str),
    /// The pod with this template is scheduled.
    Schedule(usize),
}

fn any_event() -> impl Strategy<Value = Event> {
    let namespaces = ["shop", "bank", "lost"];
    prop_oneof![
        5 => (0..12_usize, 0..4_usize, 0..7_u32).prop_map(|(pod, template, node)| Event::Pod(pod, template, node)),
        2 => (0..12_usize).prop_map(Event::NoPod),
        1 => (0..7_u32, prop::sample::select(vec!["zone: a", "zone: b", "zone: ''", "", "rack: r, zone: c"]))
            .prop_map(|(node, labels)| Event::Node(node, labels)),
        1 => (0..7_u32).prop_map(Event::NoNode),
        1 => (prop::sample::select(namespaces.to_vec()), prop::sample::select(vec!["red", "blue"]))
            .prop_map(|(namespace, team)| Event::Namespace(namespace, team)),
        6 => (0..5_usize).prop_map(Event::Schedule),
    ]
}

fn any_term() -> impl Strategy<Value = String> {
    let keys = prop::sample::select(vec!["zone", "host", "rack"]);
    let selectors =
        prop::sample::select(vec!["matchLabels: {app: a}", "matchLabels: {app: b}", "", "matchLabels: {set: x}"]);
    let namespaces = prop::sample::select(vec![
        "",
        "",
        ", namespaceSelector: {}",
        ", namespaceSelector: {matchLabels: {team: red}}",
    ]);
    (keys, selectors, namespaces)
        .prop_map(|(key, selector, more)| format!("{{topologyKey: {key}, labelSelector: {{{selector}}}{more}}}"))
}

/// Returns a strategy for pods with at most one term of each kind.
fn any_pod() -> impl Strategy<Value = String> {
    let required = || prop::collection::vec(any_term(), 0..2).prop_map(|terms| terms.join(", "));
    let preferred = || {
        let weighed =
            (0..3, any_term()).prop_map(|(weight, term)| format!("{{weight: {weight}, podAffinityTerm: {term}}}"));
        prop::collection::vec(weighed, 0..2).prop_map(|terms| terms.join(", "))
    };
    let list = "DuringSchedulingIgnoredDuringExecution";
    let side = move || {
        (required(), preferred()).prop_map(move |(required, preferred)| {
            format!("{{required{list}: [{required}], preferred{list}: [{preferred}]}}")
        })
    };
    let app = prop::sample::select(vec!["a", "b", "b, set: x"]);
    let namespace = prop::sample::select(vec!["shop", "bank", "lost"]);
    (app, namespace, side(), side()).prop_map(|(app, namespace, with_affinity, with_anti_affinity)| {
        let affinity = format!("{{podAffinity: {with_affinity}, podAntiAffinity: {with_anti_affinity}}}");
        format!(
            "{{metadata: {{name: p, namespace: {namespace}, labels: {{app: {app}}}}}, spec: {{affinity: {affinity}}}}}"
        )
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(if cfg!(debug_assertions) { 400 } else { 20_000 }))]
    #[test]
    fn updated_state_equals_full_evaluation(
        pods in prop::collection::vec(any_pod(), 4),
        history in prop::collection::vec(any_event(), 0..60),
    ) {
        let mut cluster = Cluster::new();
        let plain = "{metadata: {name: p, namespace: shop, labels: {app: a}}}".to_string();
        let pods: Vec<_> = pods.into_iter().chain([plain]).map(|pod| cluster.pod(&pod)).collect();
        let mut cached: Vec<Option<CachedState>> = pods.iter().map(|_| None).collect();
        let mut affected = AffectedNodes::default();
        for event in history {
            match event {
                Event::Pod(number, template, node) => {
                    let node = cluster.cache.base.interner.intern(&format!("n{node}"));
                    let pod = Pod { uid: Uid(number.to_string().into()), ..pods[template].clone() };
                    cluster.cache.add_pod(Arc::new(pod), node, PodState::Bound);
                }
                Event::NoPod(number) => _ = cluster.cache.remove_pod(&Uid(number.to_string().into())),
                Event::Node(node, labels) => cluster.set_node(&format!("n{node}"), Some(labels)),
                Event::NoNode(node) => cluster.set_node(&format!("n{node}"), None),
                Event::Namespace(name, team) => cluster.namespace(name, team),
                Event::Schedule(template) => {
                    let full = cluster.evaluate(&pods[template]);
                    // Pods with equal signatures share the state.
                    let at = cached.iter().position(|cached| cached.as_ref().is_some_and(|cached| cached.pod == full.pod));
                    let at = at.unwrap_or(template);
                    if let Some(old) = cached[at].as_mut().filter(|cached| cached.pod == full.pod) {
                        old.pod = full.pod.clone();
                        let updated = cluster.update(old, &mut affected);
                        if updated.is_ok() {
                            prop_assert_eq!(&old.filtering, &full.filtering);
                            prop_assert_eq!(&old.passing, &full.passing, "{:?}", affected);
                            prop_assert_eq!(&old.scoring, &full.scoring);
                            for node in cluster.slots() {
                                let score = cluster.score(&full.pod, &full.scoring, node);
                                prop_assert_eq!(old.scores.score(node), score, "{:?} {:?}", node, affected);
                            }
                        } else {
                            let skips = |cached: &CachedState| (cached.filtering.skip, cached.scoring.skip);
                            prop_assert_ne!(skips(old), skips(&full), "only a change of skips needs a full evaluation");
                        }
                    }
                    cached[at] = Some(full);
                }
            }
        }
    }
}

#[test]
fn a_truncated_log_needs_full_evaluation() {
    let terms = |key| [term(key, "a"), term(key, "b")].join(", ");
    let affinity = format!("{}, {}", with_affinity(&terms("zone")), with_anti_affinity(&terms("host")));
    let mut cluster = Cluster::new().with("n3", &pod("a", &affinity));
    let carrier = cluster.pod(&pod("a", &affinity));
    let mut cached = cluster.evaluate(&carrier);
    let n1 = cluster.cache.base.interner.intern("n1");
    // More changes than any change log holds.
    for pod in 0..2500 {
        let uid = Uid(format!("p{}", pod % 7).into());
        cluster.cache.add_pod(Arc::new(Pod { uid, ..carrier.clone() }), n1, PodState::Bound);
        cached.seen = cluster.cache.log.end() - 1;
    }
    assert_eq!(cluster.update(&mut cached, &mut AffectedNodes::default()), Ok(()));
    let full = cluster.evaluate(&carrier);
    assert_eq!((cached.filtering, cached.passing), (full.filtering, full.passing));
}
