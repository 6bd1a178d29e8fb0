//! PreBind's writes and waits.

use schedc_core::client::ObjectRef;
use schedc_core::extension_points::{PreBindPlugin, PreFlightResult};
use schedc_in_memory::server::{Key, Request};
use schedc_in_memory::{ApiServer, ApiServerOptions, Controllers, Executor, InMemoryClient};
use schedc_objects::Kinds;
use serde_json::{Value, json};

use super::*;

const NODE: &str = "{kind: Node, metadata: {name: n1, labels: {disk: ssd}}}";
const VOLUME: &str = "{kind: PersistentVolume, metadata: {name: v, uid: v}, spec: {storageClassName: found, capacity: {storage: \
                      1Gi}}, status: {phase: Available}}";
/// A claim that PreBind binds to an existing volume.
const FOUND: &str = "{kind: PersistentVolumeClaim, metadata: {name: c, uid: c-1}, spec: {storageClassName: found}, status: {phase: Pending}}";
/// A claim whose volume must be provisioned.
const MADE: &str = "{kind: PersistentVolumeClaim, metadata: {name: c, uid: c-1}, spec: {storageClassName: made}, status: {phase: Pending}}";

/// Changes by other clients: the second at which each happens, kind and name of the object, and the patch. The patch
/// `null` deletes the object.
type ConcurrentChanges<'a> = &'a [(usize, &'static str, &'static str, Value)];

/// Runs PreBind for a pod with the claim `c` that was placed on node `n1`. The timeout is five seconds. If
/// `controllers` is true, the controllers run after two seconds. Returns the duration in seconds, the result, and the
/// final cluster.
fn bind(
    objects: &[&str],
    controllers: bool,
    concurrent: ConcurrentChanges<'_>,
) -> (usize, Result<(), String>, ApiServer) {
    let mut cluster = TestCluster::new(objects);
    let (placement, reserved) = cluster.reserve("c", 0);
    let flight = cluster.plugin.pre_bind_pre_flight(&ARGS, &placement, &reserved).expect("the pre-flight never fails");
    assert_eq!(flight, PreFlightResult::RunInParallel);

    let mut server = ApiServer::new(ApiServerOptions::default());
    let mut controller = Controllers::default();
    let classes = [("found", "kubernetes.io/no-provisioner"), ("made", "p")].map(|(name, provisioner)| {
        format!(
            "{{kind: StorageClass, metadata: {{name: {name}}}, provisioner: {provisioner}, volumeBindingMode: WaitForFirstConsumer}}"
        )
    });
    let pod = "{kind: Pod, metadata: {name: of-c}, spec: {containers: []}}";
    for object in classes.iter().map(String::as_str).chain([NODE, pod]).chain(objects.iter().copied()) {
        server.create(testing::api_object(object), 0).expect("each is created once");
    }

    let client = InMemoryClient::default();
    let mut executor = Executor::new();
    let plan = reserved.0.expect("there is something to do").plan;
    let caller = client.clone();
    executor.spawn(async move { plan.run(&caller, 5).await });
    let mut seconds = 0;
    loop {
        if let Some(result) = executor.run_until_one_ends() {
            return (seconds, result, server);
        }
        for call in client.take_calls() {
            let response = server.handle(&call.request, 0);
            call.answer(response);
        }
        for sleep in client.take_sleeps() {
            seconds += 1;
            if controllers && seconds == 2 {
                controller.run(&mut server, 0);
            }
            for (_, kind, name, patch) in concurrent.iter().filter(|(at, ..)| *at == seconds) {
                let request = match patch {
                    Value::Null => Request::Delete(key(kind, name), None),
                    patch => Request::Patch(key(kind, name), patch.clone()),
                };
                server.handle(&request, 0).expect("the object exists");
            }
            sleep.wake();
        }
    }
}

fn key(kind: &str, name: &str) -> Key {
    let namespace = if kind == "PersistentVolume" { "" } else { "default" };
    let reference =
        ObjectRef { api_version: "v1".into(), kind: kind.into(), namespace: namespace.into(), name: name.into() };
    Key::of_reference(&reference, Kinds::default()).expect("a known kind")
}

fn get(server: &mut ApiServer, kind: &str, name: &str) -> Value {
    let object = server.handle(&Request::Get(key(kind, name)), 0).expect("the object exists");
    object.expect("a response with an object").to_json().expect("the object can be written as JSON")
}

#[test]
fn a_volume_is_bound_to_its_claim() {
    let (seconds, result, mut server) = bind(&[VOLUME, FOUND], true, &[]);
    assert_eq!((seconds, result), (2, Ok(())));
    let volume = get(&mut server, "PersistentVolume", "v");
    assert_eq!(volume["spec"]["claimRef"]["uid"], "c-1");
    assert_eq!(volume["metadata"]["annotations"]["pv.kubernetes.io/bound-by-controller"], "yes");
    let claim = get(&mut server, "PersistentVolumeClaim", "c");
    assert_eq!((&claim["spec"]["volumeName"], &claim["status"]["phase"]), (&json!("v"), &json!("Bound")));
}

#[test]
fn a_prebound_volume_is_not_marked_as_bound_by_controller() {
    let promised = VOLUME.replace("spec: {", "spec: {claimRef: {namespace: default, name: c}, ");
    let (_, result, mut server) = bind(&[&promised, FOUND], false, &[]);
    assert_eq!(result, Err("binding volumes: context deadline exceeded".to_owned()));
    let volume = get(&mut server, "PersistentVolume", "v");
    assert_eq!(volume["spec"]["claimRef"]["uid"], "c-1");
    assert_eq!(volume["metadata"]["annotations"], Value::Null);
}

#[test]
fn a_volume_is_provisioned_for_the_node() {
    let (seconds, result, mut server) = bind(&[MADE], true, &[]);
    assert_eq!((seconds, result), (2, Ok(())));
    let claim = get(&mut server, "PersistentVolumeClaim", "c");
    assert_eq!(claim["metadata"]["annotations"]["volume.kubernetes.io/selected-node"], "n1");
    assert_eq!(claim["status"]["phase"], "Bound");
}

#[test]
fn waiting_ends_when_binding_cannot_succeed() {
    let claim =
        |annotations: Value| (3, "PersistentVolumeClaim", "c", json!({ "metadata": { "annotations": annotations } }));
    let elsewhere = json!({ "spec": { "nodeAffinity": { "required": { "nodeSelectorTerms":
        [{ "matchExpressions": [{ "key": "disk", "operator": "In", "values": ["hdd"] }] }] } } } });
    let unbound = json!({ "spec": { "claimRef": null } });
    let selected = "volume.kubernetes.io/selected-node";
    for (objects, concurrent, after, expected) in [
        (&[VOLUME, FOUND][..], None, 5, "context deadline exceeded"),
        (
            &[VOLUME, FOUND],
            Some((3, "Pod", "of-c", Value::Null)),
            3,
            "pod does not exist any more: pods \"of-c\" not found",
        ),
        (&[VOLUME, FOUND], Some((3, "PersistentVolume", "v", unbound)), 3, "ClaimRef got reset for pv \"v\""),
        (
            &[VOLUME, FOUND],
            Some((3, "PersistentVolume", "v", elsewhere)),
            3,
            "pv \"v\" node affinity doesn't match node \"n1\": no matching NodeSelectorTerms",
        ),
        (
            &[VOLUME, FOUND],
            Some((3, "PersistentVolume", "v", Value::Null)),
            3,
            "failed to check binding: persistentvolumes \"v\" not found",
        ),
        (&[MADE], Some(claim(json!({ selected: null, "a": "b" }))), 3, "provisioning failed for PVC \"c\""),
        (&[MADE], Some(claim(json!(null))), 3, "selectedNode annotation reset for PVC \"c\""),
        (
            &[MADE],
            Some((3, "PersistentVolumeClaim", "c", Value::Null)),
            3,
            "failed to check provisioning pvc: persistentvolumeclaims \"c\" not found",
        ),
    ] {
        let concurrent: Vec<_> = concurrent.into_iter().collect();
        let (seconds, result, _) = bind(objects, false, &concurrent);
        assert_eq!((seconds, result), (after, Err(format!("binding volumes: {expected}"))), "{concurrent:?}");
    }
}

#[test]
fn concurrent_changes_are_not_overwritten() {
    let message = |what: &str| {
        Err(format!(
            "Operation cannot be fulfilled on {what}: the object has been modified; please apply your changes to the latest \
             version and try again"
        ))
    };
    // `received` is the claim in the scheduler, `current` the claim at the API server.
    let run = |received: &str, current: &str| {
        let mut cluster = TestCluster::new(&[VOLUME, received]);
        let (_, reserved) = cluster.reserve("c", 0);
        let mut server = ApiServer::new(ApiServerOptions::default());
        let taken = VOLUME.replace("spec: {", "spec: {claimRef: {namespace: default, name: d, uid: d}, ");
        for object in [&taken, current] {
            server.create(testing::api_object(object), 0).expect("each is created once");
        }
        let client = InMemoryClient::default();
        let mut executor = Executor::new();
        let (plan, caller) = (reserved.0.expect("there is something to do").plan, client.clone());
        executor.spawn(async move { plan.run(&caller, 5).await });
        loop {
            if let Some(result) = executor.run_until_one_ends() {
                return result;
            }
            for call in client.take_calls() {
                let response = server.handle(&call.request, 0);
                call.answer(response);
            }
        }
    };
    assert_eq!(run(FOUND, FOUND), message("persistentvolumes \"v\""));
    let of_claim = message("persistentvolumeclaims \"c\"");
    assert_eq!(run(MADE, &MADE.replace("spec: {", "spec: {volumeName: w, ")), of_claim);
    assert_eq!(run(MADE, &MADE.replace("uid: c-1", "uid: c-2")), of_claim);
}

#[test]
fn pre_bind_skips_bound_claims() {
    let bound = FOUND
        .replace("uid: c-1", "uid: c-1, annotations: {pv.kubernetes.io/bind-completed: 'yes'}")
        .replace("spec: {", "spec: {volumeName: v, ");
    let mut cluster = TestCluster::new(&[VOLUME, &bound]);
    let (placement, reserved) = cluster.reserve("c", 0);
    let flight = cluster.plugin.pre_bind_pre_flight(&ARGS, &placement, &reserved);
    assert_eq!(flight, Ok(PreFlightResult::Skip));
}
