//! Reports of all commands in Chromium: on screens and phones, in light and dark.

use std::env;
use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::json;

use crate::cli::harness::{EXAMPLE, Folder};

const MAPPING: &str = r#"
[[nodes]]
count = 20
name = "a-node-with-a-long-name-{index}.compute.internal.example.com"
labels = { "example.com/price" = "2" }
allocatable = { cpu = "4", memory = "16Gi" }

[[pods]]
count = 90
name = "a-pod-with-a-long-name-6d5f7c8b9-{index}"
owner = "Job"
time-unit = "min"
created = "{index}"
ended = "120"
requests = { cpu = "1", memory = "1Gi" }
"#;

const WORKLOAD: &str = "- {name: basic, workloadTemplate: [{opcode: createNodes, count: 3}, {opcode: createPods, count: 5, \
                        podTemplatePath: pod.yaml, collectMetrics: true}], workloads: [{name: small}, {name: large}]}";
const POD: &str = "{kind: Pod, metadata: {generateName: 'p-'}, spec: {containers: [{name: c, image: i}]}}";

/// Returns a recording in which a pod runs on a node that is worse than another one.
fn recording() -> String {
    let node = |name: &str, cpu: &str| {
        json!({"apiVersion": "v1", "kind": "Node", "metadata": {"name": name},
            "status": {"allocatable": {"cpu": cpu, "memory": "8Gi", "pods": "10"}}})
    };
    let pod = |node: Option<&str>| {
        json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"namespace": "shop", "name": "checkout-worker", "uid": "1"},
            "spec": {"nodeName": node, "schedulerName": "default-scheduler", "containers": [
                {"name": "c", "image": "i", "resources": {"requests": {"cpu": "1", "memory": "1Gi"}}}]}})
    };
    let lines = [
        json!({"at": 0, "recording": {"version": 1, "begin": "start", "schedc": "0"}}),
        json!({"at": 0, "set": node("small", "2")}),
        json!({"at": 0, "set": node("large", "8")}),
        json!({"at": 0, "synced": {"objects": 2}}),
        json!({"at": 1000, "set": pod(None)}),
        json!({"at": 2000, "set": pod(Some("small"))}),
        json!({"at": 9000, "end": "stop"}),
    ];
    lines.iter().map(|line| line.to_string() + "\n").collect()
}

#[test]
fn reports_of_all_commands_fit_on_screens_and_phones() {
    if slow_tests::is_skipped("it opens many pages in a browser") {
        return;
    }
    let example = Path::new(env!("CARGO_MANIFEST_DIR")).join(EXAMPLE).display().to_string();
    let files =
        [("mapping.toml", MAPPING), ("recording.jsonl", &recording()), ("bench.yaml", WORKLOAD), ("pod.yaml", POD)];
    let folder = Folder::with(&files);
    let reports: [(&str, &[&str]); 8] = [
        ("simulate", &["simulate", &example]),
        ("explain", &["explain", "shop/web-1", &example]),
        ("explain-pods", &["explain", "-l", "app=web", &example]),
        ("diff", &["diff", "binpack", "kube-scheduler", "--cluster", &example]),
        ("bench", &["bench", "bench.yaml"]),
        ("replay", &["replay", "recording.jsonl"]),
        ("replay-closed-loop", &["replay", "--closed-loop", "recording.jsonl"]),
        (
            "backtest",
            &["backtest", "default", "binpack", "--on", ".", "--trace-mapping", "mapping.toml", "--seeds", "2"],
        ),
    ];
    let mut pages = Vec::new();
    for (name, args) in reports {
        let page = format!("{name}.html");
        let run = folder.schedc(&[args, &["--report", &page]].concat());
        let path = folder.path(&page);
        assert!(fs::exists(&path).is_ok_and(|exists| exists), "{name}: {}", run.stderr);
        pages.push(path);
    }
    let program = |variable: &str, name: &str| env::var(variable).unwrap_or_else(|_| name.to_owned());
    let (node, chromium) = (program("NODE", "node"), program("CHROMIUM", "chromium"));
    let runs = |program: &str| Command::new(program).arg("--version").output().is_ok_and(|run| run.status.success());
    if let Some(missing) = [&node, &chromium].into_iter().find(|program| !runs(program)) {
        eprintln!("skipped: {missing} does not run; install Node and Chromium, or set NODE and CHROMIUM");
        return;
    }
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cli/report_pages.mjs");
    let run = Command::new(node).arg(script).args(&pages).env("CHROMIUM", chromium).output().expect("Node runs");
    let (out, err) = (String::from_utf8_lossy(&run.stdout), String::from_utf8_lossy(&run.stderr));
    assert!(run.status.success(), "{out}{err}");
    assert_eq!(out.matches("fits on all screens").count(), pages.len(), "{out}");
}
