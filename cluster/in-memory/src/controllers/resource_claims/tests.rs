use std::time::Duration;

use expect_test::{Expect, expect};
use schedc_objects::testing::api_object;
use serde_json::{Value, json};

use super::*;
use crate::controllers::Controllers;
use crate::server::{ApiServerOptions, json_of};

/// A cluster in which finalizers block deletion, and pods have no grace period.
struct Cluster {
    server: ApiServer,
    controllers: Controllers,
}

impl Cluster {
    fn new(objects: &[&str]) -> Cluster {
        let options =
            ApiServerOptions { finalizers_hold: true, grace: Some(Duration::ZERO), ..ApiServerOptions::default() };
        let mut cluster = Cluster { server: ApiServer::new(options), controllers: Controllers::default() };
        cluster.apply(objects);
        cluster
    }

    fn apply(&mut self, objects: &[&str]) {
        for object in objects {
            self.server.apply(api_object(object), 0).unwrap();
        }
        self.controllers.run(&mut self.server, 0);
    }

    fn send(&mut self, request: &Request) {
        self.server.handle(request, 0).unwrap();
        self.controllers.run(&mut self.server, 0);
    }

    fn patch(&mut self, kind: &'static str, name: &str, patch: Value) {
        self.send(&Request::Patch(key(kind, name), patch));
    }

    fn delete(&mut self, kind: &'static str, name: &str) {
        self.send(&Request::Delete(key(kind, name), None));
    }

    /// Allocates a claim for a pod, as a scheduler does.
    fn allocate(&mut self, claim: &str, pod: &str) {
        let uid = format!("default/{pod}");
        let patch = json!({
            "metadata": {"finalizers": [RESOURCE_CLAIM_FINALIZER, "example.com/other"]},
            "status": {
                "allocation": {"devices": {"results": [
                    {"request": "r", "driver": "d", "pool": "p", "device": "e", "bindingConditions": ["Attached"]},
                ]}},
                "reservedFor": [{"resource": "pods", "name": pod, "uid": uid}],
            },
        });
        self.patch("ResourceClaim", claim, patch);
    }

    /// Checks all claims, one line each.
    #[track_caller]
    fn check(&self, expected: Expect) {
        let lines = self.server.list("ResourceClaim").map(|claim| {
            let json = json_of(claim);
            let (metadata, status) = (&json["metadata"], &json["status"]);
            let pods = status["reservedFor"].as_array().into_iter().flatten().map(|pod| pod["name"].as_str().unwrap());
            format!(
                "{}: owner {}, finalizers {}, {}, for {:?}, devices {}\n",
                claim.name(),
                metadata["ownerReferences"][0]["name"],
                metadata["finalizers"],
                if status["allocation"].is_null() { "free" } else { "allocated" },
                pods.collect::<Vec<_>>(),
                status["devices"][0]["conditions"][0]["status"],
            )
        });
        expected.assert_eq(&lines.collect::<String>());
    }

    fn statuses(&self, pod: &str) -> Value {
        let pod = self.server.get(&key("Pod", pod)).unwrap();
        json_of(pod)["status"]["resourceClaimStatuses"].take()
    }
}

fn key(kind: &'static str, name: &str) -> Key {
    Key { kind, namespace: "default".into(), name: name.into() }
}

const TEMPLATE: &str = "{kind: ResourceClaimTemplate, metadata: {name: gpu}, spec: {metadata: {labels: {a: b}}, spec: {devices: \
                        {requests: [{name: r, exactly: {deviceClassName: c}}]}}}}";
const POD: &str = "{kind: Pod, metadata: {name: web}, spec: {containers: [{name: c}], resourceClaims: [{name: own, \
                   resourceClaimTemplateName: gpu}, {name: shared, resourceClaimName: shared}]}}";
const SHARED: &str = "{kind: ResourceClaim, metadata: {name: shared}, spec: {}}";

#[test]
fn a_claim_is_generated_from_its_template() {
    let mut cluster = Cluster::new(&[POD]);
    cluster.check(expect![[""]]);
    assert_eq!(cluster.statuses("web"), Value::Null);
    cluster.apply(&[TEMPLATE]);
    cluster.check(expect![[r#"
        web-own-bbbbd: owner "web", finalizers null, free, for [], devices null
    "#]]);
    let statuses = cluster.statuses("web");
    let name = statuses[0]["resourceClaimName"].as_str().unwrap().to_owned();
    assert!(name.starts_with("web-own-"), "{name}");
    assert_eq!((statuses.as_array().unwrap().len(), &statuses[0]["name"]), (1, &json!("own")));
    let claim = json_of(cluster.server.get(&key("ResourceClaim", &name)).unwrap());
    assert_eq!(claim["metadata"]["annotations"], json!({POD_CLAIM_NAME: "own"}));
    assert_eq!(claim["metadata"]["labels"], json!({"a": "b"}));
    assert_eq!(claim["spec"]["devices"]["requests"][0]["exactly"]["count"], 1, "defaults apply");
    cluster.apply(&[TEMPLATE, POD]);
    assert_eq!(cluster.statuses("web"), statuses);
}

#[test]
fn a_generated_claim_is_found_again() {
    let mut cluster = Cluster::new(&[TEMPLATE, POD]);
    let statuses = cluster.statuses("web");
    cluster.patch("Pod", "web", json!({"status": {"resourceClaimStatuses": null}}));
    assert_eq!(cluster.statuses("web"), statuses);
}

#[test]
fn claims_are_released_when_their_pod_goes() {
    let mut cluster = Cluster::new(&[TEMPLATE, POD, SHARED]);
    let own = cluster.statuses("web")[0]["resourceClaimName"].as_str().unwrap().to_owned();
    cluster.allocate(&own, "web");
    cluster.allocate("shared", "web");
    cluster.check(expect![[r#"
        shared: owner null, finalizers ["resource.kubernetes.io/delete-protection","example.com/other"], allocated, for ["web"], devices "True"
        web-own-bbbbf: owner "web", finalizers ["resource.kubernetes.io/delete-protection","example.com/other"], allocated, for ["web"], devices "True"
    "#]]);
    cluster.delete("Pod", "web");
    cluster.check(expect![[r#"
        shared: owner null, finalizers ["example.com/other"], free, for [], devices null
        web-own-bbbbf: owner "web", finalizers ["example.com/other"], free, for [], devices null
    "#]]);
}

#[test]
fn a_finished_pod_needs_no_claims() {
    let mut cluster = Cluster::new(&[TEMPLATE, POD, SHARED]);
    cluster.allocate("shared", "web");
    cluster.patch("Pod", "web", json!({"status": {"phase": "Succeeded"}}));
    cluster.check(expect![[r#"
        shared: owner null, finalizers ["example.com/other"], free, for [], devices null
    "#]]);
}

#[test]
fn a_shared_claim_stays_allocated_for_its_other_pods() {
    let mut cluster =
        Cluster::new(&[POD, SHARED, "{kind: Pod, metadata: {name: db}, spec: {containers: [{name: c}]}}"]);
    cluster.allocate("shared", "web");
    let reserved = ["web", "db"].map(|pod| json!({"resource": "pods", "name": pod, "uid": format!("default/{pod}")}));
    cluster.patch("ResourceClaim", "shared", json!({"status": {"reservedFor": reserved}}));
    cluster.delete("Pod", "web");
    cluster.check(expect![[r#"
        shared: owner null, finalizers ["resource.kubernetes.io/delete-protection","example.com/other"], allocated, for ["db"], devices "True"
    "#]]);
}

#[test]
fn a_reservation_for_a_missing_pod_ends() {
    let mut cluster = Cluster::new(&[SHARED]);
    cluster.allocate("shared", "web");
    cluster.check(expect![[r#"
        shared: owner null, finalizers ["example.com/other"], free, for [], devices null
    "#]]);
}

#[test]
fn an_unused_claim_can_be_deleted() {
    let mut cluster = Cluster::new(&[POD, SHARED]);
    cluster.patch("ResourceClaim", "shared", json!({"metadata": {"finalizers": [RESOURCE_CLAIM_FINALIZER]}}));
    cluster.delete("ResourceClaim", "shared");
    cluster.check(expect![[""]]);
}

#[test]
fn a_reported_device_status_is_kept() {
    let mut cluster = Cluster::new(&[POD, SHARED]);
    let condition = json!({"type": "Attached", "status": "False", "reason": "r", "message": "", "lastTransitionTime": "2026-01-01T00:00:00Z"});
    let device = json!({"driver": "d", "pool": "p", "device": "e", "conditions": [condition]});
    cluster.patch("ResourceClaim", "shared", json!({"status": {"devices": [device]}}));
    cluster.allocate("shared", "web");
    cluster.check(expect![[r#"
        shared: owner null, finalizers ["resource.kubernetes.io/delete-protection","example.com/other"], allocated, for ["web"], devices "False"
    "#]]);
}

#[test]
fn two_claims_are_generated_in_order() {
    let pod = POD.replace("name: shared, resourceClaimName: shared", "name: more, resourceClaimTemplateName: gpu");
    let cluster = Cluster::new(&[TEMPLATE, &pod]);
    let statuses = cluster.statuses("web");
    let names: Vec<_> = statuses.as_array().unwrap().iter().map(|it| it["name"].as_str().unwrap()).collect();
    assert_eq!((names, cluster.server.list("ResourceClaim").count()), (vec!["own", "more"], 2));
}

#[test]
fn names_are_generated() {
    let mut cluster = Cluster::new(&[]);
    let manifest = json!({"metadata": {"generateName": "web-extended-resources-"}, "spec": {}});
    for _ in 0..2 {
        cluster.send(&Request::CreateJson(key("ResourceClaim", ""), manifest.clone()));
    }
    cluster.check(expect![[r#"
        web-extended-resources-bbbbb: owner null, finalizers null, free, for [], devices null
        web-extended-resources-bbbbc: owner null, finalizers null, free, for [], devices null
    "#]]);
}
