//! Volumes are bound before their pods.

use std::time::Duration;

use schedc_fake_apiserver::{Fault, FaultRule, RecordedRequest, Server};
use serde_json::{Value, json};

use crate::scheduler::cluster::{bound, failures, node, node_of, path, pod, until, wait_for_failure};
use crate::scheduler::replica::Replica;

const VOLUMES: &str = "/api/v1/persistentvolumes";
const CLAIMS: &str = "/api/v1/namespaces/default/persistentvolumeclaims";
const SELECTED_NODE: &str = "volume.kubernetes.io/selected-node";

/// Starts a server with the nodes `n1` and `n2`, and two storage classes: `local` for existing volumes, and `csi` for
/// dynamic provisioning.
fn server() -> Server {
    let server = Server::start();
    for name in ["n1", "n2"] {
        server.create(node(name, 100));
    }
    for (name, provisioner) in [("local", "kubernetes.io/no-provisioner"), ("csi", "example.com/csi")] {
        server.create(json!({
            "apiVersion": "storage.k8s.io/v1", "kind": "StorageClass", "metadata": {"name": name},
            "provisioner": provisioner, "volumeBindingMode": "WaitForFirstConsumer",
        }));
    }
    server
}

fn volume(name: &str, node: &str) -> Value {
    let term = json!({"matchExpressions": [{"key": "kubernetes.io/hostname", "operator": "In", "values": [node]}]});
    json!({
        "apiVersion": "v1", "kind": "PersistentVolume", "metadata": {"name": name},
        "spec": {
            "storageClassName": "local", "capacity": {"storage": "1Gi"}, "accessModes": ["ReadWriteOnce"],
            "local": {"path": "/x"}, "nodeAffinity": {"required": {"nodeSelectorTerms": [term]}},
        },
        "status": {"phase": "Available"},
    })
}

/// Creates a pod, and a claim of this class that has the same name and is used by the pod.
fn create_pod_with_claim(server: &Server, name: &str, class: &str) {
    server.create(json!({
        "apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {"name": name, "namespace": "default"},
        "spec": {
            "storageClassName": class, "accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}},
        },
        "status": {"phase": "Pending"},
    }));
    server.create(with_claim(pod(name, 1), name));
}

fn with_claim(mut pod: Value, claim: &str) -> Value {
    pod["spec"]["volumes"] = json!([{"name": "v", "persistentVolumeClaim": {"claimName": claim}}]);
    pod
}

fn claim(server: &Server, name: &str) -> Value {
    server.get(&format!("{CLAIMS}/{name}")).unwrap()
}

/// Returns the node for which a volume is to be provisioned.
fn selected_node(server: &Server, claim: &str) -> Option<String> {
    self::claim(server, claim)["metadata"]["annotations"][SELECTED_NODE].as_str().map(str::to_owned)
}

/// Returns whether a request is about a single volume or claim.
fn is_about_volumes(request: &RecordedRequest) -> bool {
    request.path.starts_with(&format!("{VOLUMES}/")) || request.path.starts_with(&format!("{CLAIMS}/"))
}

#[test]
fn an_existing_volume_is_bound_to_the_claim() {
    let server = server();
    server.bind_volumes();
    server.create(volume("pv", "n2"));
    create_pod_with_claim(&server, "p", "local");
    let _scheduler = Replica::alone(&server);
    until(&server, "the pod is bound", |server| node_of(server, "p").as_deref() == Some("n2"));
    let claim = claim(&server, "p");
    assert_eq!((&claim["spec"]["volumeName"], &claim["status"]["phase"]), (&json!("pv"), &json!("Bound")));
    let volume = server.get(&format!("{VOLUMES}/pv")).unwrap();
    assert_eq!(volume["spec"]["claimRef"]["uid"], claim["metadata"]["uid"]);
    assert_eq!(volume["metadata"]["annotations"]["pv.kubernetes.io/bound-by-controller"], "yes");
    // Existing fields are preserved.
    assert_eq!(volume["spec"]["local"], json!({"path": "/x"}));
}

#[test]
fn waiting_for_volumes_uses_watches_instead_of_requests() {
    const PODS: usize = 50;
    let server = server();
    let _scheduler = Replica::alone(&server);
    (0..PODS).for_each(|number| create_pod_with_claim(&server, &format!("p{number}"), "csi"));
    until(&server, "volumes are requested", |server| {
        (0..PODS).all(|number| selected_node(server, &format!("p{number}")).is_some())
    });
    // Two minutes by the scheduler's clock.
    std::thread::sleep(Duration::from_secs(6));
    assert_eq!(bound(&server), 0);
    assert_eq!(server.count_requests(is_about_volumes), 2 * PODS, "each claim is read and written");
    server.bind_volumes();
    server.merge(&format!("{CLAIMS}/p0"), json!({"metadata": {"labels": {"touched": "yes"}}}));
    until(&server, "all pods are bound", |server| bound(server) == PODS);
    assert_eq!(server.count_requests(is_about_volumes), 3 * PODS, "each provisioned volume is read");
}

#[test]
fn failed_provisioning_moves_to_another_node() {
    let server = server();
    server.apply(node("n2", 0));
    create_pod_with_claim(&server, "p", "csi");
    let _scheduler = Replica::alone(&server);
    until(&server, "a volume is requested", |server| selected_node(server, "p").as_deref() == Some("n1"));
    // The provisioner reports a failure.
    server.apply(node("n2", 100));
    server.apply(node("n1", 0));
    server.merge(&format!("{CLAIMS}/p"), json!({"metadata": {"annotations": {SELECTED_NODE: null, "other": "a"}}}));
    wait_for_failure(&server, "p", "binding volumes: provisioning failed for PVC \"p\"");
    until(&server, "a volume is requested on the other node", |server| {
        selected_node(server, "p").as_deref() == Some("n2")
    });
    server.bind_volumes();
    server.merge(&format!("{CLAIMS}/p"), json!({"metadata": {"labels": {"touched": "yes"}}}));
    until(&server, "the pod is bound", |server| node_of(server, "p").as_deref() == Some("n2"));
}

#[test]
fn waiting_for_volumes_times_out() {
    let server = server();
    let mut impatient = with_claim(pod("q", 1), "p");
    impatient["spec"]["schedulerName"] = "impatient".into();
    create_pod_with_claim(&server, "p", "csi");
    server.remove(&path("p"));
    server.create(impatient);
    let _scheduler = Replica::alone(&server);
    wait_for_failure(&server, "q", "binding volumes: context deadline exceeded");
    server.bind_volumes();
    server.merge(&format!("{CLAIMS}/p"), json!({"metadata": {"labels": {"touched": "yes"}}}));
    until(&server, "the pod is bound", |server| node_of(server, "q").is_some());
}

#[test]
fn a_deleted_node_ends_the_wait_for_its_volumes() {
    let server = server();
    server.remove("/api/v1/nodes/n2");
    create_pod_with_claim(&server, "p", "csi");
    let _scheduler = Replica::alone(&server);
    until(&server, "a volume is requested", |server| selected_node(server, "p").as_deref() == Some("n1"));
    server.remove("/api/v1/nodes/n1");
    wait_for_failure(&server, "p", "failed to get node \"n1\": nodes \"n1\" not found");
}

#[test]
fn failed_writes_are_repaired() {
    for fault in [Fault::Respond(409, None), Fault::LoseResponse, Fault::Respond(500, None), Fault::Cut] {
        let server = server();
        server.bind_volumes();
        server.create(volume("pv", "n2"));
        for path in ["*/persistentvolumes/*", "*/persistentvolumeclaims/*"] {
            server.rule(FaultRule::new(fault.clone()).verb("patch").path(path).times(2));
            server.rule(FaultRule::new(Fault::Cut).verb("get").path(path).times(1));
        }
        create_pod_with_claim(&server, "found", "local");
        create_pod_with_claim(&server, "made", "csi");
        let _scheduler = Replica::alone(&server);
        until(&server, "both pods are bound", |server| bound(server) == 2);
        assert_eq!(failures(&server, "found"), Vec::<String>::new(), "{fault:?}");
        assert_eq!(failures(&server, "made"), Vec::<String>::new(), "{fault:?}");
    }
}

#[test]
fn missed_watch_events_are_repaired() {
    let server = server();
    server.create(volume("pv", "n2"));
    create_pod_with_claim(&server, "p", "local");
    let _scheduler = Replica::alone(&server);
    let is_taken = |server: &Server| server.get(&format!("{VOLUMES}/pv")).unwrap()["spec"]["claimRef"].is_object();
    until(&server, "the volume is taken", is_taken);
    // Watches break, and restart after all events have expired.
    server.rule(FaultRule::new(Fault::Respond(500, None)).verb("watch"));
    server.rule(FaultRule::new(Fault::Respond(500, None)).verb("list"));
    server.cut_connections();
    server.bind_volumes();
    server.merge(&format!("{CLAIMS}/p"), json!({"metadata": {"labels": {"touched": "yes"}}}));
    server.compact();
    server.clear_rules();
    until(&server, "the pod is bound", |server| node_of(server, "p").as_deref() == Some("n2"));
}
