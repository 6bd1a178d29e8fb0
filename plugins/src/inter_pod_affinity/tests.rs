//! Pods on six nodes: n0 and n1 in zone a, n2 and n3 in zone b, n4 in a zone with an empty name, n5 in no
//! zone.

use std::sync::Arc;

use proptest::prelude::*;
use schedc_core::cache::{Base, Cache, PodState, State};
use schedc_core::column::Index;
use schedc_core::extension_points::{
    CandidateNodes, Extent, FilterPlugin, NormalizeScore, PreFilterPlugin, PreScorePlugin, ScorePlugin,
};
use schedc_core::model::{Namespace, Node, NodeIndex, Object, Pod, Uid};
use schedc_core::node_mask::NodeMask;
use schedc_core::plugin::View;
use schedc_core::status::{Reasons, Status};
use schedc_objects::testing;

use super::*;
use crate::testing::args;

mod filtering;
mod scoring;
mod update;

const ZONES: [Option<&str>; 6] = [Some("a"), Some("a"), Some("b"), Some("b"), Some(""), None];
const DEFAULT: InterPodAffinityArgs = InterPodAffinityArgs::DEFAULT;

/// The indexes, updated as generated code does.
#[derive(Default)]
struct Indexes(Topology, SelectorCounts, AffinityTerms);

impl State for Indexes {
    type Hypothetical<'a> = ();

    fn set_node(&mut self, base: &Base, index: NodeIndex, old: Option<&Node>) -> bool {
        let new = base.infos()[index.get()].node.as_deref();
        self.0.set_node(index, old, new);
        self.1.set_node(index, old, new);
        self.2.set_node(index, old, new);
        false
    }
    fn add_pod(&mut self, index: NodeIndex, pod: &Pod) {
        self.1.add_pod(index, pod);
        self.2.add_pod(index, pod);
    }
    fn remove_pod(&mut self, index: NodeIndex, pod: &Pod) {
        self.1.remove_pod(index, pod);
        self.2.remove_pod(index, pod);
    }
    fn set_object(&mut self, old: Option<&Object>, new: Option<&Object>) {
        self.1.set_object(old, new);
        self.2.set_object(old, new);
    }
    fn hypothetical(&self, _: &Base, _: NodeIndex) {}
    fn hypothetical_add((): &mut (), _: &Arc<Pod>) {}
    fn hypothetical_remove((): &mut (), _: &Arc<Pod>) {}
}

struct Cluster {
    cache: Cache<Indexes>,
}

impl Cluster {
    /// Creates the six nodes, and the namespaces `shop` of team red and `bank` of team blue.
    fn new() -> Self {
        let mut cache = Cache::<Indexes>::default();
        for (n, zone) in ZONES.into_iter().enumerate() {
            let zone = zone.map_or(String::new(), |zone| format!(", zone: '{zone}'"));
            let yaml = format!("metadata: {{name: n{n}, labels: {{host: n{n}{zone}}}}}");
            let node = testing::node(&yaml, &mut cache.base.interner);
            cache.set_node(node);
        }
        let mut cluster = Cluster { cache };
        cluster.namespace("shop", "red");
        cluster.namespace("bank", "blue");
        cluster
    }

    fn namespace(&mut self, name: &str, team: &str) {
        let interner = &mut self.cache.base.interner;
        let labels = [(interner.intern("team"), interner.intern(team))].into();
        let name = interner.intern(name);
        self.cache.set_object(Object::Namespace(Arc::new(Namespace { name, labels })));
    }

    fn pod(&mut self, yaml: &str) -> Pod {
        testing::pod(yaml, &mut self.cache.base.interner)
    }

    /// Adds a pod to a node. The uid of the pod is the number of pods that were added before.
    fn with(mut self, node: &str, pod: &str) -> Self {
        let mut pod = self.pod(pod);
        pod.uid = Uid(format!("{}", self.cache.base.infos().iter().map(|info| info.pods.len()).sum::<usize>()).into());
        let node = self.cache.base.interner.intern(node);
        self.cache.add_pod(Arc::new(pod), node, PodState::Bound);
        self
    }

    fn compile(&mut self, args: &InterPodAffinityArgs, pod: &Pod) -> InterPodAffinityPod {
        let Indexes(topology, counts, affinity_terms) = &mut self.cache.state;
        let indexes = (topology, counts, affinity_terms);
        InterPodAffinity::compile(args, &pod.spec, CompileContext { interner: &mut self.cache.base.interner, indexes })
    }

    fn view(&self) -> View<'_, InterPodAffinity> {
        let Indexes(topology, counts, affinity_terms) = &self.cache.state;
        View { columns: NodeIndex(0), indexes: (topology, counts, affinity_terms), reads: (), base: &self.cache.base }
    }

    fn all(&self) -> Vec<NodeIndex> {
        self.cache.base.alive().iter().collect()
    }
}

/// Returns the manifest of a pod in namespace `shop` with label `app` and an affinity.
fn pod(app: &str, affinity: &str) -> String {
    format!("{{metadata: {{name: p, namespace: shop, labels: {{app: {app}}}}}, spec: {{affinity: {{{affinity}}}}}}}")
}

fn with_affinity(terms: &str) -> String {
    format!("podAffinity: {{requiredDuringSchedulingIgnoredDuringExecution: [{terms}]}}")
}

fn with_anti_affinity(terms: &str) -> String {
    format!("podAntiAffinity: {{requiredDuringSchedulingIgnoredDuringExecution: [{terms}]}}")
}

/// Returns a term that selects pods of an app.
fn term(key: &str, app: &str) -> String {
    format!("{{topologyKey: {key}, labelSelector: {{matchLabels: {{app: {app}}}}}}}")
}

#[test]
fn arguments_have_defaults_and_ranges() {
    let args = |profile| args::<InterPodAffinityArgs>(profile).copied();
    assert_eq!(args(""), Ok(DEFAULT));
    let written = "hard-pod-affinity-weight = 0\nignore-preferred-terms-of-existing-pods = true";
    let expected = InterPodAffinityArgs { hard_pod_affinity_weight: 0, ignore_preferred_terms_of_existing_pods: true };
    assert_eq!(args(written), Ok(expected));
    assert_eq!(DEFAULT.hard_pod_affinity_weight, 1);
    assert!(args("hard-pod-affinity-weight = 101").is_err());
    assert!(args("hard-pod-affinity-weight = -1").is_err());
}
