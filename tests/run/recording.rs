//! `schedc run --record`: its recordings are complete, and a disk without space does not stop the scheduler.

use std::collections::HashMap;
use std::path::Path;
use std::process::Command;

use schedc_recording::reader::Item;
use schedc_recording::{Entry, Line, Reader};
use serde_json::{Value, json};

use super::process::Scheduler;
use super::{NODES, PODS, TIMEOUT, bound, create_pods, pod, server, wait_until, wait_until_all_pods_are_bound_once};

/// Replays a recording. Returns the report; `None` before the first line is written.
fn replay(folder: &Path) -> Option<Value> {
    let output = Command::new(env!("CARGO_BIN_EXE_schedc")).arg("replay").arg(folder).args(["-o", "json"]).output();
    serde_json::from_slice(&output.expect("schedc starts").stdout).ok()
}

fn count(report: &Value, name: &str) -> u64 {
    report["agreement"][0][name].as_u64().unwrap_or_default()
}

/// A pod that spreads over zones, prefers a zone, and keeps away from pods of its group.
fn constrained(number: usize) -> Value {
    let mut pod = pod(number);
    let selector = json!({"matchLabels": {"group": (number % 3).to_string()}});
    pod["metadata"]["labels"] = selector["matchLabels"].clone();
    pod["spec"]["topologySpreadConstraints"] = json!([{
        "maxSkew": 1, "topologyKey": "zone", "whenUnsatisfiable": "DoNotSchedule", "labelSelector": selector,
    }]);
    pod["spec"]["affinity"] = json!({
        "nodeAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": [{"weight": 7, "preference": {
            "matchExpressions": [{"key": "zone", "operator": "In", "values": ["z1"]}]}}]},
        "podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [
            {"topologyKey": "kubernetes.io/hostname", "labelSelector": selector}]},
    });
    pod
}

#[test]
fn the_recording_of_a_scheduler_has_each_of_its_decisions() {
    const DECISIONS: usize = 15;
    let server = server();
    for number in 0..NODES {
        let labels = json!({"zone": format!("z{}", number % 3), "kubernetes.io/hostname": format!("n{number}")});
        server.merge(&format!("/api/v1/nodes/n{number}"), json!({"metadata": {"labels": labels}}));
    }
    let mut scheduler = Scheduler::start_recording(&server, None, &[]);
    let folder = scheduler.recording();
    // One pod at a time: bindings can overtake each other, and then the recorded state would differ from the
    // scheduler's.
    for number in 0..DECISIONS {
        server.create(constrained(number));
        wait_until(&server, &mut scheduler, "a pod is bound", |server| bound(server) == number + 1);
    }
    let mut large = pod(DECISIONS);
    large["spec"]["containers"][0]["resources"]["requests"]["cpu"] = "100".into();
    server.create(large);
    let is_complete =
        |report: &Value| count(report, "sameBest") == DECISIONS as u64 && count(report, "sameMessage") == 1;
    let recorded = server.wait(TIMEOUT, |_| replay(&folder).is_some_and(|report| is_complete(&report)));
    let report = replay(&folder);
    assert!(recorded, "{report:#?}\n{}", scheduler.output());
    assert_eq!(scheduler.terminate(), Some(0), "{}", scheduler.output());
    let report = replay(&folder).expect("a report");
    assert!(is_complete(&report), "{report:#}");
    assert_eq!((&report["disagreements"], &report["gaps"], &report["cut"]), (&json!([]), &json!(0), &Value::Null));
    assert_eq!(count(&report, "notJudged"), 0);
    assert_eq!(replay(&folder), Some(report), "two replays are equal");
}

#[test]
fn a_full_disk_ends_the_recording_and_not_the_scheduler() {
    let server = server();
    let mut scheduler = Scheduler::start_recording(&server, Some(2), &[]);
    let folder = scheduler.recording();
    create_pods(&server, 0..PODS / 2);
    let message = "Recording ends because it cannot be written";
    let is_reported = server.wait(TIMEOUT, |_| scheduler.output().contains(message));
    assert!(is_reported, "{}", scheduler.output());
    create_pods(&server, PODS / 2..PODS);
    wait_until_all_pods_are_bound_once(&server, &mut scheduler);
    assert_eq!(scheduler.terminate(), Some(0), "{}", scheduler.output());
    assert_eq!(scheduler.output().matches(message).count(), 1);
    let report = replay(&folder).expect("the recording is readable up to the error");
    assert_eq!(report["cut"].as_array().map(Vec::len), Some(1), "{report:#}");
}

#[test]
fn a_full_queue_is_a_repaired_gap_and_does_not_stop_the_scheduler() {
    let server = server();
    // The recording thread collects changes for some time before it writes them. Meanwhile, the scheduler receives more
    // changes than the queue holds.
    let mut scheduler = Scheduler::start_recording(&server, None, &["--record-queue=1"]);
    let folder = scheduler.recording();
    let is_synced = |report: &Value| report["objects"].as_u64() >= Some(NODES as u64);
    server.wait(TIMEOUT, |_| replay(&folder).is_some_and(|report| is_synced(&report)));
    create_pods(&server, 0..PODS);
    wait_until_all_pods_are_bound_once(&server, &mut scheduler);
    // The scheduler receives its own bindings after the server has stored them.
    let is_complete = server.wait(TIMEOUT, |_| last_objects(&folder) == (PODS, NODES));
    assert!(is_complete, "the last forms of all objects are recorded: {:?}", last_objects(&folder));
    assert_eq!(scheduler.terminate(), Some(0), "{}", scheduler.output());
    assert!(scheduler.output().contains("Recording has a gap"), "{}", scheduler.output());
    let report = replay(&folder).expect("a report");
    assert!(report["gaps"].as_u64() > Some(0), "{report:#}");
    assert_eq!((&report["gaps"], &report["cut"]), (&report["repaired"], &Value::Null), "{report:#}");
}

/// Returns the numbers of bound pods and of nodes after the last line of a recording.
fn last_objects(folder: &Path) -> (usize, usize) {
    let mut reader = Reader::open(&[folder.to_owned()]).expect("a recording");
    let mut objects = HashMap::new();
    // `Item::Cut` ends the loop: it is the end of what the scheduler has written so far.
    while let Some((_, Item::Line(Line { entry, .. }))) = reader.next_line().expect("a line") {
        if let Entry::Set(object) = entry {
            objects.insert(object["metadata"]["name"].to_string(), object);
        }
    }
    let pods = objects.values().filter(|object| object["spec"]["nodeName"].is_string());
    (pods.count(), objects.values().filter(|object| object["kind"] == "Node").count())
}
