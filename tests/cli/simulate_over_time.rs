//! `schedc simulate --events`, `--trace` and `--until`

use expect_test::{Expect, expect};
use serde_json::json;

use crate::cli::harness::{EXAMPLE, Folder, schedc};

const MAINTENANCE: &str = "examples/events/maintenance.yaml";

/// Checks the table without real times, which vary.
fn check(table: &str, expected: Expect) {
    let timeless = table.lines().map(|line| match line.contains(" s to read, ") {
        true => "(times)",
        false => line,
    });
    expected.assert_eq(&(timeless.collect::<Vec<_>>().join("\n") + "\n"));
}

fn node(name: &str, cpu: &str) -> String {
    format!(
        "{{apiVersion: v1, kind: Node, metadata: {{name: {name}}}, status: {{allocatable: {{cpu: '{cpu}', pods: 10}}}}}}"
    )
}

fn pod(name: &str, metadata: &str, spec: &str) -> String {
    let containers = "containers: [{name: c, image: i, resources: {requests: {cpu: '1'}}}]";
    format!("{{apiVersion: v1, kind: Pod, metadata: {{name: {name}{metadata}}}, spec: {{{containers}{spec}}}}}")
}

#[test]
fn the_example_under_maintenance() {
    check(
        &schedc(&["simulate", EXAMPLE, "--events", MAINTENANCE]).ok(),
        expect![[r#"
            Placed
              POD                     NODE     AT      WAITED  ATTEMPTS  DELETED
              shop/web-1              south-1  0s      0s      1
              shop/web-2              north-2  0s      0s      1
              shop/web-3              south-1  0s      0s      1
              shop/web-4              north-1  0s      0s      1
              shop/orders-0           south-2  0s      0s      1
              research/training-3     gpu-1    0s      0s      2
              research/training-1     gpu-1    0s      0s      1
              shop/cache-0            north-1  0s      0s      1
              research/report-1       south-1  0s      0s      1
              research/report-2       north-2  0s      0s      1
              research/report-3       north-1  0s      0s      1
              research/report-4       south-1  0s      0s      1
              research/report-5       north-2  0s      0s      1
              shop/orders-1           north-2  1s      1s      1
              shop/checkout-canary    north-1  30s     30s     1
              research/training-2     gpu-2    2m0s    2m0s    2
              shop/web-5              north-2  10m5s   0s      1
              research/metrics-proxy  north-1  20m30s  20m30s  5

            Unschedulable
              0/7 nodes are available: 1 node(s) were unschedulable, 2 Insufficient memory, 2 node(s) had untolerated taint(s), 4 Insufficient cpu. no new claims to deallocate, preemption: 0/7 nodes are available: 7 Preemption is not helpful for scheduling.
                research/simulation
              0/7 nodes are available: 1 node(s) were unschedulable, 2 node(s) had untolerated taint(s), 4 node(s) didn't match Pod's node affinity/selector. no new claims to deallocate, preemption: 0/7 nodes are available: 7 Preemption is not helpful for scheduling.
                shop/legacy-importer

            Preempted
              POD                  NODE   BY                   AT
              research/notebook-1  gpu-1  research/training-3  0s

            Protected from preemption by disruption budgets
              POD                  NODE   BUDGET                    FROM
              research/notebook-2  gpu-1  research/notebook-in-use  research/training-3

            Over time
              FROM   TO      CREATED  PLACED  DELETED  PREEMPTED  PENDING AT END  RUNNING AT END
              0s     2m0s         26      15        1          1               4              21
              2m0s   4m0s          0       1        0          0               3              22
              4m0s   6m0s          0       0        0          0               3              22
              6m0s   8m0s          0       0        0          0               3              22
              8m0s   10m0s         0       0        0          0               3              22
              10m0s  12m0s         1       1        1          0               3              22
              12m0s  14m0s         0       0        0          0               3              22
              14m0s  16m0s         0       0        0          0               3              22
              16m0s  18m0s         0       0        0          0               3              22
              18m0s  20m0s         0       0        0          0               3              22
              20m0s  20m30s        0       1        1          0               2              22

            Utilisation
              RESOURCE           REQUESTED  ALLOCATABLE   SHARE  LOWEST NODE  MEDIAN  HIGHEST
              cpu                     27.8         66.8  41.6 %       18.8 %  44.3 %   78.2 %
              memory             88.31 GiB   266.00 GiB  33.2 %       18.8 %  38.7 %   45.6 %
              ephemeral-storage  40.00 GiB   640.00 GiB   6.2 %        0.0 %   0.0 %   22.2 %
              pods                      22          770   2.9 %        0.9 %   2.7 %    5.5 %
              example.com/gpu            6            8  75.0 %       50.0 %  75.0 %  100.0 %

            29 pods: 18 placed, 2 unschedulable, 1 preempted, 8 skipped (6 bound already, 1 finished, 1 of scheduler batch-scheduler)
            waits for a node: p50 0s, p99 20m30s, max 20m30s
            7 events in 20m30s; 34 attempts, 14 of them retries
            7 nodes, 1 Deployment, 1 PersistentVolume, 2 PersistentVolumeClaim, 1 PodDisruptionBudget, 3 PriorityClass, 1 Service, 1 StorageClass
            (times)
        "#]],
    );
}

#[test]
fn the_example_as_json() {
    let report = schedc(&["simulate", EXAMPLE, "--events", MAINTENANCE, "-o", "json"]).json();
    let summary = &report["summary"];
    let number = |key: &str| summary[key].as_u64().expect("a number");
    let ends = ["placed", "unschedulable", "deletedUnplaced", "preempted", "skipped"].map(number);
    assert_eq!(number("pods"), ends.iter().sum::<u64>());
    for key in ["placements", "unschedulable", "deletedUnplaced", "preempted"] {
        assert!(report[key].is_array(), "{key}");
    }
    let placement_of = |pod: &str| {
        let all = report["placements"].as_array().expect("a list");
        all.iter().find(|placement| placement["pod"] == pod).expect("a placement").clone()
    };
    assert_eq!(
        placement_of("research/training-2"),
        json!({"pod": "research/training-2", "node": "gpu-2", "created": 0.0, "at": 120.0, "waited": 120.0, "attempts": 2})
    );
    assert_eq!(placement_of("research/metrics-proxy")["at"], 1230.0);
    assert_eq!(placement_of("shop/checkout-canary")["waited"], 30.0);
    assert_eq!(report["waits"]["max"], 1230.0);
    assert_eq!((&summary["ended"], &summary["end"]), (&json!("nothing-happens"), &json!(1230.0)));
}

#[test]
fn without_events_everything_happens_at_once() {
    let args = ["simulate", EXAMPLE, "-o", "json"];
    let (plain, timed) = (schedc(&args).json(), schedc(&[&args[..], &["--until", "1m"]].concat()).json());
    let rows_of = |report: &serde_json::Value, list: &str, keys: &[&str]| {
        let rows = report[list].as_array().expect("a list").iter();
        let mut rows: Vec<_> = rows.map(|row| keys.iter().map(|key| row[key].clone()).collect::<Vec<_>>()).collect();
        rows.sort_by_key(|row| row[0].to_string());
        rows
    };
    assert_eq!(rows_of(&plain, "placements", &["pod", "node"]), rows_of(&timed, "placements", &["pod", "node"]));
    assert_eq!(
        rows_of(&plain, "preempted", &["pod", "node", "by"]),
        rows_of(&timed, "preempted", &["pod", "node", "by"])
    );
}

#[test]
fn a_trace_with_waits() {
    let time = |created: &str, deleted: &str| {
        format!(", annotations: {{trace/created: '{created}', trace/deleted: '{deleted}'}}")
    };
    let all = [
        node("a", "1"),
        pod("first", &time("0", "100"), ""),
        pod("second", &time("10", "160.5"), ""),
        pod("never", &time("20", "30"), ""),
        pod("third", ", annotations: {trace/created: 1m}", ""),
    ];
    let folder = Folder::with(&[("all.yaml", &all.join("\n---\n"))]);
    check(
        &folder.schedc(&["simulate", "all.yaml", "--trace"]).ok(),
        expect![[r#"
            Placed
              POD             NODE  AT       WAITED   ATTEMPTS  DELETED
              default/first   a     0s       0s       1         1m40s
              default/second  a     1m40s    1m30s    2         2m40.5s
              default/third   a     2m40.5s  1m40.5s  3

            Deleted before they were placed
              0/1 nodes are available: 1 Insufficient cpu. no new claims to deallocate, preemption: 0/1 nodes are available: 1 No preemption victims found for incoming pod.
                default/never

            Over time
              FROM   TO       CREATED  PLACED  DELETED  PREEMPTED  PENDING AT END  RUNNING AT END
              0s     15s            2       1        0          0               1               1
              15s    30s            1       0        0          0               2               1
              30s    45s            0       0        1          0               1               1
              45s    1m0s           0       0        0          0               1               1
              1m0s   1m15s          1       0        0          0               2               1
              1m15s  1m30s          0       0        0          0               2               1
              1m30s  1m45s          0       1        1          0               1               1
              1m45s  2m0s           0       0        0          0               1               1
              2m0s   2m15s          0       0        0          0               1               1
              2m15s  2m30s          0       0        0          0               1               1
              2m30s  2m40.5s        0       1        1          0               0               1

            Utilisation
              RESOURCE  REQUESTED  ALLOCATABLE    SHARE  LOWEST NODE   MEDIAN  HIGHEST
              cpu               1            1  100.0 %      100.0 %  100.0 %  100.0 %
              memory          0 B          0 B        -            -        -        -
              pods              1           10   10.0 %       10.0 %   10.0 %   10.0 %

            4 pods: 3 placed, 0 unschedulable, 1 deleted before placement, 0 skipped
            waits for a node: p50 1m30s, p99 1m40.5s, max 1m40.5s
            6 events in 2m40.5s; 7 attempts, 3 of them retries
            1 node
            (times)
        "#]],
    );
    check(
        &folder.schedc(&["simulate", "all.yaml", "--trace", "--until", "50s"]).ok(),
        expect![[r#"
            Placed
              POD            NODE  AT  WAITED  ATTEMPTS  DELETED
              default/first  a     0s  0s      1

            Unschedulable
              0/1 nodes are available: 1 Insufficient cpu. no new claims to deallocate, preemption: 0/1 nodes are available: 1 No preemption victims found for incoming pod.
                default/second

            Deleted before they were placed
              0/1 nodes are available: 1 Insufficient cpu. no new claims to deallocate, preemption: 0/1 nodes are available: 1 No preemption victims found for incoming pod.
                default/never

            Over time
              FROM  TO   CREATED  PLACED  DELETED  PREEMPTED  PENDING AT END  RUNNING AT END
              0s    5s         1       1        0          0               0               1
              5s    10s        0       0        0          0               0               1
              10s   15s        1       0        0          0               1               1
              15s   20s        0       0        0          0               1               1
              20s   25s        1       0        0          0               2               1
              25s   30s        0       0        0          0               2               1
              30s   35s        0       0        1          0               1               1
              35s   40s        0       0        0          0               1               1
              40s   45s        0       0        0          0               1               1
              45s   50s        0       0        0          0               1               1

            Utilisation
              RESOURCE  REQUESTED  ALLOCATABLE    SHARE  LOWEST NODE   MEDIAN  HIGHEST
              cpu               1            1  100.0 %      100.0 %  100.0 %  100.0 %
              memory          0 B          0 B        -            -        -        -
              pods              1           10   10.0 %       10.0 %   10.0 %   10.0 %

            3 pods: 1 placed, 1 unschedulable, 1 deleted before placement, 0 skipped
            waits for a node: p50 0s, p99 0s, max 0s
            3 events in 50s, 3 after the end; 3 attempts, 0 of them retries
            1 node
            (times)
        "#]],
    );
}

#[test]
fn a_pod_deleted_on_creation_is_not_attempted() {
    let annotations = ", annotations: {trace/created: '5', trace/deleted: '5'}";
    let folder = Folder::with(&[("all.yaml", &(node("a", "1") + "\n---\n" + &pod("p", annotations, "")))]);
    let report = folder.schedc(&["simulate", "all.yaml", "--trace", "-o", "json"]).json();
    assert_eq!(
        report["deletedUnplaced"],
        json!([{"pod": "default/p", "message": "not attempted", "created": 5.0, "attempts": 0, "deleted": 5.0}])
    );
}

#[test]
fn the_log_has_wakeups_and_their_reasons() {
    let all = [
        node("a", "1"),
        pod("first", "", ""),
        pod("second", "", ""),
        pod("held", "", ", schedulingGates: [{name: g}]"),
    ];
    let events = "
- {at: 10s, apply: {apiVersion: v1, kind: Pod, metadata: {name: held, labels: {app: web}}}}
- {at: 20s, apply: {apiVersion: v1, kind: Pod, metadata: {name: held}, spec: {schedulingGates: null}}}
- {at: 30s, delete: {kind: Pod, name: first}}
- {at: 40s, create: {apiVersion: v1, kind: Node, metadata: {name: b}, status: {capacity: {cpu: 1, pods: 10}}}}
";
    let folder = Folder::with(&[("all.yaml", &all.join("\n---\n")), ("events.yaml", events)]);
    let args = ["simulate", "all.yaml", "--events", "events.yaml", "--log"];
    let table = folder.schedc(&args).ok();
    let (log, _) = table.split_once("\nPlaced").expect("placements after the log");
    expect![[r#"
        Log
          AT   OBJECT              WHAT
          0s   Pod default/first   created
          0s   Pod default/second  created
          0s   Pod default/held    created
          0s   Pod default/held    held: waiting for scheduling gates: [g]
          0s   Pod default/first   bound to a
          0s   Pod default/second  unschedulable: 0/1 nodes are available: 1 Insufficient cpu. no new claims to deallocate, preemption: 0/1 nodes are available: 1 No preemption victims found for incoming pod.
          10s  Pod default/held    changed
          20s  Pod default/held    changed
          20s  Pod default/held    woken because Pod default/held was changed
          20s  Pod default/held    unschedulable: 0/1 nodes are available: 1 Insufficient cpu. no new claims to deallocate, preemption: 0/1 nodes are available: 1 No preemption victims found for incoming pod.
          30s  Pod default/first   deleted
          30s  Pod default/held    woken because Pod default/first was deleted
          30s  Pod default/second  woken because Pod default/first was deleted
          30s  Pod default/second  bound to a
          30s  Pod default/held    unschedulable: 0/1 nodes are available: 1 Insufficient cpu. no new claims to deallocate, preemption: 0/1 nodes are available: 1 No preemption victims found for incoming pod.
          40s  Node b              created
          40s  Pod default/held    woken because Node b was created
          40s  Pod default/held    bound to b
    "#]].assert_eq(log);
    let report = folder.schedc(&[&args[..], &["-o", "json"]].concat()).json();
    assert_eq!(
        report["log"].as_array().and_then(|log| log.last()),
        Some(&json!({"at": 40.0, "object": "Pod default/held", "what": "bound", "message": "to b"}))
    );
}

#[test]
fn a_trace_without_annotations_is_noted() {
    let folder = Folder::with(&[("all.yaml", &(node("a", "1") + "\n---\n" + &pod("p", "", "")))]);
    let run = folder.schedc(&["simulate", "all.yaml", "--trace"]);
    expect![[r#"
        note: no object has an annotation `trace/created` or `trace/deleted`: --trace has no effect
    "#]]
    .assert_eq(&run.stderr);
}

#[test]
fn events_come_from_standard_input_too() {
    let folder = Folder::with(&[("all.yaml", &pod("p", "", ""))]);
    let events = format!(
        r#"[{{"at": "2026-01-31T12:00:30Z", "create": {}}}]"#,
        json!({
            "apiVersion": "v1", "kind": "Node", "metadata": {"name": "a"}, "status": {"capacity": {"cpu": 1, "pods": 10}},
        })
    );
    let args = ["simulate", "all.yaml", "--events", "-", "-o", "json"];
    let report = folder.schedc_with_input(&args, &events).json();
    assert_eq!(report["placements"][0]["at"], 0.0);
    assert_eq!(report["summary"]["start"], "2026-01-31T12:00:30Z");
    let started = folder.schedc_with_input(&[&args[..], &["--start", "2026-01-31T12:00:00Z"]].concat(), &events).json();
    assert_eq!(started["placements"][0]["at"], 30.0);
}

#[test]
fn a_preempted_pod_ignores_later_changes() {
    let all = [
        "{apiVersion: scheduling.k8s.io/v1, kind: PriorityClass, metadata: {name: high}, value: 100}".to_owned(),
        node("a", "1"),
        pod("running", "", ", nodeName: a"),
    ];
    let events = [
        format!("{{at: 1s, create: {}}}", pod("urgent", "", ", priorityClassName: high")),
        format!("{{at: 4s, update: {}}}", pod("running", "", "")),
        "{at: 5s, delete: {kind: Pod, name: running}}".to_owned(),
    ];
    let folder = Folder::with(&[("all.yaml", &all.join("\n---\n")), ("events.yaml", &events.join("\n---\n"))]);
    let report = folder.schedc(&["simulate", "all.yaml", "--events", "events.yaml", "-o", "json"]).json();
    assert_eq!(
        report["preempted"],
        json!([{"pod": "default/running", "node": "a", "by": "default/urgent", "at": 1.0}])
    );
    assert_eq!(report["summary"]["eventsWithoutObject"], 2);
    assert_eq!(report["placements"][0]["pod"], "default/urgent");
}

#[test]
fn invalid_events_are_errors() {
    let events = "
- at: 30
  delete: {kind: Pod, name: p}
- at: 1m
  craete: {kind: Pod, name: q}
- at: 2m
  delete: {kind: Pod, name: q}
";
    let folder = Folder::with(&[("all.yaml", &pod("p", "", "")), ("events.yaml", events)]);
    let refused = |args: &[&str]| folder.schedc(args).refused();
    expect![[r#"
        error: events.yaml:2: at: `30` has no unit; write `30s` for seconds
        error: events.yaml:5: unknown field `craete`; did you mean `create`?
        error: events.yaml:7: Pod default/q does not exist at 2m0s; did you mean `default/p`?
    "#]]
    .assert_eq(&refused(&["simulate", "all.yaml", "--events", "events.yaml"]));
    expect![[r#"
        error: none.yaml: cannot be read: No such file or directory (os error 2)
    "#]]
    .assert_eq(&refused(&["simulate", "all.yaml", "--events", "none.yaml"]));
    expect![[r#"
        error: all.yaml:1: is a manifest, not an event; put it below `create:` and add its time (`at: 12.5s`)
    "#]]
    .assert_eq(&refused(&["simulate", "all.yaml", "--events", "all.yaml"]));
    let run = folder.schedc(&["simulate", "all.yaml", "--until", "5"]);
    assert_eq!(run.code, Some(2));
    expect![[r#"
        error: invalid value '5' for '--until <DURATION>': `5` has no unit; write `5s` for seconds

        For more information, try '--help'.
    "#]]
    .assert_eq(&run.stderr);
}
