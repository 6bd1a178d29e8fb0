//! Nodes and pods of the benchmark.

use std::sync::Arc;

use schedc_core::intern::{Interner, Symbol};
use schedc_core::model::{
    FieldRequirement, InclusionPolicy, LabelSelector, Node, NodeSelector, NodeSelectorTerm, NonZero, Operator, Pod,
    PodSpec, PodUsage, Requirement, Resources, TopologySpreadConstraint, UnsatisfiableAction, labels,
};

const MEBIBYTE: i64 = 1 << 20;

/// Returns a node with 32 cores in one of three zones.
pub(crate) fn node(number: usize, interner: &mut Interner) -> Node {
    let name = format!("node-{number}");
    let zone = format!("zone-{}", number % 3);
    let labels = labels(
        [
            ("kubernetes.io/hostname", &*name),
            ("kubernetes.io/arch", "amd64"),
            ("kubernetes.io/os", "linux"),
            ("topology.kubernetes.io/zone", &*zone),
        ],
        interner,
    );
    let resources = Resources {
        milli_cpu: 32_000,
        memory: 128 * 1024 * MEBIBYTE,
        ephemeral_storage: 100 * 1024 * MEBIBYTE,
        ..Resources::default()
    };
    Node {
        name: interner.intern(&name),
        labels,
        allocatable: resources,
        allowed_pods: 110,
        conditions: [(interner.intern("Ready"), interner.intern("True"))].into(),
        annotations: 1,
        ..Node::default()
    }
}

/// Returns a pod of the template, without a name.
pub(crate) fn plain(interner: &mut Interner) -> Pod {
    let requests = Resources { milli_cpu: 100, memory: 500 * MEBIBYTE, ..Resources::default() };
    let non_zero = NonZero { milli_cpu: requests.milli_cpu, memory: requests.memory };
    let spec = PodSpec {
        namespace: interner.intern("default"),
        labels: labels([("app", "web"), ("pod-template-hash", "5f6b7c8d9")], interner),
        scheduler_name: interner.intern("default-scheduler"),
        requests: requests.clone(),
        balance_requests: requests.clone(),
        fit_score_requests: requests.clone(),
        images: [interner.intern("registry.example.com/web:v1")].into(),
        containers: 1,
        ..PodSpec::default()
    };
    Pod {
        namespace: "default".into(),
        spec: Arc::new(spec),
        usage: Arc::new(PodUsage { requests, non_zero }),
        created: Some(0),
        ..Pod::default()
    }
}

/// Returns the pod with a changed spec.
fn with(pod: Pod, change: impl FnOnce(&mut PodSpec)) -> Pod {
    let mut spec = PodSpec::clone(&pod.spec);
    change(&mut spec);
    Pod { spec: Arc::new(spec), ..pod }
}

/// Returns a pod that is spread over zones, with a skew of at most one.
pub(crate) fn spread(interner: &mut Interner) -> Pod {
    spread_by(UnsatisfiableAction::DoNotSchedule, interner)
}

/// Returns a pod that prefers zones with fewer pods.
pub(crate) fn preferring_zones(interner: &mut Interner) -> Pod {
    spread_by(UnsatisfiableAction::ScheduleAnyway, interner)
}

fn spread_by(when_unsatisfiable: UnsatisfiableAction, interner: &mut Interner) -> Pod {
    let topology_key = interner.intern("topology.kubernetes.io/zone");
    with(plain(interner), |spec| {
        let constraint = TopologySpreadConstraint {
            max_skew: 1,
            topology_key,
            when_unsatisfiable,
            selector: Ok(Some(LabelSelector::from_labels(&spec.labels))),
            min_domains: 1,
            node_affinity_policy: InclusionPolicy::Honor,
            node_taints_policy: InclusionPolicy::Ignore,
        };
        spec.spread = [constraint].into();
    })
}

/// Returns a pod of a DaemonSet for a node.
pub(crate) fn daemon(pod: Pod, node: Symbol) -> Pod {
    with(pod, |spec| {
        let name = FieldRequirement { negated: false, name: node };
        let term = NodeSelectorTerm { match_expressions: Box::default(), match_fields: [name].into() };
        spec.required_node_affinity = Some(NodeSelector { terms: [term].into() }).into();
    })
}

/// Returns a pod with a scheduling gate.
pub(crate) fn gated(interner: &mut Interner) -> Pod {
    let gate = interner.intern("example.com/quota");
    with(plain(interner), |spec| spec.scheduling_gates = [gate].into())
}

/// Returns a pod that is too large for every node.
pub(crate) fn too_large(interner: &mut Interner) -> Pod {
    with(plain(interner), |spec| spec.requests.milli_cpu = 1_000_000)
}

/// Returns one of many pods that are too large for every node, and require a label of [`gold_node`].
pub(crate) fn too_large_one(number: usize, interner: &mut Interner) -> Pod {
    let (key, values) = (interner.intern("tier"), [interner.intern("gold")].into());
    let requirement = Requirement { key, operator: Operator::In, values };
    let term = NodeSelectorTerm { match_expressions: [requirement].into(), match_fields: Box::default() };
    with(plain(interner), |spec| {
        spec.requests.milli_cpu = 1_000_000 + number as i64;
        spec.required_node_affinity = Some(NodeSelector { terms: [term].into() }).into();
    })
}

/// Returns a node with a label that other nodes do not have.
pub(crate) fn gold_node(number: usize, interner: &mut Interner) -> Node {
    let mut node = node(number, interner);
    let mut labels = node.labels.to_vec();
    labels.push((interner.intern("tier"), interner.intern("gold")));
    labels.sort_unstable();
    node.labels = labels.into();
    node
}

/// Returns the pod in another namespace.
pub(crate) fn in_other_namespace(pod: Pod, interner: &mut Interner) -> Pod {
    let namespace = interner.intern("other");
    Pod { namespace: "other".into(), ..with(pod, |spec| spec.namespace = namespace) }
}

/// Returns the bound pod, as in a notification.
pub(crate) fn bound(pod: Pod, node: Symbol) -> Pod {
    with(pod, |spec| spec.node_name = Some(node))
}
