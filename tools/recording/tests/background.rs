//! Recordings on a thread: completeness, merged backlogs and errors of the disk.

#![allow(clippy::unwrap_used, reason = "a test that cannot continue panics")]

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::mpsc::channel;
use std::time::{Duration, Instant};

use schedc_objects::AnyObject;
use schedc_objects::testing::api_object;
use schedc_recording::background::Settings;
use schedc_recording::entry::Entry;
use schedc_recording::queue::{Batch, Capacity, Queue};
use schedc_recording::reader::Item;
use schedc_recording::{Background, Change, Converter, Limits, Problem, Reader, Session};

const LIMITS: Limits = Limits { file_size: 1 << 20, files: 3 };
const CAPACITY: Capacity = Capacity { changes: 4, merged: 1000 };

/// A folder that is removed at the end of a test.
struct Folder(PathBuf);

impl Folder {
    fn new() -> Folder {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let name = format!("background-{}-{}", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed));
        Folder(PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name))
    }

    fn session(&self, limits: Limits) -> Session {
        Session::start(&self.0, limits, ["Node"], None, 0).unwrap()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn node(name: usize, label: usize) -> AnyObject {
    api_object(&format!("{{kind: Node, metadata: {{name: n{name}, labels: {{a: 'v{label}'}}}}}}"))
}

const LISTED: Change = Change::ListComplete { kind: "Node", epoch: 1 };

fn entries(folder: &Path) -> Vec<Entry> {
    let mut reader = Reader::open(&[folder.to_owned()]).unwrap();
    let mut entries = Vec::new();
    while let Some((_, item)) = reader.next_line().unwrap() {
        match item {
            Item::Line(line) => entries.push(line.entry),
            Item::Cut => panic!("the recording is cut"),
        }
    }
    entries
}

/// Returns the label of each node after the last line.
fn last_state(entries: &[Entry]) -> BTreeMap<String, String> {
    let mut state = BTreeMap::new();
    for entry in entries {
        match entry {
            Entry::Set(object) => {
                let text = |pointer: &str| object.pointer(pointer).unwrap().as_str().unwrap().to_owned();
                state.insert(text("/metadata/name"), text("/metadata/labels/a"));
            }
            Entry::Delete(reference) => drop(state.remove(&reference.name)),
            Entry::Recording(_) => state.clear(),
            _ => {}
        }
    }
    state
}

fn count(entries: &[Entry], is_counted: fn(&Entry) -> bool) -> usize {
    entries.iter().filter(|entry| is_counted(entry)).count()
}

#[test]
fn a_recording_with_enough_capacity_has_every_change() {
    let folder = Folder::new();
    let recording = Background::start(folder.session(LIMITS), Settings::default(), |problem| panic!("{problem:?}"));
    let recording = recording.unwrap();
    recording.record(LISTED);
    (0..1000).for_each(|number| recording.record(Change::Upsert(node(number % 10, number), 1)));
    assert!(recording.stop());
    let entries = entries(&folder.0);
    assert_eq!(count(&entries, |entry| matches!(entry, Entry::Set(_))), 1000);
    assert_eq!(count(&entries, |entry| matches!(entry, Entry::Gap(_))), 0);
}

#[test]
fn a_backlog_is_a_gap_that_ends_in_the_last_state() {
    let folder = Folder::new();
    let mut session = folder.session(LIMITS);
    let queue = Queue::new(CAPACITY);
    let push = |at, change| queue.push(at, Converter::default().convert(change).unwrap());
    push(0, LISTED);
    for number in 0..20 {
        push(1, Change::Upsert(node(number, 0), 1));
    }
    push(2, Change::Removal(node(7, 0)));
    push(3, Change::Upsert(node(9, 5), 1));
    let mut batch = Batch::default();
    queue.take(&mut batch, Some(Instant::now()), Duration::ZERO);
    assert!(session.record_batch(4, &mut batch).unwrap());
    session.record(5, Change::Upsert(node(30, 1), 1)).unwrap();
    session.stop(6).unwrap();
    let entries = entries(&folder.0);
    let gaps = count(&entries, |entry| matches!(entry, Entry::Gap(_)));
    assert_eq!((gaps, count(&entries, |entry| matches!(entry, Entry::Repaired(_)))), (1, 1));
    let state = last_state(&entries);
    assert_eq!(state.len(), 20);
    assert_eq!((state.get("n7"), state["n9"].as_str(), state["n30"].as_str()), (None, "v5", "v1"));
}

/// The thread may or may not keep up: in both cases the recording ends in the last state, and each gap is repaired.
#[test]
fn a_small_queue_loses_no_object() {
    let folder = Folder::new();
    let limits = Limits { file_size: 1 << 10, files: 1000 };
    let settings = Settings { capacity: CAPACITY, pause: Duration::from_millis(1), ..Settings::default() };
    let recording = Background::start(folder.session(limits), settings, |problem| {
        assert!(matches!(problem, Problem::Gap), "{problem:?}");
    });
    let recording = recording.unwrap();
    recording.record(LISTED);
    let mut expected = BTreeMap::new();
    for number in 0..3000 {
        let name = number * 7 % 100;
        if number % 5 == 0 {
            expected.remove(&format!("n{name}"));
            recording.record(Change::Removal(node(name, 0)));
        } else {
            expected.insert(format!("n{name}"), format!("v{number}"));
            recording.record(Change::Upsert(node(name, number), 1));
        }
    }
    assert!(recording.stop());
    let entries = entries(&folder.0);
    assert_eq!(last_state(&entries), expected);
    let gaps = count(&entries, |entry| matches!(entry, Entry::Gap(_)));
    assert_eq!(gaps, count(&entries, |entry| matches!(entry, Entry::Repaired(_))));
}

#[test]
fn an_error_of_the_disk_is_reported_once_and_ends_the_recording() {
    let folder = Folder::new();
    // The next file cannot be created in a folder that no longer exists.
    let session = folder.session(Limits { file_size: 0, files: 2 });
    fs::remove_dir_all(&folder.0).unwrap();
    let (sender, problems) = channel();
    let settings = Settings { pause: Duration::ZERO, flush_interval: Duration::ZERO, ..Settings::default() };
    let recording = Background::start(session, settings, move |problem| sender.send(problem).unwrap()).unwrap();
    recording.record(LISTED);
    assert!(matches!(problems.recv().unwrap(), Problem::Ended(_)));
    (0..100_000).for_each(|_| recording.record(LISTED));
    assert!(recording.stop());
    assert!(problems.recv().is_err(), "reported once");
}

#[test]
fn a_dropped_recording_ends_with_its_last_lines() {
    let folder = Folder::new();
    let recording = Background::start(folder.session(LIMITS), Settings::default(), |problem| panic!("{problem:?}"));
    let recording = recording.unwrap();
    recording.record(LISTED);
    drop(recording);
    assert!(matches!(entries(&folder.0).last(), Some(Entry::End(_))));
}

#[test]
fn pods_of_one_template_are_read_as_whole_objects() {
    let pod = |name: usize, rest: &str| {
        api_object(&format!(
            "{{kind: Pod, metadata: {{name: p{name}, namespace: d, uid: u{name}, creationTimestamp: '2026-01-01T00:00:0{name}Z', \
             labels: {{app: web}}}}, spec: {{{rest}schedulerName: s, containers: [{{name: c, image: i}}]}}, status: {{phase: Pending}}}}"
        ))
    };
    let folder = Folder::new();
    // Each file begins with a snapshot, in which the templates have other numbers.
    let limits = Limits { file_size: 1, files: 100 };
    let mut session = Session::start(&folder.0, limits, ["Pod"], None, 0).unwrap();
    let mut expected = Vec::new();
    let mut changes = vec![Change::ListComplete { kind: "Pod", epoch: 1 }];
    for (name, rest) in [(1, ""), (2, ""), (3, "priority: 7, "), (1, "nodeName: n1, "), (3, "priority: 8, ")] {
        expected.push(pod(name, rest).to_json().unwrap());
        changes.push(Change::Upsert(pod(name, rest), 1));
    }
    for (at, change) in (0..).zip(changes) {
        session.record(at, change).unwrap();
        session.flush().unwrap();
    }
    session.stop(9).unwrap();
    let entries = entries(&folder.0);
    let objects: Vec<_> =
        entries.iter().filter_map(|entry| if let Entry::Set(object) = entry { Some(object) } else { None }).collect();
    assert!(expected.iter().all(|object| objects.contains(&object)), "{objects:#?}");
    assert!(objects.iter().all(|object| expected.contains(object)), "{objects:#?}");
    assert!(objects.len() > expected.len(), "snapshots repeat pods");
    assert_eq!(
        count(&entries, |entry| matches!(entry, Entry::Bind(bind) if bind.name == "p1" && bind.node == "n1")),
        1
    );
}
