//! Pods that exercise different plugins.

use schedc_core::intern::Interner;
use schedc_core::model::{
    Effect, NodeSelectorTerm, Operator, PodSpec, PreferredTerm, Requirement, Resources, Toleration, TolerationOperator,
    labels,
};

use super::cluster::{GIBIBYTE, gpu, host_port, image, pod_spec, zone};

/// The kinds of pods, in the order of [`pods`].
pub(crate) const KINDS: [&str; 6] =
    ["plain", "selector and affinity", "tolerations", "best effort", "host port", "extended resource"];

/// Returns one pod of each kind.
pub(crate) fn pods(interner: &mut Interner) -> [PodSpec; KINDS.len()] {
    let plain = plain(interner);
    let with_affinity = PodSpec {
        node_selector: labels([("pool", "general"), ("kubernetes.io/os", "linux")], interner),
        preferred_node_affinity: [
            prefer(10, "topology.kubernetes.io/zone", Operator::In, &[&zone(0), &zone(1)], interner),
            prefer(5, "disk", Operator::NotIn, &["hdd"], interner),
        ]
        .into(),
        ..plain.clone()
    };
    let mut tolerate = |key: &str, operator, value: &str, effect| Toleration {
        key: Some(interner.intern(key)),
        operator,
        value: interner.intern(value),
        effect,
    };
    let with_tolerations = PodSpec {
        tolerations: [
            tolerate("dedicated", TolerationOperator::Equal, "batch", Some(Effect::NoSchedule)),
            tolerate("spot", TolerationOperator::Exists, "", None),
        ]
        .into(),
        ..plain.clone()
    };
    let best_effort = PodSpec { images: plain.images.clone(), ..pod_spec(interner) };
    let with_host_port = PodSpec { host_ports: [host_port(8080, interner)].into(), ..plain.clone() };
    let mut with_extended = plain.clone();
    *with_extended.requests.scalar_mut(gpu(interner)) = 1;
    *with_extended.balance_requests.scalar_mut(gpu(interner)) = 1;
    *with_extended.fit_score_requests.scalar_mut(gpu(interner)) = 1;
    [plain, with_affinity, with_tolerations, best_effort, with_host_port, with_extended]
}

fn plain(interner: &mut Interner) -> PodSpec {
    let requests = Resources { milli_cpu: 500, memory: GIBIBYTE, ..Resources::default() };
    PodSpec {
        balance_requests: requests.clone(),
        fit_score_requests: requests.clone(),
        requests,
        images: [image(33, interner)].into(),
        ..pod_spec(interner)
    }
}

fn prefer(weight: i64, key: &str, operator: Operator, values: &[&str], interner: &mut Interner) -> PreferredTerm {
    let values = values.iter().map(|value| interner.intern(value)).collect();
    let requirement = Requirement { key: interner.intern(key), operator, values };
    PreferredTerm {
        weight,
        term: Ok(NodeSelectorTerm { match_expressions: [requirement].into(), match_fields: Box::default() }),
    }
}
