//! `--report`: results as HTML pages.

use std::fs;

use serde_json::Value;

use crate::cli::harness::{EXAMPLE, Folder, schedc};

/// Runs a command with a report. Returns the exit code, and the data of the page.
fn report(args: &[&str]) -> (Option<i32>, Value) {
    let folder = Folder::with(&[]);
    let path = folder.path("report.html");
    let file = path.to_str().expect("a path");
    let run = schedc(&[args, &["--report", file]].concat());
    assert!(run.stderr.contains("the report is in"), "{}", run.stderr);
    let html = fs::read_to_string(&path).expect("the report");
    let (_, rest) = html.split_once(r#"<script type="application/json" id="data">"#).expect("the data");
    let (json, _) = rest.split_once("</script>").expect("the end of the data");
    (run.code, serde_json::from_str(json).expect("JSON"))
}

fn titles(data: &Value) -> Vec<&str> {
    data["views"].as_array().expect("views").iter().map(|view| view["title"].as_str().expect("a title")).collect()
}

/// Returns a column of a table as texts.
fn column<'a>(data: &'a Value, table: &str, name: &str) -> Vec<&'a str> {
    let views = data["views"].as_array().expect("views");
    let table = views.iter().find(|view| view["title"] == table && view["view"] == "table").expect("the table");
    let columns = table["columns"].as_array().expect("columns");
    let column = columns.iter().find(|column| column["name"] == name).expect("the column");
    let indices = column["values"]["strings"].as_array().expect("texts");
    indices
        .iter()
        .map(|index| data["strings"][index.as_u64().expect("an index") as usize].as_str().expect("a text"))
        .collect()
}

#[test]
fn a_simulation_reports_all_pods_and_nodes() {
    let (code, data) = report(&["simulate", EXAMPLE]);
    assert_eq!(code, Some(0));
    assert_eq!(
        titles(&data),
        ["Pods over time", "Utilisation over time", "Utilisation per node", "Reasons of pending pods", "Pods", "Nodes"]
    );
    let pods = column(&data, "Pods", "Pod");
    let nodes = column(&data, "Pods", "Node");
    let state = column(&data, "Pods", "State");
    assert_eq!(pods.len(), 26, "14 placed, 5 pending, 1 preempted, 6 bound before");
    let at = pods.iter().position(|pod| *pod == "shop/web-2").expect("the pod");
    assert_eq!((nodes[at], state[at]), ("north-2", "placed"));
    assert_eq!(column(&data, "Nodes", "Node").len(), 6);
    let decision = &data["views"][4]["decisions"]["rows"][at];
    assert!(decision.as_array().is_some_and(|row| row.len() == 8), "the chosen node and another one: {decision}");
}

#[test]
fn a_report_does_not_change_the_printed_result() {
    let folder = Folder::with(&[]);
    let path = folder.path("report.html");
    let args = ["simulate", EXAMPLE, "--events", "examples/events/maintenance.yaml", "-o", "json"];
    let without_times = |text: String| {
        let mut result: Value = serde_json::from_str(&text).expect("JSON");
        let summary = result["summary"].as_object_mut().expect("a summary");
        summary.retain(|key, _| !key.to_lowercase().contains("seconds"));
        result
    };
    let plain = without_times(schedc(&args).ok());
    let with = without_times(schedc(&[&args[..], &["--report", path.to_str().expect("a path")]].concat()).ok());
    assert_eq!(plain, with);
}

#[test]
fn explanations_report_scores_and_rejected_nodes() {
    let (code, data) = report(&["explain", "shop/web-1", EXAMPLE]);
    assert_eq!(code, Some(0));
    assert_eq!(data["title"], "Explanation of shop/web-1");
    assert_eq!(titles(&data), ["Result", "Reasons of rejected nodes", "Scores", "Rejected nodes"]);
    let (feasible, rejected) = (column(&data, "Scores", "Node"), column(&data, "Rejected nodes", "Node"));
    assert_eq!(feasible.len() + rejected.len(), 6);
}

#[test]
fn explanations_report_remedies_and_the_comparison_with_a_node() {
    let (code, data) = report(&["explain", "research/simulation", EXAMPLE]);
    assert_eq!(code, Some(0));
    assert_eq!(titles(&data), ["Result", "Reasons of rejected nodes", "Remedies", "Scores", "Rejected nodes"]);
    assert_eq!(
        column(&data, "Remedies", "Remedy"),
        [
            "tolerate the taint example.com/gpu=present:NoSchedule",
            "lower the cpu request of container simulation from 12 to 7700m",
            "remove the taint example.com/gpu=present:NoSchedule from node gpu-1",
        ]
    );
    assert_eq!(column(&data, "Remedies", "Node then"), ["gpu-1", "north-2", "gpu-1"]);
    let (_, data) = report(&["explain", "shop/cache-0", EXAMPLE, "--against", "north-2"]);
    assert_eq!(titles(&data)[2], "north-1 and north-2");
    assert_eq!(column(&data, "north-1 and north-2", "Plugin")[0], "NodeAffinity");
    // The reasons against an infeasible node are in the place of its scores.
    let (_, data) = report(&["explain", "shop/cache-0", EXAMPLE, "--against", "gpu-1"]);
    let empty = data["views"][2]["empty"].as_str().expect("a text");
    assert!(empty.starts_with("TaintToleration rejects it: node(s) had untolerated taint(s); "), "{empty}");
}

#[test]
fn comparisons_report_both_profiles_side_by_side() {
    let (code, data) = report(&["diff", "binpack", "kube-scheduler", "--cluster", EXAMPLE]);
    assert_eq!(code, Some(1), "the profiles differ");
    let titles = titles(&data);
    assert_eq!(titles[..2], ["Differences of the profiles", "Outcomes"]);
    assert_eq!(titles[2..6].iter().filter(|title| title.contains("binpack")).count(), 2);
    assert_eq!(titles[6], "Pods on other nodes");
    assert!(!column(&data, "Pods on other nodes", "Pod").is_empty());
    assert_eq!(report(&["diff", "binpack", "binpack"]).1["views"].as_array().map(Vec::len), Some(1));
}

#[cfg(feature = "bench")]
#[test]
fn workloads_report_throughput_and_latency() {
    let config = "- {name: basic, workloadTemplate: [{opcode: createNodes, count: 3}, {opcode: createPods, count: 5, \
                  podTemplatePath: pod.yaml, collectMetrics: true}], workloads: [{name: small}]}";
    let pod = "{kind: Pod, metadata: {generateName: 'p-'}, spec: {containers: [{name: c, image: i}]}}";
    let folder = Folder::with(&[("config.yaml", config), ("pod.yaml", pod)]);
    let (code, data) = report(&["bench", folder.path("config.yaml").to_str().expect("a path")]);
    assert_eq!(code, Some(0));
    assert_eq!(titles(&data), ["Throughput", "Latency of decisions", "Workloads"]);
}

#[test]
fn the_folder_of_a_report_must_exist() {
    let run = schedc(&["simulate", EXAMPLE, "--report", "absent/report.html"]);
    assert_eq!(run.code, Some(2));
    assert!(run.stderr.contains("there is no folder absent; create it first"), "{}", run.stderr);
}

#[test]
fn a_live_view_needs_a_terminal() {
    let error = schedc(&["simulate", EXAMPLE, "--watch"]).refused();
    assert!(error.contains("--watch draws on standard error, which is not a terminal"), "{error}");
}
