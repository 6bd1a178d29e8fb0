//! Replays of recordings during which the queue of the recorder was full.

use std::time::{Duration, Instant};

use schedc_core::extenders::Overrides;
use schedc_objects::AnyObject;
use schedc_recording::queue::{Batch, Capacity, Queue};
use schedc_recording::{Change, Converter, Limits, Reader, Session};

use super::*;

/// Returns the object of a line.
fn object(line: &Value) -> AnyObject {
    let object = &line["set"];
    let text = |field: &str| object[field].as_str().unwrap_or_default();
    let read = AnyObject::from_json(text("apiVersion"), text("kind"), object.clone());
    read.expect("a valid object").expect("a known kind")
}

#[test]
fn decisions_in_a_merged_backlog_are_not_compared_and_later_ones_are() {
    let folder = std::env::temp_dir().join(format!("schedc-backlog-{}", std::process::id()));
    let limits = Limits { file_size: 1 << 20, files: 2 };
    let mut session = Session::start(&folder, limits, ["Node", "Pod"], None, 0).expect("a folder");
    let queue = Queue::new(Capacity { changes: 6, merged: 100 });
    let push = |at, change| queue.push(at, Converter::default().convert(change).expect("JSON"));
    let all = lines();
    for line in &all[1..5] {
        push(1, Change::Upsert(object(line), 1));
    }
    for kind in ["Node", "Pod"] {
        push(1, Change::ListComplete { kind, epoch: 1 });
    }
    // The queue is full: a node is replaced and a pod is bound, in an unknown order.
    let mut replaced = all[2].clone();
    replaced["set"]["status"]["allocatable"]["cpu"] = "1".into();
    let mut bound = all[7].clone();
    bound["set"]["status"] = json!({});
    for line in [&replaced, &bound] {
        push(2, Change::Upsert(object(line), 1));
    }
    let mut batch = Batch::default();
    queue.take(&mut batch, Some(Instant::now()), Duration::ZERO);
    session.record_batch(3, &mut batch).expect("a recording");
    // A later pod is bound to the node with more capacity.
    let mut later = all[3].clone();
    later["set"]["metadata"] = json!({"name": "later", "namespace": "d", "uid": "u9"});
    later["set"]["status"] = json!({});
    session.record(4, Change::Upsert(object(&later), 1)).expect("a recording");
    later["set"]["spec"]["nodeName"] = "n1".into();
    session.record(5, Change::Upsert(object(&later), 1)).expect("a recording");
    session.stop(6).expect("a recording");

    let bundle = AnyBundle::of::<default_profile::Profiles>();
    let mut cluster = bundle.cluster(Some(Overrides::NONE)).expect("plugins without settings start");
    let mut replay = Replay::new(&mut *cluster, &bundle, Routes::by_scheduler_name(bundle.profiles));
    let mut reader = Reader::open(std::slice::from_ref(&folder)).expect("a recording");
    while let Some((place, item)) = reader.next_line().expect("valid lines") {
        replay.next(&place, item).expect("valid objects");
    }
    let report = replay.finish().expect("valid objects");
    let counts = report.counts[0];
    assert_eq!((report.gaps, report.repaired, counts.not_judged), (2, 2, 1), "{report:?}");
    assert_eq!((counts.same_best, counts.bound()), (1, 1), "{report:?}");
    let _ = std::fs::remove_dir_all(folder);
}
