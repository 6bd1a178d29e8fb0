//! Five nodes: n0 and n1 in zone a, n2 in zone b, n3 in a zone with an empty name, n4 without a zone.

use std::sync::Arc;

use proptest::prelude::*;
use schedc_core::cache::{Base, Cache, PodState, State};
use schedc_core::column::{Index, rebuild_entry};
use schedc_core::model::{LabelSelector, Node, Object, Uid, Workload, WorkloadKind};
use schedc_objects::testing;

use super::*;
use crate::testing::args;

mod filtering;
mod scoring;
mod update;

const ZONES: [Option<&str>; 5] = [Some("a"), Some("a"), Some("b"), Some(""), None];
const DEFAULT: PodTopologySpreadArgs = PodTopologySpreadArgs::DEFAULT;

/// The columns and indexes of the plugin, updated as generated code does.
#[derive(Default)]
struct SpreadState {
    labels: Vec<NodeLabels>,
    taints: Vec<NodeTaints>,
    topology: Topology,
    counts: SelectorCounts,
    workloads: WorkloadSelectors,
}

impl State for SpreadState {
    type Hypothetical<'a> = ();

    fn set_node(&mut self, base: &Base, index: NodeIndex, old: Option<&Node>) -> bool {
        self.topology.set_node(index, old, base.infos()[index.get()].node.as_deref());
        rebuild_entry(&mut self.labels, base, index) | rebuild_entry(&mut self.taints, base, index)
    }
    fn add_pod(&mut self, index: NodeIndex, pod: &Pod) {
        self.counts.add_pod(index, pod);
    }
    fn remove_pod(&mut self, index: NodeIndex, pod: &Pod) {
        self.counts.remove_pod(index, pod);
    }
    fn set_object(&mut self, old: Option<&Object>, new: Option<&Object>) {
        self.workloads.set_object(old, new);
    }
    fn hypothetical(&self, _: &Base, _: NodeIndex) {}
    fn hypothetical_add((): &mut (), _: &Arc<Pod>) {}
    fn hypothetical_remove((): &mut (), _: &Arc<Pod>) {}
}

struct Cluster {
    cache: Cache<SpreadState>,
}

impl Cluster {
    fn new() -> Self {
        let mut cluster = Cluster { cache: Cache::default() };
        for n in 0..ZONES.len() {
            cluster.node(n, "", "{}");
        }
        cluster
    }

    /// Adds or updates a node, with additional labels such as `, disk: ssd`.
    fn node(&mut self, n: usize, labels: &str, spec: &str) {
        let zone = ZONES[n].map_or(String::new(), |zone| format!(", topology.kubernetes.io/zone: '{zone}'"));
        let labels = format!("kubernetes.io/hostname: n{n}{zone}{labels}");
        let yaml = format!("metadata: {{name: n{n}, labels: {{{labels}}}}}\nspec: {spec}");
        let node = testing::node(&yaml, &mut self.cache.base.interner);
        self.cache.set_node(node);
    }

    fn pod(&mut self, yaml: &str) -> Pod {
        testing::pod(yaml, &mut self.cache.base.interner)
    }

    /// Adds this number of pods of an app on each node.
    fn with(mut self, app: &str, counts: [usize; 5]) -> Self {
        for (n, count) in counts.into_iter().enumerate() {
            for _ in 0..count {
                self.add(n, &format!("metadata: {{labels: {{app: {app}}}}}"));
            }
        }
        self
    }

    fn add(&mut self, n: usize, yaml: &str) {
        let mut pod = self.pod(yaml);
        let pods: usize = self.cache.base.infos().iter().map(|info| info.pods.len()).sum();
        pod.uid = Uid(format!("{pods}").into());
        let node = self.cache.base.interner.intern(&format!("n{n}"));
        self.cache.add_pod(Arc::new(pod), node, PodState::Bound);
    }

    fn workload(&mut self, kind: WorkloadKind, name: &str, app: &str) {
        let interner = &mut self.cache.base.interner;
        let selector = LabelSelector::from_labels(&[(interner.intern("app"), interner.intern(app))]);
        let (namespace, name) = (interner.intern("default"), interner.intern(name));
        let workload = Workload { kind, namespace, name, selector: Some(selector) };
        self.cache.set_object(Object::Workload(Arc::new(workload)));
    }

    fn compile(&mut self, args: &PodTopologySpreadArgs, pod: &Pod) -> PodTopologySpreadPod {
        let SpreadState { topology, counts, workloads, .. } = &mut self.cache.state;
        let indexes = (topology, counts, workloads);
        PodTopologySpread::compile(args, &pod.spec, CompileContext { interner: &mut self.cache.base.interner, indexes })
    }

    fn view(&self) -> View<'_, PodTopologySpread> {
        let SpreadState { labels, taints, topology, counts, workloads } = &self.cache.state;
        View {
            columns: (labels.as_slice(), taints.as_slice(), NodeIndex(0)),
            indexes: (topology, counts, workloads),
            reads: (),
            base: &self.cache.base,
        }
    }
}

/// Returns the manifest of a pod of app `web` with constraints and additional spec fields.
fn pod(constraints: &str, more: &str) -> String {
    format!("{{metadata: {{labels: {{app: web}}}}, spec: {{topologySpreadConstraints: [{constraints}]{more}}}}}")
}

/// Returns a constraint on pods of app `web`, with additional fields such as `, minDomains: 3`.
fn constraint(action: &str, key: &str, max_skew: i32, more: &str) -> String {
    let selector = "labelSelector: {matchLabels: {app: web}}";
    format!("{{maxSkew: {max_skew}, topologyKey: {key}, whenUnsatisfiable: {action}, {selector}{more}}}")
}

#[test]
fn default_constraints_are_validated() {
    let args = |profile: &str| args::<PodTopologySpreadArgs>(profile).copied();
    assert_eq!(args(""), Ok(DEFAULT));
    let constraint = |action| format!("{{ max-skew = 1, topology-key = 'zone', when-unsatisfiable = '{action}' }}");
    let [hard, soft] = ["DoNotSchedule", "ScheduleAnyway"].map(constraint);
    let list = |constraints: &str| format!("defaulting-type = 'List'\ndefault-constraints = [{constraints}]");
    let read = args(&list(&format!("{hard}, {soft}"))).unwrap();
    assert_eq!((read.default_constraints.len(), read.check()), (2, Ok(())));
    assert!(!args(&list("")).unwrap().is_system());
    let twice =
        "default-constraints[2]: another constraint also has topology key zone and action DoNotSchedule".to_owned();
    assert_eq!(args(&list(&format!("{hard}, {soft}, {hard}"))).unwrap().check(), Err(twice));
    let error = args(&format!("default-constraints = [{hard}]")).unwrap_err();
    assert!(error.ends_with("`default-constraints` is for the defaulting type List only"), "{error}");
}
