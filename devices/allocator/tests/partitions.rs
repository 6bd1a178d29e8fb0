//! Devices that share counters.

use crate::cluster::Cluster;
use crate::{NONE, part, request, selector};

const POOL: &str = "pool: {name: board, generation: 1, resourceSliceCount: 2}";

const HALVES: [(&str, u32); 3] = [("whole", 4), ("half-1", 2), ("half-2", 2)];

/// Creates a cluster with a board of memory 4. `partitions` has the name and the memory of each partition of the board.
pub(crate) fn board(partitions: &[(&str, u32)]) -> Cluster {
    board_of(4, partitions)
}

fn board_of(memory: u32, partitions: &[(&str, u32)]) -> Cluster {
    let mut cluster = Cluster::with_class();
    cluster.slice_of(
        "counters",
        &format!(
            "{POOL}, nodeName: n1, sharedCounters: [{{name: board, counters: {{memory: {{value: \"{memory}\"}}}}}}]"
        ),
        "",
    );
    let partition = |(name, memory): &(&str, u32)| {
        format!(
            "{{name: {name}, attributes: {{size: {{int: {memory}}}}}, consumesCounters: [{{counterSet: board, counters: {{memory: {{value: \"{memory}\"}}}}}}]}}"
        )
    };
    let devices = partitions.iter().map(partition).collect::<Vec<_>>().join(", ");
    cluster.slice_of("devices", &format!("{POOL}, nodeName: n1"), &devices);
    cluster
}

#[test]
fn partitions_exclude_overlapping_ones() {
    let mut cluster = board(&HALVES);
    assert_eq!(cluster.devices(&[&request(1, "")]), "r=whole");
    assert_eq!(cluster.devices(&[&request(2, "")]), "r=half-1 r=half-2");
    assert_eq!(cluster.devices(&[&request(3, "")]), NONE);
    let half = selector(r#"device.attributes["gpu"].size == 2"#);
    assert_eq!(cluster.hold(&request(1, &half)), "r=half-1");
    assert_eq!(cluster.devices(&[&request(1, "")]), "r=half-2");
    cluster.release(1);
    assert_eq!(cluster.devices(&[&request(1, "")]), "r=whole");
}

#[test]
fn a_rejected_candidate_gives_its_counters_back() {
    let mut cluster = board(&[("half-1", 2), ("quarter", 1), ("half-2", 2)]);
    let claim = format!(
        "requests: [{}, {}], constraints: [{{matchAttribute: gpu/size}}]",
        part("r", 1, &selector(r#"device.attributes["gpu"].size == 2"#)),
        part("s", 1, "")
    );
    assert_eq!(cluster.devices(&[&claim]), "r=half-1 s=half-2");
}

#[test]
fn pools_of_two_drivers_with_one_name_have_separate_counters() {
    let mut cluster = board(&[("whole", 4)]);
    cluster.class("any", "true");
    let slice = |name: &str, spec: &str| {
        format!(
            "{{apiVersion: resource.k8s.io/v1, kind: ResourceSlice, metadata: {{name: {name}}}, \
             spec: {{driver: other, {POOL}, nodeName: n1, {spec}}}}}"
        )
    };
    cluster.object(&slice("other-counters", "sharedCounters: [{name: board, counters: {memory: {value: \"4\"}}}]"));
    let device = "{name: other, consumesCounters: [{counterSet: board, counters: {memory: {value: \"4\"}}}]}";
    cluster.object(&slice("other-devices", &format!("devices: [{device}]")));
    let both = request(2, "").replace("deviceClassName: gpu", "deviceClassName: any");
    assert_eq!(cluster.devices(&[&both]), "r=whole r=other");
}

#[test]
fn devices_of_other_nodes_consume_counters_too() {
    let mut cluster = Cluster::with_class();
    cluster.node("m1", "");
    cluster.slice_of(
        "counters",
        &format!("{POOL}, nodeName: n1, sharedCounters: [{{name: s, counters: {{c: {{value: \"1\"}}}}}}]"),
        "",
    );
    let device = |name: &str, node: &str| {
        format!(
            "{{name: {name}, nodeName: {node}, consumesCounters: [{{counterSet: s, counters: {{c: {{value: \"1\"}}}}}}]}}"
        )
    };
    cluster.slice_of(
        "devices",
        &format!("{POOL}, perDeviceNodeSelection: true"),
        &[device("a", "n1"), device("b", "m1")].join(","),
    );
    let spec = cluster.spec(&request(1, ""));
    assert!(cluster.allocate_on("m1", std::slice::from_ref(&spec)).is_ok());
    cluster.hold(&request(1, ""));
    assert!(cluster.allocate_on("m1", &[spec]).is_err());
}

/// The request needs 12 partitions. The large one is tried first: 11 small ones are needed with it, and it leaves
/// memory for only 10. A search that tried each selection of 10 small ones would try millions of selections.
#[test]
fn selections_of_interchangeable_devices_are_tried_once() {
    let mut partitions = vec![("large", 2)];
    let names: Vec<String> = (0..24).map(|at| format!("small-{at:02}")).collect();
    partitions.extend(names.iter().map(|name| (name.as_str(), 1)));
    let mut cluster = board_of(12, &partitions);
    let spec = cluster.spec(&request(12, ""));
    let Cluster { inventory, interner, nodes, .. } = &mut cluster;
    let prepared = inventory.prepare(&[spec], interner);
    let is_expired = || true;
    assert!(inventory.evaluate(&prepared, &nodes["n1"], interner, is_expired).is_ok());
    let expected: Vec<String> = (0..12).map(|at| format!("r=small-{at:02}")).collect();
    assert_eq!(cluster.devices(&[&request(12, "")]), expected.join(" "));
}
