//! `schedc simulate`

use std::collections::BTreeMap;
use std::io::Read;
use std::process::{Command, Stdio};

use expect_test::{Expect, expect};
use serde_json::{Value, json};

use crate::cli::harness::{EXAMPLE, Folder, schedc};

/// Checks the table without times, which vary.
fn check(table: &str, expected: Expect) {
    let timeless = table.lines().map(|line| match line.contains(" s to read, ") {
        true => "(times)",
        false => line,
    });
    expected.assert_eq(&(timeless.collect::<Vec<_>>().join("\n") + "\n"));
}

/// Returns a list of the result, reduced to the fields `pod`, `node` and `by`.
fn timeless(list: &Value) -> Value {
    let mut list = list.clone();
    for entry in list.as_array_mut().expect("a list") {
        entry.as_object_mut().expect("fields").retain(|name, _| ["pod", "node", "by"].contains(&name.as_str()));
    }
    list
}

fn node(name: &str, cpu: &str) -> String {
    format!(
        "{{apiVersion: v1, kind: Node, metadata: {{name: {name}}}, status: {{allocatable: {{cpu: '{cpu}', pods: 10}}}}}}\n---\n"
    )
}

fn pod(name: &str, spec: &str) -> String {
    let containers = "containers: [{name: c, image: i, resources: {requests: {cpu: '1'}}}]";
    format!("{{apiVersion: v1, kind: Pod, metadata: {{name: {name}}}, spec: {{{containers}{spec}}}}}\n---\n")
}

#[test]
fn the_example_cluster_is_reported_as_a_table() {
    check(
        &schedc(&["simulate", EXAMPLE]).ok(),
        expect![[r#"
            Placed
              POD                  NODE
              shop/web-1           south-1
              shop/web-2           north-2
              shop/web-3           south-1
              shop/web-4           north-1
              shop/orders-0        south-2
              research/training-3  gpu-1
              research/training-1  gpu-1
              shop/cache-0         north-1
              research/report-1    south-1
              research/report-2    north-2
              research/report-3    north-1
              research/report-4    south-1
              research/report-5    north-2
              shop/orders-1        north-2

            Unschedulable
              waiting for scheduling gates: [example.com/waits-for-approval]
                shop/checkout-canary
              0/6 nodes are available: 1 Insufficient cpu, 1 Insufficient memory, 1 node(s) were unschedulable, 5 Insufficient example.com/gpu. no new claims to deallocate, preemption: 0/6 nodes are available: 1 No preemption victims found for incoming pod, 5 Preemption is not helpful for scheduling.
                research/training-2
              0/6 nodes are available: 1 Insufficient memory, 1 node(s) had untolerated taint(s), 1 node(s) were unschedulable, 4 Insufficient cpu. no new claims to deallocate, preemption: 0/6 nodes are available: 6 Preemption is not helpful for scheduling.
                research/simulation
              0/6 nodes are available: 1 node(s) had untolerated taint(s), 1 node(s) were unschedulable, 2 node(s) didn't have free ports for the requested pod ports, 2 node(s) didn't match Pod's node affinity/selector. no new claims to deallocate, preemption: 0/6 nodes are available: 2 No preemption victims found for incoming pod, 4 Preemption is not helpful for scheduling.
                research/metrics-proxy
              0/6 nodes are available: 1 node(s) had untolerated taint(s), 1 node(s) were unschedulable, 4 node(s) didn't match Pod's node affinity/selector. no new claims to deallocate, preemption: 0/6 nodes are available: 6 Preemption is not helpful for scheduling.
                shop/legacy-importer

            Preempted
              POD                  NODE   BY
              research/notebook-1  gpu-1  research/training-3

            Protected from preemption by disruption budgets
              POD                  NODE   BUDGET                    FROM
              research/notebook-2  gpu-1  research/notebook-in-use  research/training-3

            Utilisation
              RESOURCE           REQUESTED  ALLOCATABLE    SHARE  LOWEST NODE   MEDIAN  HIGHEST
              cpu                     24.9         50.8   49.0 %       25.6 %   49.1 %   71.8 %
              memory             76.44 GiB   202.00 GiB   37.8 %       26.2 %   39.4 %   44.4 %
              ephemeral-storage  40.00 GiB   540.00 GiB    7.4 %        0.0 %    0.0 %   22.2 %
              pods                      20          660    3.0 %        0.9 %    3.6 %    4.5 %
              example.com/gpu            4            4  100.0 %      100.0 %  100.0 %  100.0 %

            28 pods: 14 placed, 5 unschedulable, 1 preempted, 8 skipped (6 bound already, 1 finished, 1 of scheduler batch-scheduler)
            6 nodes, 1 Deployment, 1 PersistentVolume, 2 PersistentVolumeClaim, 1 PodDisruptionBudget, 3 PriorityClass, 1 Service, 1 StorageClass
            (times)
        "#]],
    );
}

#[test]
fn the_example_cluster_is_reported_as_json() {
    let report = schedc(&["simulate", EXAMPLE, "-o", "json"]).json();
    let summary = &report["summary"];
    let number = |key: &str| summary[key].as_u64().expect("a number");
    assert_eq!(number("pods"), 28);
    let ends = ["placed", "unschedulable", "preempted", "skipped"].map(number);
    assert_eq!(number("pods"), ends.iter().sum::<u64>());
    assert_eq!(report["placements"].as_array().map(Vec::len), Some(number("placed") as usize));
    assert_eq!(report["unschedulable"].as_array().map(Vec::len), Some(number("unschedulable") as usize));
    assert!(summary["seconds"].as_f64().expect("a number") > 0.0);
    assert_eq!(
        summary["skippedBy"],
        json!({
            "bound": 6,
            "boundToUnknownNodes": 0,
            "finished": 1,
            "deleting": 0,
            "otherSchedulers": {"batch-scheduler": 1},
        })
    );
    assert_eq!(
        summary["objects"],
        json!({
            "Deployment": 1,
            "PersistentVolume": 1,
            "PersistentVolumeClaim": 2,
            "PodDisruptionBudget": 1,
            "PriorityClass": 3,
            "Service": 1,
            "StorageClass": 1,
        })
    );
    // The budget protects the younger notebook, which would be the victim otherwise.
    assert_eq!(
        timeless(&report["preempted"]),
        json!([{"pod": "research/notebook-1", "node": "gpu-1", "by": "research/training-3"}])
    );
    assert_eq!(summary["otherKinds"], json!({}));
    let first = &report["placements"][0];
    assert!(first["pod"].as_str().expect("a name").starts_with("shop/"), "the highest priority is first: {first}");
}

#[test]
fn yaml_output_equals_json_output() {
    let without_seconds = |mut report: Value| {
        for key in ["seconds", "readSeconds", "scheduleSeconds"] {
            report["summary"][key] = Value::Null;
        }
        report
    };
    let json = schedc(&["simulate", EXAMPLE, "-o", "json"]).json();
    let yaml = serde_saphyr::from_str(&schedc(&["simulate", EXAMPLE, "-o", "yaml"]).ok()).expect("YAML");
    assert_eq!(without_seconds(json), without_seconds(yaml));
}

#[test]
fn equal_seeds_give_equal_placements() {
    let placements = |seed| schedc(&["simulate", EXAMPLE, "-o", "json", "--seed", seed]).json()["placements"].clone();
    assert_eq!(placements("7"), placements("7"));
}

#[test]
fn no_node_gets_more_than_it_has() {
    let pods: String = (0..30).map(|n| pod(&format!("p{n}"), "")).collect();
    let folder = Folder::with(&[("nodes.yaml", &(node("a", "8") + &node("b", "16"))), ("pods.yaml", &pods)]);
    let report = folder.schedc(&["simulate", ".", "-o", "json"]).json();
    let mut placed = BTreeMap::new();
    for placement in report["placements"].as_array().expect("a list") {
        *placed.entry(placement["node"].as_str().expect("a name")).or_insert(0) += 1;
    }
    // Each node allows 10 pods, and the smaller one has CPU for 8.
    assert_eq!(placed, BTreeMap::from([("a", 8), ("b", 10)]));
    assert_eq!(
        report["unschedulable"][0]["message"],
        "0/2 nodes are available: 1 Insufficient cpu, 1 Too many pods. no new claims to deallocate, preemption: 0/2 nodes \
         are available: 2 No preemption victims found for incoming pod."
    );
}

#[test]
fn a_pod_is_scheduled_by_the_profile_of_its_scheduler_name() {
    let pods =
        pod("spread", "") + &pod("packed", ", schedulerName: binpack") + &pod("theirs", ", schedulerName: other");
    let running = pod("running-1", ", nodeName: a") + &pod("running-2", ", nodeName: a");
    let nodes = node("a", "8") + &node("b", "8");
    let folder = Folder::with(&[("all.yaml", &(nodes + &running + &pods))]);
    let report = folder.schedc(&["simulate", "all.yaml", "-o", "json"]).json();
    assert_eq!(
        timeless(&report["placements"]),
        json!([{"pod": "default/spread", "node": "b"}, {"pod": "default/packed", "node": "a"}])
    );
    assert_eq!(report["summary"]["skippedBy"]["otherSchedulers"], json!({"other": 1}));
    let overridden = folder.schedc(&["simulate", "all.yaml", "-o", "json", "--profile", "binpack"]).json();
    assert_eq!(
        timeless(&overridden["placements"]),
        json!([
            {"pod": "default/spread", "node": "a"},
            {"pod": "default/packed", "node": "a"},
            {"pod": "default/theirs", "node": "a"},
        ])
    );
    let by_scheduler_name = folder.schedc(&["simulate", "all.yaml", "--profile", "default-scheduler"]).ok();
    assert!(by_scheduler_name.contains("5 pods: 3 placed, 0 unschedulable, 2 skipped (2 bound already)"));
}

#[test]
fn running_pods_count_and_finished_ones_do_not() {
    let running = pod("running", ", nodeName: a") + &pod("lost", ", nodeName: gone");
    let finished = "{apiVersion: v1, kind: Pod, metadata: {name: over}, spec: {nodeName: a, containers: [{name: c, \
                    image: i, resources: {requests: {cpu: '1'}}}]}, status: {phase: Failed}}\n---\n";
    let folder = Folder::with(&[("all.yaml", &(node("a", "2") + &running + finished + &pod("p", "") + &pod("q", "")))]);
    check(
        &folder.schedc(&["simulate", "all.yaml"]).ok(),
        expect![[r#"
            Placed
              POD        NODE
              default/p  a

            Unschedulable
              0/1 nodes are available: 1 Insufficient cpu. no new claims to deallocate, preemption: 0/1 nodes are available: 1 No preemption victims found for incoming pod.
                default/q

            Utilisation
              RESOURCE  REQUESTED  ALLOCATABLE    SHARE  LOWEST NODE   MEDIAN  HIGHEST
              cpu               2            2  100.0 %      100.0 %  100.0 %  100.0 %
              memory          0 B          0 B        -            -        -        -
              pods              2           10   20.0 %       20.0 %   20.0 %   20.0 %

            5 pods: 1 placed, 1 unschedulable, 3 skipped (2 bound already, 1 finished)
            1 pod is bound to nodes that are not in the input
            1 node
            (times)
        "#]],
    );
}

#[test]
fn copies_with_the_same_uid_are_separate_pods() {
    let copy = |name: &str, spec: &str| pod(name, spec).replace("metadata: {", "metadata: {uid: 9a7f, ");
    let pods = copy("p", ", nodeName: a") + &copy("q", "") + &copy("r", "");
    let folder = Folder::with(&[("all.yaml", &(node("a", "2") + &pods))]);
    let report = folder.schedc(&["simulate", "all.yaml", "-o", "json"]).json();
    assert_eq!(timeless(&report["placements"]), json!([{"pod": "default/q", "node": "a"}]));
    assert_eq!(report["unschedulable"][0]["pod"], "default/r");
}

#[test]
fn without_nodes_nothing_fits() {
    let folder = Folder::with(&[("pods.yaml", &pod("p", ""))]);
    check(
        &folder.schedc(&["simulate", "pods.yaml"]).ok(),
        expect![[r#"
        Unschedulable
          no nodes available to schedule pods
            default/p

        1 pod: 0 placed, 1 unschedulable, 0 skipped
        0 nodes
        (times)
    "#]],
    );
}

#[test]
fn an_empty_simulation_is_reported() {
    let folder = Folder::with(&[("nodes.yaml", &node("a", "2")), ("theirs.yaml", &pod("p", ", schedulerName: x"))]);
    let run = folder.schedc(&["simulate", "nodes.yaml"]);
    expect![[r#"
        note: the input has no pending pods
    "#]]
    .assert_eq(&run.stderr);
    check(
        &run.ok(),
        expect![[r#"
        Utilisation
          RESOURCE  REQUESTED  ALLOCATABLE  SHARE  LOWEST NODE  MEDIAN  HIGHEST
          cpu               0            2  0.0 %        0.0 %   0.0 %    0.0 %
          memory          0 B          0 B      -            -       -        -
          pods              0           10  0.0 %        0.0 %   0.0 %    0.0 %

        0 pods: 0 placed, 0 unschedulable, 0 skipped
        1 node
        (times)
    "#]],
    );
    let run = folder.schedc(&["simulate", "theirs.yaml"]);
    expect![[r#"
        note: no pod has the scheduler name of a profile that is compiled in (binpack, default-scheduler, edge); with --profile, one profile serves all pods
    "#]].assert_eq(&run.stderr);
    check(
        &run.ok(),
        expect![[r#"
        1 pod: 0 placed, 0 unschedulable, 1 skipped (1 of scheduler x)
        0 nodes
        (times)
    "#]],
    );
}

#[test]
fn manifests_come_from_standard_input_too() {
    let folder = Folder::with(&[("nodes.yaml", &node("a", "2"))]);
    let input = r#"{"apiVersion": "v1", "kind": "PodList", "items": [{"metadata": {"name": "p"}, "spec":
        {"containers": [{"name": "c", "image": "i"}]}}]}"#;
    let report = folder.schedc_with_input(&["simulate", "nodes.yaml", "-", "-o", "json"], input).json();
    assert_eq!(timeless(&report["placements"]), json!([{"pod": "default/p", "node": "a"}]));
}

#[test]
fn api_server_defaults_can_be_disabled() {
    let limited = "{apiVersion: v1, kind: Pod, metadata: {name: p}, spec: {containers: [{name: c, image: i, \
                   resources: {limits: {cpu: '3'}}}]}}\n";
    let folder = Folder::with(&[("all.yaml", &(node("a", "2") + limited))]);
    let placed = |args: &[&str]| folder.schedc(args).json()["summary"]["placed"].clone();
    assert_eq!(placed(&["simulate", "all.yaml", "-o", "json"]), 0);
    assert_eq!(placed(&["simulate", "all.yaml", "-o", "json", "--no-api-defaults"]), 1);
}

#[test]
fn many_placements_are_shortened_unless_all_are_requested() {
    let pods: String = (0..50).map(|n| pod(&format!("p{n}"), "")).collect();
    let nodes: String = (0..10).map(|n| node(&format!("n{n}"), "8")).collect();
    let folder = Folder::with(&[("all.yaml", &(nodes + &pods))]);
    let some = folder.schedc(&["simulate", "all.yaml"]).ok();
    assert!(some.contains("... and 30 more; --all prints them all, and so does -o json"), "{some}");
    let all = folder.schedc(&["simulate", "all.yaml", "--all"]).ok();
    assert_eq!(all.lines().filter(|line| line.contains("default/p")).count(), 50);
}

#[test]
fn a_closed_pipe_is_not_an_error() {
    let pods: String = (0..3000).map(|n| pod(&format!("p{n}"), "")).collect();
    let folder = Folder::with(&[("all.yaml", &(node("a", "8") + &pods))]);
    let path = folder.path("all.yaml");
    let mut child = Command::new(env!("CARGO_BIN_EXE_schedc"))
        .args(["simulate", "-o", "json"])
        .arg(path)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("schedc starts");
    let mut start = [0; 10];
    child.stdout.take().expect("standard output").read_exact(&mut start).expect("some output");
    let output = child.wait_with_output().expect("schedc ends");
    assert!(output.status.success());
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
}

#[test]
fn preempted_pods_are_reported() {
    let class = "{apiVersion: scheduling.k8s.io/v1, kind: PriorityClass, metadata: {name: high}, value: 100}\n---\n";
    let pods = pod("running", ", nodeName: a") + &pod("urgent", ", priorityClassName: high");
    let folder = Folder::with(&[("all.yaml", &(class.to_owned() + &node("a", "1") + &pods))]);
    check(
        &folder.schedc(&["simulate", "all.yaml"]).ok(),
        expect![[r#"
        Placed
          POD             NODE
          default/urgent  a

        Preempted
          POD              NODE  BY
          default/running  a     default/urgent

        Utilisation
          RESOURCE  REQUESTED  ALLOCATABLE    SHARE  LOWEST NODE   MEDIAN  HIGHEST
          cpu               1            1  100.0 %      100.0 %  100.0 %  100.0 %
          memory          0 B          0 B        -            -        -        -
          pods              1           10   10.0 %       10.0 %   10.0 %   10.0 %

        2 pods: 1 placed, 0 unschedulable, 1 preempted, 0 skipped
        1 node, 1 PriorityClass
        (times)
    "#]],
    );
    let report = folder.schedc(&["simulate", "all.yaml", "-o", "json"]).json();
    assert_eq!(
        timeless(&report["preempted"]),
        json!([{"pod": "default/running", "node": "a", "by": "default/urgent"}])
    );
    assert_eq!(report["summary"]["preempted"], 1);
    let explained = folder.schedc(&["explain", "urgent", "all.yaml"]).ok();
    let outcome = explained.split_once("default/urgent ").expect("an outcome").1;
    expect![[r#"
        default/urgent is unschedulable (profile default)
          0/1 nodes are available: 1 Insufficient cpu.
          preemption on a would remove 1 pod:
            default/running
          filters without effect on this pod:
            NodeAffinity, NodePorts, VolumeRestrictions, NodeVolumeLimits, VolumeBinding, VolumeZone,
            PodTopologySpread, InterPodAffinity, DynamicResources, NodeDeclaredFeatures
    "#]]
    .assert_eq(&format!("default/urgent {outcome}"));
}

#[test]
fn a_pod_is_placed_in_the_zone_of_its_volume() {
    let zonal = |name: &str, zone: &str| {
        node(name, "4").replace(
            "metadata: {",
            &format!("metadata: {{labels: {{topology.kubernetes.io/zone: {zone}, kubernetes.io/hostname: {name}}}, "),
        )
    };
    let storage = "apiVersion: v1
kind: PersistentVolume
metadata: {name: orders}
spec:
  capacity: {storage: 10Gi}
  accessModes: [ReadWriteOnce]
  csi: {driver: csi.example.com, volumeHandle: orders}
  nodeAffinity: {required: {nodeSelectorTerms: [
    {matchExpressions: [{key: topology.kubernetes.io/zone, operator: In, values: [south]}]}]}}
---
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: data-orders-0}
spec: {volumeName: orders, storageClassName: '', accessModes: [ReadWriteOnce], resources: {requests: {storage: 10Gi}}}
---
";
    let volumes = ", volumes: [{name: data, persistentVolumeClaim: {claimName: data-orders-0}}]";
    let nodes = zonal("a", "north") + &zonal("b", "south");
    let folder = Folder::with(&[("all.yaml", &(nodes + storage + &pod("orders-0", volumes)))]);
    let report = folder.schedc(&["simulate", "all.yaml", "-o", "json"]).json();
    assert_eq!(timeless(&report["placements"]), json!([{"pod": "default/orders-0", "node": "b"}]));
    assert_eq!(report["summary"]["objects"], json!({"PersistentVolume": 1, "PersistentVolumeClaim": 1}));
}
