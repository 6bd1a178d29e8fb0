//! `schedc backtest` and `schedc replay --closed-loop`.

use std::fs;

use serde_json::{Value, json};

use crate::cli::harness::Folder;

const MAPPING: &str = r#"
[[nodes]]
count = 3
name = "n{index}"
labels = { "example.com/price" = "2" }
allocatable = { cpu = "4", memory = "16Gi" }

[[pods]]
file = "pods.csv"
name = "{name}"
owner = "Job"
time-unit = "min"
created = "{created}"
ended = "{ended}"
requests = { cpu = "{cpu}", memory = "{cpu}Gi" }
"#;

/// Creates a folder with a trace, and with a recording as plain text.
fn folder() -> Folder {
    let mut pods = "name,cpu,created,ended\n".to_owned();
    for pod in 0..9 {
        pods += &format!("p{pod},1,{pod},{}\n", 60 + pod);
    }
    let node = json!({"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n1"},
        "status": {"allocatable": {"cpu": "1", "memory": "1Gi", "pods": "10"}}});
    let pod = |name: &str, scheduler: &str| {
        json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"namespace": "d", "name": name, "uid": name},
            "spec": {"schedulerName": scheduler, "containers": [
                {"name": "c", "image": "i", "resources": {"requests": {"cpu": "1"}}}]}})
    };
    let lines = [
        json!({"at": 0, "recording": {"version": 1, "begin": "start", "schedc": "0"}}),
        json!({"at": 0, "set": node}),
        json!({"at": 0, "synced": {"objects": 1}}),
        json!({"at": 1000, "set": pod("a", "default-scheduler")}),
        json!({"at": 1000, "set": pod("b", "other")}),
        json!({"at": 9000, "end": "stop"}),
    ];
    let lines: String = lines.iter().map(|line| line.to_string() + "\n").collect();
    Folder::with(&[("mapping.toml", MAPPING), ("pods.csv", &pods), ("recording.jsonl", &lines)])
}

const TRACE: [&str; 7] = ["backtest", "default", "binpack", "--on", ".", "--trace-mapping", "mapping.toml"];

/// Returns the arguments of a backtest on the trace.
fn on_trace<'a>(args: &[&'a str]) -> Vec<&'a str> {
    [&TRACE[..], args].concat()
}

/// Returns the mean of a metric.
fn mean(result: &Value, profile: usize, metric: &str, of: Option<&str>) -> f64 {
    let metrics = result["profiles"][profile]["metrics"].as_array().expect("metrics");
    let found = metrics.iter().find(|found| found["name"] == metric && found["of"].as_str() == of);
    found.unwrap_or_else(|| panic!("{metric}: {metrics:#?}"))["estimate"]["mean"].as_f64().expect("a number")
}

#[test]
fn profiles_are_compared_on_a_trace() {
    let folder = folder();
    let result = folder.schedc(&on_trace(&["--seeds", "3", "--price-label", "example.com/price", "-o", "json"])).json();
    assert_eq!(result["profiles"].as_array().map(Vec::len), Some(2));
    assert_eq!(result["runs"].as_array().map(Vec::len), Some(6));
    // Nine pods of one core for an hour each, in 68 minutes on 12 cores.
    for profile in 0..2 {
        assert_eq!(mean(&result, profile, "bound", None), 9.0);
        let used = mean(&result, profile, "utilisation", Some("cpu"));
        assert!((used - 540.0 / (68.0 * 12.0)).abs() < 1e-6, "{used}");
        assert!((mean(&result, profile, "cost.allNodes", None) - 6.8).abs() < 1e-6);
    }
    let number = |profile: usize, field: &str| result["profiles"][profile]["leftOut"][field].as_u64();
    assert!(result["profiles"][0]["explained"].as_u64().is_some_and(|number| number > 0));
    assert_eq!((number(0, "noNode"), number(0, "nominated"), number(0, "failed")), (Some(0), Some(0), Some(0)));
    let used = |profile| mean(&result, profile, "cost.usedNodes", None);
    assert!(used(1) < used(0), "binpack uses fewer nodes: {} {}", used(1), used(0));
    let text = folder.schedc(&on_trace(&["--seeds", "2"])).ok();
    for part in
        ["time to bind, p99", "Assumptions", "Influence of scores: binpack", "sampled decisions", "95 % confidence"]
    {
        assert!(text.contains(part), "{part}: {text}");
    }
}

#[test]
fn merged_shards_equal_one_run() {
    let folder = folder();
    let whole = folder.schedc(&on_trace(&["--seeds", "3", "-o", "json"])).ok();
    for shard in ["1/2", "2/2"] {
        let text = folder.schedc(&on_trace(&["--seeds", "3", "--threads", "1", "--shard", shard])).ok();
        fs::write(folder.path(&format!("{}.json", &shard[..1])), text).expect("a file");
    }
    assert_eq!(folder.schedc(&["backtest", "merge", "2.json", "1.json", "-o", "json"]).ok(), whole);
    let error = folder.schedc(&["backtest", "merge", "1.json"]).refused();
    assert!(error.contains("name all shards"), "{error}");
    let error = folder.schedc(&["backtest", "merge", "pods.csv"]).refused();
    assert!(error.contains("pods.csv: this is not the result of a shard"), "{error}");
    let error = folder.schedc(&on_trace(&["--shard", "1/2", "--report", "r.html"])).refused();
    assert!(error.contains("schedc backtest merge --report"), "{error}");
    for args in [
        &["--seeds", "3", "--shard", "2/2", "--samples", "7"][..],
        &["--seeds", "3", "--shard", "2/2", "--influence", "7"],
    ] {
        fs::write(folder.path("other.json"), folder.schedc(&on_trace(args)).ok()).expect("a file");
        let error = folder.schedc(&["backtest", "merge", "1.json", "other.json"]).refused();
        assert!(error.contains("other workloads or options"), "{error}");
    }
    let job = folder.schedc(&on_trace(&["--print-job", "2"])).ok();
    assert!(job.contains("completionMode: Indexed") && job.contains("--shard \"$shard/2\""), "{job}");
}

#[test]
fn a_sweep_has_a_result_for_each_value() {
    let folder = folder();
    let sweep = "NodeResourcesFit.weight=0..2";
    let args =
        ["backtest", "default", "--on", ".", "--trace-mapping", "mapping.toml", "--sweep", sweep, "--seeds", "2"];
    let result = folder.schedc(&[&args[..], &["-o", "json"]].concat()).json();
    let values: Vec<&str> = result["profiles"]
        .as_array()
        .into_iter()
        .flatten()
        .map(|profile| profile["parameters"][0]["value"].as_str().expect("a value"))
        .collect();
    assert_eq!(values, ["0", "1", "2"]);
    let error = folder.schedc(&on_trace(&["--sweep", "NoPlugin.weight=1"])).refused();
    assert!(error.contains("does not run a plugin `NoPlugin`"), "{error}");
}

#[test]
fn a_report_has_charts_and_assumptions() {
    let folder = folder();
    folder.schedc(&on_trace(&["--seeds", "2", "--report", "report.html"])).ok();
    let html = fs::read_to_string(folder.path("report.html")).expect("the report");
    for part in [
        "Influence of scores",
        "Decisions for the influence of scores",
        "Utilisation of cpu",
        "Pods without a node",
        "Decisions, bindings, deletions",
    ] {
        assert!(html.contains(part), "{part}");
    }
}

#[test]
fn errors_name_files_and_lines() {
    let folder = folder();
    fs::write(folder.path("pods.csv"), "name,cpu,created,ended\na,x,1,2\n").expect("a file");
    let error = folder.schedc(&on_trace(&[])).refused();
    assert!(error.contains("pods.csv:2: cpu: `x` is not a quantity"), "{error}");
    let error = folder.schedc(&["backtest", "default", "--on", "pods.csv"]).refused();
    assert!(error.contains("pods.csv:1: "), "{error}");
}

#[cfg(feature = "run")]
#[test]
fn a_closed_loop_replay_prints_what_happened() {
    let folder = folder();
    let args = ["replay", "recording.jsonl", "--closed-loop"];
    let result = folder.schedc(&[&args[..], &["-o", "json"]].concat()).json();
    // The pod of the other scheduler never had a node, so it is left out.
    assert_eq!(result["pods"].as_array().map(Vec::len), Some(1));
    assert_eq!((&result["pods"][0]["node"], &result["pods"][0]["bound"]), (&json!("n1"), &json!(1.0)));
    let text = folder.schedc(&[&args[..], &["--all", "--report", "report.html"]].concat()).ok();
    assert!(text.contains("d/a") && text.contains("pods of other schedulers"), "{text}");
    assert!(fs::read_to_string(folder.path("report.html")).is_ok_and(|html| html.contains("Utilisation over time")));
    let error = folder.schedc(&["replay", ".", "--trace-mapping", "mapping.toml"]).refused();
    assert!(error.contains("--trace-mapping needs --closed-loop"), "{error}");
}
