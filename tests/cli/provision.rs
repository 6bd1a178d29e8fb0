//! `schedc provision`

use serde_json::{Value, json};

use crate::cli::harness::{Folder, Run};

const CLUSTER: &str = "{apiVersion: v1, kind: Node, metadata: {name: n1}, status: {allocatable: {cpu: 2, pods: 10}}}\n";

const SHAPES: &str = "
{apiVersion: v1, kind: Node, metadata: {name: large, annotations: {schedc/price: '10'}}, status: {allocatable: {cpu: 12, pods: 10}}}
---
{apiVersion: v1, kind: Node, metadata: {name: medium, annotations: {schedc/price: '6.5', schedc/max: '3'}}, status: {allocatable: {cpu: 8, pods: 10}}}
";

const WEB: &str = "
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: 4
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: c, image: i, resources: {requests: {cpu: 4}}}]}
";

fn provision(args: &[&str]) -> Run {
    let folder = Folder::with(&[
        ("cluster.yaml", CLUSTER),
        ("shapes.yaml", SHAPES),
        ("web.yaml", WEB),
        ("unpriced.yaml", &CLUSTER.replace("n1", "small")),
    ]);
    folder.schedc(&[&["provision", "-f", "web.yaml"], args, &["cluster.yaml"]].concat())
}

#[test]
fn the_cheapest_nodes_are_printed() {
    let text = provision(&["--shapes", "shapes.yaml"]).ok();
    assert!(text.contains("SHAPE   NODES  PRICE OF ONE  PRICE\n  medium      2           6.5     13\n"), "{text}");
    assert!(text.contains("2 new nodes for 13; no cheaper nodes are enough"), "{text}");
}

#[test]
fn the_end_of_a_search_at_the_maximum_of_trials_is_reported() {
    let Run { code, stdout, .. } = provision(&["--shapes", "shapes.yaml", "--max-trials", "2"]);
    let expected = "more may be enough (2 sets of nodes tried, the maximum of --max-trials)";
    assert_eq!((code, stdout.contains(expected)), (Some(1), true), "{stdout}");
}

#[test]
fn other_profiles_of_the_binary_do_not_weaken_the_bound() {
    // The profile `features` ignores resources and has an extender, but serves none of these pods.
    let Run { stdout, .. } = provision(&["--shapes", "shapes.yaml", "--max-trials", "2", "-o", "json"]);
    let found: Value = serde_json::from_str(&stdout).expect("JSON");
    // 14 CPUs are missing, and the cheapest CPU costs 6.5 / 8.
    assert_eq!(found["lowerBound"], 11.375, "{found}");
}

#[test]
fn a_daemon_set_of_the_manifest_runs_on_new_nodes() {
    let agent = WEB
        .replace("Deployment", "DaemonSet")
        .replace("  replicas: 4\n", "")
        .replace("web", "agent")
        .replace("cpu: 4", "cpu: 1");
    let folder =
        Folder::with(&[("cluster.yaml", CLUSTER), ("shapes.yaml", SHAPES), ("all.yaml", &format!("{WEB}---{agent}"))]);
    let found =
        folder.schedc(&["provision", "-f", "all.yaml", "--shapes", "shapes.yaml", "cluster.yaml", "-o", "json"]).json();
    // Two pods do not fit on a medium node with its agent.
    assert_eq!(found["nodes"], json!({"large": 2}));
    let agents = found["placements"].as_array().expect("a list").iter();
    assert_eq!(agents.filter(|placement| placement["pod"].to_string().contains("agent")).count(), 3);
}

#[test]
fn prices_of_flags_replace_annotations() {
    let found = provision(&["--shapes", "shapes.yaml", "--price", "large=1", "-o", "json"]).json();
    assert_eq!((&found["nodes"], &found["optimal"]), (&json!({"large": 2}), &json!(true)));
}

#[test]
fn pods_without_a_sufficient_shape_are_exit_code_1() {
    let Run { code, stdout, .. } = provision(&["--shapes", "unpriced.yaml", "--price", "small=1"]);
    assert_eq!((code, stdout.contains("not all pods run with 0 new nodes")), (Some(1), true), "{stdout}");
}

#[test]
fn wrong_shapes_are_exit_code_2() {
    let fails = |args: &[&str], text: &str| {
        let Run { code, stderr, .. } = provision(args);
        assert_eq!((code, stderr.contains(text)), (Some(2), true), "{stderr}");
    };
    fails(&["--shapes", "unpriced.yaml"], "has no price; add the annotation schedc/price, or pass --price small=PRICE");
    fails(&["--shapes", "shapes.yaml", "--price", "huge=1"], "--price names `huge`, which is no shape");
    fails(&["--shapes", "shapes.yaml", "--price", "large=cheap"], "`cheap` is not a number such as 0.42");
    fails(&["--shapes", "web.yaml"], "the shapes have no Node");
}
