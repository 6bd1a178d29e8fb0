use k8s_openapi::jiff::Timestamp;
use serde_json::{Value, json};

use super::*;
use crate::request::Target;
use crate::store::Store;

const NOW: Timestamp = Timestamp::constant(1_700_000_000, 0);
const STRATEGIC: &str = "application/strategic-merge-patch+json";

fn at(path: &str) -> Target {
    Target::at(path).unwrap()
}

fn pod() -> Target {
    at("/api/v1/namespaces/a/pods/p")
}

/// Returns a store with a pod.
fn store(spec: Value) -> Store {
    let mut store = Store::default();
    let sent = json!({"metadata": {"name": "p"}, "spec": spec});
    create(&mut store, &at("/api/v1/namespaces/a/pods"), &sent, WriteOrigin::Client, NOW).unwrap();
    store
}

fn stored(store: &Store) -> Value {
    (*crate::list::get(store, &pod()).unwrap()).clone()
}

/// Returns the code and the message of an error.
fn code_and_message(error: &StatusError) -> (u16, String) {
    (error.code, error.body()["message"].as_str().unwrap().to_owned())
}

#[test]
fn a_new_pod_gets_defaults() {
    let pod = stored(&store(json!({})));
    let expected = json!({
        "apiVersion": "v1", "kind": "Pod",
        "metadata": {
            "name": "p", "namespace": "a", "uid": "00000000-0000-4000-8000-000000000001", "resourceVersion": "1",
            "generation": 1, "creationTimestamp": "2023-11-14T22:13:20Z"
        },
        "spec": {
            "schedulerName": "default-scheduler", "restartPolicy": "Always", "terminationGracePeriodSeconds": 30,
            "priority": 0, "preemptionPolicy": "PreemptLowerPriority"
        },
        "status": {"phase": "Pending"}
    });
    assert_eq!(pod, expected);
}

#[test]
fn priorities_come_from_classes() {
    let mut store = Store::default();
    let class = json!({"metadata": {"name": "high"}, "value": 7, "preemptionPolicy": "Never"});
    create(&mut store, &at("/apis/scheduling.k8s.io/v1/priorityclasses"), &class, WriteOrigin::Client, NOW).unwrap();
    for (name, priority, policy) in [
        ("high", 7, "Never"),
        ("system-node-critical", 2_000_001_000, "PreemptLowerPriority"),
        ("", 0, "PreemptLowerPriority"),
    ] {
        let sent = json!({"metadata": {"generateName": "p-"}, "spec": {"priorityClassName": name}});
        let pod = create(&mut store, &at("/api/v1/namespaces/a/pods"), &sent, WriteOrigin::Client, NOW).unwrap();
        assert_eq!((&pod["spec"]["priority"], &pod["spec"]["preemptionPolicy"]), (&json!(priority), &json!(policy)));
    }
}

#[test]
fn only_nodes_are_created_with_their_status() {
    let status = |path: &str, by: WriteOrigin| {
        let sent = json!({"metadata": {"generateName": "a-"}, "status": {"x": 1}});
        let created = create(&mut Store::default(), &at(path), &sent, by, NOW).unwrap();
        created.get("status").cloned().unwrap_or_default()
    };
    assert_eq!(status("/api/v1/nodes", WriteOrigin::Client), json!({"x": 1}));
    assert_eq!(status("/api/v1/namespaces/a/pods", WriteOrigin::Client), json!({"phase": "Pending"}));
    assert_eq!(status("/api/v1/persistentvolumes", WriteOrigin::Client), json!({"phase": "Pending"}));
    let budgets = "/apis/policy/v1/namespaces/a/poddisruptionbudgets";
    assert_eq!(status(budgets, WriteOrigin::Client), Value::Null);
    assert_eq!(status(budgets, WriteOrigin::Test), json!({"x": 1}));
}

#[test]
fn invalid_creations_are_rejected() {
    let mut store = store(json!({}));
    let rows = [
        ("pods", json!({"metadata": {"name": "p"}}), 409, "pods \"p\" already exists"),
        (
            "pods",
            json!({"metadata": {}}),
            422,
            "Pod \"\" is invalid: metadata.name: Required value: name or generateName is required",
        ),
        (
            "pods",
            json!({"metadata": {"name": "q", "namespace": "b"}}),
            400,
            "the namespace of the provided object does not match the namespace sent on the request",
        ),
        (
            "pods",
            json!({"metadata": {"name": "q", "resourceVersion": "7"}}),
            500,
            "resourceVersion should not be set on objects to be created",
        ),
    ];
    for (plural, sent, code, message) in rows {
        let refused =
            create(&mut store, &at(&format!("/api/v1/namespaces/a/{plural}")), &sent, WriteOrigin::Client, NOW);
        assert_eq!(code_and_message(&refused.unwrap_err()), (code, message.to_owned()));
    }
}

#[test]
fn events_are_checked() {
    let event = json!({
        "metadata": {"name": "e"}, "eventTime": "2026-11-21T11:15:17.575367Z", "type": "Normal", "note": "n",
        "reportingController": "c", "reportingInstance": "i", "action": "Binding", "reason": "Scheduled"
    });
    let check = |field: &str, value: Value| {
        let mut event = event.clone();
        event[field] = value;
        let events = at("/apis/events.k8s.io/v1/namespaces/a/events");
        create(&mut Store::default(), &events, &event, WriteOrigin::Client, NOW)
            .map_err(|error| code_and_message(&error))
            .map(drop)
    };
    let long = "Event \"e\" is invalid: message: Invalid value: \"\": can have at most 1024 characters";
    assert_eq!(check("note", "x".repeat(1024).into()), Ok(()));
    assert_eq!(check("note", "x".repeat(1025).into()), Err((422, long.to_owned())));
    assert_eq!(check("eventTime", Value::Null).unwrap_err().0, 422);
    assert_eq!(check("type", "".into()).unwrap_err().0, 422);
    assert_eq!(check("action", "".into()).unwrap_err().0, 422);
}

#[test]
fn a_binding_sets_the_node_and_clears_the_nomination() {
    let mut store = store(json!({}));
    let node = json!({"metadata": {"name": "n", "labels": {"topology.kubernetes.io/zone": "z", "x": "y"}}});
    create(&mut store, &at("/api/v1/nodes"), &node, WriteOrigin::Client, NOW).unwrap();
    let mut status = pod();
    status.subresource = "status".into();
    let condition = json!({"type": "PodScheduled", "status": "False", "observedGeneration": 1, "reason": "r"});
    let nominated = json!({"status": {"nominatedNodeName": "m", "conditions": [condition]}});
    patch(&mut store, &status, STRATEGIC, &nominated, WriteOrigin::Client).unwrap();

    let uid = stored(&store)["metadata"]["uid"].clone();
    let binding = json!({"metadata": {"name": "p", "uid": uid, "annotations": {"k": "v"}}, "target": {"name": "n"}});
    bind(&mut store, &pod(), &binding, NOW).unwrap();
    let bound = stored(&store);
    assert_eq!(bound["spec"]["nodeName"], "n");
    assert_eq!(bound["metadata"]["annotations"], json!({"k": "v"}));
    assert_eq!(bound["metadata"]["labels"], json!({"topology.kubernetes.io/zone": "z"}));
    assert_eq!(bound["metadata"]["generation"], 1);
    let condition = json!({"type": "PodScheduled", "status": "True", "lastTransitionTime": "2023-11-14T22:13:20Z"});
    assert_eq!(bound["status"], json!({"phase": "Pending", "conditions": [condition]}));
}

#[test]
fn invalid_bindings_are_rejected() {
    let refused =
        |store: &mut Store, binding: Value| code_and_message(&bind(store, &pod(), &binding, NOW).unwrap_err());
    let to_n = || json!({"target": {"name": "n"}});
    let conflict = |reason: &str| (409, format!("Operation cannot be fulfilled on pods/binding \"p\": {reason}"));

    let mut free = store(json!({}));
    let (code, message) = refused(&mut free, json!({"metadata": {"uid": "x"}, "target": {"name": "n"}}));
    assert_eq!(code, 409);
    assert!(
        message.contains("Precondition failed: UID in precondition: x, UID in object meta: 00000000-"),
        "{message}"
    );
    let (code, message) = refused(&mut free, json!({"metadata": {"resourceVersion": "7"}, "target": {"name": "n"}}));
    assert_eq!(code, 409);
    assert!(message.ends_with("ResourceVersion in precondition: 7, ResourceVersion in object meta: 1"), "{message}");
    let other = refused(&mut free, json!({"metadata": {"name": "q"}, "target": {"name": "n"}}));
    assert_eq!(other, (400, "name in URL does not match name in Binding object".to_owned()));
    assert_eq!(refused(&mut free, json!({"target": {}})), (500, "target.name: Required value".to_owned()));
    assert_eq!(
        code_and_message(&bind(&mut Store::default(), &pod(), &to_n(), NOW).unwrap_err()),
        (404, "pods \"p\" not found".into())
    );

    let mut bound = store(json!({"nodeName": "m"}));
    assert_eq!(refused(&mut bound, to_n()), conflict("pod p is already assigned to node \"m\""));
    delete(&mut bound, &pod(), &Value::Null, None, NOW).unwrap();
    assert_eq!(refused(&mut bound, to_n()), conflict("pod p is being deleted, cannot be assigned to a host"));
    let mut gated = store(json!({"schedulingGates": [{"name": "g"}]}));
    assert_eq!(stored(&gated)["status"]["conditions"][0]["reason"], "SchedulingGated");
    assert_eq!(refused(&mut gated, to_n()), conflict("pod p has non-empty .spec.schedulingGates"));
}

#[test]
fn status_and_spec_are_written_separately() {
    let mut store = store(json!({}));
    let both = json!({"metadata": {"labels": {"a": "b"}}, "spec": {"x": 1}, "status": {"phase": "Running"}});
    patch(&mut store, &pod(), STRATEGIC, &both, WriteOrigin::Client).unwrap();
    let written = stored(&store);
    assert_eq!((&written["spec"]["x"], &written["status"]["phase"]), (&json!(1), &json!("Pending")));
    assert_eq!(written["metadata"]["generation"], 2, "another spec, another generation");

    let mut status = pod();
    status.subresource = "status".into();
    let both = json!({"metadata": {"labels": {"c": "d"}}, "spec": {"x": 2}, "status": {"phase": "Running"}});
    patch(&mut store, &status, STRATEGIC, &both, WriteOrigin::Client).unwrap();
    let written = stored(&store);
    assert_eq!((&written["spec"]["x"], &written["status"]["phase"]), (&json!(1), &json!("Running")));
    assert_eq!(written["metadata"]["labels"], json!({"a": "b", "c": "d"}));
    let version = store.version();
    patch(&mut store, &status, STRATEGIC, &both, WriteOrigin::Client).unwrap();
    assert_eq!(store.version(), version, "no change");

    patch(&mut store, &pod(), STRATEGIC, &json!({"status": {"phase": "Failed"}}), WriteOrigin::Test).unwrap();
    assert_eq!(stored(&store)["status"]["phase"], "Failed", "a test may write the status");
}

#[test]
fn patches_of_other_uids_and_versions_are_refused() {
    let mut store = store(json!({}));
    let mut refused = |sent: Value| patch(&mut store, &pod(), STRATEGIC, &sent, WriteOrigin::Client).unwrap_err();
    let other = refused(json!({"metadata": {"uid": "other"}}));
    let expected = "Pod \"p\" is invalid: metadata.uid: Invalid value: \"other\": field is immutable";
    assert_eq!(code_and_message(&other), (422, expected.to_owned()));
    assert_eq!(other.body()["details"]["causes"][0]["field"], "metadata.uid");
    let modified = "Operation cannot be fulfilled on pods \"p\": the object has been modified; please apply your changes to \
                    the latest version and try again";
    assert_eq!(code_and_message(&refused(json!({"metadata": {"resourceVersion": "7"}}))), (409, modified.to_owned()));
    let unknown = patch(&mut store, &pod(), "application/json", &json!({}), WriteOrigin::Client).unwrap_err();
    assert_eq!(unknown.code, 415);
}

#[test]
fn leases_are_replaced_only_with_the_current_version() {
    let mut store = Store::default();
    let lease = at("/apis/coordination.k8s.io/v1/namespaces/a/leases/l");
    let put = |store: &mut Store, version: &str, holder: &str| {
        let mut sent = json!({"metadata": {"name": "l"}, "spec": {"holderIdentity": holder}});
        if !version.is_empty() {
            sent["metadata"]["resourceVersion"] = version.into();
        }
        update(store, &lease, &sent, WriteOrigin::Client, NOW).map(|(code, _)| code).map_err(|error| error.code)
    };
    assert_eq!(put(&mut store, "9", "a"), Ok(201), "a missing Lease is created");
    assert_eq!(put(&mut store, "", "b"), Err(422));
    assert_eq!(put(&mut store, "1", "b"), Ok(200));
    assert_eq!(put(&mut store, "1", "c"), Err(409));
    let node = json!({"metadata": {"name": "n"}});
    let absent = update(&mut store, &at("/api/v1/nodes/n"), &node, WriteOrigin::Client, NOW);
    assert_eq!(absent.unwrap_err().code, 404);
}

#[test]
fn an_object_can_be_replaced_without_its_version_but_not_by_another() {
    let mut store = Store::default();
    let node = at("/api/v1/nodes/n");
    let sent = json!({"metadata": {"name": "n"}, "status": {"capacity": {"cpu": "4"}}});
    create(&mut store, &at("/api/v1/nodes"), &sent, WriteOrigin::Client, NOW).unwrap();
    let mut put =
        |sent: Value| update(&mut store, &node, &sent, WriteOrigin::Client, NOW).map(|(_, node)| (*node).clone());
    let replaced = put(json!({"metadata": {"name": "n", "labels": {"a": "b"}}})).unwrap();
    assert_eq!(replaced["status"], json!({"capacity": {"cpu": "4"}}));
    let (code, message) = code_and_message(&put(json!({"metadata": {"name": "n", "uid": "x"}})).unwrap_err());
    assert!(code == 409 && message.contains("Key: /registry/minions/n,"), "{message}");
    let renamed = code_and_message(&put(json!({"metadata": {"name": "m"}})).unwrap_err());
    assert_eq!(renamed, (400, "the name of the object (m) does not match the name on the URL (n)".to_owned()));
}

#[test]
fn pods_end_at_once_unless_they_run() {
    let gone = |spec: Value, phase: &str, options: Value| {
        let mut store = store(spec);
        patch(&mut store, &pod(), STRATEGIC, &json!({"status": {"phase": phase}}), WriteOrigin::Test).unwrap();
        let deletion = delete(&mut store, &pod(), &options, None, NOW).unwrap();
        assert_eq!(deletion.object["metadata"]["generation"], 2);
        (deletion.object["metadata"]["deletionGracePeriodSeconds"].clone(), store.get(&pod().key()).is_none())
    };
    let bound = || json!({"nodeName": "n"});
    assert_eq!(gone(json!({}), "Pending", Value::Null), (json!(0), true));
    assert_eq!(gone(bound(), "Pending", Value::Null), (json!(30), false));
    assert_eq!(gone(bound(), "Running", json!({"gracePeriodSeconds": 5})), (json!(5), false));
    assert_eq!(gone(bound(), "Running", json!({"gracePeriodSeconds": 0})), (json!(0), true));
    assert_eq!(gone(bound(), "Succeeded", Value::Null), (json!(0), true));
}

#[test]
fn a_second_deletion_does_not_extend_the_grace_period() {
    let mut store = store(json!({"nodeName": "n"}));
    delete(&mut store, &pod(), &Value::Null, None, NOW).unwrap();
    let version = store.version();
    delete(&mut store, &pod(), &Value::Null, None, NOW).unwrap();
    assert_eq!(store.version(), version);
    assert_eq!(stored(&store)["metadata"]["deletionTimestamp"], "2023-11-14T22:13:50Z");
    delete(&mut store, &pod(), &Value::Null, Some(0), NOW).unwrap();
    assert!(store.get(&pod().key()).is_none());
}

#[test]
fn deletions_check_preconditions() {
    let mut store = store(json!({}));
    let mut refused = |preconditions: Value| {
        let options = json!({"preconditions": preconditions});
        code_and_message(&delete(&mut store, &pod(), &options, None, NOW).unwrap_err())
    };
    let uid = "00000000-0000-4000-8000-000000000001";
    let expected = format!(
        "Operation cannot be fulfilled on Pod \"p\": the UID in the precondition (x) does not match the UID in record ({uid}). \
         The object might have been deleted and then recreated"
    );
    assert_eq!(refused(json!({"uid": "x"})), (409, expected));
    let expected = "Operation cannot be fulfilled on Pod \"p\": the ResourceVersion in the precondition (7) does not match \
                    the ResourceVersion in record (1). The object might have been modified";
    assert_eq!(refused(json!({"resourceVersion": "7"})), (409, expected.to_owned()));
    assert!(delete(&mut store, &pod(), &json!({"preconditions": {"uid": uid}}), None, NOW).is_ok());
}

#[test]
fn finalizers_block_deletions() {
    let mut store = Store::default();
    let volume = at("/api/v1/persistentvolumes/v");
    let sent = json!({"metadata": {"name": "v", "finalizers": ["f"]}});
    create(&mut store, &at("/api/v1/persistentvolumes"), &sent, WriteOrigin::Client, NOW).unwrap();
    delete(&mut store, &volume, &Value::Null, None, NOW).unwrap();
    assert!(crate::list::get(&store, &volume).unwrap()["metadata"].get("deletionTimestamp").is_some());
    patch(&mut store, &volume, STRATEGIC, &json!({"metadata": {"finalizers": null}}), WriteOrigin::Client).unwrap();
    assert!(crate::list::get(&store, &volume).is_err());
}

#[test]
fn the_status_of_a_claim_is_checked() {
    let mut store = Store::default();
    let claims = "/apis/resource.k8s.io/v1/namespaces/a/resourceclaims";
    let sent = json!({"metadata": {"name": "c"}, "spec": {}, "status": {"allocation": {}}});
    let claim = create(&mut store, &at(claims), &sent, WriteOrigin::Client, NOW).unwrap();
    assert!(claim["status"].is_null());
    let mut change = |subresource: &str, change: Value| {
        let target = at(&format!("{claims}/c{subresource}"));
        patch(&mut store, &target, "application/merge-patch+json", &change, WriteOrigin::Client)
            .map_err(|error| code_and_message(&error))
    };
    let reserved = json!({"status": {"reservedFor": [{"resource": "pods", "name": "p", "uid": "u"}]}});
    let message = "ResourceClaim \"c\" is invalid: status.reservedFor: Forbidden: may not be specified when \
                   `allocated` is not set";
    assert_eq!(change("/status", reserved.clone()), Err((422, message.to_owned())));

    let device = json!({"driver": "d", "pool": "p", "device": "e"});
    let finalizers = json!({"finalizers": ["x"]});
    let allocated = json!({"metadata": finalizers, "status": {"allocation": {"devices": {"results": [device]}}}});
    let claim = change("/status", allocated).unwrap();
    assert!(claim["metadata"]["finalizers"].is_null(), "metadata is written separately");
    assert!(change("/status", reserved).is_ok());
    assert_eq!(change("", json!({"metadata": finalizers})).unwrap()["metadata"]["finalizers"], json!(["x"]));

    change("/status", json!({"status": {"devices": [device]}})).unwrap();
    let free = change("/status", json!({"status": {"allocation": null, "reservedFor": null}})).unwrap();
    assert_eq!(free["status"], json!({}));
}
