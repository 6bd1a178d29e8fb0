//! Closed-loop simulations of small recordings.

#![allow(clippy::unwrap_used, reason = "a test that cannot continue panics")]

use std::sync::Arc;

use proptest::prelude::*;
use schedc_backtest::recorded::Builder;
use schedc_backtest::result::{LeftOut, PodOutcome, PodState};
use schedc_backtest::runs::{Contender, Plan};
use schedc_backtest::simulation::Simulated;
use schedc_backtest::{Options, Workload, simulate};
use schedc_core::erased::AnyBundle;
use schedc_objects::Kinds;
use schedc_recording::ReadError;
use schedc_recording::reader::{Item, Place};
use serde_json::{Value, json};

/// Lines of a recording; times are in seconds.
#[derive(Default)]
struct Recording(Vec<Value>);

impl Recording {
    fn begin() -> Recording {
        Recording(vec![json!({"at": 0, "recording": {"version": 1, "begin": "start", "schedc": "0"}})])
    }

    fn add(mut self, at: i64, entry: Value) -> Self {
        let mut line = entry;
        line["at"] = (at * 1000).into();
        self.0.push(line);
        self
    }

    fn node(self, at: i64, name: &str, cpu: &str) -> Self {
        let allocatable = json!({"cpu": cpu, "memory": "8Gi", "pods": "10"});
        let labels = json!({"kubernetes.io/hostname": name, "price": "2"});
        let node = json!({"apiVersion": "v1", "kind": "Node", "metadata": {"name": name, "labels": labels},
            "status": {"allocatable": allocatable}});
        self.add(at, json!({"set": node}))
    }

    fn synced(self, objects: usize) -> Self {
        self.add(0, json!({"synced": {"objects": objects}}))
    }

    fn pod(self, at: i64, name: &str, node: Option<&str>) -> Self {
        self.pod_with(at, name, node, json!({"requests": "1"}))
    }

    /// Adds a pod with `requests`, and if they are set, `priority`, `owner`, `phase` and `scheduler`.
    fn pod_with(self, at: i64, name: &str, node: Option<&str>, fields: Value) -> Self {
        let owner = fields["owner"].as_str();
        let scheduler = fields["scheduler"].as_str().unwrap_or("default-scheduler");
        let owners: Vec<Value> = owner
            .map(|kind| json!({"apiVersion": "apps/v1", "kind": kind, "name": "o", "uid": "o", "controller": true}))
            .into_iter()
            .collect();
        let pod = json!({"apiVersion": "v1", "kind": "Pod",
            "metadata": {"name": name, "namespace": "d", "uid": format!("uid-{name}"), "ownerReferences": owners},
            "spec": {"nodeName": node, "schedulerName": scheduler, "priority": fields["priority"],
                "containers": [{"name": "c", "image": "i", "resources": {"requests": {"cpu": fields["requests"]}}}]},
            "status": {"phase": fields["phase"]}});
        self.add(at, json!({"set": pod}))
    }

    fn delete(self, at: i64, kind: &str, name: &str) -> Self {
        let namespace = if kind == "Pod" { "d" } else { "" };
        self.add(at, json!({"delete": {"kind": kind, "namespace": namespace, "name": name}}))
    }

    fn end(self, at: i64) -> Self {
        self.add(at, json!({"end": "stop"}))
    }

    fn workload(&self) -> Workload {
        workload(self.0.iter().map(Value::to_string)).unwrap()
    }

    fn simulate(&self) -> Simulated {
        let options = Options { price_label: Some("price".to_owned()), samples: 4, ..Options::default() };
        simulate(&bundle(), &self.workload(), &options).unwrap()
    }
}

fn bundle() -> AnyBundle {
    AnyBundle::of::<default_profile::Profiles>()
}

/// Returns the workload of lines, or the first error.
fn workload(texts: impl Iterator<Item = String>) -> Result<Workload, ReadError> {
    let is_served = |scheduler: &str| scheduler == "default-scheduler";
    let mut builder = Builder::new(Kinds::default(), &is_served);
    let file: Arc<str> = "r".into();
    for (text, line) in texts.zip(1..) {
        let place = Place { file: file.clone(), line };
        let Ok(parsed) = serde_json::from_str(&text) else {
            return Err(ReadError { place, message: "no line".to_owned() });
        };
        builder.next(&place, Item::Line(parsed))?;
    }
    Ok(builder.finish())
}

/// Returns the times of a pod: created, bound, ended.
fn times(pod: &PodOutcome) -> (f64, Option<f64>, Option<f64>) {
    (pod.created, pod.bound, pod.ended)
}

#[test]
fn pods_run_as_long_as_they_were_recorded_to_run() {
    // The recorded scheduler was slow: it bound each pod after 5 seconds.
    let simulated = Recording::begin()
        .node(0, "n1", "1")
        .synced(1)
        .pod(10, "a", None)
        .pod(12, "b", None)
        .pod(15, "a", Some("n1"))
        .delete(35, "Pod", "a")
        .pod(40, "b", Some("n1"))
        .pod_with(45, "b", Some("n1"), json!({"requests": "1", "phase": "Succeeded"}))
        .end(100)
        .simulate();
    // The first one runs for 20 seconds from its binding; the second one waits for it.
    assert_eq!(times(&simulated.pods[0]), (10.0, Some(10.0), Some(30.0)));
    assert_eq!(times(&simulated.pods[1]), (12.0, Some(30.0), Some(35.0)));
    let result = simulated.result;
    assert_eq!((result.pods.arrived, result.pods.bound, result.pods.waiting, result.pods.moved), (2, 2, 0, 0));
    let all = &result.time_to_bind[0];
    assert_eq!((all.pods, all.bound, all.p50, all.p99, all.max), (2, 2, 0.0, 18.0, 18.0));
    // Pods run for 25 of 100 seconds, and one pod waits for 18 seconds.
    let over_time = result.over_time;
    assert_eq!((over_time.seconds, over_time.resources[0].requested), (100.0, 250.0));
    assert_eq!((over_time.pending, over_time.max_pending, over_time.empty_nodes), (0.18, 1, 0.75));
    assert_eq!((over_time.price, over_time.used_price), (Some(2.0), Some(0.5)));
}

#[test]
fn pods_with_a_node_keep_it_until_their_recorded_end() {
    let simulated = Recording::begin()
        .node(0, "n1", "1")
        .node(0, "n2", "1")
        .pod(0, "a", Some("n2"))
        .synced(3)
        .pod(10, "b", None)
        .pod(11, "b", Some("n2"))
        .delete(50, "Pod", "a")
        .end(60)
        .simulate();
    assert_eq!((simulated.pods[0].node.as_deref(), simulated.pods[0].ended), (Some("n2"), Some(50.0)));
    assert_eq!((simulated.pods[1].node.as_deref(), simulated.pods[1].state), (Some("n1"), PodState::Running));
    assert_eq!((simulated.result.pods.with_node, simulated.result.pods.moved), (1, 1));
}

#[test]
fn owners_replace_the_pods_of_removed_nodes() {
    let recording = |owner: Value| {
        Recording::begin()
            .node(0, "n1", "1")
            .synced(1)
            .pod_with(0, "a", None, json!({"requests": "1", "owner": owner}))
            .pod_with(0, "a", Some("n1"), json!({"requests": "1", "owner": owner}))
            .delete(40, "Node", "n1")
            .node(50, "n2", "1")
            .delete(100, "Pod", "a")
            .end(300)
            .simulate()
    };
    // The pod had run for 40 of 100 seconds when its node was removed.
    let simulated = recording(json!("ReplicaSet"));
    assert_eq!((simulated.pods[0].state, simulated.pods[0].ended), (PodState::Evicted, Some(40.0)));
    assert_eq!(times(&simulated.pods[1]), (40.0, Some(50.0), Some(110.0)));
    let simulated = recording(json!("Job"));
    assert_eq!(times(&simulated.pods[1]), (40.0, Some(50.0), Some(150.0)), "a Job starts again");
    let simulated = recording(Value::Null);
    assert_eq!((simulated.pods.len(), simulated.result.pods.lost, simulated.result.pods.evicted), (1, 1, 1));
}

#[test]
fn replacements_of_pods_that_had_a_node_run_as_their_owner_requires() {
    let recording = |owner: &str| {
        Recording::begin()
            .node(0, "n1", "1")
            .pod_with(0, "a", Some("n1"), json!({"requests": "1", "owner": owner}))
            .synced(2)
            .delete(40, "Node", "n1")
            .node(50, "n2", "1")
            .delete(100, "Pod", "a")
            .end(300)
            .simulate()
    };
    assert_eq!(times(&recording("ReplicaSet").pods[1]), (40.0, Some(50.0), Some(110.0)));
    assert_eq!(times(&recording("Job").pods[1]), (40.0, Some(50.0), Some(150.0)));
}

#[test]
fn pods_of_other_schedulers_are_not_replaced() {
    let other = json!({"requests": "1", "owner": "ReplicaSet", "scheduler": "other"});
    let simulated = Recording::begin()
        .node(0, "n1", "2")
        .pod_with(0, "a", Some("n1"), other.clone())
        .synced(2)
        .pod_with(10, "b", None, other.clone())
        .pod_with(20, "b", Some("n1"), other)
        .delete(40, "Node", "n1")
        .end(60)
        .simulate();
    assert_eq!((simulated.pods.len(), simulated.result.pods.evicted, simulated.result.pods.waiting), (2, 2, 0));
}

#[test]
fn pods_of_daemon_sets_leave_at_their_recorded_time() {
    let daemon = json!({"requests": "1", "owner": "DaemonSet"});
    let simulated = Recording::begin()
        .node(0, "n1", "1")
        .synced(1)
        .pod(5, "a", None)
        .pod_with(10, "daemon", None, daemon.clone())
        .pod_with(20, "daemon", Some("n1"), daemon)
        .delete(50, "Pod", "daemon")
        .end(60)
        .simulate();
    let daemon = &simulated.pods[1];
    assert_eq!((times(daemon), daemon.state), ((10.0, None, Some(50.0)), PodState::Ended));
}

#[test]
fn uids_of_replacements_are_unique() {
    let owned = json!({"requests": "1", "owner": "ReplicaSet"});
    let simulated = Recording::begin()
        .node(0, "n1", "2")
        .synced(1)
        .pod_with(0, "a", None, owned.clone())
        .pod_with(0, "a-r1", None, owned)
        .delete(40, "Node", "n1")
        .node(50, "n2", "2")
        .end(60)
        .simulate();
    // With a fixed suffix, the replacement of `a` would get the uid of the pod `a-r1`.
    assert_eq!((simulated.result.pods.bound, simulated.result.pods.waiting), (4, 0));
    assert!(simulated.pods[2..].iter().all(|pod| pod.bound == Some(50.0)), "{:?}", simulated.pods);
}

#[test]
fn other_workloads_and_options_have_other_fingerprints() {
    let fingerprint = |cpu: &str, requests: &str, samples: u32| {
        let pod = json!({"requests": requests});
        let workload = Recording::begin().node(0, "n1", cpu).synced(1).pod_with(1, "a", None, pod).end(2).workload();
        workload.fingerprint(&Options { samples, ..Options::default() })
    };
    assert_eq!(fingerprint("4", "1", 100), fingerprint("4", "1", 100));
    for other in [fingerprint("2", "1", 100), fingerprint("4", "2", 100), fingerprint("4", "1", 50)] {
        assert_ne!(fingerprint("4", "1", 100), other);
    }
}

#[test]
fn recorded_nodes_and_other_schedulers_have_other_fingerprints() {
    let pod = json!({"requests": "1"});
    let mut workload = Recording::begin().node(0, "n1", "4").synced(1).pod_with(1, "a", None, pod).end(2).workload();
    let options = Options::default();
    let first = workload.fingerprint(&options);
    workload.pods[0].recorded_node = Some("n1".into());
    let recorded = workload.fingerprint(&options);
    workload.pods[0].is_served = false;
    let foreign = workload.fingerprint(&options);
    assert!(first != recorded && recorded != foreign);
}

#[test]
fn preempted_pods_are_replaced_and_wait() {
    let low = json!({"requests": "1", "owner": "ReplicaSet"});
    let high = json!({"requests": "1", "priority": 1000});
    let simulated = Recording::begin()
        .node(0, "n1", "1")
        .synced(1)
        .pod_with(0, "low", None, low.clone())
        .pod_with(0, "low", Some("n1"), low)
        .pod_with(10, "high", None, high.clone())
        .pod_with(20, "high", Some("n1"), high)
        .delete(50, "Pod", "high")
        .end(200)
        .simulate();
    let by_name = |name: &str| simulated.pods.iter().filter(|pod| pod.pod == name).collect::<Vec<_>>();
    assert_eq!((by_name("d/low").len(), by_name("d/low")[0].state), (2, PodState::Preempted));
    let high = by_name("d/high")[0];
    let bound = high.bound.unwrap();
    assert!((10.0..12.0).contains(&bound), "{bound}");
    assert_eq!(high.ended, Some(bound + 30.0));
    let replacement = by_name("d/low")[1];
    assert_eq!((replacement.created, replacement.bound), (10.0, Some(bound + 30.0)));
    assert_eq!((simulated.result.pods.preempted, simulated.result.pods.replacements), (1, 1));
    assert_eq!(
        simulated.result.time_to_bind.iter().map(|wait| wait.priority).collect::<Vec<_>>(),
        [None, Some(1000), Some(0)]
    );
}

#[test]
fn pods_that_never_had_a_node_leave_at_their_recorded_time() {
    let simulated = Recording::begin()
        .node(0, "n1", "1")
        .synced(1)
        .pod_with(0, "large", None, json!({"requests": "2"}))
        .delete(30, "Pod", "large")
        .pod_with(40, "other", None, json!({"requests": "2"}))
        .end(60)
        .simulate();
    assert_eq!((simulated.pods[0].state, simulated.pods[1].state), (PodState::Ended, PodState::Waiting));
    assert_eq!((simulated.result.pods.deleted_waiting, simulated.result.pods.waiting), (1, 1));
    // Both pods count with the time that they waited.
    let all = &simulated.result.time_to_bind[0];
    assert_eq!((all.pods, all.bound, all.p50, all.max), (2, 0, 20.0, 30.0));
}

/// Many pods for equal nodes, so that seeds matter.
fn many() -> Recording {
    let mut recording = Recording::begin();
    for node in 0..5 {
        recording = recording.node(0, &format!("n{node}"), "4");
    }
    recording = recording.synced(5);
    for pod in 0..17 {
        recording = recording.pod(pod, &format!("p{pod}"), None).pod(pod, &format!("p{pod}"), Some("n0"));
    }
    for pod in 0..17 {
        recording = recording.delete(30 + pod, "Pod", &format!("p{pod}"));
    }
    recording.end(60)
}

#[test]
fn equal_seeds_give_equal_results_on_any_number_of_threads() {
    let workload = many().workload();
    let profiles = [Contender { bundle: bundle(), profile: 0 }];
    let run = |threads| {
        let seeds = [0, 1, 2, 3, 4, 5];
        let options = Options::default();
        let plan =
            Plan { workload: &workload, profiles: &profiles, seeds: &seeds, options: &options, shard: None, threads };
        plan.run(|_| {}).unwrap()
    };
    let (one, four) = (run(1), run(4));
    assert_eq!(one, four);
    assert_eq!(one.iter().map(|run| run.seed).collect::<Vec<_>>(), [0, 1, 2, 3, 4, 5]);
    assert!(one.iter().any(|run| run.result.pods.moved != one[0].result.pods.moved), "seeds matter");
}

#[test]
fn scores_have_an_influence() {
    let simulated = many().simulate();
    let influence_of =
        |plugin: &str| simulated.result.plugins.iter().find(|other| other.plugin == plugin).cloned().unwrap();
    let left_out: u64 = simulated.result.left_out.reasons().iter().map(|(_, number)| number).sum();
    assert_eq!((simulated.result.attempts, simulated.result.explained + left_out), (17, 17), "every decision counts");
    assert!(simulated.result.explained > 0);
    // Nodes with different numbers of pods get different scores. Other plugins agree: an empty node also has the most
    // balanced use.
    let fit = influence_of("NodeResourcesFit");
    assert!(fit.indifferent < 1.0 && fit.outvoted < 1.0, "{fit:?}");
    assert!((0.0..=1.0).contains(&fit.decided), "{fit:?}");
}

#[test]
fn decisions_without_a_choice_are_left_out_of_the_influence() {
    let simulated = Recording::begin()
        .node(0, "n1", "1")
        .synced(1)
        .pod(1, "a", None)
        .pod(2, "b", None)
        .pod(3, "a", Some("n1"))
        .delete(9, "Pod", "a")
        .end(20)
        .simulate();
    // The second pod has no feasible node until the first one ends.
    assert_eq!((simulated.result.explained, simulated.result.attempts), (0, 3));
    assert_eq!(simulated.result.left_out, LeftOut { no_node: 1, one_node: 2, ..LeftOut::default() });
    assert!(simulated.result.plugins.iter().all(|plugin| plugin.indifferent == 0.0));
}

#[test]
fn times_of_lines_are_limited() {
    let mut lines = many().0;
    lines[3]["at"] = i64::MAX.into();
    let error = workload(lines.iter().map(Value::to_string)).unwrap_err();
    assert_eq!(error.place.line, 4);
    assert!(error.message.contains("not a time in milliseconds"), "{error}");
}

/// Lines with every kind of entry except `reject`.
fn lines() -> Vec<Value> {
    Recording::begin()
        .node(0, "n1", "1")
        .node(0, "n2", "4")
        .pod(0, "a", Some("n2"))
        .synced(3)
        .pod_with(1, "b", None, json!({"requests": "1", "owner": "Job"}))
        .add(2, json!({"bind": {"namespace": "d", "name": "b", "scheduler": "default-scheduler", "node": "n1"}}))
        .pod_with(2, "b", Some("n1"), json!({"requests": "1", "owner": "Job"}))
        .pod_with(3, "c", None, json!({"requests": "4", "priority": 7}))
        .add(3, json!({"event": {"namespace": "d", "name": "b", "reason": "Preempted", "scheduler": "s", "note": ""}}))
        .add(4, json!({"gap": {"kind": "Node"}}))
        .add(4, json!({"repaired": {"kind": "Node"}}))
        .node(5, "n2", "2")
        .delete(6, "Node", "n1")
        .pod_with(6, "c", Some("n2"), json!({"requests": "4", "priority": 7, "phase": "Failed"}))
        .add(7, json!({"recording": {"version": 1, "begin": "rotation", "schedc": "0"}}))
        .node(7, "n3", "2")
        .add(7, json!({"synced": {"objects": 1}}))
        .delete(8, "Pod", "a")
        .end(9)
        .0
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(128) })]

    #[test]
    fn lines_in_any_order_do_not_panic(order in prop::collection::vec(0_usize..20, 0..40)) {
        let all = lines();
        let workload = workload(order.iter().filter_map(|at| all.get(*at)).map(Value::to_string)).unwrap();
        prop_assert!(simulate(&bundle(), &workload, &Options::default()).is_ok());
    }

    #[test]
    fn damaged_lines_are_errors_with_a_line(
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<prop::sample::Index>(), 0_u8..128), 1..6),
    ) {
        let mut texts: Vec<Vec<u8>> = lines().iter().map(|line| line.to_string().into_bytes()).collect();
        for (line, at, byte) in changes {
            let line = line.index(texts.len());
            let text = &mut texts[line];
            let at = at.index(text.len());
            text[at] = byte;
        }
        match workload(texts.into_iter().map(|text| String::from_utf8_lossy(&text).into_owned())) {
            Ok(workload) => prop_assert!(simulate(&bundle(), &workload, &Options::default()).is_ok()),
            Err(error) => prop_assert!(error.place.line > 0),
        }
    }
}
