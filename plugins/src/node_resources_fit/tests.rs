//! Requests on a few nodes.

use proptest::prelude::*;
use schedc_core::events::EventObject;
use schedc_core::extension_points::{CandidateNodes, QueueingHint};
use schedc_objects::testing::{node, pod};

use super::*;
use crate::testing::{Cluster, any_amount, args, hint, node_with};

const PLAIN: NodeResourcesFitArgs = NodeResourcesFitArgs::DEFAULT;

fn with_requests(requests: &str) -> String {
    format!("spec: {{nodeName: n1, containers: [{{name: c, resources: {{requests: {{{requests}}}}}}}]}}")
}

fn with_allocatable(allocatable: &str) -> String {
    format!("{{metadata: {{name: n1}}, status: {{allocatable: {{{allocatable}}}}}}}")
}

/// Runs Filter on a node with a pod that uses 1 cpu, 1 GiB of memory, 1 GiB of storage and a gpu.
fn check(args: &NodeResourcesFitArgs, requests: &str, expected: &str) {
    let has = "cpu: 2, memory: 2Gi, ephemeral-storage: 2Gi, pods: 2, example.com/gpu: 2, hugepages-2Mi: 4Mi";
    let usages = "cpu: 1, memory: 1Gi, ephemeral-storage: 1Gi, example.com/gpu: 1";
    let mut cluster = Cluster::new(&[&with_allocatable(has)]).with_pods(&[&with_requests(usages)]);
    let verdict = cluster.filter::<NodeResourcesFit>(args, &with_requests(requests));
    assert_eq!(verdict.trim_end(), format!("n1{expected}"), "{requests}");
}

#[test]
fn every_requested_resource_must_fit() {
    let check = |requests, expected| check(&PLAIN, requests, expected);
    check("", "");
    check("cpu: 1, memory: 1Gi, ephemeral-storage: 1Gi, example.com/gpu: 1, hugepages-2Mi: 4Mi", "");
    check("cpu: 1001m", ": Unschedulable: Insufficient cpu");
    check("cpu: 1.0001", ": Unschedulable: Insufficient cpu");
    check("memory: 1025Mi", ": Unschedulable: Insufficient memory");
    check("ephemeral-storage: 2Gi", ": Unschedulable: Insufficient ephemeral-storage");
    check("example.com/gpu: 2", ": Unschedulable: Insufficient example.com/gpu");
    check("cpu: 2, example.com/gpu: 2", ": Unschedulable: Insufficient cpu, Insufficient example.com/gpu");
    // More than the node has without pods.
    check("cpu: 3", ": UnschedulableAndUnresolvable: Insufficient cpu");
    check("hugepages-2Mi: 6Mi", ": UnschedulableAndUnresolvable: Insufficient hugepages-2Mi");
    check("example.com/fpga: 1", ": UnschedulableAndUnresolvable: Insufficient example.com/fpga");
    check("cpu: 2, memory: 3Gi", ": UnschedulableAndUnresolvable: Insufficient cpu, Insufficient memory");
    // Requests of 0 always fit.
    check("cpu: 0, example.com/fpga: 0", "");
    check("cpu: -1, example.com/fpga: -1", "");
}

#[test]
fn nodes_with_the_maximum_number_of_pods_are_rejected() {
    let check = |pods: &str, requests: &str, expected: &str| {
        let node = with_allocatable(&format!("cpu: 1{pods}"));
        let mut cluster = Cluster::new(&[&node]).with_pods(&[&with_requests("")]);
        let verdict = cluster.filter::<NodeResourcesFit>(&PLAIN, &with_requests(requests));
        assert_eq!(verdict.trim_end(), format!("n1{expected}"), "{pods} {requests}");
    };
    check(", pods: 2", "", "");
    check(", pods: 1", "", ": Unschedulable: Too many pods");
    check("", "", ": Unschedulable: Too many pods");
    check(", pods: 1", "cpu: 2", ": UnschedulableAndUnresolvable: Too many pods, Insufficient cpu");
}

#[test]
fn ignored_resources_are_not_checked() {
    let ignoring = args(
        r#"
            ignored-resources = ["example.com/fpga", "hugepages-2Mi", "cpu"]
            ignored-resource-groups = ["vendor.io"]
        "#,
    );
    let ignoring = ignoring.unwrap();
    check(ignoring, "example.com/fpga: 1, vendor.io/nic: 1", "");
    check(ignoring, "example.com/gpu: 2", ": Unschedulable: Insufficient example.com/gpu");
    // Only extended resources can be ignored.
    check(ignoring, "hugepages-2Mi: 6Mi", ": UnschedulableAndUnresolvable: Insufficient hugepages-2Mi");
    check(ignoring, "cpu: 3", ": UnschedulableAndUnresolvable: Insufficient cpu");
}

#[test]
fn only_names_with_a_foreign_prefix_are_extended() {
    for (name, extended) in [
        ("example.com/gpu", true),
        ("hugepages-2Mi", false),
        ("kubernetes.io/batch", false),
        ("sub.kubernetes.io/batch", false),
        ("requests.example.com/gpu", false),
        ("gpu", false),
        ("example.com/-", false),
    ] {
        assert_eq!(is_extended(name), extended, "{name}");
    }
}

/// Returns the score of a node with 10 cpu, 10 GiB and 4 gpus that has a pod of 2 cpu, 1 GiB and a gpu.
fn score(args: &NodeResourcesFitArgs, requests: &str) -> i64 {
    let node = with_allocatable("cpu: 10, memory: 10Gi, example.com/gpu: 4");
    let running = with_requests("cpu: 2, memory: 1Gi, example.com/gpu: 1");
    let mut cluster = Cluster::new(&[&node]).with_pods(&[&running]);
    cluster.scores::<NodeResourcesFit>(args, &with_requests(requests))[0]
}

#[test]
fn least_and_most_allocated_score_by_utilization() {
    let least = PLAIN;
    let most = NodeResourcesFitArgs {
        scoring_strategy: ScoringStrategy { r#type: ScoringStrategyType::MostAllocated, ..PLAIN.scoring_strategy },
        ..PLAIN
    };
    for (requests, expected) in [
        ("cpu: 1, memory: 2Gi", (70, 30)),
        // A pod without requests counts as 100m and 200 MiB.
        ("", (83, 16)),
        ("cpu: 0, memory: 0", (85, 15)),
        ("cpu: 8, memory: 9Gi", (0, 100)),
        ("cpu: 9, memory: 2Gi", (35, 65)),
        // gpus do not count here.
        ("cpu: 1, memory: 2Gi, example.com/gpu: 3", (70, 30)),
    ] {
        assert_eq!((score(&least, requests), score(&most, requests)), expected, "{requests}");
    }
}

#[test]
fn resources_count_by_weight() {
    let weighted: &NodeResourcesFitArgs = args(
        r#"
            [[scoring-strategy.resources]]
            name = "cpu"
            weight = 3
            [[scoring-strategy.resources]]
            name = "example.com/gpu"
            [[scoring-strategy.resources]]
            name = "ephemeral-storage"
            weight = 100
        "#,
    )
    .unwrap();
    // (3 * 70 + 50) / 4: the node has no storage.
    assert_eq!(score(weighted, "cpu: 1, example.com/gpu: 1"), 65);
    // Without a request, gpus do not count.
    assert_eq!(score(weighted, "cpu: 1"), 70);
    assert_eq!(score(weighted, "cpu: 1, example.com/gpu: 0"), 70);
}

#[test]
fn a_shape_maps_utilization_to_scores() {
    let ratio: &NodeResourcesFitArgs = args(
        r#"
            [scoring-strategy]
            type = "RequestedToCapacityRatio"
            resources = [{ name = "cpu", weight = 2 }, { name = "memory" }]
            [scoring-strategy.requested-to-capacity-ratio]
            shape = [{ utilization = 20, score = 10 }, { utilization = 30, score = 0 }, { utilization = 50, score = 7 }]
        "#,
    )
    .unwrap();
    for (requests, expected) in [
        // cpu at 20 %, memory at 10 %.
        ("cpu: 0, memory: 0", 100),
        // cpu at 23 %: 100 - 100 * 3 / 10 = 70, with weight 2; memory at 10 %: 100.
        ("cpu: 300m, memory: 0", 80),
        // cpu at 30 % has score 0 and does not count.
        ("cpu: 1, memory: 0", 100),
        ("cpu: 1, memory: 2Gi", 0),
        // cpu at 40 %: 35; memory at 60 %: 70. A mean of 46.67 is rounded.
        ("cpu: 2, memory: 5Gi", 47),
        ("cpu: 20, memory: 0", 80),
    ] {
        assert_eq!(score(ratio, requests), expected, "{requests}");
    }
}

#[test]
fn overflowing_amounts_wrap() {
    let node = with_allocatable("cpu: -1m, memory: 9223372036854775807, pods: 9");
    let huge = with_requests("memory: 9223372036854775807");
    let mut cluster = Cluster::new(&[&node]).with_pods(&[&huge]);
    let verdict = cluster.filter::<NodeResourcesFit>(&PLAIN, &huge);
    assert_eq!(verdict, "n1: Unschedulable: Insufficient memory\n");
    assert_eq!(cluster.scores::<NodeResourcesFit>(&PLAIN, &huge), [0]);
}

#[test]
fn invalid_scoring_strategies_are_reported() {
    let check = |profile: &str, expected: &str| {
        assert_eq!(args::<NodeResourcesFitArgs>(profile).err().unwrap_or_default(), expected, "{profile}");
    };
    let missing = "p.toml:1:20: the type RequestedToCapacityRatio needs `requested-to-capacity-ratio` with a shape";
    check(r#"scoring-strategy = { type = "RequestedToCapacityRatio" }"#, missing);
    check(
        "scoring-strategy = { requested-to-capacity-ratio = { shape = [{ utilization = 1, score = 1 }] } }",
        "p.toml:1:52: `requested-to-capacity-ratio` is for the type RequestedToCapacityRatio only",
    );
    check(
        r#"scoring-strategy = { resources = [{ name = "a b", weight = 101 }] }"#,
        "p.toml:1:44: `name` is \"a b\", but must be a qualified name, like `cpu` or `example.com/gpu`\n\
         p.toml:1:60: `weight` is 101, but must be 1..=100",
    );
}

#[test]
fn nodes_wake_pods_that_they_could_take() {
    let mut interner = Interner::default();
    let waiting = pod(&with_requests("cpu: 2, example.com/gpu: 1"), &mut interner);
    let mut node = |allocatable: &str| node(&with_allocatable(allocatable), &mut interner);
    let small = node("cpu: 1, pods: 9, example.com/gpu: 1");
    let large = node("cpu: 2, pods: 9, example.com/gpu: 1");
    let with_memory = node("cpu: 2, memory: 1Gi, pods: 9, example.com/gpu: 1");
    let with_gpus = node("cpu: 2, pods: 9, example.com/gpu: 2");
    let with_pods = node("cpu: 2, pods: 10, example.com/gpu: 1");
    for (old, new, expected) in [
        (None, &small, QueueingHint::Skip),
        (None, &large, QueueingHint::Queue),
        (Some(&small), &large, QueueingHint::Queue),
        (Some(&large), &small, QueueingHint::Skip),
        (Some(&large), &with_memory, QueueingHint::Skip),
        (Some(&large), &with_gpus, QueueingHint::Queue),
        (Some(&large), &with_pods, QueueingHint::Queue),
    ] {
        let object = EventObject::Node(old, Some(new));
        assert_eq!(hint::<NodeResourcesFit>(&PLAIN, &waiting, object, &interner), expected, "{object:?}");
    }
}

#[test]
fn reduced_or_deleted_pods_wake_others() {
    let mut interner = Interner::default();
    let mut pod = |name: &str, requests: &str| {
        let spec = with_requests(requests);
        pod(&format!("metadata: {{name: {name}}}\n{spec}"), &mut interner)
    };
    let waiting = pod("waiting", "cpu: 2");
    let [large, less_cpu, less_memory] =
        ["cpu: 2, memory: 2Gi", "cpu: 1, memory: 2Gi", "cpu: 2, memory: 1Gi"].map(|requests| pod("other", requests));
    let shrunk = pod("waiting", "cpu: 1");
    for (old, new, expected) in [
        (&large, None, QueueingHint::Queue),
        (&large, Some(&less_cpu), QueueingHint::Queue),
        (&large, Some(&less_memory), QueueingHint::Skip),
        (&waiting, Some(&shrunk), QueueingHint::Queue),
    ] {
        let object = EventObject::pods(Some(old), new);
        assert_eq!(hint::<NodeResourcesFit>(&PLAIN, &waiting, object, &interner), expected, "{object:?}");
    }
}

#[test]
fn nodes_without_a_rare_resource_are_not_filtered() {
    let mut cluster = Cluster::new(&[
        "{metadata: {name: n0}, status: {allocatable: {cpu: 1}}}",
        "{metadata: {name: n1}, status: {allocatable: {cpu: 1, example.com/gpu: 1, example.com/nic: 1}}}",
        "{metadata: {name: n2}, status: {allocatable: {cpu: 1, example.com/nic: 1}}}",
        "{metadata: {name: n3}, status: {allocatable: {cpu: 1, example.com/nic: 1}}}",
    ]);
    for (requests, candidates) in [
        ("cpu: 1", None),
        ("example.com/nic: 1", None),
        ("example.com/gpu: 1", Some(vec![1])),
        ("example.com/nic: 1, example.com/gpu: 2", Some(vec![1])),
        ("example.com/fpga: 1", Some(vec![])),
        ("example.com/fpga: 0", None),
    ] {
        let pod = cluster.compile::<NodeResourcesFit>(&PLAIN, &with_requests(requests));
        let answer = NodeResourcesFit::default().pre_filter(&PLAIN, &pod, cluster.view()).unwrap();
        let found = match answer.candidates {
            CandidateNodes::Predicted(nodes) => Some(nodes.iter().map(|node| node.0).collect()),
            _ => None,
        };
        assert_eq!(found, candidates, "{requests}");
    }
}

/// Computes the mean of CPU and memory as kube-scheduler does, if the node has both.
fn mean_of_integers(r#type: ScoringStrategyType, amounts: [(i64, i64); 2]) -> i64 {
    let score = |(after, allocatable): (i64, i64)| {
        let counted = match r#type {
            ScoringStrategyType::MostAllocated => after.min(allocatable),
            _ if after > allocatable => 0,
            _ => allocatable.wrapping_sub(after),
        };
        counted.wrapping_mul(100).wrapping_div(allocatable)
    };
    score(amounts[0]).wrapping_add(score(amounts[1])) / 2
}

proptest! {
    #[test]
    fn scores_equal_integer_arithmetic(
        allocatable in [any_amount(), any_amount()],
        used in [any_amount(), any_amount()],
        requested in [any_amount(), any_amount()],
    ) {
        prop_assume!(!allocatable.contains(&0));
        let node = node_with(allocatable, [0; 2], used);
        let requests = Resources { milli_cpu: requested[0], memory: requested[1], ..Resources::default() };
        for r#type in [ScoringStrategyType::LeastAllocated, ScoringStrategyType::MostAllocated] {
            let mut args = PLAIN;
            args.scoring_strategy.r#type = r#type;
            let names = args.scoring_strategy.resources.iter().map(|resource| resource.name);
            let pod = NodeResourcesFitPod {
                requests: Requests::new(&requests, &DeviceClasses::default(), |_| false),
                scored: RequestedAmounts::new(&requests, names, &mut Interner::default()),
            };
            let score = NodeResourcesFit::score(&args, &pod, &BackingDevices::default(), (&node, NodeIndex(0)));
            let amounts = [0, 1].map(|at| (used[at].wrapping_add(requested[at]), allocatable[at]));
            prop_assert_eq!(score.ok(), Some(mean_of_integers(r#type, amounts)));
        }
    }
}
