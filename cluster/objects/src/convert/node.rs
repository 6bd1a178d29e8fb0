//! Conversion of nodes.

use std::collections::BTreeMap;

use k8s_openapi::api::core::v1 as api;
use schedc_core::intern::{Interner, Symbol};
use schedc_core::model::{ContainerImage, Node, Taint};

use super::amounts::Amounts;
use super::{digest, effect, labels, symbol};

/// Converts a node. Invalid input has the same effect as in kube-scheduler.
pub fn convert_node(node: &api::Node, interner: &mut Interner) -> Node {
    let spec = node.spec.as_ref();
    let status = node.status.as_ref();
    let allocatable = Amounts::new(status.and_then(|status| status.allocatable.as_ref()));
    Node {
        name: symbol(node.metadata.name.as_ref(), interner),
        labels: labels(node.metadata.labels.as_ref(), interner),
        taints: spec
            .and_then(|spec| spec.taints.as_deref())
            .unwrap_or_default()
            .iter()
            .map(|taint| Taint {
                key: interner.intern(&taint.key),
                value: symbol(taint.value.as_ref(), interner),
                effect: effect(&taint.effect, interner),
            })
            .collect(),
        unschedulable: spec.and_then(|spec| spec.unschedulable).unwrap_or(false),
        allocatable: allocatable.to_resources(interner),
        allowed_pods: allocatable.get("pods").unwrap_or_default().value(),
        images: status
            .and_then(|status| status.images.as_deref())
            .unwrap_or_default()
            .iter()
            .map(|image| ContainerImage {
                names: image.names.iter().flatten().map(|name| interner.intern(name)).collect(),
                size: image.size_bytes.unwrap_or(0),
            })
            .collect(),
        conditions: conditions(status, interner),
        annotations: digest(node.metadata.annotations.as_ref().filter(|annotations| !annotations.is_empty())),
        declared_features: status
            .and_then(|status| status.declared_features.as_deref())
            .unwrap_or_default()
            .iter()
            .map(|feature| interner.intern(feature))
            .collect(),
    }
}

/// Returns the types and statuses of conditions. If two conditions have the same type, the last one counts.
fn conditions(status: Option<&api::NodeStatus>, interner: &mut Interner) -> Box<[(Symbol, Symbol)]> {
    let conditions = status.and_then(|status| status.conditions.as_deref()).unwrap_or_default();
    let by_type: BTreeMap<Symbol, Symbol> = conditions
        .iter()
        .map(|condition| (interner.intern(&condition.type_), interner.intern(&condition.status)))
        .collect();
    by_type.into_iter().collect()
}

#[cfg(test)]
mod tests {
    use schedc_core::events::node_updated;
    use schedc_core::model::{Effect, LabelsExt};

    use super::*;
    use crate::testing::node;

    #[test]
    fn fields_of_a_node_are_converted() {
        let mut interner = Interner::default();
        let node = node(
            "
            metadata: {name: n1, labels: {zone: a, arch: amd64}}
            spec:
              unschedulable: true
              taints:
              - {key: dedicated, value: db, effect: NoSchedule}
              - {key: slow, effect: PreferNoSchedule}
              - {key: odd, effect: Sometimes}
            status:
              allocatable: {cpu: 3500m, memory: 1.5Gi, ephemeral-storage: 10G, pods: '110', example.com/gpu: 2, gpu: 4}
              images:
              - {names: [nginx, 'nginx:1.27'], sizeBytes: 50000000}
              - {}
              declaredFeatures: [B, A]
            ",
            &mut interner,
        );
        assert_eq!(interner.resolve(node.name), "n1");
        assert_eq!(node.labels.value(interner.intern("zone")), interner.get("a"));
        assert!(node.unschedulable);
        assert_eq!(node.allowed_pods, 110);
        let effects: Vec<_> = node.taints.iter().map(|taint| taint.effect).collect();
        let odd = Effect::Other(interner.intern("Sometimes"));
        assert_eq!(effects, [Effect::NoSchedule, Effect::PreferNoSchedule, odd]);
        let r = &node.allocatable;
        assert_eq!((r.milli_cpu, r.memory, r.ephemeral_storage), (3500, 1_610_612_736, 10_000_000_000));
        assert_eq!(r.scalars.to_vec(), [(interner.intern("example.com/gpu"), 2)]);
        // Image names of nodes are compared without normalization.
        assert_eq!(node.images[0].names[..], [interner.intern("nginx"), interner.intern("nginx:1.27")]);
        assert_eq!(node.images[1], ContainerImage { names: [].into(), size: 0 });
        assert_eq!(node.declared_features[..], [interner.intern("B"), interner.intern("A")]);
    }

    #[test]
    fn each_changed_aspect_of_a_node_is_an_event() {
        let mut interner = Interner::default();
        let mut check = |old: &str, new: &str, expected: &str| {
            let [old, new] = [old, new].map(|yaml| node(yaml, &mut interner));
            let events: Vec<_> = node_updated(&old, &new).iter().map(ToString::to_string).collect();
            assert_eq!(events.join(" "), expected, "{old:?} {new:?}");
        };
        check("{}", "metadata: {labels: {a: b}}", "NodeUpdateNodeLabel");
        check("{}", "metadata: {annotations: {a: b}}", "NodeUpdateNodeAnnotation");
        check("metadata: {annotations: {}}", "{}", "");
        check("spec: {unschedulable: true}", "{}", "NodeUpdateNodeTaint");
        check("{}", "spec: {unschedulable: true}", "");
        let taint = "spec: {taints: [{key: a, effect: NoSchedule}]}";
        check("spec: {unschedulable: true}", taint, "NodeUpdateNodeTaint NodeUpdateNodeTaint");
        check("status: {allocatable: {cpu: 1}}", "status: {allocatable: {cpu: 1000m}}", "");
        check("status: {allocatable: {cpu: 1}}", "status: {allocatable: {cpu: 2}}", "NodeUpdateNodeAllocatable");
        check("{}", "status: {allocatable: {pods: 1}}", "NodeUpdateNodeAllocatable");
        let condition = |more: &str| format!("status: {{conditions: [{{type: Ready, {more}}}]}}");
        let beat = condition("status: 'True', reason: Beat");
        check(&condition("status: 'True'"), &beat, "");
        check(&condition("status: 'False'"), &beat, "NodeUpdateNodeCondition");
        check("{}", "status: {declaredFeatures: [A]}", "NodeUpdateNodeDeclaredFeature");
        check("{}", "status: {images: [{names: [a]}]}", "");
    }

    #[test]
    fn missing_fields_of_a_node_are_empty() {
        let mut interner = Interner::default();
        let node = convert_node(&api::Node::default(), &mut interner);
        assert_eq!((interner.resolve(node.name), node.allowed_pods, node.unschedulable), ("", 0, false));
    }
}
