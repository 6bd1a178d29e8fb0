//! The nodes of a DaemonSet, and its pods on them.

use k8s_openapi::api::core::v1::{
    Node, NodeAffinity, NodeSelector, NodeSelectorRequirement, NodeSelectorTerm, Pod, Toleration,
};
use schedc_core::intern::{Interner, Symbol};
use schedc_core::model::{Effect, LabelsExt, Pod as ModelPod, Taint, label_integer};
use schedc_objects::{convert_node, convert_pod};

/// Taints that pods of a DaemonSet tolerate: its controller adds the tolerations.
const ADDED_TOLERATIONS: [(&str, &str); 6] = [
    ("node.kubernetes.io/not-ready", "NoExecute"),
    ("node.kubernetes.io/unreachable", "NoExecute"),
    ("node.kubernetes.io/disk-pressure", "NoSchedule"),
    ("node.kubernetes.io/memory-pressure", "NoSchedule"),
    ("node.kubernetes.io/pid-pressure", "NoSchedule"),
    ("node.kubernetes.io/unschedulable", "NoSchedule"),
];

/// Returns the pod template with the tolerations of the DaemonSet controller.
fn with_tolerations(template: &Pod) -> Pod {
    let mut pod = template.clone();
    let spec = pod.spec.get_or_insert_default();
    let network =
        spec.host_network.unwrap_or(false).then_some(("node.kubernetes.io/network-unavailable", "NoSchedule"));
    let tolerations = spec.tolerations.get_or_insert_default();
    tolerations.extend(ADDED_TOLERATIONS.into_iter().chain(network).map(|(key, effect)| Toleration {
        key: Some(key.to_owned()),
        operator: Some("Exists".to_owned()),
        effect: Some(effect.to_owned()),
        ..Toleration::default()
    }));
    pod
}

/// Returns a pod for each node on which the DaemonSet controller would create one. The pods may still be unschedulable.
pub(super) fn pods<'n>(template: &Pod, nodes: impl Iterator<Item = &'n Node>) -> Vec<Pod> {
    let template = with_tolerations(template);
    let mut interner = Interner::default();
    let pod = convert_pod(&template, &mut interner);
    let matching = nodes.filter(|node| should_run_on(&pod, node, &mut interner));
    matching.map(|node| for_node(&template, node.metadata.name.as_deref().unwrap_or_default())).collect()
}

/// Returns whether a pod's node selector and required node affinity match a node, and the pod tolerates the node's
/// taints.
fn should_run_on(pod: &ModelPod, node: &Node, interner: &mut Interner) -> bool {
    let node = convert_node(node, interner);
    let value = |key: Symbol| node.labels.value(key);
    let integer = |key: Symbol| label_integer(interner, value(key)?);
    let is_tolerated = |taint: &Taint| pod.spec.tolerations.iter().any(|toleration| toleration.tolerates(taint));
    pod.spec.node_selector.iter().all(|&(key, wanted)| value(key) == Some(wanted))
        && pod.spec.required_node_affinity.get().is_none_or(|all| all.matches(node.name, &node.labels, integer))
        && node
            .taints
            .iter()
            .all(|taint| !matches!(taint.effect, Effect::NoSchedule | Effect::NoExecute) || is_tolerated(taint))
}

/// Returns a pod that can run only on this node. Its required node affinity replaces that of the template.
fn for_node(template: &Pod, node: &str) -> Pod {
    let mut pod = template.clone();
    let affinity = pod.spec.get_or_insert_default().affinity.get_or_insert_default();
    let name = NodeSelectorRequirement {
        key: "metadata.name".to_owned(),
        operator: "In".to_owned(),
        values: Some(vec![node.to_owned()]),
    };
    let term = NodeSelectorTerm { match_fields: Some(vec![name]), ..NodeSelectorTerm::default() };
    affinity
        .node_affinity
        .get_or_insert_with(NodeAffinity::default)
        .required_during_scheduling_ignored_during_execution = Some(NodeSelector { node_selector_terms: vec![term] });
    pod
}
