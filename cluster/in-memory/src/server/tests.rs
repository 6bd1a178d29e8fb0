use expect_test::{Expect, expect};
use schedc_core::client::{ApiReason, Condition, StatusPatch};
use schedc_objects::testing::api_object;
use serde_json::json;

use super::*;

const SECOND: i64 = 1_000_000_000;

fn server() -> ApiServer {
    ApiServer::new(ApiServerOptions::default())
}

fn create(server: &mut ApiServer, yaml: &str) -> Arc<AnyObject> {
    server.create(api_object(yaml), SECOND).unwrap()
}

fn pod(name: &str) -> PodRef {
    PodRef { namespace: "default".into(), name: name.into(), uid: Uid(format!("default/{name}").into()) }
}

fn bind(server: &mut ApiServer, name: &str, node: &str) -> Response {
    server.handle(&Request::Bind { pod: pod(name), node: node.into() }, 2 * SECOND)
}

fn volume(name: &str) -> Key {
    Key::cluster("PersistentVolume", name)
}

/// Checks an object in JSON, without `apiVersion` and `kind`.
#[track_caller]
fn check(object: &AnyObject, expected: Expect) {
    let mut json = json_of(object);
    for field in ["apiVersion", "kind"] {
        json.as_object_mut().unwrap().remove(field);
    }
    expected.assert_eq(&json.to_string());
}

#[test]
fn recreated_objects_have_new_uids() {
    let mut server = server();
    let first = create(&mut server, "{kind: Pod, metadata: {name: a}}");
    check(
        &first,
        expect![[
            r#"{"metadata":{"creationTimestamp":"1970-01-01T00:00:01Z","generation":1,"name":"a","namespace":"default","resourceVersion":"1","uid":"default/a"}}"#
        ]],
    );
    assert_eq!(
        server.create(api_object("{kind: Pod, metadata: {name: a}}"), 0).unwrap_err(),
        ApiError::new(ApiReason::AlreadyExists, "pods \"a\" already exists")
    );
    server.handle(&Request::Delete(Key::of(&first), None), 0).unwrap();
    let again = create(&mut server, "{kind: Pod, metadata: {name: a}}");
    let copy = create(&mut server, "{kind: Pod, metadata: {name: b, uid: default/a}}");
    assert_eq!([uid_of(&again).0, uid_of(&copy).0].map(|uid| uid.to_string()), ["default/a#2", "default/b"]);
    let kinds: Vec<_> = std::iter::successors(server.store().after(0), |change| server.store().after(change.version))
        .map(|change| (change.version, change.kind, change.object.name().to_owned()))
        .collect();
    assert_eq!(
        kinds,
        [
            (1, ChangeKind::Added, "a".to_owned()),
            (2, ChangeKind::Deleted, "a".to_owned()),
            (3, ChangeKind::Added, "a".to_owned()),
            (4, ChangeKind::Added, "b".to_owned())
        ]
    );
}

#[test]
fn old_changes_can_be_forgotten() {
    let mut server = server();
    create(&mut server, "{kind: Pod, metadata: {name: a}}");
    create(&mut server, "{kind: Pod, metadata: {name: b}}");
    server.forget(1);
    let log = server.store();
    assert_eq!((log.version(), log.has_changes_since(0), log.has_changes_since(1)), (2, false, true));
    assert_eq!((log.after(0), log.after(1).map(|change| change.version), log.after(2)), (None, Some(2), None));
}

#[test]
fn a_pod_is_bound_once() {
    let mut server = server();
    create(&mut server, "{kind: Pod, metadata: {name: a}, spec: {containers: []}, status: {nominatedNodeName: n1}}");
    let bound = bind(&mut server, "a", "n1").unwrap().unwrap();
    check(
        &bound,
        expect![[
            r#"{"metadata":{"creationTimestamp":"1970-01-01T00:00:01Z","generation":1,"name":"a","namespace":"default","resourceVersion":"2","uid":"default/a"},"spec":{"containers":[],"nodeName":"n1"},"status":{"conditions":[{"lastTransitionTime":"1970-01-01T00:00:02Z","observedGeneration":1,"status":"True","type":"PodScheduled"}]}}"#
        ]],
    );
    assert_eq!(
        bind(&mut server, "a", "n2").unwrap_err(),
        ApiError::new(
            ApiReason::Conflict,
            "Operation cannot be fulfilled on pods/binding \"a\": pod a is already assigned to node \"n1\""
        )
    );
}

#[test]
fn impossible_bindings_are_refused() {
    let mut server = server();
    create(&mut server, "{kind: Pod, metadata: {name: gated}, spec: {containers: [], schedulingGates: [{name: g}]}}");
    create(&mut server, "{kind: Pod, metadata: {name: going, deletionTimestamp: '2026-01-01T00:00:00Z'}}");
    create(&mut server, "{kind: Pod, metadata: {name: other, uid: u}}");
    let errors = ["gated", "going", "other", "none"].map(|name| bind(&mut server, name, "n1").unwrap_err().message);
    expect![[r#"
        Operation cannot be fulfilled on pods/binding "gated": pod gated has non-empty .spec.schedulingGates
        Operation cannot be fulfilled on pods/binding "going": pod going is being deleted, cannot be assigned to a host
        Operation cannot be fulfilled on pods "other": Precondition failed: UID in precondition: default/other, UID in object meta: u
        pods "none" not found"#]].assert_eq(&errors.join("\n"));
    assert_eq!(server.store().version(), 3, "no change");
}

#[test]
fn a_condition_keeps_the_time_of_its_last_transition() {
    let mut server = server();
    create(&mut server, "{kind: Pod, metadata: {name: a}}");
    let mut patch = |seconds: i64, status, message: &str| {
        let condition =
            Condition { kind: "PodScheduled", status, reason: "Unschedulable", message: message.to_owned() };
        let patch = StatusPatch { condition: Some(condition), nominated_node: Some(Some("n1".into())) };
        let patched = server.handle(&Request::PatchPodStatus { pod: pod("a"), patch }, seconds * SECOND).unwrap();
        let json = json_of(&patched.unwrap());
        let condition = &json["status"]["conditions"][0];
        (condition["lastTransitionTime"].clone(), json["metadata"]["resourceVersion"].clone())
    };
    let (first, second) = (json!("1970-01-01T00:00:05Z"), json!("1970-01-01T00:00:09Z"));
    assert_eq!(patch(5, false, "no"), (first.clone(), json!("2")));
    assert_eq!(patch(6, false, "still no"), (first.clone(), json!("3")));
    assert_eq!(patch(7, false, "still no"), (first, json!("3")), "an equal condition is no change");
    assert_eq!(patch(9, true, "yes"), (second, json!("4")));
    let patch = StatusPatch { condition: None, nominated_node: Some(None) };
    let patched = server.handle(&Request::PatchPodStatus { pod: pod("a"), patch }, 0).unwrap().unwrap();
    assert_eq!(json_of(&patched)["status"].get("nominatedNodeName"), None);
}

#[test]
fn pods_on_nodes_have_a_grace_period() {
    let rows = [
        ("{containers: []}", "{}", None),
        ("{containers: [], nodeName: n1}", "{}", Some(30)),
        ("{containers: [], nodeName: n1, terminationGracePeriodSeconds: 5}", "{}", Some(5)),
        ("{containers: [], nodeName: n1, terminationGracePeriodSeconds: 0}", "{}", None),
        ("{containers: [], nodeName: n1}", "{phase: Succeeded}", None),
    ];
    for (spec, status, seconds) in rows {
        let mut server = server();
        create(&mut server, &format!("{{kind: Pod, metadata: {{name: a}}, spec: {spec}, status: {status}}}"));
        let deleted = server.handle(&Request::DeletePod { pod: pod("a") }, 10 * SECOND).unwrap();
        let end = seconds.map(|seconds| (10 + seconds) * SECOND);
        assert_eq!((deleted.is_some(), server.next_removal()), (end.is_some(), end), "{spec}");
        let Some(end) = end else { continue };
        server.tick(end - 1);
        assert_eq!(server.list("Pod").count(), 1);
        server.tick(end);
        assert_eq!((server.list("Pod").count(), server.next_removal()), (0, None));
    }
}

#[test]
fn the_grace_period_can_be_overridden() {
    let mut server = ApiServer::new(ApiServerOptions { grace: Some(Duration::ZERO), ..ApiServerOptions::default() });
    create(&mut server, "{kind: Pod, metadata: {name: a}, spec: {containers: [], nodeName: n1}}");
    assert_eq!(server.handle(&Request::DeletePod { pod: pod("a") }, 0), Ok(None));
    // The option also applies to a pod that is created with a deletion time.
    let deleted_pod = "{kind: Pod, metadata: {name: b, deletionTimestamp: '2026-01-01T00:00:00Z'}, spec: {containers: [], nodeName: n1}}";
    create(&mut server, deleted_pod);
    assert_eq!(server.next_removal(), Some(SECOND));
    server.tick(SECOND);
    assert_eq!(server.objects().count(), 0);
}

#[test]
fn merge_patches_have_preconditions_and_typed_values() {
    let mut server = server();
    create(&mut server, "{kind: PersistentVolume, metadata: {name: v}, spec: {accessModes: [ReadWriteOnce]}}");
    let mut patch = |name: &str, patch| server.handle(&Request::Patch(volume(name), patch), 0);
    let patched = patch("v", json!({"spec": {"claimRef": {"name": "c"}}, "metadata": {"uid": null}})).unwrap().unwrap();
    check(
        &patched,
        expect![[
            r#"{"metadata":{"creationTimestamp":"1970-01-01T00:00:01Z","generation":1,"name":"v","resourceVersion":"2","uid":"PersistentVolume/v"},"spec":{"accessModes":["ReadWriteOnce"],"claimRef":{"name":"c"}}}"#
        ]],
    );
    let errors = [
        patch("v", json!({"metadata": {"resourceVersion": "1"}})),
        patch("v", json!({"metadata": {"uid": "other"}})),
        patch("v", json!({"spec": {"accessModes": 5}})),
        patch("w", json!({})),
    ];
    expect![[r#"
        Operation cannot be fulfilled on persistentvolumes "v": the object has been modified; please apply your changes to the latest version and try again
        Operation cannot be fulfilled on persistentvolumes "v": Precondition failed: UID in precondition: other, UID in object meta: PersistentVolume/v
        PersistentVolume "v" is invalid: PersistentVolume v: spec.accessModes: is integer `5`, but must be a list
        persistentvolumes "w" not found"#]].assert_eq(&errors.map(|error| error.unwrap_err().message).join("\n"));
    assert!(patch("v", json!({"metadata": {"resourceVersion": "2"}})).is_ok());
}

#[test]
fn objects_are_created_from_json() {
    let mut server = server();
    let manifest = json!({"spec": {"capacity": {"storage": "1Gi"}}});
    let created = server.handle(&Request::CreateJson(volume("v"), manifest), 0).unwrap().unwrap();
    assert_eq!(server.handle(&Request::Get(volume("v")), 0), Ok(Some(created)));
}

#[test]
fn apply_keeps_fields_of_other_writers() {
    let mut server = server();
    let apply = |server: &mut ApiServer, yaml: &str| {
        server.handle(&Request::Apply(Box::new(api_object(yaml))), SECOND).unwrap().unwrap()
    };
    apply(&mut server, "{kind: Pod, metadata: {name: a, labels: {app: web}}, spec: {containers: []}}");
    bind(&mut server, "a", "n1").unwrap();
    let again =
        apply(&mut server, "{kind: Pod, metadata: {name: a}, spec: {containers: []}, status: {phase: Pending}}");
    check(
        &again,
        expect![[
            r#"{"metadata":{"creationTimestamp":"1970-01-01T00:00:01Z","generation":1,"name":"a","namespace":"default","resourceVersion":"3","uid":"default/a"},"spec":{"containers":[],"nodeName":"n1"},"status":{"conditions":[{"lastTransitionTime":"1970-01-01T00:00:02Z","observedGeneration":1,"status":"True","type":"PodScheduled"}]}}"#
        ]],
    );
    apply(
        &mut server,
        "{kind: Node, metadata: {name: n1}, status: {allocatable: {cpu: 4, pods: 10}, capacity: {cpu: 4}}}",
    );
    let cordoned = "{kind: Node, metadata: {name: n1}, spec: {unschedulable: true}, status: {allocatable: {cpu: 2}}}";
    let node = apply(&mut server, cordoned);
    check(
        &node,
        expect![[
            r#"{"metadata":{"creationTimestamp":"1970-01-01T00:00:01Z","generation":2,"name":"n1","resourceVersion":"5","uid":"Node/n1"},"spec":{"unschedulable":true},"status":{"allocatable":{"cpu":"2"},"capacity":{"cpu":"4"}}}"#
        ]],
    );
    let same = apply(&mut server, cordoned);
    assert_eq!(same, node, "an equal object is no change");
}

#[test]
fn missing_objects_are_not_replaced() {
    let mut server = server();
    let replace = |server: &mut ApiServer| {
        let manifest = api_object("{kind: Node, metadata: {name: n1}, spec: {unschedulable: true}}");
        server.handle(&Request::Replace(Box::new(manifest)), SECOND)
    };
    assert_eq!(replace(&mut server).unwrap_err().reason, ApiReason::NotFound);
    server.handle(&Request::Create(Box::new(api_object("{kind: Node, metadata: {name: n1}}"))), 0).unwrap();
    assert!(replace(&mut server).is_ok());
}

#[test]
fn only_the_newest_events_are_kept() {
    let mut server = ApiServer::new(ApiServerOptions { events_kept: 2, ..ApiServerOptions::default() });
    let regarding = Arc::new(schedc_objects::testing::pod("{metadata: {name: a}}", &mut Default::default()));
    for note in ["one", "two", "three"] {
        let event = Event {
            scheduler: "default-scheduler",
            regarding: regarding.clone(),
            related: None,
            event_type: schedc_core::client::EventType::Normal,
            reason: "Scheduled",
            action: "Binding",
            note: note.to_owned(),
        };
        server.handle(&Request::Record(Box::new(event)), 0).unwrap();
    }
    assert_eq!(server.events().map(|event| event.note.as_str()).collect::<Vec<_>>(), ["two", "three"]);
}

#[test]
fn finalizers_delay_deletion() {
    let mut server = ApiServer::new(ApiServerOptions { finalizers_hold: true, ..ApiServerOptions::default() });
    create(&mut server, "{kind: Pod, metadata: {name: a, finalizers: [x/f]}}");
    create(&mut server, "{kind: Pod, metadata: {name: b, finalizers: [x/f]}, spec: {containers: [], nodeName: n1}}");
    create(&mut server, "{kind: Node, metadata: {name: n1, finalizers: [x/f]}}");
    let keys = [Key::pod("default", "a"), Key::pod("default", "b"), Key::cluster("Node", "n1")];
    for key in &keys {
        server.handle(&Request::Delete(key.clone(), None), 10 * SECOND).unwrap();
    }
    let deletion_of = |server: &ApiServer| {
        keys.each_ref().map(|key| {
            let metadata = server.get(key).unwrap().metadata();
            (metadata.deletion_timestamp.is_some(), metadata.deletion_grace_period_seconds)
        })
    };
    assert_eq!(deletion_of(&server), [(true, Some(0)), (true, Some(30)), (true, Some(0))]);
    assert!(
        bind(&mut server, "a", "n1").unwrap_err().message.ends_with("is being deleted, cannot be assigned to a host")
    );
    let version = server.store().version();
    server.handle(&Request::Delete(keys[0].clone(), None), 11 * SECOND).unwrap();
    assert_eq!(server.store().version(), version, "a terminating pod is not deleted again");
    // A pod without its last finalizer keeps the rest of its grace period.
    let freed = json!({"metadata": {"finalizers": null}});
    server.handle(&Request::Patch(keys[1].clone(), freed.clone()), 12 * SECOND).unwrap();
    assert_eq!(deletion_of(&server)[1], (true, Some(30)));
    server.tick(40 * SECOND);
    for key in [&keys[0], &keys[2]] {
        server.handle(&Request::Patch(key.clone(), freed.clone()), 41 * SECOND).unwrap();
    }
    assert_eq!((server.objects().count(), server.next_removal()), (0, None));
}

#[test]
fn resource_claims_have_users_only_while_they_are_allocated() {
    let mut server = ApiServer::new(ApiServerOptions { finalizers_hold: true, ..ApiServerOptions::default() });
    let claim = create(&mut server, "{kind: ResourceClaim, metadata: {name: a, finalizers: [x]}, spec: {}}");
    let key = Key::of(&claim);
    let user = |n: usize| json!({"resource": "pods", "name": format!("p{n}"), "uid": format!("u{n}")});
    let users = |count: usize| json!({"status": {"reservedFor": (0..count).map(user).collect::<Vec<_>>()}});
    let device = |name: &str| {
        let results = [json!({"request": "r", "driver": "d", "pool": "p", "device": name})];
        json!({"status": {"allocation": {"devices": {"results": results}}}})
    };
    let status = json!({"status": {"devices": [{"driver": "d", "pool": "p", "device": "e"}]}});
    let free = json!({"status": {"allocation": null, "reservedFor": null}});
    let mut patch = |patch: Value| match server.handle(&Request::Patch(key.clone(), patch), 0) {
        Ok(claim) => json_of(&claim.unwrap())["status"].to_string(),
        Err(error) => error.to_string(),
    };
    let texts = [users(1), device("e"), users(256), users(257), device("f"), users(1), status, free, device("f")]
        .map(|value| patch(value).chars().take(160).collect::<String>());
    expect![[r#"
        ResourceClaim "a" is invalid: status.reservedFor: Forbidden: may not be specified when `allocated` is not set
        {"allocation":{"devices":{"results":[{"device":"e","driver":"d","pool":"p","request":"r"}]}}}
        {"allocation":{"devices":{"results":[{"device":"e","driver":"d","pool":"p","request":"r"}]}},"reservedFor":[{"name":"p0","resource":"pods","uid":"u0"},{"name":"
        ResourceClaim "a" is invalid: status.reservedFor: Too many: 257: must have at most 256 items
        ResourceClaim "a" is invalid: status.allocation: Invalid value: field is immutable
        {"allocation":{"devices":{"results":[{"device":"e","driver":"d","pool":"p","request":"r"}]}},"reservedFor":[{"name":"p0","resource":"pods","uid":"u0"}]}
        {"allocation":{"devices":{"results":[{"device":"e","driver":"d","pool":"p","request":"r"}]}},"devices":[{"device":"e","driver":"d","pool":"p"}],"reservedFor":[{
        {}
        {"allocation":{"devices":{"results":[{"device":"f","driver":"d","pool":"p","request":"r"}]}}}
    "#]]
    .assert_eq(&(texts.join("\n") + "\n"));
    server.handle(&Request::Delete(key.clone(), None), 0).unwrap();
    let late = server.handle(&Request::Patch(key, users(1)), 0).unwrap_err();
    assert_eq!(late.reason, ApiReason::Invalid, "{late}");
}
