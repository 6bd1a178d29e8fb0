//! `schedc explain`

use expect_test::expect;
use serde_json::json;

use crate::cli::harness::{EXAMPLE, Folder, schedc};

#[test]
fn a_schedulable_pod_is_explained() {
    expect![[r#"
        Feasible nodes (scores: raw > normalised > weighted)
          NODE     TOTAL  NodeAffinity x2  NodeResourcesFit x1
          north-1    655   50 > 100 > 200         80 > 80 > 80
          north-2    460        0 > 0 > 0         85 > 85 > 85
          equal on all feasible nodes:
            TaintToleration x3 0 > 100 > 300, DynamicResources x2 0 > 0 > 0,
            NodeResourcesBalancedAllocation x1 75 > 75 > 75, ImageLocality x1 0 > 0 > 0

        Rejected nodes
          COUNT  PLUGIN             REASON                                   NODES
              2  InterPodAffinity   node(s) didn't match pod affinity rules  south-1, south-2
              1  TaintToleration    node(s) had untolerated taint(s)         gpu-1
              1  NodeUnschedulable  node(s) were unschedulable               south-3

        shop/cache-0 goes to north-1 (profile default)
          the highest total; 2 of 6 nodes are feasible
          filters without effect on this pod:
            NodeAffinity, NodePorts, VolumeRestrictions, NodeVolumeLimits, VolumeBinding, VolumeZone,
            PodTopologySpread, DynamicResources, NodeDeclaredFeatures
          scores without effect on this pod:
            VolumeBinding, PodTopologySpread, InterPodAffinity
    "#]]
    .assert_eq(&schedc(&["explain", "cache-0", EXAMPLE]).ok());
}

/// Example in the README.
#[test]
fn a_pod_with_spread_constraints_is_explained() {
    expect![[r#"
        Feasible nodes (scores: raw > normalised > weighted)
          NODE     TOTAL  TaintToleration x3  NodeResourcesFit x1  NodeResourcesBalancedAllocation x1
          south-1    468       0 > 100 > 300         94 > 94 > 94                        74 > 74 > 74
          south-2    162           1 > 0 > 0         89 > 89 > 89                        73 > 73 > 73
          equal on all feasible nodes:
            DynamicResources x2 0 > 0 > 0, ImageLocality x1 0 > 0 > 0

        Rejected nodes
          COUNT  PLUGIN             REASON                                                NODES
              2  PodTopologySpread  node(s) didn't match pod topology spread constraints  north-1, north-2
              1  TaintToleration    node(s) had untolerated taint(s)                      gpu-1
              1  NodeUnschedulable  node(s) were unschedulable                            south-3

        shop/web-1 goes to south-1 (profile default)
          the highest total; 2 of 6 nodes are feasible
          filters without effect on this pod:
            NodeAffinity, NodePorts, VolumeRestrictions, NodeVolumeLimits, VolumeBinding, VolumeZone,
            InterPodAffinity, DynamicResources, NodeDeclaredFeatures
          scores without effect on this pod:
            NodeAffinity, VolumeBinding, PodTopologySpread, InterPodAffinity
    "#]]
    .assert_eq(&schedc(&["explain", "shop/web-1", EXAMPLE]).ok());
}

#[test]
fn an_unschedulable_pod_is_explained() {
    expect![[r#"
        Rejected nodes
          COUNT  PLUGIN             REASON                                                      NODES
              2  NodePorts          node(s) didn't have free ports for the requested pod ports  north-1, north-2
              2  NodeAffinity       node(s) didn't match Pod's node affinity/selector           south-1, south-2
              1  TaintToleration    node(s) had untolerated taint(s)                            gpu-1
              1  NodeUnschedulable  node(s) were unschedulable                                  south-3

        research/metrics-proxy is unschedulable (profile default)
          0/6 nodes are available: 1 node(s) had untolerated taint(s), 1 node(s) were unschedulable, 2 node(s) didn't have free ports for the requested pod ports, 2 node(s) didn't match Pod's node affinity/selector. no new claims to deallocate, preemption: 0/6 nodes are available: 2 No preemption victims found for incoming pod, 4 Preemption is not helpful for scheduling.
          filters without effect on this pod:
            VolumeRestrictions, NodeVolumeLimits, VolumeBinding, VolumeZone, PodTopologySpread,
            InterPodAffinity, DynamicResources, NodeDeclaredFeatures

        Remedies (one row is enough; each is verified by a decision)
          NODE          CHANGE
          south-2       remove topology.kubernetes.io/zone=north from the node selector
          north-1-copy  add a node like north-1
          north-2       remove host port 9100/TCP of container proxy
          north-1       evict kube-system/node-agent-north-1 from node north-1
          north-2       use priority class deadline (1000), which preempts kube-system/node-agent-north-2
    "#]].assert_eq(&schedc(&["explain", "research/metrics-proxy", EXAMPLE]).ok());
}

#[test]
fn all_filters_lists_every_plugin_that_would_reject() {
    expect![[r#"
        Rejected nodes
          COUNT  PLUGIN             REASON                                 NODES
              3  NodeResourcesFit   Insufficient cpu                       north-1, north-2, south-1
              1  TaintToleration    node(s) had untolerated taint(s)       gpu-1
              1  NodeResourcesFit   Insufficient cpu, Insufficient memory  south-2
              1  NodeUnschedulable  node(s) were unschedulable             south-3
                 TaintToleration    node(s) had untolerated taint(s)
                 NodeResourcesFit   Insufficient cpu, Insufficient memory

        research/simulation is unschedulable (profile default)
          0/6 nodes are available: 1 Insufficient memory, 1 node(s) had untolerated taint(s), 1 node(s) were unschedulable, 4 Insufficient cpu. no new claims to deallocate, preemption: 0/6 nodes are available: 6 Preemption is not helpful for scheduling.
          filters without effect on this pod:
            NodeAffinity, NodePorts, VolumeRestrictions, NodeVolumeLimits, VolumeBinding, VolumeZone,
            PodTopologySpread, InterPodAffinity, DynamicResources, NodeDeclaredFeatures

        Remedies (one row is enough; each is verified by a decision)
          NODE     CHANGE
          gpu-1    tolerate the taint example.com/gpu=present:NoSchedule
          north-2  lower the cpu request of container simulation from 12 to 7700m
          gpu-1    remove the taint example.com/gpu=present:NoSchedule from node gpu-1
    "#]].assert_eq(&schedc(&["explain", "simulation", EXAMPLE, "--all-filters"]).ok());
}

#[test]
fn a_gated_pod_is_explained() {
    expect![[r#"
        shop/checkout-canary is unschedulable (profile default); SchedulingGates rejects it in PreEnqueue
          waiting for scheduling gates: [example.com/waits-for-approval]

        Remedies (one row is enough; each is verified by a decision)
          NODE     CHANGE
          north-2  remove the scheduling gate example.com/waits-for-approval
    "#]]
    .assert_eq(&schedc(&["explain", "checkout-canary", EXAMPLE]).ok());
}

#[test]
fn a_bound_pod_is_explained_as_pending() {
    // The pod's node is cordoned, and the pod's requests count as free.
    expect![[r#"
        Feasible nodes (scores: raw > normalised > weighted)
          NODE     TOTAL  TaintToleration x3  NodeResourcesFit x1  NodeResourcesBalancedAllocation x1
          south-1    438       0 > 100 > 300         66 > 66 > 66                        72 > 72 > 72
          north-2    438       0 > 100 > 300         66 > 66 > 66                        72 > 72 > 72
          north-1    435       0 > 100 > 300         61 > 61 > 61                        74 > 74 > 74
          south-2    101           1 > 0 > 0         33 > 33 > 33                        68 > 68 > 68
          equal on all feasible nodes:
            DynamicResources x2 0 > 0 > 0, ImageLocality x1 0 > 0 > 0

        Rejected nodes
          COUNT  PLUGIN             REASON                            NODES
              1  TaintToleration    node(s) had untolerated taint(s)  gpu-1
              1  NodeUnschedulable  node(s) were unschedulable        south-3

        shop/search-0 goes to south-1 (profile default)
          chosen at random among 2 nodes with the highest total:
            north-2, south-1
          filters without effect on this pod:
            NodeAffinity, NodePorts, VolumeRestrictions, NodeVolumeLimits, VolumeBinding, VolumeZone,
            PodTopologySpread, InterPodAffinity, DynamicResources, NodeDeclaredFeatures
          scores without effect on this pod:
            NodeAffinity, VolumeBinding, PodTopologySpread, InterPodAffinity
    "#]]
    .assert_eq(&schedc(&["explain", "search-0", EXAMPLE]).ok());
}

/// Returns the result of `simulate` for each pending pod: its node, or the reason why it has none.
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
        let outcome = text.lines().skip_while(|line| !line.starts_with(&format!("{pod} ")));
        outcome.take_while(|line| !line.contains(" without effect on this pod")).collect::<Vec<_>>().join("\n") + "\n"
    };
    expect![[r#"
        shop/cache-0 goes to north-1 (profile default)
          after 7 other pending pods were placed, and 3 found unschedulable
          chosen at random among 2 nodes with the highest total:
            north-1, south-1
    "#]]
    .assert_eq(&outcome("shop/cache-0"));
    expect![[r#"
        research/training-3 goes to gpu-1 (profile default)
          after 5 other pending pods were placed; attempt 2 of this pod
          earlier attempts preempted:
            research/notebook-1
          the pod's nominated node (status.nominatedNodeName)
    "#]]
    .assert_eq(&outcome("research/training-3"));
    expect![[r#"
        shop/checkout-canary is unschedulable (profile default); SchedulingGates rejects it in PreEnqueue
          after 14 other pending pods were placed, and 4 found unschedulable
          waiting for scheduling gates: [example.com/waits-for-approval]

        Remedies (one row is enough; each is verified by a decision)
          NODE     CHANGE
          north-1  remove the scheduling gate example.com/waits-for-approval
    "#]]
    .assert_eq(&outcome("shop/checkout-canary"));
    expect![[r#"
        research/notebook-1 is unschedulable (profile default)
          after 7 other pending pods were placed, and 3 found unschedulable
          0/6 nodes are available: 1 node(s) were unschedulable, 5 Insufficient example.com/gpu. no new claims to deallocate, preemption: 0/6 nodes are available: 1 No preemption victims found for incoming pod, 5 Preemption is not helpful for scheduling.
    "#]].assert_eq(&outcome("research/notebook-1"));
}

#[test]
fn json_has_the_decision_about_one_pod() {
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

/// Creates a cluster of 300 nodes: every third is tainted, and half of the others are small.
fn large() -> Folder {
    let mut manifests = String::new();
    for n in 0..300 {
        let taint = if n % 3 == 0 { "taints: [{key: gpu, effect: NoSchedule}]" } else { "" };
        let cpu = if n % 2 == 0 { 1 } else { 8 + n % 5 };
        manifests += &format!(
            "{{apiVersion: v1, kind: Node, metadata: {{name: node-{n:03}}}, spec: {{{taint}}}, status: {{capacity: {{cpu: {cpu}, pods: 9}}}}}}\n---\n"
        );
    }
    manifests += "{apiVersion: v1, kind: Pod, metadata: {name: p}, spec: {containers: [{name: c, image: i, resources: {requests: {cpu: 2}}}]}}\n";
    Folder::with(&[("all.yaml", &manifests)])
}

#[test]
fn nodes_with_the_same_rejections_are_counted() {
    let table = large().schedc(&["explain", "p", "all.yaml", "--top", "3"]).ok();
    expect![[r#"
        Feasible nodes (scores: raw > normalised > weighted)
          NODE      TOTAL  NodeResourcesFit x1
          node-269    458         83 > 83 > 83
          node-019    458         83 > 83 > 83
          node-029    458         83 > 83 > 83
          ... and 97 more; --nodes prints them all
          equal on all feasible nodes:
            TaintToleration x3 0 > 100 > 300, DynamicResources x2 0 > 0 > 0,
            NodeResourcesBalancedAllocation x1 75 > 75 > 75, ImageLocality x1 0 > 0 > 0

        Rejected nodes
          COUNT  PLUGIN            REASON                            NODES
            100  TaintToleration   node(s) had untolerated taint(s)  node-000, node-003, node-006, node-009 + 96 more
            100  NodeResourcesFit  Insufficient cpu                  node-002, node-004, node-008, node-010 + 96 more

        default/p goes to node-269 (profile default)
          chosen at random among 20 nodes with the highest total:
            node-019, node-029, node-049, node-059, node-079, node-089, node-109, node-119, node-139,
            node-149, and 10 more
          filters without effect on this pod:
            NodeAffinity, NodePorts, VolumeRestrictions, NodeVolumeLimits, VolumeBinding, VolumeZone,
            PodTopologySpread, InterPodAffinity, DynamicResources, NodeDeclaredFeatures
          scores without effect on this pod:
            NodeAffinity, VolumeBinding, PodTopologySpread, InterPodAffinity
    "#]]
    .assert_eq(&table);
    let ten = large().schedc(&["explain", "p", "all.yaml"]).ok();
    assert_eq!(ten.lines().filter(|line| line.starts_with("  node-")).count(), 10);
    let all = large().schedc(&["explain", "p", "all.yaml", "--all-filters"]).ok();
    let start = all.find("Rejected").expect("the table");
    expect![[r#"
        Rejected nodes
          COUNT  PLUGIN            REASON                            NODES
            100  NodeResourcesFit  Insufficient cpu                  node-002, node-004, node-008, node-010 + 96 more
             50  TaintToleration   node(s) had untolerated taint(s)  node-000, node-006, node-012, node-018 + 46 more
                 NodeResourcesFit  Insufficient cpu
             50  TaintToleration   node(s) had untolerated taint(s)  node-003, node-009, node-015, node-021 + 46 more
    "#]]
    .assert_eq(&all[start..all.find("\ndefault/p").expect("the outcome")]);
}

#[test]
fn single_nodes_can_be_named() {
    let table = large().schedc(&["explain", "p", "all.yaml", "--node", "node-001", "--node", "node-002"]).ok();
    expect![[r#"
        Feasible nodes (scores: raw > normalised > weighted)
          NODE      TOTAL  NodeResourcesFit x1
          node-001    452         77 > 77 > 77
          equal on all feasible nodes:
            TaintToleration x3 0 > 100 > 300, DynamicResources x2 0 > 0 > 0,
            NodeResourcesBalancedAllocation x1 75 > 75 > 75, ImageLocality x1 0 > 0 > 0

        Rejected nodes
          NODE      PLUGIN            REASON
          node-002  NodeResourcesFit  Insufficient cpu

        default/p goes to node-269 (profile default)
          chosen at random among 20 nodes with the highest total:
            node-019, node-029, node-049, node-059, node-079, node-089, node-109, node-119, node-139,
            node-149, and 10 more
          filters without effect on this pod:
            NodeAffinity, NodePorts, VolumeRestrictions, NodeVolumeLimits, VolumeBinding, VolumeZone,
            PodTopologySpread, InterPodAffinity, DynamicResources, NodeDeclaredFeatures
          scores without effect on this pod:
            NodeAffinity, VolumeBinding, PodTopologySpread, InterPodAffinity
    "#]]
    .assert_eq(&table);
    expect![[r#"
        error: there is no node `nort-1` in the input; did you mean `north-1`?
        error: there is no node `x` in the input
    "#]]
    .assert_eq(&schedc(&["explain", "web-1", EXAMPLE, "--node", "nort-1", "--node", "x"]).refused());
}

#[test]
fn every_node_has_a_row_on_request() {
    let table = large().schedc(&["explain", "p", "all.yaml", "--nodes"]).ok();
    assert_eq!(table.lines().filter(|line| line.starts_with("  node-")).count(), 300);
}

#[test]
fn json_results_have_all_nodes() {
    let folder = large();
    let explain = ["explain", "p", "all.yaml", "-o", "json"];
    let whole = folder.schedc(&explain).json();
    assert_eq!(whole["nodes"].as_array().map(Vec::len), Some(300));
    for view in [&["--nodes"][..], &["--node", "node-001"], &["--top", "1"]] {
        assert_eq!(folder.schedc(&[&explain[..], view].concat()).json(), whole, "{view:?}");
    }
    let keys: Vec<&String> = whole.as_object().expect("an object").keys().collect();
    expect![[r#"["best", "byNomination", "heldBy", "message", "node", "nodes", "pod", "preFilter", "preemption", "profile", "skippedFilters", "skippedScores"]"#]].assert_eq(&format!("{keys:?}"));
}
