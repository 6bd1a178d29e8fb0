//! The printed permissions equal the used ones: the test makes `schedc run` send every kind of request.

use std::collections::BTreeSet;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use schedc_fake_apiserver::{Fault, FaultRule, Server};
use schedc_kubernetes::resources::RESOURCES;
use serde_json::{Value, json};

use crate::cli::harness::{Folder, schedc};

/// Timeout of a test, for a busy machine.
const TIMEOUT: Duration = Duration::from_secs(60);

#[test]
fn every_granted_right_is_used_and_no_other_one() {
    let server = Server::start();
    let folder = Folder::with(&[("kubeconfig", &server.kubeconfig())]);
    exercise_all_rights(&server, &folder);
    let granted = granted();
    let mut used: BTreeSet<String> =
        server.requests().iter().map(|request| used(request.verb, &request.path, &granted)).collect();
    // For an allocation, an API server also requires the permission for `binding`.
    if used.contains("patch resource.k8s.io/resourceclaims/status") {
        used.insert("patch resource.k8s.io/resourceclaims/binding".to_owned());
    }
    let missing: Vec<_> = used.difference(&granted).collect();
    assert!(missing.is_empty(), "not granted: {missing:?}");
    // The scheduler needs these rights only if a client requests metrics, which the test does not do.
    let for_metrics = [
        "create authentication.k8s.io/tokenreviews",
        "create authorization.k8s.io/subjectaccessreviews",
        "get /configmaps in kube-system",
    ];
    let unused: Vec<_> = granted.difference(&used).filter(|right| !for_metrics.contains(&right.as_str())).collect();
    assert!(unused.is_empty(), "granted for nothing: {unused:?}");
}

/// Returns the permissions of all profiles of this program: `verb group/resource`, with `in namespace` for Roles.
fn granted() -> BTreeSet<String> {
    let printed = schedc(&["manifest"]).ok();
    let mut rights = BTreeSet::new();
    for document in printed.split("---\n") {
        let object: Value = serde_saphyr::from_str(document).expect("YAML");
        let place = match object["kind"].as_str() {
            Some("ClusterRole") => String::new(),
            Some("Role") => format!(" in {}", object["metadata"]["namespace"].as_str().expect("a namespace")),
            _ => continue,
        };
        for rule in object["rules"].as_array().expect("rules") {
            let texts = |key: &str| -> Vec<String> {
                rule[key].as_array().expect(key).iter().map(|text| text.as_str().expect(key).to_owned()).collect()
            };
            for (verb, resource) in
                texts("verbs").iter().flat_map(|v| texts("resources").into_iter().map(move |r| (v, r)))
            {
                rights.insert(format!("{verb} {}/{resource}{place}", texts("apiGroups")[0]));
            }
        }
    }
    rights
}

/// Returns the permission that a request needs: the cluster-wide one if that is granted, otherwise the one in the
/// request's namespace.
fn used(verb: &str, path: &str, granted: &BTreeSet<String>) -> String {
    let path = path.split('?').next().unwrap_or(path);
    let mut parts = path.split('/').skip(1);
    let group = if parts.next() == Some("api") { "" } else { parts.next().unwrap_or_default() };
    let mut parts: Vec<&str> = parts.skip(1).collect();
    let mut namespace = "";
    if parts.len() > 2 && parts[0] == "namespaces" {
        namespace = parts[1];
        parts.drain(..2);
    }
    let resource = if parts.len() > 2 { format!("{}/{}", parts[0], parts[2]) } else { parts[0].to_owned() };
    let cluster_wide = format!("{verb} {group}/{resource}");
    if granted.contains(&cluster_wide) { cluster_wide } else { format!("{cluster_wide} in {namespace}") }
}

fn exercise_all_rights(server: &Server, folder: &Folder) {
    // The server rejects the first watch of each kind, like a server without streaming lists. The scheduler then sends
    // a list.
    for resource in RESOURCES.iter().filter(|resource| resource.is_watched()) {
        server.rule(FaultRule::new(Fault::Respond(400, None)).verb("watch").path(&resource.all()).times(1));
    }
    server.rule(FaultRule::new(Fault::LoseResponse).verb("create").path("*/pods/lost/binding").times(1));
    // If the pod `gpu` cannot be bound, the scheduler deletes the claim that it created for the pod.
    server.rule(FaultRule::new(Fault::Respond(403, None)).verb("create").path("*/pods/gpu/binding").times(1));
    server.pods_end_after(Duration::ZERO);
    server.bind_volumes();
    server.create(node("1"));
    for (class, provisioner) in [("provisioned", "example.com/disks"), ("existing", "kubernetes.io/no-provisioner")] {
        server.create(json!({
            "apiVersion": "storage.k8s.io/v1", "kind": "StorageClass", "metadata": {"name": class},
            "provisioner": provisioner, "volumeBindingMode": "WaitForFirstConsumer",
        }));
        server.create(json!({
            "apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {"name": class, "namespace": "default"},
            "spec": {"storageClassName": class, "accessModes": ["ReadWriteOnce"],
                "resources": {"requests": {"storage": "1Gi"}}},
        }));
    }
    server.create(json!({
        "apiVersion": "v1", "kind": "PersistentVolume", "metadata": {"name": "existing"},
        "spec": {"storageClassName": "existing", "accessModes": ["ReadWriteOnce"], "capacity": {"storage": "1Gi"},
            "hostPath": {"path": "/existing"}},
        "status": {"phase": "Available"},
    }));
    create_devices(server);
    let kubeconfig = folder.path("kubeconfig");
    let mut running = Running(
        Command::new(env!("CARGO_BIN_EXE_schedc"))
            .args(["run", "--secure-port=0", "--kubeconfig"])
            .arg(&kubeconfig)
            .stdin(Stdio::null())
            .spawn()
            .expect("schedc starts"),
    );
    server.create(pod("lost", "100m", 0));
    for class in ["provisioned", "existing"] {
        let mut pod = pod(class, "100m", 0);
        pod["spec"]["volumes"] = json!([{"name": "v", "persistentVolumeClaim": {"claimName": class}}]);
        server.create(pod);
    }
    let mut gpu = pod("gpu", "0", 0);
    gpu["spec"]["containers"][0]["resources"]["requests"]["example.com/gpu"] = "1".into();
    server.create(gpu);
    let mut shared = pod("shared", "0", 0);
    shared["spec"]["resourceClaims"] = json!([{"name": "c", "resourceClaimName": "shared"}]);
    server.create(shared);
    wait_until(server, "all five are bound", |server| bound(server) == 5);
    server.create(pod("high", "600m", 5));
    wait_until(server, "a sixth is bound", |server| bound(server) == 6);
    server.create(pod("higher", "600m", 10));
    wait_until(server, "the pod `higher` preempts `high`", |server| {
        server.get("/api/v1/namespaces/default/pods/high").is_none()
    });
    server.create(pod("too-large", "900m", 0));
    let events = |server: &Server, verb: &str| {
        server.count_requests(|request| request.verb == verb && request.path.starts_with("/apis/events.k8s.io")) > 0
    };
    // The pod would fit on the empty node. Therefore each update of the node causes another attempt, which fails again.
    for round in 0.. {
        assert!(round < 60, "no event was repeated");
        server.merge("/api/v1/nodes/n", node(&format!("1{:03}m", round % 100)));
        if server.wait(Duration::from_secs(1), |server| events(server, "patch")) {
            break;
        }
    }
    running.end();
}

/// Creates two devices, which back an extended resource, and a claim.
fn create_devices(server: &Server) {
    server.create(json!({
        "apiVersion": "resource.k8s.io/v1", "kind": "DeviceClass", "metadata": {"name": "gpu"},
        "spec": {"extendedResourceName": "example.com/gpu"},
    }));
    server.create(json!({
        "apiVersion": "resource.k8s.io/v1", "kind": "ResourceSlice", "metadata": {"name": "n"},
        "spec": {"driver": "gpu.example.com", "pool": {"name": "n", "generation": 1, "resourceSliceCount": 1},
            "nodeName": "n", "devices": [{"name": "a"}, {"name": "b"}]},
    }));
    let exactly = json!({"deviceClassName": "gpu", "allocationMode": "ExactCount", "count": 1});
    server.create(json!({
        "apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaim",
        "metadata": {"name": "shared", "namespace": "default"},
        "spec": {"devices": {"requests": [{"name": "r", "exactly": exactly}]}},
    }));
}

#[track_caller]
fn wait_until(server: &Server, what: &str, condition: impl Fn(&Server) -> bool) {
    let pods = |server: &Server| {
        let pods = server.list("/api/v1/pods").into_iter();
        pods.map(|pod| format!("{} on {}: {}\n", pod["metadata"]["name"], pod["spec"]["nodeName"], pod["status"]))
            .collect::<String>()
    };
    assert!(server.wait(TIMEOUT, condition), "{what}:\n{}", pods(server));
}

fn bound(server: &Server) -> usize {
    server.count("/api/v1/pods", |pod| pod["spec"]["nodeName"] == "n")
}

fn node(cpu: &str) -> Value {
    let allocatable = json!({"cpu": cpu, "memory": "1Gi", "pods": "20"});
    json!({
        "apiVersion": "v1", "kind": "Node", "metadata": {"name": "n", "labels": {"kubernetes.io/hostname": "n"}},
        "status": {"capacity": allocatable, "allocatable": allocatable},
    })
}

fn pod(name: &str, cpu: &str, priority: i32) -> Value {
    json!({
        "apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "namespace": "default"},
        "spec": {"priority": priority,
            "containers": [{"name": "c", "image": "i", "resources": {"requests": {"cpu": cpu}}}]},
    })
}

/// Process that is killed at the end of its test.
struct Running(Child);

impl Running {
    /// Sends SIGTERM, as the kubelet does.
    fn end(&mut self) {
        let status = Command::new("kill").arg(self.0.id().to_string()).status().expect("kill");
        assert!(status.success());
        assert!(self.0.wait().expect("it ends").success());
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // The process may have ended.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}
