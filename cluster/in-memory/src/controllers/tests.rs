use expect_test::{Expect, expect};
use schedc_objects::testing::api_object;
use serde_json::{Value, json};

use super::*;
use crate::server::{ApiServerOptions, Request, json_of};

struct World {
    server: ApiServer,
    controllers: Controllers,
}

/// Returns a cluster with these objects, after the controllers have run.
fn world(objects: &[&str]) -> World {
    let server = ApiServer::new(ApiServerOptions::default());
    let mut world = World { server, controllers: Controllers::default() };
    world.apply(objects);
    world
}

impl World {
    fn apply(&mut self, objects: &[&str]) {
        for object in objects {
            self.server.apply(api_object(object), 0).unwrap();
        }
        self.controllers.run(&mut self.server, 0);
    }

    fn patch(&mut self, kind: &'static str, name: &str, patch: Value) {
        let namespace = if kind == "PersistentVolume" { "" } else { "default" };
        let key = Key { kind, namespace: namespace.into(), name: name.into() };
        self.server.handle(&Request::Patch(key, patch), 0).unwrap();
        self.controllers.run(&mut self.server, 0);
    }

    fn delete(&mut self, kind: &'static str, name: &str) {
        let namespace = if kind == "PersistentVolume" { "" } else { "default" };
        let key = Key { kind, namespace: namespace.into(), name: name.into() };
        self.server.handle(&Request::Delete(key, None), 0).unwrap();
        self.controllers.run(&mut self.server, 0);
    }

    /// Checks claims and volumes, one line each.
    #[track_caller]
    fn check(&self, expected: Expect) {
        let text = |value: &Value| value.as_str().unwrap_or("-").to_owned();
        let claims = self.server.list("PersistentVolumeClaim").map(|claim| {
            let json = json_of(claim);
            let volume = text(&json["spec"]["volumeName"]);
            format!("claim {}: {} {volume}\n", claim.name(), text(&json["status"]["phase"]))
        });
        let volumes = self.server.list("PersistentVolume").map(|volume| {
            let json = json_of(volume);
            let claim = text(&json["spec"]["claimRef"]["name"]);
            let affinity = &json["spec"]["nodeAffinity"]["required"]["nodeSelectorTerms"][0]["matchExpressions"];
            let affinity = if affinity.is_null() { String::new() } else { format!(" {affinity}") };
            format!("volume {}: {} {claim}{affinity}\n", volume.name(), text(&json["status"]["phase"]))
        });
        expected.assert_eq(&claims.chain(volumes).collect::<String>());
    }
}

fn volume(name: &str, gibibytes: u32, more: &str) -> String {
    format!(
        "{{kind: PersistentVolume, metadata: {{name: {name}, labels: {{disk: {name}}}}}, spec: {{capacity: {{storage: \
         {gibibytes}Gi}}, accessModes: [ReadWriteOnce], storageClassName: c{more}}}, status: {{phase: Available}}}}"
    )
}

fn claim(name: &str, gibibytes: u32, more: &str) -> String {
    format!(
        "{{kind: PersistentVolumeClaim, metadata: {{name: {name}}}, spec: {{accessModes: [ReadWriteOnce], storageClassName: c, \
         resources: {{requests: {{storage: {gibibytes}Gi}}}}{more}}}, status: {{phase: Pending}}}}"
    )
}

fn class(provisioner: &str, mode: &str) -> String {
    format!("{{kind: StorageClass, metadata: {{name: c}}, provisioner: {provisioner}, volumeBindingMode: {mode}}}")
}

const NO_PROVISIONER: &str = "kubernetes.io/no-provisioner";
const WAIT_FOR_FIRST_CONSUMER: &str = "WaitForFirstConsumer";

#[test]
fn a_claim_gets_the_smallest_matching_volume() {
    let mut world = world(&[
        &volume("a-large", 50, ""),
        &volume("b-fits", 10, ""),
        &volume("c-small", 5, ""),
        &claim("p", 10, ""),
        &claim("q", 10, ", selector: {matchLabels: {disk: a-large}}"),
        &claim("r", 10, ""),
    ]);
    world.check(expect![[r#"
        claim p: Bound b-fits
        claim q: Bound a-large
        claim r: Pending -
        volume a-large: Bound q
        volume b-fits: Bound p
        volume c-small: Available -
    "#]]);
    world.apply(&[&volume("d-late", 10, "")]);
    world.delete("PersistentVolumeClaim", "p");
    world.delete("PersistentVolume", "a-large");
    world.check(expect![[r#"
        claim q: Lost a-large
        claim r: Bound d-late
        volume b-fits: Released p
        volume c-small: Available -
        volume d-late: Bound r
    "#]]);
}

#[test]
fn a_claim_gets_the_volume_that_it_names_if_it_matches() {
    for (volume, claim, is_bound) in [
        ("", "", true),
        ("claimRef: {namespace: default, name: data}", "", true),
        ("claimRef: {namespace: shop, name: data}", "", false),
        ("claimRef: {namespace: default, name: data, uid: another}", "", false),
        ("capacity: {storage: 512Mi}", "", false),
        ("volumeMode: Block", "", false),
        ("storageClassName: fast", "", false),
        ("storageClassName: fast", "storageClassName: fast", true),
        ("accessModes: [ReadOnlyMany]", "", false),
    ] {
        let or = |field: &str, default: &str| if volume.contains(field) { "" } else { default }.to_owned();
        let (capacity, modes) =
            (or("capacity", "capacity: {storage: 2Gi},"), or("accessModes", "accessModes: [ReadWriteOnce],"));
        let world = world(&[
            &format!("{{kind: PersistentVolume, metadata: {{name: disk}}, spec: {{{capacity} {modes} {volume}}}}}"),
            &format!(
                "{{kind: PersistentVolumeClaim, metadata: {{name: data}}, spec: {{volumeName: disk, accessModes: \
                 [ReadWriteOnce], resources: {{requests: {{storage: 1Gi}}}}, {claim}}}}}"
            ),
        ]);
        let claim = world.server.list("PersistentVolumeClaim").next().unwrap();
        let disk = json_of(world.server.list("PersistentVolume").next().unwrap());
        let owner = disk["spec"]["claimRef"]["uid"].as_str();
        let completed = claim.metadata().annotations.as_ref().is_some_and(|all| all.contains_key(BIND_COMPLETED));
        assert_eq!((completed, owner == claim.metadata().uid.as_deref()), (is_bound, is_bound), "{volume}");
    }
}

#[test]
fn a_claim_and_a_volume_with_mutual_references_are_bound() {
    let reserved = ", claimRef: {namespace: default, name: q}";
    let world = world(&[
        &volume("a", 10, ""),
        &volume("b", 20, reserved),
        &claim("p", 10, ", volumeName: a"),
        &claim("q", 10, ""),
        &claim("r", 1, ", volumeName: b"),
    ]);
    world.check(expect![[r#"
        claim p: Bound a
        claim q: Bound b
        claim r: Pending b
        volume a: Bound p
        volume b: Bound q
    "#]]);
}

#[test]
fn a_claim_waiting_for_its_first_consumer_gets_the_chosen_volume() {
    let mut world = world(&[
        &class(NO_PROVISIONER, WAIT_FOR_FIRST_CONSUMER),
        &volume("a", 10, ""),
        &volume("b", 10, ""),
        &claim("p", 10, ""),
    ]);
    let waiting = expect![[r#"
        claim p: Pending -
        volume a: Available -
        volume b: Available -
    "#]];
    world.check(waiting);
    world.patch("PersistentVolume", "b", json!({"spec": {"claimRef": {"namespace": "default", "name": "p"}}}));
    world.check(expect![[r#"
        claim p: Bound b
        volume a: Available -
        volume b: Bound p
    "#]]);
}

#[test]
fn immediate_claims_are_provisioned_immediately() {
    let allowed = class("csi.example.com", "Immediate")
        .replace("{kind", "{allowedTopologies: [{matchLabelExpressions: [{key: zone, values: [a, b]}]}], kind");
    let mut world = world(&[&claim("p", 10, ""), &allowed]);
    world.check(expect![[r#"
        claim p: Bound pvc-default-p
        volume pvc-default-p: Bound p [{"key":"zone","operator":"In","values":["a","b"]}]
    "#]]);
    world.delete("PersistentVolumeClaim", "p");
    world.check(expect![""]);
}

#[test]
fn volumes_are_provisioned_for_the_selected_node() {
    let node = "{kind: Node, metadata: {name: n1, labels: {topology.kubernetes.io/zone: a, rack: r1}}}";
    let csi = "{kind: CSINode, metadata: {name: n1}, spec: {drivers: [{name: csi.example.com, nodeID: n1, topologyKeys: [rack]}]}}";
    let mut world =
        world(&[&class("csi.example.com", WAIT_FOR_FIRST_CONSUMER), node, &claim("p", 10, ""), &claim("q", 10, "")]);
    let select = |node: &str| json!({"metadata": {"annotations": {SELECTED_NODE: node}}});
    world.patch("PersistentVolumeClaim", "p", select("n1"));
    world.check(expect![[r#"
        claim p: Bound pvc-default-p
        claim q: Pending -
        volume pvc-default-p: Bound p [{"key":"topology.kubernetes.io/zone","operator":"In","values":["a"]}]
    "#]]);
    world.patch("PersistentVolumeClaim", "q", select("gone"));
    let key = Key { kind: "PersistentVolumeClaim", namespace: "default".into(), name: "q".into() };
    assert_eq!(world.server.get(&key).unwrap().metadata().annotations, Some(BTreeMap::new()), "no selected node");
    world.apply(&[csi]);
    world.patch("PersistentVolumeClaim", "q", select("n1"));
    world.check(expect![[r#"
        claim p: Bound pvc-default-p
        claim q: Bound pvc-default-q
        volume pvc-default-p: Bound p [{"key":"topology.kubernetes.io/zone","operator":"In","values":["a"]}]
        volume pvc-default-q: Bound q [{"key":"rack","operator":"In","values":["r1"]}]
    "#]]);
}

/// Returns the default storage class and a pod with a volume of this class.
fn pod_with_ephemeral_volume() -> [String; 2] {
    let template = "{spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}}";
    let pod = format!(
        "{{kind: Pod, metadata: {{name: web}}, spec: {{containers: [], volumes: [{{name: scratch, ephemeral: \
         {{volumeClaimTemplate: {template}}}}}]}}}}"
    );
    let default = class("csi.example.com", "Immediate")
        .replace("metadata: {", "metadata: {annotations: {storageclass.kubernetes.io/is-default-class: 'true'}, ");
    [default, pod]
}

#[test]
fn a_pod_has_the_claims_of_its_ephemeral_volumes() {
    let [default, pod] = pod_with_ephemeral_volume();
    let mut world = world(&[&default, &pod]);
    world.check(expect![[r#"
        claim web-scratch: Bound pvc-default-web-scratch
        volume pvc-default-web-scratch: Bound web-scratch
    "#]]);
    world.delete("Pod", "web");
    world.check(expect![""]);
}

#[test]
fn controllers_list_after_missed_changes() {
    let mut world = world(&[&volume("a", 10, "")]);
    world.server.apply(api_object(&claim("p", 10, "")), 0).unwrap();
    world.server.forget(world.server.store().version());
    world.apply(&[]);
    world.check(expect![[r#"
        claim p: Bound a
        volume a: Bound p
    "#]]);
}

#[test]
fn missed_and_observed_deletions_have_equal_consequences() {
    let [default, pod] = pod_with_ephemeral_volume();
    let deleted = [("Pod", "default", "web"), ("PersistentVolumeClaim", "default", "p"), ("PersistentVolume", "", "b")];
    for is_missed in [false, true] {
        let mut world = world(&[&volume("a", 10, ""), &claim("p", 10, "")]);
        world.apply(&[&volume("b", 20, ""), &claim("q", 20, "")]);
        world.apply(&[&default, &pod]);
        world.check(expect![[r#"
            claim p: Bound a
            claim q: Bound b
            claim web-scratch: Bound pvc-default-web-scratch
            volume a: Bound p
            volume b: Bound q
            volume pvc-default-web-scratch: Bound web-scratch
        "#]]);
        for (kind, namespace, name) in deleted {
            world.server.handle(&Request::Delete(Key::new(kind, namespace, name), None), 0).unwrap();
        }
        if is_missed {
            world.server.forget(world.server.store().version());
        }
        world.apply(&[]);
        world.check(expect![[r#"
            claim q: Lost b
            volume a: Released p
        "#]]);
    }
}
