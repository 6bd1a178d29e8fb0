//! Resource claims of several pods that are bound at the same time, and their metrics.

use std::time::Duration;

use default_profile::Profiles;
use schedc_core::claim_metrics::{ClaimMetrics, WaitResult};
use schedc_core::client::{ApiError, ApiReason};
use schedc_core::erased::AnyBundle;
use schedc_in_memory::server::Request;
use schedc_in_memory::{ApiServerOptions, CallTreatment, Options, SimulationHooks, Simulator};

use crate::simulator::{cluster, node};

/// Returns a class that backs an extended resource, and a slice with devices of node n1.
fn devices(names: &[&str], fields: &str) -> String {
    let devices: String = names.iter().map(|name| format!("{{name: {name}, {fields}}},")).collect();
    format!(
        "---
apiVersion: resource.k8s.io/v1
kind: DeviceClass
metadata: {{name: gpu}}
spec: {{extendedResourceName: example.com/gpu}}
---
apiVersion: resource.k8s.io/v1
kind: ResourceSlice
metadata: {{name: n1}}
spec:
  driver: gpu.example.com
  nodeName: n1
  pool: {{name: n1, generation: 1, resourceSliceCount: 1}}
  devices: [{devices}]
"
    )
}

fn pod(name: &str) -> String {
    let resources = "requests: {example.com/gpu: 1}, limits: {example.com/gpu: 1}";
    format!(
        "---
apiVersion: v1
kind: Pod
metadata: {{name: {name}}}
spec: {{containers: [{{name: c, resources: {{{resources}}}}}]}}
"
    )
}

/// Hooks that delay or refuse the creation of claims.
struct ClaimCalls(CallTreatment);

impl SimulationHooks for ClaimCalls {
    fn on_call(&mut self, _: i64, request: &Request) -> CallTreatment {
        match request {
            Request::CreateJson(..) => self.0.clone(),
            _ => CallTreatment::Immediate,
        }
    }
}

fn with_calls(treatment: CallTreatment, manifests: &str) -> Simulator<ClaimCalls> {
    let server = ApiServerOptions { grace: Some(Duration::ZERO), ..ApiServerOptions::default() };
    let options = Options { server, ..Options::default() };
    let mut cluster = Simulator::new(&AnyBundle::running::<Profiles>(), options, ClaimCalls(treatment)).unwrap();
    cluster.apply(manifests);
    cluster
}

/// Returns the device of each claim, sorted.
fn allocated(cluster: &Simulator<ClaimCalls>) -> Vec<String> {
    let claims = cluster.server.list("ResourceClaim").map(|claim| claim.to_json().unwrap());
    let device =
        |claim: serde_json::Value| claim["status"]["allocation"]["devices"]["results"][0]["device"].to_string();
    let mut devices: Vec<String> = claims.map(device).collect();
    devices.sort_unstable();
    devices
}

#[test]
fn pods_that_are_bound_at_once_get_different_devices() {
    let objects = node("n1", 4) + &devices(&["gpu-0", "gpu-1"], "") + &pod("a") + &pod("b") + &pod("c");
    let mut cluster = with_calls(CallTreatment::After(Duration::from_millis(250)), &objects);
    cluster.run();
    assert_eq!(allocated(&cluster), [r#""gpu-0""#, r#""gpu-1""#]);
    assert_eq!(["a", "b", "c"].map(|pod| cluster.node_of(pod)), [Some("n1"), Some("n1"), None]);
}

#[test]
fn the_device_of_a_deleted_pod_is_free_again() {
    let objects = node("n1", 4) + &devices(&["gpu-0"], "") + &pod("a") + &pod("b");
    let mut cluster = with_calls(CallTreatment::After(Duration::from_millis(250)), &objects);
    cluster.run();
    assert_eq!(["a", "b"].map(|pod| cluster.node_of(pod)), [Some("n1"), None]);
    cluster.delete("Pod", "a");
    cluster.run();
    assert_eq!(cluster.node_of("b"), Some("n1"));
}

#[test]
fn created_claims_are_counted() {
    let created = |treatment| {
        let mut cluster = with_calls(treatment, &(node("n1", 4) + &devices(&["gpu-0"], "") + &pod("a")));
        cluster.run();
        let ClaimMetrics { created, not_created, .. } = cluster.scheduler.claim_metrics();
        (created, not_created > 0)
    };
    assert_eq!(created(CallTreatment::Immediate), (1, false));
    let overloaded = ApiError::new(ApiReason::Other, "the server is overloaded");
    assert_eq!(created(CallTreatment::Refuse(overloaded)), (0, true));
}

const CONDITIONS: &str = "bindingConditions: [Attached], bindingFailureConditions: [Broken]";

/// Returns a claim, and a pod that uses it. `status`: the fields of the claim's status.
fn claim_and_pod(status: &str) -> String {
    format!(
        "---
apiVersion: resource.k8s.io/v1
kind: ResourceClaim
metadata: {{name: mine}}
spec: {{devices: {{requests: [{{name: gpu, exactly: {{deviceClassName: gpu, allocationMode: ExactCount, count: 1}}}}]}}}}
status: {{{status}}}
---
apiVersion: v1
kind: Pod
metadata: {{name: a}}
spec: {{containers: [{{name: c}}], resourceClaims: [{{name: gpu, resourceClaimName: mine}}]}}
"
    )
}

/// Returns the profile, driver and result of waits for binding conditions, the number of such waits, and the sum of
/// their durations in seconds. `status`: the fields of the claim's status.
fn waits(status: &str) -> Vec<(String, String, WaitResult, u64, u64)> {
    let mut cluster = cluster(&(node("n1", 4) + &devices(&["gpu-0"], CONDITIONS) + &claim_and_pod(status)));
    cluster.run_for(Duration::from_secs(600));
    let ClaimMetrics { waits, allocations, .. } = cluster.scheduler.claim_metrics();
    assert_eq!(waits.len(), allocations.len());
    let durations = waits.into_iter().zip(allocations);
    let result = durations.map(|((labels, durations), (counted, count))| {
        assert_eq!(labels, counted);
        (labels.profile.to_string(), labels.driver.to_string(), labels.result, count, durations.sum() / 1_000_000_000)
    });
    result.collect()
}

#[test]
fn waits_for_binding_conditions_are_measured() {
    let expected = |result, number, seconds| {
        vec![("default-scheduler".to_owned(), "gpu.example.com".to_owned(), result, number, seconds)]
    };
    assert_eq!(waits(""), expected(WaitResult::Success, 1, 0));
    let status = |conditions: &str| {
        format!("devices: [{{driver: gpu.example.com, pool: n1, device: gpu-0, conditions: [{conditions}]}}]")
    };
    assert_eq!(waits(&status("")), expected(WaitResult::Timeout, 1, 600));
    let broken = "{type: Broken, status: 'True', reason: r, message: m, lastTransitionTime: '2026-01-01T00:00:00Z'}";
    // The claim is deallocated, and allocated again without this status.
    let results: Vec<_> = waits(&status(broken)).into_iter().map(|(.., result, number, _)| (result, number)).collect();
    assert_eq!(results, [(WaitResult::Failure, 1), (WaitResult::Success, 1)]);
}
