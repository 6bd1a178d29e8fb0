//! Replays of lines that a recorder did not write.

use std::sync::Arc;

use proptest::prelude::*;
use schedc_core::extenders::Overrides;
use serde_json::{Value, json};

use super::*;

mod anonymised;
mod backlog;
mod orders;

/// Returns the lines of a valid recording.
fn lines() -> Vec<Value> {
    let node = |name: &str, cpu: &str| {
        json!({"at": 1, "set": {"apiVersion": "v1", "kind": "Node", "metadata": {"name": name},
            "status": {"allocatable": {"cpu": cpu, "memory": "8Gi", "pods": "10"}}}})
    };
    let pod = |name: &str, uid: &str, node: Option<&str>| {
        json!({"at": 2, "set": {"apiVersion": "v1", "kind": "Pod",
            "metadata": {"name": name, "namespace": "d", "uid": uid, "labels": {"app": "web"}},
            "spec": {"nodeName": node, "schedulerName": "default-scheduler", "containers": [
                {"name": "c", "image": "i", "resources": {"requests": {"cpu": "1"}}}]},
            "status": {"nominatedNodeName": "n2"}}})
    };
    let decision = |name: &str| json!({"namespace": "d", "name": name, "scheduler": "default-scheduler"});
    let (mut bind, mut reject) = (decision("p"), decision("q"));
    bind["node"] = "n1".into();
    reject["message"] = "no node".into();
    vec![
        json!({"at": 0, "recording": {"version": 1, "begin": "start", "schedc": "0"}}),
        node("n1", "4"),
        node("n2", "2"),
        pod("p", "u1", None),
        pod("q", "u2", None),
        json!({"at": 2, "synced": {"objects": 4}}),
        json!({"at": 3, "bind": bind}),
        pod("p", "u1", Some("n1")),
        json!({"at": 4, "reject": reject}),
        json!({"at": 5, "gap": {"kind": "Node"}}),
        json!({"at": 5, "repaired": {"kind": "Node"}}),
        json!({"at": 6, "delete": {"kind": "Node", "name": "n1"}}),
        json!({"at": 6, "delete": {"kind": "Pod", "namespace": "d", "name": "p"}}),
        pod("p", "u2", Some("n3")),
        json!({"at": 9, "end": "stop"}),
    ]
}

/// Replays lines up to the first error.
fn replay(texts: impl Iterator<Item = String>) -> Result<Report, ReadError> {
    let bundle = AnyBundle::of::<default_profile::Profiles>();
    let mut cluster = bundle.cluster(Some(Overrides::NONE)).expect("plugins without settings start");
    let mut replay = Replay::new(&mut *cluster, &bundle, Routes::by_scheduler_name(bundle.profiles));
    let file: Arc<str> = "r".into();
    for (text, line) in texts.zip(1..) {
        let place = Place { file: file.clone(), line };
        let Ok(parsed) = serde_json::from_str(&text) else {
            return Err(ReadError { place, message: "no line".to_owned() });
        };
        replay.next(&place, Item::Line(parsed))?;
    }
    replay.finish()
}

#[test]
fn each_decision_is_compared_in_the_state_before_it() {
    let report = replay(lines().iter().map(Value::to_string)).expect("a valid recording");
    let counts = report.counts[0];
    // The first pod is nominated for the other node, which has less capacity.
    assert_eq!((counts.bound(), counts.fits, counts.not_judged), (1, 1, 0));
    assert_eq!((report.gaps, report.repaired, report.objects), (1, 1, 4));
}

/// A claim for one device, which each of two nodes has. kube-scheduler allocates the device of n1 before it binds the pod.
#[test]
fn pods_are_evaluated_before_their_claims_are_allocated() {
    let set = |object: Value| json!({"at": 2, "set": object});
    let object = |kind: &str, name: &str, spec: Value| json!({"apiVersion": "resource.k8s.io/v1", "kind": kind, "metadata": {"name": name}, "spec": spec});
    let slice = |node: &str| {
        object(
            "ResourceSlice",
            node,
            json!({"driver": "d.example.com", "nodeName": node, "devices": [{"name": "gpu"}],
            "pool": {"name": node, "generation": 1, "resourceSliceCount": 1}}),
        )
    };
    let mut claim = object(
        "ResourceClaim",
        "c",
        json!({"devices": {"requests": [
        {"name": "gpu", "exactly": {"deviceClassName": "gpu", "allocationMode": "ExactCount", "count": 1}}]}}),
    );
    claim["metadata"]["namespace"] = "d".into();
    claim["metadata"]["uid"] = "c1".into();
    let mut allocated = claim.clone();
    allocated["status"] = json!({
        "reservedFor": [{"resource": "pods", "name": "p", "uid": "u1"}],
        "allocation": {
            "devices": {"results": [{"request": "gpu", "driver": "d.example.com", "pool": "n1", "device": "gpu"}]},
            "nodeSelector": {"nodeSelectorTerms": [
                {"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["n1"]}]}]},
        },
    });
    let mut all = lines();
    all[3]["set"]["spec"]["resourceClaims"] = json!([{"name": "gpu", "resourceClaimName": "c"}]);
    all[3]["set"]["spec"]["containers"][0]["resources"]["claims"] = json!([{"name": "gpu"}]);
    all[3]["set"]["status"] = json!({});
    let bound = |node: &str, before: &[Value]| {
        let mut all = all.clone();
        all[6]["bind"]["node"] = node.into();
        all.truncate(7);
        all.splice(6..6, before.iter().cloned());
        let devices = [object("DeviceClass", "gpu", json!({})), slice("n1"), slice("n2"), claim.clone()];
        devices.into_iter().for_each(|object| all.insert(1, set(object)));
        replay(all.iter().map(Value::to_string)).expect("a valid recording").counts[0]
    };
    let written = set(allocated);
    let allocated = std::slice::from_ref(&written);
    let (first, second) = (bound("n1", allocated), bound("n2", allocated));
    assert_eq!((first.same_best, first.infeasible), (1, 0), "{first:?}");
    assert_eq!((second.lower_score, second.infeasible), (1, 0), "n2 was feasible, with a lower total: {second:?}");
    // The binding fails, the reservation is removed, and n1 goes away: the next attempt is evaluated again.
    let gone = json!({"at": 3, "delete": {"kind": "Node", "name": "n1"}});
    let again = bound("n2", &[written.clone(), set(claim.clone()), gone]);
    assert_eq!((again.same_best, again.lower_score), (1, 0), "{again:?}");
}

#[test]
fn decisions_are_not_compared_in_a_gap_or_a_snapshot() {
    let mut all = lines();
    all.swap(8, 9);
    let report = replay(all.iter().map(Value::to_string)).expect("a valid recording");
    assert_eq!((report.counts[0].unschedulable(), report.counts[0].not_judged), (0, 1));
    let unsynced = lines().into_iter().filter(|line| line["synced"].is_null());
    let report = replay(unsynced.map(|line| line.to_string())).expect("a valid recording");
    assert_eq!(report.counts[0].not_judged, 2);
}

#[test]
fn a_snapshot_removes_the_objects_that_it_lacks() {
    let mut all = lines();
    all.truncate(6);
    all.extend([json!({"at": 7, "recording": {"version": 1, "begin": "rotation", "schedc": "0"}}), all[2].clone()]);
    all.extend([all[3].clone(), json!({"at": 7, "synced": {"objects": 2}})]);
    let mut bind = lines()[6].clone();
    bind["bind"]["node"] = "n1".into();
    all.push(bind);
    let report = replay(all.iter().map(Value::to_string)).expect("a valid recording");
    assert_eq!((report.counts[0].infeasible, report.restarts, report.files), (1, 0, 2), "n1 is gone");
}

#[test]
fn invalid_objects_are_errors_with_a_place() {
    let mut all = lines();
    all[2]["set"]["status"]["allocatable"]["cpu"] = "much".into();
    let error = replay(all.iter().map(Value::to_string)).expect_err("an invalid quantity");
    assert_eq!(error.place.line, 3);
    assert!(error.message.contains("quantity"), "{error}");
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(256) })]

    #[test]
    fn lines_in_any_order_do_not_panic(order in prop::collection::vec(0_usize..15, 0..40)) {
        let all = lines();
        let report = replay(order.iter().map(|at| all[*at].to_string()));
        prop_assert!(report.is_ok());
    }

    #[test]
    fn damaged_lines_do_not_panic(
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<prop::sample::Index>(), 0_u8..128), 1..6),
    ) {
        let mut texts: Vec<Vec<u8>> = lines().iter().map(|line| line.to_string().into_bytes()).collect();
        for (line, at, byte) in changes {
            let line = line.index(texts.len());
            let text = &mut texts[line];
            let at = at.index(text.len());
            text[at] = byte;
        }
        if let Err(error) = replay(texts.into_iter().map(|text| String::from_utf8_lossy(&text).into_owned())) {
            prop_assert!(error.place.line > 0);
        }
    }
}
