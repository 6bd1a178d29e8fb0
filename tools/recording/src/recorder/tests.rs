use expect_test::expect;
use schedc_objects::AnyObject;
use schedc_objects::testing::api_object;

use super::*;
use crate::{Change, Converter};

impl Recorder {
    fn record_change(&mut self, at: i64, change: Change) -> Vec<Line> {
        self.record(at, Converter::default().convert(change).unwrap())
    }
}

/// Formats lines, one per line.
fn text(lines: Vec<Line>) -> String {
    lines.iter().map(|line| serde_json::to_string(line).unwrap() + "\n").collect()
}

fn node(name: &str) -> AnyObject {
    api_object(&format!("{{kind: Node, metadata: {{name: {name}}}}}"))
}

fn pod(rest: &str) -> AnyObject {
    api_object(&format!("{{kind: Pod, metadata: {{name: p, namespace: d, uid: u}}, {rest}}}"))
}

/// Returns a recorder of nodes and pods after its first lists, with a node and a pending pod.
fn synced() -> Recorder {
    let mut recorder = Recorder::new(["Node", "Pod"]);
    recorder.record_change(1, Change::Upsert(node("n1"), 1));
    recorder.record_change(1, Change::Upsert(pod("spec: {schedulerName: s, containers: []}"), 1));
    recorder.record_change(1, Change::ListComplete { kind: "Node", epoch: 1 });
    recorder.record_change(1, Change::ListComplete { kind: "Pod", epoch: 1 });
    recorder
}

#[test]
fn the_first_lists_are_a_snapshot() {
    let mut recorder = Recorder::new(["Node", "Pod"]);
    let mut lines = recorder.record_change(1, Change::Upsert(node("n1"), 1));
    lines.extend(recorder.record_change(2, Change::ListComplete { kind: "Node", epoch: 1 }));
    assert!(!recorder.is_synced());
    lines.extend(recorder.record_change(3, Change::ListComplete { kind: "Pod", epoch: 1 }));
    assert!(recorder.is_synced());
    expect![[r#"
        {"at":1,"set":{"apiVersion":"v1","kind":"Node","metadata":{"name":"n1"}}}
        {"at":3,"synced":{"objects":1}}
    "#]]
    .assert_eq(&text(lines));
    assert_eq!(text(recorder.snapshot(4).collect()).lines().count(), 2);
}

#[test]
fn decisions_precede_the_changed_pods() {
    let mut recorder = synced();
    let rejected = "spec: {schedulerName: s, containers: []}, status: {conditions: [{type: PodScheduled, status: 'False', \
                    reason: Unschedulable, message: no node}]}";
    let mut lines = recorder.record_change(2, Change::Upsert(pod(rejected), 1));
    lines.extend(recorder.record_change(3, Change::Upsert(pod(rejected), 1)));
    lines.extend(
        recorder.record_change(4, Change::Upsert(pod("spec: {schedulerName: s, nodeName: n1, containers: []}"), 1)),
    );
    lines.extend(recorder.record_change(5, Change::Removal(pod("spec: {containers: []}"))));
    expect![[r#"
        {"at":2,"reject":{"namespace":"d","name":"p","scheduler":"s","message":"no node"}}
        {"at":2,"pod":{"namespace":"d","name":"p","status":{"conditions":[{"message":"no node","reason":"Unschedulable","status":"False","type":"PodScheduled"}]}}}
        {"at":4,"bind":{"namespace":"d","name":"p","scheduler":"s","node":"n1"}}
        {"at":4,"pod":{"namespace":"d","name":"p","node":"n1"}}
        {"at":5,"delete":{"kind":"Pod","namespace":"d","name":"p"}}
    "#]]
    .assert_eq(&text(lines));
}

#[test]
fn a_second_list_marks_and_repairs_a_gap() {
    let mut recorder = synced();
    let mut lines = recorder.record_change(2, Change::Upsert(node("n2"), 2));
    lines.extend(recorder.record_change(3, Change::ListComplete { kind: "Node", epoch: 2 }));
    expect![[r#"
        {"at":2,"gap":{"kind":"Node"}}
        {"at":2,"set":{"apiVersion":"v1","kind":"Node","metadata":{"name":"n2"}}}
        {"at":3,"delete":{"kind":"Node","name":"n1"}}
        {"at":3,"repaired":{"kind":"Node"}}
    "#]]
    .assert_eq(&text(lines));
}

#[test]
fn a_pod_of_the_same_name_is_another_pod() {
    let mut recorder = synced();
    let other =
        api_object("{kind: Pod, metadata: {name: p, namespace: d, uid: v}, spec: {nodeName: n1, containers: []}}");
    let lines = recorder.record_change(2, Change::Upsert(other, 1));
    assert!(lines.iter().all(|line| matches!(line.entry, Entry::Template(_) | Entry::Pod(_))), "{lines:?}");
}

#[test]
fn a_merged_backlog_is_a_repaired_gap_of_its_kinds() {
    let mut recorder = synced();
    let mut lines = recorder.begin_backlog(2, BTreeSet::from(["Node"]));
    assert!(!recorder.is_repaired());
    lines.extend(recorder.record_change(2, Change::Upsert(node("n2"), 1)));
    lines.extend(recorder.end_backlog(3));
    assert!(recorder.is_repaired());
    expect![[r#"
        {"at":2,"gap":{"kind":"Node"}}
        {"at":2,"set":{"apiVersion":"v1","kind":"Node","metadata":{"name":"n2"}}}
        {"at":3,"repaired":{"kind":"Node"}}
    "#]]
    .assert_eq(&text(lines));
}

#[test]
fn a_backlog_with_a_part_of_the_next_list_stays_a_gap() {
    let mut recorder = synced();
    let mut lines = recorder.begin_backlog(2, BTreeSet::from(["Node"]));
    // The third list has n2 so far; of the second one, which is complete, only its end remains.
    lines.extend(recorder.record_change(2, Change::Upsert(node("n2"), 3)));
    lines.extend(recorder.record_change(2, Change::ListComplete { kind: "Node", epoch: 2 }));
    lines.extend(recorder.end_backlog(3));
    assert!(!recorder.is_repaired());
    lines.extend(recorder.record_change(4, Change::ListComplete { kind: "Node", epoch: 3 }));
    assert!(recorder.is_repaired());
    expect![[r#"
        {"at":2,"gap":{"kind":"Node"}}
        {"at":2,"set":{"apiVersion":"v1","kind":"Node","metadata":{"name":"n2"}}}
        {"at":2,"delete":{"kind":"Node","name":"n1"}}
        {"at":4,"repaired":{"kind":"Node"}}
    "#]]
    .assert_eq(&text(lines));
}

#[test]
fn a_backlog_before_the_first_lists_are_complete_is_no_gap() {
    let mut recorder = Recorder::new(["Node"]);
    let mut lines = recorder.begin_backlog(1, BTreeSet::from(["Node"]));
    lines.extend(recorder.record_change(1, Change::Upsert(node("n1"), 1)));
    lines.extend(recorder.record_change(1, Change::ListComplete { kind: "Node", epoch: 1 }));
    lines.extend(recorder.end_backlog(1));
    assert!(recorder.is_repaired());
    assert_eq!(lines.len(), 2, "{lines:?}");
}

#[test]
fn changes_and_their_decisions_have_resource_versions() {
    let mut recorder = synced();
    let bound = api_object(
        "{kind: Pod, metadata: {name: p, namespace: d, uid: u, resourceVersion: '12'}, spec: {schedulerName: s, nodeName: n1, containers: []}}",
    );
    let mut lines = recorder.record_change(2, Change::Upsert(bound.clone(), 1));
    // A server deletes an object with a new version.
    lines.extend(recorder.record_change(
        3,
        Change::Removal(api_object("{kind: Pod, metadata: {name: p, namespace: d, uid: u, resourceVersion: '14'}}")),
    ));
    expect![[r#"
        {"at":2,"rv":12,"bind":{"namespace":"d","name":"p","scheduler":"s","node":"n1"}}
        {"at":2,"rv":12,"pod":{"namespace":"d","name":"p","node":"n1"}}
        {"at":3,"rv":14,"delete":{"kind":"Pod","namespace":"d","name":"p"}}
    "#]]
    .assert_eq(&text(lines));
}
