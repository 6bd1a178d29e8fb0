//! Columns that are updated with added and removed pods equal rebuilt columns.

use proptest::prelude::*;
use schedc_core::column::Column;
use schedc_core::intern::Interner;
use schedc_core::model::Pod;
use schedc_objects::testing::{node, pod};

use super::*;

const NODE: &str = "{metadata: {name: n1}, status: {allocatable: {cpu: 4, memory: 8Gi, pods: 9, example.com/gpu: 2}}}";

/// Returns a strategy for the manifest of a pod with a few resources, disks and host ports. Host ports are among the
/// three from `first_port`, so pods whose `first_port` differs by at least 3 share none.
fn any_pod(first_port: usize) -> impl Strategy<Value = String> {
    let requests = prop::collection::btree_map(
        prop::sample::select(vec!["cpu", "memory", "ephemeral-storage", "example.com/gpu", "example.com/nic"]),
        prop_oneof![Just("0"), Just("1"), Just("1500m"), Just("9223372036854775807"), Just("-3")],
        0..4,
    );
    let ports = prop::collection::vec((first_port..first_port + 3, prop::sample::select(vec!["TCP", "UDP"])), 0..3);
    let volumes = prop::collection::vec(
        prop::sample::select(vec![
            "gcePersistentDisk: {pdName: d}",
            "gcePersistentDisk: {pdName: d, readOnly: true}",
            "iscsi: {iqn: q, lun: 1, targetPortal: t}",
            "rbd: {monitors: [a, b], image: i}",
        ]),
        0..3,
    );
    (requests, ports, volumes).prop_map(|(requests, ports, volumes)| {
        let requests: Vec<_> = requests.iter().map(|(name, amount)| format!("{name}: {amount}")).collect();
        let ports: Vec<_> =
            ports.iter().map(|(port, protocol)| format!("{{hostPort: {port}, protocol: {protocol}}}")).collect();
        let resources = format!("resources: {{requests: {{{}}}}}", requests.join(", "));
        let volumes: Vec<_> = volumes.iter().map(|volume| format!("{{name: v, {volume}}}")).collect();
        let containers = format!("[{{name: c, {resources}, ports: [{}]}}]", ports.join(", "));
        format!("spec: {{containers: {containers}, volumes: [{}]}}", volumes.join(", "))
    })
}

fn check_equals_rebuilt<C: Column + std::fmt::Debug>(pods: &[Pod], history: &[usize], interner: &mut Interner) {
    let node = node(NODE, interner);
    let mut updated = C::build(&node, interner);
    let mut present = vec![false; pods.len()];
    for &pod in history {
        let pod = pod % pods.len();
        if present[pod] {
            updated.remove_pod(&pods[pod])
        } else {
            updated.add_pod(&pods[pod])
        }
        present[pod] = !present[pod];
        let mut rebuilt = C::build(&node, interner);
        pods.iter().zip(&present).filter(|(_, present)| **present).for_each(|(pod, _)| rebuilt.add_pod(pod));
        assert_eq!(updated, rebuilt);
    }
}

proptest! {
    #[test]
    fn removed_pods_leave_no_trace(
        pods in [any_pod(10), any_pod(20), any_pod(30), any_pod(40), any_pod(50)],
        history in prop::collection::vec(any::<usize>(), 0..30),
    ) {
        let mut interner = Interner::default();
        let pods: Vec<_> = pods.iter().map(|yaml| pod(yaml, &mut interner)).collect();
        check_equals_rebuilt::<NodeResources>(&pods, &history, &mut interner);
        check_equals_rebuilt::<NodeDisks>(&pods, &history, &mut interner);
        check_equals_rebuilt::<NodePortsInUse>(&pods, &history, &mut interner);
    }
}

#[test]
fn a_shared_port_is_free_once_one_pod_is_removed() {
    let mut interner = Interner::default();
    let pods = ["a", "b"].map(|uid| {
        let ports = "ports: [{hostPort: 80}, {hostPort: 443, protocol: UDP}]";
        pod(&format!("{{metadata: {{uid: {uid}}}, spec: {{containers: [{{{ports}}}]}}}}"), &mut interner)
    });
    let mut ports = NodePortsInUse::build(&node(NODE, &mut interner), &interner);
    let (requested, any) = (pods[0].spec.host_ports[0], interner.intern("0.0.0.0"));
    pods.iter().for_each(|pod| ports.add_pod(pod));
    assert!(ports.conflicts(&requested, any));
    ports.remove_pod(&pods[1]);
    assert!(!ports.conflicts(&requested, any), "as in kube-scheduler, which stores each port once");
    ports.remove_pod(&pods[0]);
    assert_eq!(ports, NodePortsInUse::default());
}

#[test]
fn only_integer_label_values_are_integers() {
    let mut interner = Interner::default();
    let labels = "{a: '7', b: '-3', c: '+5', d: x, e: '', f: '9223372036854775808', g: '1.5'}";
    let node = node(&format!("metadata: {{name: n1, labels: {labels}}}"), &mut interner);
    let column = NodeLabels::build(&node, &interner);
    let integers: Vec<_> = ["a", "b", "c", "d", "e", "f", "g", "missing"]
        .iter()
        .map(|key| interner.get(key).and_then(|key| column.integer(key)))
        .collect();
    assert_eq!(integers, [Some(7), Some(-3), Some(5), None, None, None, None, None]);
}
