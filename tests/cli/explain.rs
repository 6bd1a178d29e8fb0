//! `schedc explain`

use expect_test::expect;
use serde_json::json;

use crate::cli::harness::{EXAMPLE, Folder, schedc};

#[test]
fn a_pod_that_fits_somewhere() {
    expect![[r#"
        Feasible nodes (scores: raw > normalised > weighted)
          NODE     TOTAL  TaintToleration x3  NodeAffinity x2  NodeResourcesFit x1  DynamicResources x2  NodeResourcesBalancedAllocation x1  ImageLocality x1
          north-1    655       0 > 100 > 300   50 > 100 > 200         80 > 80 > 80            0 > 0 > 0                        75 > 75 > 75         0 > 0 > 0
          north-2    460       0 > 100 > 300        0 > 0 > 0         85 > 85 > 85            0 > 0 > 0                        75 > 75 > 75         0 > 0 > 0

        Rejected nodes
          NODE     PLUGIN             REASON
          gpu-1    TaintToleration    node(s) had untolerated taint(s)
          south-1  InterPodAffinity   node(s) didn't match pod affinity rules
          south-2  InterPodAffinity   node(s) didn't match pod affinity rules
          south-3  NodeUnschedulable  node(s) were unschedulable

        shop/cache-0 goes to north-1, says profile default
          the highest total of 2 feasible ones of 6 nodes
          nothing to filter by for this pod:
            NodeAffinity, NodePorts, VolumeRestrictions, NodeVolumeLimits, VolumeBinding, VolumeZone,
            PodTopologySpread, DynamicResources, NodeDeclaredFeatures
          nothing to score by for this pod:
            VolumeBinding, PodTopologySpread, InterPodAffinity
    "#]].assert_eq(&schedc(&["explain", "cache-0", EXAMPLE]).ok());
}

/// Shown in the README.
#[test]
fn a_pod_that_keeps_the_zones_even() {
    expect![[r#"
        Feasible nodes (scores: raw > normalised > weighted)
          NODE     TOTAL  TaintToleration x3  NodeResourcesFit x1  DynamicResources x2  NodeResourcesBalancedAllocation x1  ImageLocality x1
          south-1    468       0 > 100 > 300         94 > 94 > 94            0 > 0 > 0                        74 > 74 > 74         0 > 0 > 0
          south-2    162           1 > 0 > 0         89 > 89 > 89            0 > 0 > 0                        73 > 73 > 73         0 > 0 > 0

        Rejected nodes
          NODE     PLUGIN             REASON
          gpu-1    TaintToleration    node(s) had untolerated taint(s)
          north-1  PodTopologySpread  node(s) didn't match pod topology spread constraints
          north-2  PodTopologySpread  node(s) didn't match pod topology spread constraints
          south-3  NodeUnschedulable  node(s) were unschedulable

        shop/web-1 goes to south-1, says profile default
          the highest total of 2 feasible ones of 6 nodes
          nothing to filter by for this pod:
            NodeAffinity, NodePorts, VolumeRestrictions, NodeVolumeLimits, VolumeBinding, VolumeZone,
            InterPodAffinity, DynamicResources, NodeDeclaredFeatures
          nothing to score by for this pod:
            NodeAffinity, VolumeBinding, PodTopologySpread, InterPodAffinity
    "#]].assert_eq(&schedc(&["explain", "shop/web-1", EXAMPLE]).ok());
}

#[test]
fn a_pod_that_fits_nowhere() {
    expect![[r#"
        Rejected nodes
          NODE     PLUGIN             REASON
          gpu-1    TaintToleration    node(s) had untolerated taint(s)
          north-1  NodePorts          node(s) didn't have free ports for the requested pod ports
          north-2  NodePorts          node(s) didn't have free ports for the requested pod ports
          south-1  NodeAffinity       node(s) didn't match Pod's node affinity/selector
          south-2  NodeAffinity       node(s) didn't match Pod's node affinity/selector
          south-3  NodeUnschedulable  node(s) were unschedulable

        research/metrics-proxy goes nowhere, says profile default
          0/6 nodes are available: 1 node(s) had untolerated taint(s), 1 node(s) were unschedulable, 2 node(s) didn't have free ports for the requested pod ports, 2 node(s) didn't match Pod's node affinity/selector. no new claims to deallocate, preemption: 0/6 nodes are available: 2 No preemption victims found for incoming pod, 4 Preemption is not helpful for scheduling.
          nothing to filter by for this pod:
            VolumeRestrictions, NodeVolumeLimits, VolumeBinding, VolumeZone, PodTopologySpread,
            InterPodAffinity, DynamicResources, NodeDeclaredFeatures
    "#]].assert_eq(&schedc(&["explain", "research/metrics-proxy", EXAMPLE]).ok());
}

#[test]
fn every_plugin_that_would_reject() {
    expect![[r#"
        Rejected nodes
          NODE     PLUGIN             REASON
          gpu-1    TaintToleration    node(s) had untolerated taint(s)
          north-1  NodeResourcesFit   Insufficient cpu
          north-2  NodeResourcesFit   Insufficient cpu
          south-1  NodeResourcesFit   Insufficient cpu
          south-2  NodeResourcesFit   Insufficient cpu, Insufficient memory
          south-3  NodeUnschedulable  node(s) were unschedulable
                   TaintToleration    node(s) had untolerated taint(s)
                   NodeResourcesFit   Insufficient cpu, Insufficient memory

        research/simulation goes nowhere, says profile default
          0/6 nodes are available: 1 Insufficient memory, 1 node(s) had untolerated taint(s), 1 node(s) were unschedulable, 4 Insufficient cpu. no new claims to deallocate, preemption: 0/6 nodes are available: 6 Preemption is not helpful for scheduling.
          nothing to filter by for this pod:
            NodeAffinity, NodePorts, VolumeRestrictions, NodeVolumeLimits, VolumeBinding, VolumeZone,
            PodTopologySpread, InterPodAffinity, DynamicResources, NodeDeclaredFeatures
    "#]].assert_eq(&schedc(&["explain", "simulation", EXAMPLE, "--all-filters"]).ok());
}

#[test]
fn a_pod_that_is_held_back() {
    expect![[r#"
        shop/checkout-canary goes nowhere, says profile default; SchedulingGates holds it back before the queue
          waiting for scheduling gates: [example.com/waits-for-approval]
    "#]]
    .assert_eq(&schedc(&["explain", "checkout-canary", EXAMPLE]).ok());
}

#[test]
fn a_bound_pod_as_if_it_had_no_node() {
    // Its node is cordoned by now, and its own requests are free again.
    expect![[r#"
        Feasible nodes (scores: raw > normalised > weighted)
          NODE     TOTAL  TaintToleration x3  NodeResourcesFit x1  DynamicResources x2  NodeResourcesBalancedAllocation x1  ImageLocality x1
          north-2    438       0 > 100 > 300         66 > 66 > 66            0 > 0 > 0                        72 > 72 > 72         0 > 0 > 0
          south-1    438       0 > 100 > 300         66 > 66 > 66            0 > 0 > 0                        72 > 72 > 72         0 > 0 > 0
          north-1    435       0 > 100 > 300         61 > 61 > 61            0 > 0 > 0                        74 > 74 > 74         0 > 0 > 0
          south-2    101           1 > 0 > 0         33 > 33 > 33            0 > 0 > 0                        68 > 68 > 68         0 > 0 > 0

        Rejected nodes
          NODE     PLUGIN             REASON
          gpu-1    TaintToleration    node(s) had untolerated taint(s)
          south-3  NodeUnschedulable  node(s) were unschedulable

        shop/search-0 goes to south-1, says profile default
          one of 2 with the highest total, among which is drawn:
            north-2, south-1
          nothing to filter by for this pod:
            NodeAffinity, NodePorts, VolumeRestrictions, NodeVolumeLimits, VolumeBinding, VolumeZone,
            PodTopologySpread, InterPodAffinity, DynamicResources, NodeDeclaredFeatures
          nothing to score by for this pod:
            NodeAffinity, VolumeBinding, PodTopologySpread, InterPodAffinity
    "#]]
    .assert_eq(&schedc(&["explain", "search-0", EXAMPLE]).ok());
}

/// What `simulate` reports of each pending pod: its node if it has one, or why it has none.
fn simulated(folder: &Folder, input: &str, seed: &str) -> Vec<(String, Option<String>, Option<String>)> {
    let report = folder.schedc(&["simulate", input, "--seed", seed, "-o", "json"]).json();
    let text = |entry: &serde_json::Value, key: &str| entry[key].as_str().map(str::to_owned);
    let entries = ["placements", "unschedulable"].map(|list| report[list].as_array().expect("a list").clone());
    let pods = entries.iter().flatten();
    pods.map(|entry| (text(entry, "pod").expect("a name"), text(entry, "node"), text(entry, "message"))).collect()
}

#[test]
fn an_explanation_after_other_pods_is_the_result_of_a_simulation() {
    let folder = Folder::with(&[]);
    let example = format!("{}/{EXAMPLE}", env!("CARGO_MANIFEST_DIR"));
    for seed in ["0", "7"] {
        let pods = simulated(&folder, &example, seed);
        assert_eq!(pods.len(), 19);
        for (pod, node, message) in pods {
            let explain = ["explain", &pod, &example, "--after", "--seed", seed, "-o", "json"];
            let explanation = folder.schedc(&explain).json();
            assert_eq!(explanation["node"].as_str(), node.as_deref(), "{pod} with seed {seed}");
            assert_eq!(explanation["message"].as_str(), message.as_deref(), "{pod} with seed {seed}");
        }
    }
}

#[test]
fn equally_good_nodes_are_drawn_as_in_a_simulation() {
    let node = |name: &str| {
        format!(
            "{{apiVersion: v1, kind: Node, metadata: {{name: {name}}}, status: {{capacity: {{cpu: 4, pods: 9}}}}}}\n---\n"
        )
    };
    let pod = "{apiVersion: v1, kind: Pod, metadata: {name: p}, spec: {containers: [{name: c, image: i}]}}\n";
    let folder = Folder::with(&[("all.yaml", &(["a", "b", "c", "d"].map(node).concat() + pod))]);
    let nodes = ["0", "1", "2", "3", "4"].map(|seed| {
        let placed = simulated(&folder, "all.yaml", seed);
        let explanation = folder.schedc(&["explain", "p", "all.yaml", "--seed", seed, "-o", "json"]).json();
        assert_eq!(explanation["node"].as_str(), placed[0].1.as_deref(), "seed {seed}");
        explanation["node"].to_string()
    });
    assert!(nodes.iter().any(|node| *node != nodes[0]), "{nodes:?}");
}

#[test]
fn other_pending_pods_are_placed_first() {
    let outcome = |pod: &str| {
        let text = schedc(&["explain", pod, EXAMPLE, "--after"]).ok();
        let end = text.find(&format!("{pod} goes")).expect("the outcome");
        text[end..].lines().take_while(|line| !line.starts_with("  nothing to")).collect::<Vec<_>>().join("\n") + "\n"
    };
    expect![[r#"
        shop/cache-0 goes to north-1, says profile default
          after 7 other pending pods were placed, and 3 found unschedulable
          one of 2 with the highest total, among which is drawn:
            north-1, south-1
    "#]]
    .assert_eq(&outcome("shop/cache-0"));
    expect![[r#"
        research/training-3 goes to gpu-1, says profile default
          after 5 other pending pods were placed; attempt 2 of this pod
          earlier attempts preempted:
            research/notebook-1
          room was made for it there (status.nominatedNodeName)
    "#]]
    .assert_eq(&outcome("research/training-3"));
    expect![[r#"
        shop/checkout-canary goes nowhere, says profile default; SchedulingGates holds it back before the queue
          after 14 other pending pods were placed, and 4 found unschedulable
          waiting for scheduling gates: [example.com/waits-for-approval]
    "#]]
    .assert_eq(&outcome("shop/checkout-canary"));
    expect![[r#"
        research/notebook-1 goes nowhere, says profile default
          after 7 other pending pods were placed, and 3 found unschedulable
          0/6 nodes are available: 1 node(s) were unschedulable, 5 Insufficient example.com/gpu. no new claims to deallocate, preemption: 0/6 nodes are available: 1 No preemption victims found for incoming pod, 5 Preemption is not helpful for scheduling.
    "#]].assert_eq(&outcome("research/notebook-1"));
}

#[test]
fn one_pod_as_json() {
    let explanation = schedc(&["explain", "cache-0", EXAMPLE, "-o", "json"]).json();
    assert_eq!(explanation["pod"], "shop/cache-0");
    assert_eq!(explanation["profile"], "default");
    assert_eq!(explanation["node"], explanation["best"][0]);
    let nodes = explanation["nodes"].as_array().expect("a list");
    assert_eq!(nodes.len(), 6);
    for node in nodes {
        assert_eq!(node["feasible"].as_bool(), Some(node["rejections"].is_null()), "{node}");
        let weighted = |score: &serde_json::Value| {
            let part = |key: &str| score[key].as_i64().expect("a number");
            assert_eq!(part("weighted"), part("normalized") * part("weight"), "{score}");
            part("weighted")
        };
        let total = node["scores"].as_array().map(|scores| scores.iter().map(weighted).sum::<i64>());
        assert_eq!(node["total"].as_i64(), total, "{node}");
    }
    let rejected = nodes.iter().find(|node| node["node"] == "gpu-1").expect("the node");
    assert_eq!(
        rejected["rejections"],
        json!([{
            "plugin": "TaintToleration",
            "code": "UnschedulableAndUnresolvable",
            "reasons": ["node(s) had untolerated taint(s)"],
        }])
    );
}

#[test]
fn which_pod_is_meant() {
    let pod = |namespace: &str, scheduler: &str| {
        format!(
            "{{apiVersion: v1, kind: Pod, metadata: {{name: p, namespace: {namespace}}}, spec: {{schedulerName: {scheduler}, \
             containers: [{{name: c, image: i}}]}}}}\n---\n"
        )
    };
    let pods = pod("one", "default-scheduler") + &pod("two", "theirs");
    let folder = Folder::with(&[("pods.yaml", &pods)]);
    let refused = |args: &[&str]| folder.schedc(args).refused();
    expect![[r#"
        error: `p` may be any of one/p, two/p; say which
    "#]]
    .assert_eq(&refused(&["explain", "p", "pods.yaml"]));
    expect![[r#"
        error: there is no pod `three/p` in the input
    "#]]
    .assert_eq(&refused(&["explain", "three/p", "pods.yaml"]));
    expect![[r#"
        error: pod two/p asks for scheduler `theirs`, which is none of the profiles; choose one with --profile
    "#]]
    .assert_eq(&refused(&["explain", "two/p", "pods.yaml"]));
    expect![[r#"
        two/p goes nowhere, says profile edge
          no nodes available to schedule pods
    "#]]
    .assert_eq(&folder.schedc(&["explain", "two/p", "pods.yaml", "--profile", "edge"]).ok());
}
