//! Pods whose volumes are found or provisioned while they wait.

use expect_test::expect;
use schedc_core::client::{ApiError, ApiReason};
use schedc_core::erased::AnyBundle;
use schedc_in_memory::server::Request;
use schedc_in_memory::{CallTreatment, SimulationHooks};

use super::*;

fn class(provisioner: &str, mode: &str) -> String {
    format!(
        "---
apiVersion: storage.k8s.io/v1
kind: StorageClass
metadata: {{name: c}}
provisioner: {provisioner}
volumeBindingMode: {mode}
"
    )
}

const CLAIM: &str = "---
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: data}
spec: {accessModes: [ReadWriteOnce], storageClassName: c, resources: {requests: {storage: 10Gi}}}
";

const LOCAL: &str = "---
apiVersion: v1
kind: PersistentVolume
metadata: {name: local}
spec:
  capacity: {storage: 10Gi}
  accessModes: [ReadWriteOnce]
  storageClassName: c
  local: {path: /data}
  nodeAffinity: {required: {nodeSelectorTerms: [
    {matchExpressions: [{key: kubernetes.io/hostname, operator: In, values: [n2]}]}]}}
";

const VOLUMES: &str = "volumes: [{name: data, persistentVolumeClaim: {claimName: data}}]";

#[test]
fn a_volume_is_provisioned_on_the_node_of_the_pod() {
    let manifests = node("n1", 4) + &class("csi.example.com", "WaitForFirstConsumer") + CLAIM + &pod("db", 1, VOLUMES);
    let mut cluster = cluster(&manifests);
    assert_eq!(cluster.run(), SimulationEnd::Idle);
    assert_eq!(cluster.pods(), "default/db on n1\n");
    let volumes: Vec<_> = cluster.server.list("PersistentVolume").map(|volume| volume.name().to_owned()).collect();
    assert_eq!(volumes, ["pvc-default-data"]);
}

#[test]
fn a_pod_is_placed_on_the_node_of_its_volume() {
    let class = class("kubernetes.io/no-provisioner", "WaitForFirstConsumer");
    let mut cluster = cluster(&(node("n1", 4) + &node("n2", 4) + &class + LOCAL + CLAIM + &pod("db", 1, VOLUMES)));
    cluster.run();
    assert_eq!(cluster.pods(), "default/db on n2\n");
    let claim = cluster.server.list("PersistentVolumeClaim").next().unwrap().to_json().unwrap();
    assert_eq!((&claim["spec"]["volumeName"], &claim["status"]["phase"]), (&"local".into(), &"Bound".into()));
}

#[test]
fn a_pod_waits_for_its_claim() {
    let mut cluster = cluster(&(node("n1", 4) + &class("csi.example.com", "Immediate") + &pod("db", 1, VOLUMES)));
    cluster.run();
    expect![[r#"
        default/db: Unschedulable: 0/1 nodes are available: persistentvolumeclaim "data" not found. not found
    "#]]
    .assert_eq(&cluster.pods());
    cluster.apply(CLAIM);
    cluster.run();
    assert_eq!(cluster.pods(), "default/db on n1\n");
}

#[test]
fn a_pod_gets_an_ephemeral_volume() {
    let volumes = "volumes: [{name: scratch, ephemeral: {volumeClaimTemplate: {spec: {
        accessModes: [ReadWriteOnce], storageClassName: c, resources: {requests: {storage: 1Gi}}}}}}]";
    let mut cluster =
        cluster(&(node("n1", 4) + &class("csi.example.com", "WaitForFirstConsumer") + &pod("db", 1, volumes)));
    assert_eq!(cluster.run(), SimulationEnd::Idle);
    assert_eq!(cluster.pods(), "default/db on n1\n");
    let claim = cluster.server.list("PersistentVolumeClaim").next().unwrap().to_json().unwrap();
    assert_eq!((&claim["metadata"]["name"], &claim["status"]["phase"]), (&"db-scratch".into(), &"Bound".into()));
}

#[test]
fn two_pods_share_a_claim() {
    let class = class("kubernetes.io/no-provisioner", "WaitForFirstConsumer");
    let pods = pod("a", 1, VOLUMES) + &pod("b", 1, VOLUMES);
    let mut cluster = cluster(&(node("n1", 4) + &node("n2", 4) + &class + LOCAL + CLAIM + &pods));
    cluster.run();
    assert_eq!(cluster.pods(), "default/a on n2\ndefault/b on n2\n");
}

#[test]
fn a_volume_is_bound_to_one_claim() {
    let class = class("kubernetes.io/no-provisioner", "WaitForFirstConsumer");
    let other = CLAIM.replace("name: data", "name: other");
    let pods = pod("a", 1, VOLUMES) + &pod("b", 1, &VOLUMES.replace("claimName: data", "claimName: other"));
    let mut cluster = cluster(&(node("n1", 4) + &node("n2", 4) + &class + LOCAL + CLAIM + &other + &pods));
    cluster.run();
    expect![[r#"
        default/a on n2
        default/b: Unschedulable: 0/2 nodes are available: 2 node(s) didn't find available persistent volumes to bind. no new claims to deallocate, preemption: 0/2 nodes are available: 2 Preemption is not helpful for scheduling.
    "#]]
    .assert_eq(&cluster.pods());
    cluster.apply(&LOCAL.replace("name: local", "name: second"));
    cluster.run();
    assert_eq!(cluster.pods(), "default/a on n2\ndefault/b on n2\n");
}

#[test]
fn waiting_for_a_claim_times_out() {
    // A volume with the name that the provisioner chooses exists already, which prevents provisioning.
    let taken = "---
apiVersion: v1
kind: PersistentVolume
metadata: {name: pvc-default-data}
spec: {capacity: {storage: 1Gi}, accessModes: [ReadWriteOnce], storageClassName: other}
";
    let manifests =
        node("n1", 4) + &class("csi.example.com", "WaitForFirstConsumer") + CLAIM + taken + &pod("db", 1, VOLUMES);
    let mut cluster = cluster(&manifests);
    cluster.run_for(Duration::from_secs(599));
    assert_eq!(cluster.nominated_node_of("db"), Some("n1"), "the binding takes long");
    assert_eq!(cluster.condition("db", "PodScheduled"), None);
    cluster.run_for(Duration::from_secs(1));
    expect![[r#"
        default/db: SchedulerError: running PreBind plugin "VolumeBinding": binding volumes: context deadline exceeded
    "#]]
    .assert_eq(&cluster.pods());
    cluster.delete("PersistentVolume", "pvc-default-data");
    // The provisioner processes the claim again.
    cluster.patch("PersistentVolumeClaim", "data", serde_json::json!({"metadata": {"labels": {"a": "b"}}}));
    cluster.run_for(Duration::from_secs(60));
    assert_eq!(cluster.pods(), "default/db on n1\n");
}

/// Hooks that inject a fault into one call of the scheduler.
struct OneFault {
    at: usize,
    calls: usize,
    treatment: CallTreatment,
}

impl SimulationHooks for OneFault {
    fn on_call(&mut self, _: i64, request: &Request) -> CallTreatment {
        if matches!(request, Request::Record(_)) {
            return CallTreatment::Immediate;
        }
        self.calls += 1;
        if self.calls == self.at { self.treatment.clone() } else { CallTreatment::Immediate }
    }
}

#[test]
fn a_pod_gets_its_volume_whichever_call_fails() {
    let conflict = ApiError::new(ApiReason::Conflict, "the object has been modified");
    let treatments =
        [CallTreatment::Refuse(conflict), CallTreatment::LoseResponse, CallTreatment::After(Duration::from_secs(5))];
    for (provisioner, volume) in [("kubernetes.io/no-provisioner", LOCAL), ("csi.example.com", "")] {
        let class = class(provisioner, "WaitForFirstConsumer");
        let manifests = node("n1", 4) + &node("n2", 4) + &class + volume + CLAIM + &pod("db", 1, VOLUMES);
        for (at, treatment) in (1..=12).flat_map(|at| treatments.iter().map(move |treatment| (at, treatment.clone()))) {
            let what = format!("{provisioner}: call {at} {treatment:?}");
            let hooks = OneFault { at, calls: 0, treatment };
            let mut cluster = Simulator::new(&AnyBundle::running::<Profiles>(), Options::default(), hooks).unwrap();
            cluster.apply(&manifests);
            assert_eq!(cluster.run(), SimulationEnd::Idle, "{what}");
            assert!(cluster.hooks.calls >= at.min(5), "{what}: {} calls", cluster.hooks.calls);
            assert!(cluster.node_of("db").is_some(), "{what}: {}", cluster.pods());
            let volumes: Vec<_> =
                cluster.server.list("PersistentVolume").map(|volume| volume.to_json().unwrap()).collect();
            assert_eq!(volumes.len(), 1, "{what}");
            assert_eq!(volumes[0]["status"]["phase"], "Bound", "{what}");
            assert_eq!(cluster.scheduler.in_progress(), Default::default(), "{what}");
        }
    }
}
