//! Nodes.

use k8s_openapi::api::core::v1 as api;
use schedc_core::intern::Interner;
use schedc_core::model::{ContainerImage, Node, Taint};

use super::amounts::Amounts;
use super::{effect, labels, symbol};

/// A node as scheduling sees it. See [`crate`] for what is done with odd input.
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
        declared_features: status
            .and_then(|status| status.declared_features.as_deref())
            .unwrap_or_default()
            .iter()
            .map(|feature| interner.intern(feature))
            .collect(),
    }
}

#[cfg(test)]
mod tests {
    use schedc_core::model::{Effect, LabelsExt};

    use super::*;
    use crate::testing::node;

    #[test]
    fn a_node_in_full() {
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
        // Names of a node's images are compared as they are.
        assert_eq!(node.images[0].names[..], [interner.intern("nginx"), interner.intern("nginx:1.27")]);
        assert_eq!(node.images[1], ContainerImage { names: [].into(), size: 0 });
        assert_eq!(node.declared_features[..], [interner.intern("B"), interner.intern("A")]);
    }

    #[test]
    fn an_empty_node() {
        let mut interner = Interner::default();
        let node = convert_node(&api::Node::default(), &mut interner);
        assert_eq!((interner.resolve(node.name), node.allowed_pods, node.unschedulable), ("", 0, false));
    }
}
