//! Recordings of random changes of pods, read again.

#![allow(clippy::unwrap_used, reason = "a test that cannot continue panics")]

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};

use proptest::prelude::*;
use schedc_objects::AnyObject;
use schedc_recording::reader::Item;
use schedc_recording::{Anonymiser, Change, Entry, Limits, Reader, Session};
use serde_json::{Value, json};

/// The fields of a pod that change, in few variants.
#[derive(Clone, Debug, PartialEq)]
struct PodState {
    uid: u8,
    label: u8,
    is_deleted: bool,
    node: Option<u8>,
    status: Option<Option<u8>>,
}

impl PodState {
    fn message(&self) -> Option<String> {
        self.status.flatten().map(|number| format!("reason {number}"))
    }

    fn json(&self, name: u8) -> Value {
        let mut pod = json!({
            "apiVersion": "v1", "kind": "Pod",
            "metadata": {"name": format!("p{name}"), "namespace": "d", "uid": format!("u{}", self.uid),
                "creationTimestamp": "2026-01-01T00:00:00Z", "labels": {"a": format!("v{}", self.label)}},
            "spec": {"schedulerName": "s", "containers": [{"name": "c", "image": "i"}]},
        });
        if self.is_deleted {
            pod["metadata"]["deletionTimestamp"] = "2026-01-01T00:01:00Z".into();
        }
        if let Some(node) = self.node {
            pod["spec"]["nodeName"] = format!("n{node}").into();
        }
        if self.status.is_some() {
            pod["status"] = json!({"phase": "Pending"});
        }
        if let Some(message) = self.message() {
            let condition =
                json!({"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": message});
            pod["status"]["conditions"] = json!([condition]);
        }
        pod
    }

    /// Returns the node or the message of the decision between two states.
    fn decision(&self, before: &PodState) -> Option<String> {
        if self.uid != before.uid || before.node.is_some() {
            return None;
        }
        let node = self.node.map(|node| format!("n{node}"));
        node.or_else(|| self.message().filter(|message| before.message().as_ref() != Some(message)))
    }
}

fn state() -> impl Strategy<Value = PodState> {
    let (node, status) = (prop::option::of(0..2u8), prop::option::of(prop::option::of(0..2u8)));
    (0..2u8, 0..2u8, any::<bool>(), node, status).prop_map(|(uid, label, is_deleted, node, status)| PodState {
        uid,
        label,
        is_deleted,
        node,
        status,
    })
}

/// Records changes of pods, and returns the entries. A change has the name of the pod, its new state (`None` removes
/// the pod), and whether the file ends after the change.
fn record(changes: &[(u8, Option<PodState>, bool)], anonymiser: Option<Anonymiser>) -> Vec<Entry> {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    let name = format!("round-trip-{}-{}", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed));
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    let limits = Limits { file_size: 1, files: 1000 };
    let mut session = Session::start(&folder, limits, ["Pod"], anonymiser, 0).unwrap();
    session.record(0, Change::ListComplete { kind: "Pod", epoch: 1 }).unwrap();
    let object = |json: Value| AnyObject::from_json("v1", "Pod", json).unwrap().unwrap();
    for (name, state, ends_file) in changes {
        let change = match state {
            Some(state) => Change::Upsert(object(state.json(*name)), 1),
            None => Change::Removal(object(json!({"metadata": {"name": format!("p{name}"), "namespace": "d"}}))),
        };
        session.record(1, change).unwrap();
        if *ends_file {
            session.flush().unwrap();
        }
    }
    session.stop(2).unwrap();
    let mut reader = Reader::open(std::slice::from_ref(&folder)).unwrap();
    let mut entries = Vec::new();
    while let Some((_, Item::Line(line))) = reader.next_line().unwrap() {
        entries.push(line.entry);
    }
    fs::remove_dir_all(folder).unwrap();
    entries
}

/// Returns the changes and decisions in the entries as `(kind, content)`, without the snapshots at the beginning of
/// files.
fn changes_of(entries: &[Entry]) -> Vec<(&'static str, Value)> {
    let mut is_snapshot = false;
    let mut changes = Vec::new();
    for entry in entries {
        match entry {
            Entry::Recording(_) => is_snapshot = true,
            Entry::Synced(_) => is_snapshot = false,
            Entry::Set(object) if !is_snapshot => changes.push(("set", object.clone())),
            Entry::Delete(reference) => changes.push(("delete", json!(reference.name))),
            Entry::Bind(bind) => changes.push(("decision", json!([bind.scheduler, bind.node]))),
            Entry::Reject(reject) => changes.push(("decision", json!([reject.scheduler, reject.message]))),
            _ => {}
        }
    }
    changes
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(128) })]

    #[test]
    fn changes_and_decisions_are_read_in_their_order(
        changes in prop::collection::vec((0..2u8, prop::option::weighted(0.9, state()), prop::bool::weighted(0.2)), 0..20),
    ) {
        let (mut expected, mut states) = (Vec::new(), BTreeMap::<u8, PodState>::new());
        for (name, state, _) in &changes {
            let Some(state) = state else {
                expected.extend(states.remove(name).map(|_| ("delete", json!(format!("p{name}")))));
                continue;
            };
            let before = states.insert(*name, state.clone());
            if before.as_ref() != Some(state) {
                let decision = before.and_then(|before| state.decision(&before));
                expected.extend(decision.map(|decision| ("decision", json!(["s", decision]))));
                expected.push(("set", state.json(*name)));
            }
        }
        prop_assert_eq!(changes_of(&record(&changes, None)), expected.clone());
        let anonymised = record(&changes, Some(Anonymiser::default()));
        let kinds = |changes: Vec<(&'static str, Value)>| changes.into_iter().map(|(kind, _)| kind).collect::<Vec<_>>();
        prop_assert_eq!(kinds(changes_of(&anonymised)), kinds(expected));
        let text = serde_json::to_string(&anonymised).unwrap();
        prop_assert!(["\"p0\"", "\"u0\"", "\"n0\"", "\"v0\""].iter().all(|name| !text.contains(name)), "{}", text);
    }
}
