//! Disagreements that another order of changes explains.

use super::*;

/// A recording with two pending pods and the nodes `a` and `b`, which have 8 CPUs each. If node `a` has 12 CPUs
/// instead, it is better than node `b` unless a pod runs on it.
struct Recording(Vec<Value>);

fn node(name: &str, cpu: &str) -> Value {
    json!({"apiVersion": "v1", "kind": "Node", "metadata": {"name": name, "labels": {"kubernetes.io/hostname": name}},
        "status": {"allocatable": {"cpu": cpu, "memory": "16Gi", "pods": "110"}}})
}

fn pod(name: &str, node: Option<&str>) -> Value {
    json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "namespace": "shop", "uid": name},
        "spec": {"nodeName": node, "schedulerName": "default-scheduler", "containers": [
            {"name": "web", "image": "web:1", "resources": {"requests": {"cpu": "1", "memory": "1Gi"}}}]}})
}

impl Recording {
    fn new() -> Recording {
        Recording::with(node("a", "8"))
    }

    fn with(node_a: Value) -> Recording {
        let mut recording =
            Recording(vec![json!({"at": 0, "recording": {"version": 1, "begin": "start", "schedc": "0"}})]);
        for object in [node_a, node("b", "8"), pod("web-1", None), pod("web-2", None)] {
            recording.0.push(json!({"at": 1, "rv": 10, "set": object}));
        }
        recording.0.push(json!({"at": 1, "synced": {"objects": 4}}));
        recording
    }

    fn set(mut self, at: i64, rv: u64, object: Value) -> Recording {
        self.0.push(json!({"at": at, "rv": rv, "set": object}));
        self
    }

    fn delete_node(mut self, at: i64, rv: u64, name: &str) -> Recording {
        self.0.push(json!({"at": at, "rv": rv, "delete": {"kind": "Node", "name": name}}));
        self
    }

    fn bind(mut self, at: i64, rv: u64, name: &str, node: &str) -> Recording {
        let bind = json!({"namespace": "shop", "name": name, "scheduler": "default-scheduler", "node": node});
        self.0.push(json!({"at": at, "rv": rv, "bind": bind}));
        self.set(at, rv, pod(name, Some(node)))
    }

    fn reject(mut self, at: i64, rv: u64, name: &str, message: &str) -> Recording {
        let reject = json!({"namespace": "shop", "name": name, "scheduler": "default-scheduler", "message": message});
        self.0.push(json!({"at": at, "rv": rv, "reject": reject}));
        self
    }

    fn without_versions(mut self) -> Recording {
        for line in &mut self.0 {
            line.as_object_mut().expect("a line").remove("rv");
        }
        self
    }

    fn replay(&self) -> Report {
        replay(self.0.iter().map(Value::to_string)).expect("a valid recording")
    }

    /// Returns the only explanation: relation, change and line.
    fn explanation(&self) -> String {
        let report = self.replay();
        assert_eq!((report.explained, report.unexplained), (1, 0), "{report:#?}");
        let order = report.disagreements[0].order.clone().expect("an order");
        let sides = order.sides().flat_map(|(relation, changes)| {
            changes.iter().map(move |NamedChange { place, kind, name, change }| {
                format!("{relation} {kind} {name} was {change} ({place})")
            })
        });
        sides.collect::<Vec<_>>().join(", ")
    }
}

#[test]
fn changes_are_applied_in_the_order_of_resource_versions() {
    // Node b grew before the binding, but the watch of nodes was slower than that of pods.
    let start = Recording::with(node("a", "12"));
    let recording = start.bind(20, 22, "web-1", "b").set(25, 21, node("b", "64"));
    let counts = recording.replay().counts[0];
    assert_eq!((counts.same_best, counts.lower_score), (1, 0), "{counts:?}");
}

#[test]
fn without_versions_a_change_that_was_received_late_explains_a_decision() {
    let start = Recording::with(node("a", "12"));
    let recording = start.bind(20, 22, "web-1", "b").set(25, 21, node("b", "64")).without_versions();
    assert_eq!(recording.explanation(), "after Node b was changed (r:9)");
}

#[test]
fn a_change_that_the_scheduler_had_not_received_explains_a_decision() {
    // The scheduler had not received the node `large`. The node `tiny` does not matter.
    let recording =
        Recording::new().set(20, 20, node("large", "64")).set(21, 21, node("tiny", "0")).bind(22, 22, "web-1", "a");
    assert_eq!(recording.explanation(), "before Node large was created (r:7)");
    let message = "0/2 nodes are available: 2 Insufficient cpu.";
    let with_small_nodes = Recording::new().set(15, 15, node("a", "500m")).set(16, 16, node("b", "500m"));
    let recording = with_small_nodes.delete_node(20, 20, "b").reject(21, 21, "web-1", message);
    let finding = recording.replay().disagreements.remove(0).disagreement.finding;
    let Finding::OtherMessage { ours, .. } = finding else { panic!("another message: {finding:?}") };
    let message = ours
        .replace("0/1", "0/2")
        .replace("1 Insufficient", "2 Insufficient")
        .replace("1 Preemption", "2 Preemption")
        .replace("1 No preemption", "2 No preemption");
    let with_small_nodes = Recording::new().set(15, 15, node("a", "500m")).set(16, 16, node("b", "500m"));
    let recording = with_small_nodes.delete_node(20, 20, "b").reject(21, 21, "web-1", &message);
    assert_eq!(recording.explanation(), "before Node b was deleted (r:9)");
}

#[test]
fn an_earlier_decision_that_is_written_later_explains_a_decision() {
    // Node a is better until web-2 runs on it. The scheduler decided about web-2 first, but bound it last.
    let start = Recording::with(node("a", "12"));
    let recording = start.bind(20, 20, "web-1", "b").bind(21, 21, "web-2", "a");
    assert_eq!(recording.explanation(), "after Pod shop/web-2 was bound (r:10)");
}

#[test]
fn a_later_decision_that_is_written_first_explains_a_decision() {
    let start = Recording::with(node("a", "12"));
    let recording = start.bind(20, 20, "web-2", "a").set(21, 21, node("b", "8001m")).bind(22, 22, "web-1", "a");
    assert_eq!(recording.explanation(), "before Pod shop/web-2 was bound (r:8)");
}

#[test]
fn a_decision_without_such_an_order_is_unexplained_and_the_state_is_restored() {
    let changed = Recording::new().set(20, 20, node("a", "12")).set(21, 21, node("b", "12"));
    let report = changed.bind(22, 22, "web-1", "unknown").bind(23, 23, "web-2", "a").replay();
    assert_eq!((report.explained, report.unexplained), (0, 1), "{report:#?}");
    // In the restored state, the nodes are equal.
    assert_eq!((report.counts[0].same_best, report.ties), (1, 1), "{report:#?}");
}

#[test]
fn changes_long_before_a_decision_do_not_explain_it() {
    let recording = Recording::new().set(20, 20, node("large", "64")).bind(6_000, 22, "web-1", "a");
    assert_eq!(recording.replay().unexplained, 1);
}

#[test]
fn a_replay_without_evaluations_left_reports_decisions_that_it_did_not_search() {
    let recording = Recording::new().set(20, 20, node("large", "64")).bind(22, 22, "web-1", "a");
    let bundle = AnyBundle::of::<default_profile::Profiles>();
    let mut cluster = bundle.cluster(Some(Overrides::NONE)).expect("plugins without settings start");
    let mut replay = Replay::new(&mut *cluster, &bundle, Routes::by_scheduler_name(bundle.profiles));
    replay.budget = 0;
    for line in recording.0 {
        let place = Place { file: "r".into(), line: 1 };
        replay.next(&place, Item::Line(serde_json::from_value(line).expect("a line"))).expect("a valid line");
    }
    let report = replay.finish().expect("valid objects");
    assert_eq!((report.explained, report.unexplained, report.not_searched), (0, 1, 1));
}
