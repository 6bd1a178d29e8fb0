//! Nodes that see devices, and nodes where allocations can be used.

use schedc_core::model::AllocationNodes;

use crate::cluster::Cluster;
use crate::{NONE, request};

const ZONE: &str = "nodeSelector: {nodeSelectorTerms: [{matchExpressions: [{key: zone, operator: In, values: [a]}]}]}";

fn network(nodes: &str, devices: &str) -> Cluster {
    let mut cluster = Cluster::with_class();
    cluster.slice_of("s", &format!("pool: {{name: p, generation: 1, resourceSliceCount: 1}}, {nodes}"), devices);
    cluster
}

#[test]
fn a_selector_follows_the_labels_of_nodes() {
    let mut cluster = network(ZONE, "{name: a}");
    assert_eq!(cluster.devices(&[&request(1, "")]), NONE);
    cluster.node("n1", "zone: a");
    assert_eq!(cluster.devices(&[&request(1, "")]), "r=a");
    cluster.node("n1", "zone: b");
    assert_eq!(cluster.devices(&[&request(1, "")]), NONE);
}

#[test]
fn each_device_may_have_its_nodes() {
    let devices = format!("{{name: a, nodeName: m1}}, {{name: b, {ZONE}}}, {{name: c, allNodes: true}}");
    let mut cluster = network("perDeviceNodeSelection: true", &devices);
    assert_eq!(cluster.devices(&[&request(1, "")]), "r=c");
    cluster.node("n1", "zone: a");
    assert_eq!(cluster.devices(&[&request(2, "")]), "r=b r=c");
}

#[test]
fn an_allocation_can_be_used_where_its_devices_can() {
    let nodes = |nodes: &str, device: &str| {
        let mut cluster = network(nodes, device);
        cluster.node("n1", "zone: a");
        let spec = cluster.spec(&request(2, ""));
        cluster.allocate_on("n1", &[spec]).unwrap().remove(0).nodes
    };
    assert_eq!(nodes("allNodes: true", "{name: a}, {name: b}"), None);
    let selector = nodes(ZONE, "{name: a}, {name: b}");
    let Some(AllocationNodes::Selector(selector)) = selector else { panic!("{selector:?}") };
    assert_eq!(selector.terms[0].match_expressions.len(), 1, "equal requirements are merged");
    let local = nodes("nodeName: n1", "{name: a}, {name: b}");
    assert!(matches!(local, Some(AllocationNodes::Node(_))));
    let binding = nodes("allNodes: true", "{name: a}, {name: b, bindsToNode: true}");
    assert!(matches!(binding, Some(AllocationNodes::Node(_))));
}

#[test]
fn nodes_that_see_the_same_devices_have_equal_verdicts() {
    let mut cluster = Cluster::with_class();
    for name in ["m1", "m2", "m3"] {
        cluster.node(name, "");
    }
    let wide = "pool: {name: p, generation: 1, resourceSliceCount: 1}, allNodes: true";
    cluster.slice_of("s", wide, "{name: a}");
    cluster.slice("local", "{name: b}");
    let spec = cluster.spec(&request(1, ""));
    let on = |cluster: &mut Cluster, node: &str| {
        let allocated = cluster.allocate_on(node, std::slice::from_ref(&spec));
        allocated.map_or_else(|unfit| unfit.message(|_| String::new()), |allocations| cluster.show(&allocations))
    };
    let all = |cluster: &mut Cluster| ["n1", "m1", "m2", "m3", "m1"].map(|node| on(cluster, node)).join(", ");
    assert_eq!(all(&mut cluster), "r=b, r=a, r=a, r=a, r=a");
    assert_eq!(cluster.hold(&request(2, "")), "r=b r=a");
    assert_eq!(all(&mut cluster), [NONE; 5].join(", "));
    cluster.release(1);
    assert_eq!(all(&mut cluster), "r=b, r=a, r=a, r=a, r=a");
    cluster.node("m2", "zone: z");
    cluster.slice_of("s", &wide.replace("allNodes: true", &selected("zone", "z")), "{name: c}");
    assert_eq!(all(&mut cluster), format!("r=b, {NONE}, r=c, {NONE}, {NONE}"));
}

#[test]
fn nodes_with_equal_devices_have_separate_devices() {
    let mut cluster = Cluster::with_class();
    cluster.node("m1", "");
    let spec = cluster.spec(&request(1, "selectors: [{cel: {expression: 'device.attributes[\"gpu\"].large'}}]"));
    let all = |cluster: &mut Cluster| {
        ["n1", "m1"].map(|node| match cluster.allocate_on(node, std::slice::from_ref(&spec)) {
            Ok(allocations) => cluster.show(&allocations),
            Err(unfit) => unfit.message(|_| String::new()),
        })
    };
    let devices = |large: &str| {
        let device = |name| format!("{{name: {name}, attributes: {{large: {{bool: {}}}}}}}", large.contains(name));
        ["a", "b"].map(device).join(", ")
    };
    for node in ["n1", "m1"] {
        let pool = format!("pool: {{name: {node}, generation: 1, resourceSliceCount: 1}}, nodeName: {node}");
        cluster.slice_of(node, &pool, &devices("b"));
    }
    assert_eq!(all(&mut cluster), ["r=b", "r=b"]);
    assert_eq!(cluster.hold(&request(2, "")), "r=a r=b");
    assert_eq!(all(&mut cluster), [NONE, "r=b"]);
    cluster.slice_of("m1", "pool: {name: m1, generation: 1, resourceSliceCount: 1}, nodeName: m1", &devices("a"));
    cluster.release(1);
    assert_eq!(all(&mut cluster), ["r=b", "r=a"]);
}

fn selected(key: &str, value: &str) -> String {
    format!(
        "nodeSelector: {{nodeSelectorTerms: [{{matchExpressions: [{{key: {key}, operator: In, values: [{value}]}}]}}]}}"
    )
}
