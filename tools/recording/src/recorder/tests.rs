use expect_test::expect;
use schedc_objects::AnyObject;
use schedc_objects::testing::api_object;

use super::*;
use crate::{Change, Converter};

/// A recorder with its formatted lines.
struct Recording {
    recorder: Recorder,
    lines: Lines,
}

impl Recording {
    fn new(kinds: &[&'static str]) -> Recording {
        Recording { recorder: Recorder::new(kinds.iter().copied()), lines: Lines::new(None) }
    }

    fn record(&mut self, at: i64, change: Change) {
        let change = Converter::default().convert(change).unwrap();
        self.recorder.record(at, change, &mut self.lines).unwrap();
    }

    fn begin_backlog(&mut self, at: i64) {
        self.recorder.begin_backlog(at, BTreeSet::from(["Node"]), &mut self.lines).unwrap();
    }

    fn end_backlog(&mut self, at: i64) {
        self.recorder.end_backlog(at, &mut self.lines).unwrap();
    }

    /// Returns the lines since the last call.
    fn text(&mut self) -> String {
        String::from_utf8(std::mem::take(self.lines.text())).unwrap()
    }
}

fn node(name: &str) -> AnyObject {
    api_object(&format!("{{kind: Node, metadata: {{name: {name}}}}}"))
}

fn pod(rest: &str) -> AnyObject {
    api_object(&format!("{{kind: Pod, metadata: {{name: p, namespace: d, uid: u}}, {rest}}}"))
}

/// Returns a recorder of nodes and pods after its first lists, with a node and a pending pod.
fn synced() -> Recording {
    let mut recorder = Recording::new(&["Node", "Pod"]);
    recorder.record(1, Change::Upsert(node("n1"), 1));
    recorder.record(1, Change::Upsert(pod("spec: {schedulerName: s, containers: []}"), 1));
    recorder.record(1, Change::ListComplete { kind: "Node", epoch: 1 });
    recorder.record(1, Change::ListComplete { kind: "Pod", epoch: 1 });
    recorder.text();
    recorder
}

#[test]
fn the_first_lists_are_a_snapshot() {
    let mut recorder = Recording::new(&["Node", "Pod"]);
    recorder.record(1, Change::Upsert(node("n1"), 1));
    recorder.record(2, Change::ListComplete { kind: "Node", epoch: 1 });
    assert!(!recorder.recorder.is_synced());
    recorder.record(3, Change::ListComplete { kind: "Pod", epoch: 1 });
    assert!(recorder.recorder.is_synced());
    expect![[r#"
        {"at":1,"set":{"apiVersion":"v1","kind":"Node","metadata":{"name":"n1"}}}
        {"at":3,"synced":{"objects":1}}
    "#]]
    .assert_eq(&recorder.text());
    let Recording { recorder: recorded, lines } = &mut recorder;
    recorded.snapshot(4, lines, |_| Ok(())).unwrap();
    assert_eq!(recorder.text().lines().count(), 2);
}

#[test]
fn lines_of_a_pod_have_its_changed_fields_and_decisions() {
    let mut recorder = synced();
    let rejected = "spec: {schedulerName: s, containers: []}, status: {conditions: [{type: PodScheduled, status: 'False', \
                    reason: Unschedulable, message: no node}]}";
    recorder.record(2, Change::Upsert(pod(rejected), 1));
    recorder.record(3, Change::Upsert(pod(rejected), 1));
    let bound = "spec: {schedulerName: s, nodeName: n1, containers: []}";
    recorder.record(4, Change::Upsert(pod(&format!("{bound}, status: {{phase: Pending}}")), 1));
    // A line with a template replaces all fields.
    recorder.record(5, Change::Upsert(pod(bound), 1));
    recorder.record(6, Change::Removal(pod("spec: {containers: []}")));
    expect![[r#"
        {"at":2,"pod":{"namespace":"d","name":"p","decision":"reject","status":{"conditions":[{"message":"no node","reason":"Unschedulable","status":"False","type":"PodScheduled"}]}}}
        {"at":4,"pod":{"namespace":"d","name":"p","node":"n1","decision":"bind","status":{"phase":"Pending"}}}
        {"at":5,"pod":{"template":0,"namespace":"d","name":"p","uid":"u","node":"n1"}}
        {"at":6,"delete":{"kind":"Pod","namespace":"d","name":"p"}}
    "#]]
    .assert_eq(&recorder.text());
}

#[test]
fn a_second_list_marks_and_repairs_a_gap() {
    let mut recorder = synced();
    recorder.record(2, Change::Upsert(node("n2"), 2));
    recorder.record(3, Change::ListComplete { kind: "Node", epoch: 2 });
    expect![[r#"
        {"at":2,"gap":{"kind":"Node"}}
        {"at":2,"set":{"apiVersion":"v1","kind":"Node","metadata":{"name":"n2"}}}
        {"at":3,"delete":{"kind":"Node","name":"n1"}}
        {"at":3,"repaired":{"kind":"Node"}}
    "#]]
    .assert_eq(&recorder.text());
}

#[test]
fn a_pod_of_the_same_name_is_another_pod() {
    let mut recorder = synced();
    let other =
        api_object("{kind: Pod, metadata: {name: p, namespace: d, uid: v}, spec: {nodeName: n1, containers: []}}");
    recorder.record(2, Change::Upsert(other, 1));
    expect![[r#"
        {"at":2,"template":{"number":1,"pod":{"apiVersion":"v1","kind":"Pod","metadata":{},"spec":{"containers":[]}}}}
        {"at":2,"pod":{"template":1,"namespace":"d","name":"p","uid":"v","node":"n1"}}
    "#]]
    .assert_eq(&recorder.text());
}

#[test]
fn a_merged_backlog_is_a_repaired_gap_of_its_kinds() {
    let mut recorder = synced();
    recorder.begin_backlog(2);
    assert!(!recorder.recorder.is_repaired());
    recorder.record(2, Change::Upsert(node("n2"), 1));
    recorder.end_backlog(3);
    assert!(recorder.recorder.is_repaired());
    expect![[r#"
        {"at":2,"gap":{"kind":"Node"}}
        {"at":2,"set":{"apiVersion":"v1","kind":"Node","metadata":{"name":"n2"}}}
        {"at":3,"repaired":{"kind":"Node"}}
    "#]]
    .assert_eq(&recorder.text());
}

#[test]
fn a_backlog_with_a_part_of_the_next_list_stays_a_gap() {
    let mut recorder = synced();
    recorder.begin_backlog(2);
    // Of the third list, only n2 has arrived. The end of the second list is merged after it.
    recorder.record(2, Change::Upsert(node("n2"), 3));
    recorder.record(2, Change::ListComplete { kind: "Node", epoch: 2 });
    recorder.end_backlog(3);
    assert!(!recorder.recorder.is_repaired());
    recorder.record(4, Change::ListComplete { kind: "Node", epoch: 3 });
    assert!(recorder.recorder.is_repaired());
    expect![[r#"
        {"at":2,"gap":{"kind":"Node"}}
        {"at":2,"set":{"apiVersion":"v1","kind":"Node","metadata":{"name":"n2"}}}
        {"at":2,"delete":{"kind":"Node","name":"n1"}}
        {"at":4,"repaired":{"kind":"Node"}}
    "#]]
    .assert_eq(&recorder.text());
}

#[test]
fn a_backlog_before_the_first_lists_are_complete_is_no_gap() {
    let mut recorder = Recording::new(&["Node"]);
    recorder.begin_backlog(1);
    recorder.record(1, Change::Upsert(node("n1"), 1));
    recorder.record(1, Change::ListComplete { kind: "Node", epoch: 1 });
    recorder.end_backlog(1);
    assert!(recorder.recorder.is_repaired());
    let text = recorder.text();
    assert_eq!(text.lines().count(), 2, "{text}");
}

#[test]
fn changes_and_their_decisions_have_resource_versions() {
    let mut recorder = synced();
    let bound = api_object(
        "{kind: Pod, metadata: {name: p, namespace: d, uid: u, resourceVersion: '12'}, spec: {schedulerName: s, nodeName: n1, containers: []}}",
    );
    recorder.record(2, Change::Upsert(bound.clone(), 1));
    // A deletion gives the object a new resource version.
    recorder.record(
        3,
        Change::Removal(api_object("{kind: Pod, metadata: {name: p, namespace: d, uid: u, resourceVersion: '14'}}")),
    );
    expect![[r#"
        {"at":2,"rv":12,"pod":{"namespace":"d","name":"p","node":"n1","decision":"bind"}}
        {"at":3,"rv":14,"delete":{"kind":"Pod","namespace":"d","name":"p"}}
    "#]]
    .assert_eq(&recorder.text());
}
