//! `schedc bench`

use expect_test::expect;

use crate::cli::harness::{Folder, schedc};

const WORKLOADS: &str = "
- name: basic
  labels: [short]
  workloadTemplate:
  - {opcode: createNodes, countParam: $nodes}
  - {opcode: createPods, countParam: $nodes, podTemplatePath: pod.yaml, collectMetrics: true}
  workloads:
  - {name: ten, labels: [performance], params: {nodes: 10}}
  - {name: 5Nodes/5Pods, featureGates: {SchedulerQueueingHints: true}, params: {nodes: 5}}
- name: devices
  workloadTemplate:
  - {opcode: createDriver}
  - {opcode: createPods, count: 1, collectMetrics: true}
  workloads:
  - {name: one, params: {claims: 1}}
";
const POD: &str = "{kind: Pod, metadata: {generateName: 'p-'}, spec: {containers: [{name: c, image: i}]}}";

fn folder() -> Folder {
    Folder::with(&[("w/config.yaml", WORKLOADS), ("w/pod.yaml", POD)])
}

#[test]
fn json_has_the_measurements_of_a_workload() {
    let run = folder().schedc(&["bench", "w/config.yaml", "--workload", "basic/ten", "-o", "json"]);
    assert_eq!(run.stderr, "");
    let report = run.json();
    let workloads = report["workloads"].as_array().expect("a list");
    assert_eq!((workloads.len(), &workloads[0]["name"]), (1, &"basic/ten".into()));
    let fields: Vec<_> = workloads[0].as_object().expect("fields").keys().cloned().collect();
    let fields_expected =
        ["allocations_per_decision", "decisions_per_s", "latency_us", "name", "peak_rss_mb", "pods_per_s"];
    assert_eq!(fields, fields_expected);
    let times: Vec<_> = workloads[0]["latency_us"].as_object().expect("fields").keys().cloned().collect();
    assert_eq!(times, ["max", "p50", "p90", "p99", "p999"]);
    assert!(workloads[0]["allocations_per_decision"].as_f64().is_some_and(|allocations| allocations > 0.0), "{report}");
    assert_eq!(workloads[0]["peak_rss_mb"].is_f64(), cfg!(target_os = "linux"), "{report}");
}

#[test]
fn a_failed_workload_does_not_prevent_the_others() {
    let folder = folder();
    let run = folder.schedc(&["bench", "w/config.yaml"]);
    assert_eq!(run.code, Some(1));
    let names: Vec<_> = run.stdout.lines().map(|line| line.split_whitespace().next().unwrap_or_default()).collect();
    assert_eq!(names, ["WORKLOAD", "basic/ten", "basic/5Nodes/5Pods"]);
    expect![[r#"
        note: ignored settings of kube-scheduler: feature gate SchedulerQueueingHints
        error: w/config.yaml: workload `devices/one`: op 0 (createDriver): unknown opcode; the operations are createNodes, createNamespaces, createPods, createPodSets, createAny, updateAny, createResourceDriver, createResourceClaims, allocResourceClaims, deletePods, churn, barrier, sleep, startCollectingMetrics, stopCollectingMetrics
        error: 1 of 3 workloads failed
    "#]]
    .assert_eq(&run.stderr);
    let run = folder.schedc(&["bench", "w/config.yaml", "--labels", "-performance,short", "--profile", "binpack"]);
    let table = run.ok();
    assert!(table.contains("basic/5Nodes/5Pods") && !table.contains("basic/ten"), "{table}");
}

#[test]
fn missing_files_are_reported() {
    let folder = folder();
    let errors = [
        folder.schedc(&["bench", "w/config.yaml", "--workload", "basic/eleven"]),
        folder.schedc(&["bench", "w/config.yaml", "--labels", "fast"]),
        folder.schedc(&["bench", "w/config.yaml", "--profile", "fast"]),
        folder.schedc(&["bench", "w/none.yaml"]),
    ];
    expect![[r#"
        error: w/config.yaml: no workload `basic/eleven`; choose one of:
        error:   basic/ten
        error:   basic/5Nodes/5Pods
        error:   devices/one
        error: w/config.yaml: no workload has the labels `fast`; labels in use: performance, short
        error: no profile is named `fast`; the profiles are binpack, default, edge
        error: w/none.yaml: cannot be read: No such file or directory (os error 2)
    "#]]
    .assert_eq(&errors.map(|run| run.refused()).concat());
}

#[test]
fn help_lists_the_measurements() {
    let help = schedc(&["bench", "--help"]).ok();
    assert!(help.contains("number of pods bound"), "{help}");
}
