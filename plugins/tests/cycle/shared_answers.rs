//! Pods with different claims share a cached answer, and each gets the decision of a full evaluation.

use std::sync::Arc;

use proptest::prelude::*;
use schedc_core::cache::{Cache, PodState};
use schedc_core::engine::{Decision, Engine, UNTIMED};
use schedc_core::extension_points::Placement;
use schedc_core::handle::Handle;
use schedc_core::model::{NodeIndex, Pod};
use schedc_core::profile::{PreFilterRun, Profile};
use schedc_objects::testing;

use crate::cycle::scheduler::own_volumes::Pipeline;

const NODES: usize = 5;
const CLAIMS: usize = 8;

/// A scheduler with cached answers and one without them, for the same cluster.
struct Pair {
    cache: Cache<<Pipeline as Profile>::State>,
    cached: Engine<Pipeline>,
    uncached: Engine<Pipeline>,
    running: Vec<RunningPod>,
    decisions: usize,
}

struct RunningPod {
    pod: Arc<Pod>,
    placement: Placement,
    reserved: Option<[<Pipeline as Profile>::Reserved; 2]>,
}

#[derive(Clone, Debug)]
enum Event {
    /// A pod with these claims is scheduled; the number is the random value that chooses among equal nodes.
    Pod([usize; 2], usize),
    /// A running pod is deleted; if true, its reservation is reverted first.
    Gone(prop::sample::Index, bool),
    /// A claim, its state, and the kind of its volume.
    Claim(usize, usize, usize),
    /// A node, its attach limit, and whether in-tree volumes are migrated to CSI there.
    CsiNode(usize, usize, bool),
    /// A node and its zone; `None` deletes the node.
    Node(usize, Option<usize>),
    /// A node, a claim, and whether the claim's volume is attached to the node.
    Attached(usize, usize, bool),
}

fn any_event() -> impl Strategy<Value = Event> {
    let gone = (any::<prop::sample::Index>(), any::<bool>()).prop_map(|(at, unreserved)| Event::Gone(at, unreserved));
    prop_oneof![
        12 => ([0..CLAIMS, 0..CLAIMS + 4], 0..1000_usize).prop_map(|(claims, draw)| Event::Pod(claims, draw)),
        4 => gone,
        3 => (0..CLAIMS, 0..6_usize, 0..6_usize)
            .prop_map(|(claim, claim_state, volume)| Event::Claim(claim, claim_state, volume)),
        1 => (0..NODES, 0..4_usize, any::<bool>()).prop_map(|(node, count, migrated)| Event::CsiNode(node, count, migrated)),
        1 => (0..NODES, prop::option::weighted(0.8, 0..2_usize)).prop_map(|(node, zone)| Event::Node(node, zone)),
        1 => (0..NODES, 0..CLAIMS, any::<bool>())
            .prop_map(|(node, claim, is_attached)| Event::Attached(node, claim, is_attached)),
    ]
}

impl Pair {
    fn new() -> Self {
        let engine = || Engine::new(&Handle::default()).expect("a profile that starts");
        let (cached, mut uncached) = (engine(), engine());
        uncached.cache_answers = false;
        let mut pair = Pair { cache: Cache::default(), cached, uncached, running: Vec::new(), decisions: 0 };
        for (name, provisioner) in [("found", "kubernetes.io/no-provisioner"), ("made", "d")] {
            let mode = "volumeBindingMode: WaitForFirstConsumer";
            pair.object(&format!(
                "{{kind: StorageClass, metadata: {{name: {name}}}, provisioner: {provisioner}, {mode}}}"
            ));
        }
        for node in 0..NODES {
            pair.apply(&Event::CsiNode(node, 1 + node % 3, node % 2 == 0));
            pair.apply(&Event::Node(node, Some(node % 2)));
        }
        for claim in 0..CLAIMS {
            pair.apply(&Event::Claim(claim, 0, claim % 6));
        }
        pair
    }

    fn object(&mut self, yaml: &str) {
        let object = testing::object(yaml, &mut self.cache.base.interner);
        self.cache.set_object(object);
    }

    fn apply(&mut self, event: &Event) {
        match event {
            Event::Pod(claims, draw) => self.schedule(*claims, *draw),
            Event::Gone(at, unreserved) if !self.running.is_empty() => {
                let RunningPod { pod, placement, reserved } = self.running.swap_remove(at.index(self.running.len()));
                if let Some([cached, uncached]) = reserved.filter(|_| *unreserved) {
                    self.cached.plugins.unreserve(&placement, &cached);
                    self.uncached.plugins.unreserve(&placement, &uncached);
                }
                self.cache.remove_pod(&pod.uid);
            }
            Event::Gone(..) => {}
            Event::Claim(claim, claim_state, volume) => self.claim(*claim, *claim_state, *volume),
            Event::CsiNode(node, count, migrated) => {
                let plugins = if *migrated { "kubernetes.io/aws-ebs" } else { "" };
                self.object(&format!(
                    "{{kind: CSINode, metadata: {{name: n{node},
                       annotations: {{storage.alpha.kubernetes.io/migrated-plugins: '{plugins}'}}}},
                       spec: {{drivers: [{{name: d, nodeID: x, allocatable: {{count: {count}}}}},
                         {{name: ebs.csi.aws.com, nodeID: x, allocatable: {{count: 2}}}}]}}}}"
                ));
            }
            Event::Node(node, None) => {
                let name = self.cache.base.interner.intern(&format!("n{node}"));
                self.cache.remove_node(name);
            }
            Event::Node(node, Some(zone)) => {
                let zone = ["a", "b"][*zone];
                let labels = format!("topology.kubernetes.io/zone: {zone}, kubernetes.io/hostname: n{node}");
                let node = testing::node(
                    &format!(
                        "{{metadata: {{name: n{node}, labels: {{{labels}}}}},
                           status: {{allocatable: {{cpu: 8, memory: 8Gi, pods: 6}}}}}}"
                    ),
                    &mut self.cache.base.interner,
                );
                self.cache.set_node(node);
            }
            Event::Attached(node, claim, is_attached) => {
                let yaml = format!(
                    "{{kind: VolumeAttachment, metadata: {{name: at-{node}-{claim}}}, spec: {{attacher: d, nodeName: n{node},
                       source: {{persistentVolumeName: v{claim}}}}}}}"
                );
                let object = testing::object(&yaml, &mut self.cache.base.interner);
                if *is_attached { self.cache.set_object(object) } else { self.cache.remove_object(&object.key()) }
            }
        }
    }

    /// Sets a claim to a state: bound, bound and exclusive to one pod, waiting for its first consumer in either class,
    /// or missing.
    fn claim(&mut self, claim: usize, claim_state: usize, volume: usize) {
        let zone = |zone: &str| {
            (
                format!(", labels: {{topology.kubernetes.io/zone: {zone}}}"),
                affinity("topology.kubernetes.io/zone", zone),
            )
        };
        let (labels, affinity) = match volume {
            0 | 1 => (String::new(), String::new()),
            2 => zone("a"),
            3 => zone("b"),
            _ => (String::new(), affinity("kubernetes.io/hostname", &format!("n{}", claim % NODES))),
        };
        let source = match claim % 3 {
            0 => format!("awsElasticBlockStore: {{volumeID: vol-{claim}}}"),
            _ => format!("csi: {{driver: d, volumeHandle: h{claim}}}"),
        };
        let (class, claimed) = match claim_state {
            0..=2 => ("made", format!("claimRef: {{namespace: default, name: c{claim}}},")),
            _ => ("found", String::new()),
        };
        self.object(&format!(
            "{{kind: PersistentVolume, metadata: {{name: v{claim}{labels}}}, spec: {{storageClassName: {class},
               capacity: {{storage: 1Gi}}, accessModes: [ReadWriteOnce], {claimed} {affinity} {source}}},
               status: {{phase: Available}}}}"
        ));
        let modes = if claim_state == 1 { "ReadWriteOncePod" } else { "ReadWriteOnce" };
        let (bound, class) = match claim_state {
            0..=2 => (format!("volumeName: v{claim},"), "made"),
            3 => (String::new(), "made"),
            _ => (String::new(), "found"),
        };
        let completed =
            if claim_state <= 2 { "annotations: {pv.kubernetes.io/bind-completed: 'yes'}" } else { "labels: {}" };
        let yaml = format!(
            "{{kind: PersistentVolumeClaim, metadata: {{name: c{claim}, namespace: default, {completed}}},
               spec: {{storageClassName: {class}, {bound} accessModes: [{modes}],
               resources: {{requests: {{storage: 1Gi}}}}}}}}"
        );
        let object = testing::object(&yaml, &mut self.cache.base.interner);
        if claim_state == 5 { self.cache.remove_object(&object.key()) } else { self.cache.set_object(object) }
    }

    /// Schedules a pod with both schedulers, compares the results, and places the pod accordingly.
    fn schedule(&mut self, claims: [usize; 2], draw: usize) {
        self.decisions += 1;
        let volumes: Vec<_> = (claims.iter().filter(|claim| **claim < CLAIMS))
            .map(|claim| format!("{{name: v{claim}, persistentVolumeClaim: {{claimName: c{claim}}}}}"))
            .collect();
        let yaml = format!(
            "{{metadata: {{name: p{}}}, spec: {{containers: [{{name: c, resources: {{requests: {{cpu: 1}}}}}}],
               volumes: [{}]}}}}",
            self.decisions,
            volumes.join(", ")
        );
        let pod = Arc::new(testing::pod(&yaml, &mut self.cache.base.interner));
        let decision = self.cached.decide(&pod, &mut self.cache, UNTIMED, |n| draw % n);
        let full_decision = self.uncached.decide(&pod, &mut self.cache, UNTIMED, |n| draw % n);
        assert_eq!(decision, full_decision, "{yaml}");
        if let Decision::Node(node) = decision {
            self.place(pod, node);
        }
    }

    fn place(&mut self, pod: Arc<Pod>, node: NodeIndex) {
        let compiled = self.cached.plugins.compile(&pod.spec, &mut self.cache.base.interner, &mut self.cache.state);
        let mut cycles = [&self.cached, &self.uncached]
            .map(|engine| engine.plugins.pre_filter(&compiled, &self.cache, &mut PreFilterRun::default()).ok());
        let name = self.cache.base.name(node).to_owned();
        let symbol = self.cache.base.interner.intern(&name);
        self.cache.add_pod(pod.clone(), symbol, PodState::Assumed);
        let placement = Placement { pod: pod.clone(), node, node_name: name.as_str().into() };
        let mut reserve = |engine: &Engine<Pipeline>, at: usize| {
            let cycle = cycles[at].take()?;
            engine.plugins.reserve(&cycle, &self.cache, &placement).ok()
        };
        let reserved =
            reserve(&self.cached, 0).zip(reserve(&self.uncached, 1)).map(|(cached, uncached)| [cached, uncached]);
        self.running.push(RunningPod { pod, placement, reserved });
    }
}

fn affinity(key: &str, value: &str) -> String {
    let expression = format!("{{key: {key}, operator: In, values: [{value}]}}");
    format!("nodeAffinity: {{required: {{nodeSelectorTerms: [{{matchExpressions: [{expression}]}}]}}}},")
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(if cfg!(debug_assertions) { 60 } else { 2_000 }))]

    #[test]
    fn shared_answers_equal_full_evaluations(
        history in prop::collection::vec(any_event(), 1..120),
    ) {
        let mut pair = Pair::new();
        history.iter().for_each(|event| pair.apply(event));
    }
}

#[test]
fn pods_of_equal_templates_with_their_own_claims_share_an_answer() {
    let mut pair = Pair::new();
    for claim in [0, 1] {
        pair.claim(claim, 0, 0);
    }
    let answers = [0, 1, 0].map(|claim| {
        let volume = format!("{{name: v, persistentVolumeClaim: {{claimName: c{claim}}}}}");
        let pod = format!("{{metadata: {{name: p{claim}}}, spec: {{volumes: [{volume}]}}}}");
        let pod = Arc::new(testing::pod(&pod, &mut pair.cache.base.interner));
        pair.cached.cached_answer(&pod, &mut pair.cache)
    });
    let [first, second, third] = answers;
    assert!(first.is_none(), "the first answer of a signature is not cached");
    assert!(second.is_some() && second == third);
}
