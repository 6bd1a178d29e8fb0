//! Cached answers of pods with claims equal full evaluations after any changes of slices, classes, claims and nodes.

use proptest::prelude::*;

use schedc_core::profile::Profile;

use crate::cycle::scheduler::{claims, device_scores};
use crate::cycle::test_cluster::TestCluster;

/// A change of the cluster. Numbers select nodes, pools, generations and devices.
#[derive(Clone, Debug)]
enum Change {
    Node {
        node: u8,
        zone: u8,
        gpus: u8,
    },
    /// The field `nodes` selects one node, all nodes, or the nodes of a zone.
    Slice {
        name: u8,
        pool: u8,
        nodes: u8,
        generation: u8,
        devices: u8,
        is_tainted: bool,
    },
    NoSlice {
        name: u8,
    },
    Class {
        is_big: bool,
    },
    /// Allocates a device for a claim of another pod, or releases it.
    Claim {
        claim: u8,
        device: Option<(u8, u8)>,
    },
}

fn change() -> impl Strategy<Value = Change> {
    prop_oneof![
        (0..5_u8, 0..2_u8, 0..2_u8).prop_map(|(node, zone, gpus)| Change::Node { node, zone, gpus }),
        (0..4_u8, 0..3_u8, 0..5_u8, 1..3_u8, 0..3_u8, any::<bool>()).prop_map(
            |(name, pool, nodes, generation, devices, is_tainted)| Change::Slice {
                name,
                pool,
                nodes,
                generation,
                devices,
                is_tainted,
            }
        ),
        (0..4_u8).prop_map(|name| Change::NoSlice { name }),
        any::<bool>().prop_map(|is_big| Change::Class { is_big }),
        (0..3_u8, prop::option::of((0..3_u8, 0..3_u8))).prop_map(|(claim, device)| Change::Claim { claim, device }),
    ]
}

const API_VERSION: &str = "apiVersion: resource.k8s.io/v1";

fn apply<P: Profile>(cluster: &mut TestCluster<P>, change: &Change) {
    match *change {
        Change::Node { node, zone, gpus } => {
            let gpus = if gpus > 0 { ", example.com/gpu: 1" } else { "" };
            cluster.node(&format!(
                "{{metadata: {{name: n{node}, labels: {{zone: z{zone}}}}}, status: {{allocatable: {{pods: 9{gpus}}}}}}}"
            ));
        }
        Change::Slice { name, pool, nodes, generation, devices, is_tainted } => {
            let nodes = match nodes {
                3 => "allNodes: true".to_owned(),
                4 => {
                    "nodeSelector: {nodeSelectorTerms: [{matchExpressions: [{key: zone, operator: In, values: [z0]}]}]}"
                        .to_owned()
                }
                node => format!("nodeName: n{node}"),
            };
            let taints = if is_tainted { ", taints: [{key: t, effect: NoSchedule}]" } else { "" };
            let device = |at| format!("{{name: d{at}, attributes: {{at: {{int: {at}}}}}{taints}}},");
            let devices: String = (0..devices).map(device).collect();
            cluster.object(&format!(
                "{{{API_VERSION}, kind: ResourceSlice, metadata: {{name: s{name}}}, spec: {{driver: d, {nodes},
                  pool: {{name: p{pool}, generation: {generation}, resourceSliceCount: 1}}, devices: [{devices}]}}}}"
            ));
        }
        Change::NoSlice { name } => {
            let slice = cluster.cache.base.interner.intern(&format!("s{name}"));
            let key = schedc_core::model::ObjectKey {
                kind: schedc_core::model::Kind::ResourceSlice,
                namespace: schedc_core::intern::Symbol::EMPTY,
                name: slice,
            };
            cluster.cache.remove_object(&key);
        }
        Change::Class { is_big } => {
            let selectors =
                if is_big { "selectors: [{cel: {expression: 'device.attributes[\"d\"].at > 0'}}]" } else { "" };
            cluster.object(&format!(
                "{{{API_VERSION}, kind: DeviceClass, metadata: {{name: gpu}},
                  spec: {{extendedResourceName: example.com/gpu, {selectors}}}}}"
            ));
        }
        Change::Claim { claim, device } => {
            let status = device.map_or(String::new(), |(pool, device)| {
                format!("allocation: {{devices: {{results: [{{request: r, driver: d, pool: p{pool}, device: d{device}}}]}}}}")
            });
            cluster.object(&format!(
                "{{{API_VERSION}, kind: ResourceClaim, metadata: {{name: other{claim}}}, spec: {{}}, status: {{{status}}}}}"
            ));
        }
    }
}

fn check<P: Profile>(batches: &[Vec<Change>]) -> Result<(), TestCaseError> {
    let mut cluster = TestCluster::<P>::new();
    // Several nodes of a zone see the same devices.
    for node in 0..5 {
        apply(&mut cluster, &Change::Node { node, zone: node % 2, gpus: 0 });
    }
    apply(&mut cluster, &Change::Class { is_big: false });
    let exactly = |count| format!("deviceClassName: gpu, allocationMode: ExactCount, count: {count}");
    let requests = [
        format!("{{name: r, exactly: {{{}}}}}", exactly(1)),
        format!("{{name: r, firstAvailable: [{{name: two, {}}}, {{name: one, {}}}]}}", exactly(2), exactly(1)),
    ];
    let mut pods = Vec::new();
    for (kind, request) in requests.iter().enumerate() {
        // Pods with equal claims share cached answers.
        for number in 0..2 {
            let name = format!("claim-{kind}-{number}");
            cluster.object(&format!(
                "{{{API_VERSION}, kind: ResourceClaim, metadata: {{name: {name}}}, spec: {{devices: {{requests: [{request}]}}}}}}"
            ));
            pods.push(cluster.pod(&format!(
                "{{metadata: {{name: {name}}}, spec: {{resourceClaims: [{{name: gpu, resourceClaimName: {name}}}]}}}}"
            )));
        }
    }
    let extended = "spec: {containers: [{name: c, resources: {requests: {example.com/gpu: 1}}}]}";
    pods.push(cluster.pod(extended));
    for batch in batches {
        batch.iter().for_each(|change| apply(&mut cluster, change));
        for pod in &pods {
            let full = cluster.full_decision(pod, 0, 0);
            prop_assert_eq!(cluster.cached_decision(pod, 0, 0), full, "{:?}", pod.name);
        }
    }
    Ok(())
}

/// Number of histories.
fn cases() -> u32 {
    let all = ProptestConfig::default().cases;
    if slow_tests::is_enabled() { all } else { all / 4 }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(cases()))]
    #[test]
    fn cached_answers_equal_full_evaluations(
        batches in prop::collection::vec(prop::collection::vec(change(), 1..4), 1..20),
    ) {
        check::<claims::Pipeline>(&batches)?;
        check::<device_scores::Pipeline>(&batches)?;
    }
}

/// A device that several nodes see is taken while these nodes are evaluated one by one, and is released afterwards.
#[test]
fn nodes_that_see_the_same_device_follow_its_release() {
    const ALL_NODES: u8 = 3;
    const ZONE_0: u8 = 4;
    let slice = |nodes| Change::Slice { name: 0, pool: 0, nodes, generation: 1, devices: 1, is_tainted: false };
    let claim = |device| Change::Claim { claim: 0, device };
    let nodes = |zones: fn(u8) -> u8, gpus| (0..5).map(move |node| Change::Node { node, zone: zones(node), gpus });
    let taken = || claim(Some((0, 0)));
    let changed_together =
        [vec![slice(ALL_NODES)], nodes(|node| node % 2, 1).chain([taken()]).collect(), vec![claim(None)]];
    check::<claims::Pipeline>(&changed_together).unwrap();
    let moved_in_between = [
        vec![slice(ZONE_0)],
        nodes(|_| 1, 0).collect(),
        vec![taken()],
        nodes(|node| node % 2, 0).collect(),
        vec![claim(None)],
    ];
    check::<claims::Pipeline>(&moved_in_between).unwrap();
}
