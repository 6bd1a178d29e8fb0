use proptest::prelude::*;
use schedc_core::erased::AnyBundle;
use schedc_core::extenders::Overrides;
use schedc_objects::{AnyObject, Manifests, Objects, Options};
use serde_json::{Value, json};

use super::*;
use crate::cluster::{self, Routes};
use default_profile::with_edge::Profiles;

fn node(name: &str, zone: &str, cpu: u32) -> Value {
    json!({
        "apiVersion": "v1", "kind": "Node",
        "metadata": {"name": name, "labels": {"zone": zone, "kubernetes.io/hostname": name}},
        "status": {"allocatable": {"cpu": cpu, "memory": "64Gi", "pods": 8}},
    })
}

fn pod(name: &str, cpu: u32, mut spec: Value) -> Value {
    spec["containers"] = json!([{"name": "c", "resources": {"requests": {"cpu": cpu}}}]);
    json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "labels": {"app": "web"}}, "spec": spec})
}

fn text(objects: &[Value]) -> String {
    objects.iter().map(Value::to_string).collect::<Vec<_>>().join("\n---\n")
}

fn load(objects: &[Value]) -> Objects {
    let manifests = Manifests::parse("cluster.yaml", &text(objects)).unwrap_or_else(|error| panic!("{error}"));
    Objects::new(manifests, Options::default()).unwrap_or_else(|error| panic!("{error}"))
}

fn capacity_of(cluster: &[Value], manifests: &[Value], ratio: &[usize], pool_label: Option<&str>) -> Capacity {
    capacity_in(load(cluster), manifests, ratio, pool_label)
}

fn capacity_in(objects: Objects, manifests: &[Value], ratio: &[usize], pool_label: Option<&str>) -> Capacity {
    let mut submission = Submission::parse("new.yaml", &text(manifests), &objects).unwrap();
    submission.workloads.iter_mut().for_each(|workload| workload.generate_names());
    let bundle = AnyBundle::of::<Profiles>();
    let extenders: &'static Overrides = Box::leak(Box::default());
    let options = trial::Options { routes: Routes::to(bundle.profiles, "default").unwrap(), seed: 0, extenders };
    let objects: Vec<AnyObject> = cluster::objects(objects);
    let question = Question { ratio, max: 200, pool_label };
    capacity(&bundle, &objects, &submission, &question, &options).unwrap()
}

#[test]
fn pods_of_a_mix_are_added_in_the_order_of_the_ratio() {
    let cluster = [node("a", "north", 7)];
    let mix = [pod("small", 1, json!({})), pod("large", 2, json!({}))];
    let capacity = capacity_of(&cluster, &mix, &[2, 1], None);
    assert_eq!((capacity.fit.pods, capacity.fit.rounds), (5, 1));
    let pods: Vec<_> = capacity.workloads.iter().map(|workload| (workload.workload.as_str(), workload.pods)).collect();
    assert_eq!(pods, [("Pod default/small", 4), ("Pod default/large", 1)]);
    assert_eq!(capacity.fit.next.unwrap().workload, "Pod default/large");
}

#[test]
fn a_pool_reports_its_share_and_its_separate_capacity() {
    let cluster = [node("a", "north", 4), node("b", "south", 3), node("c", "south", 3)];
    let capacity = capacity_of(&cluster, &[pod("web", 2, json!({}))], &[1], Some("zone"));
    let pools = capacity.pools.iter().map(|pool| (pool.pool.as_deref(), pool.nodes, pool.pods, pool.alone.pods));
    assert_eq!(pools.collect::<Vec<_>>(), [(Some("north"), 1, 2, 2), (Some("south"), 2, 2, 2)]);
    let next = capacity.pools[0].alone.next.as_ref().unwrap();
    let reasons: Vec<_> = next.rejection.reasons.iter().map(|reason| (reason.reason.as_str(), reason.nodes)).collect();
    assert_eq!(reasons, [("node(s) didn't match Pod's node affinity/selector", 2), ("Insufficient cpu", 1)]);
}

#[test]
fn a_pod_that_would_preempt_does_not_fit() {
    let mut running = pod("running", 2, json!({"nodeName": "a", "priority": 0}));
    running["metadata"]["uid"] = "running".into();
    let cluster = [node("a", "north", 4), running];
    let capacity = capacity_of(&cluster, &[pod("urgent", 2, json!({"priority": 10}))], &[1], None);
    let next = capacity.fit.next.unwrap();
    assert_eq!((capacity.fit.pods, next.preempts[0].pod.as_str()), (1, "default/running"));
    assert_eq!(next.rejection.reasons[0].reason, "Insufficient cpu");
}

#[test]
fn pending_pods_are_placed_first() {
    let cluster = [node("a", "north", 4), pod("waiting", 3, json!({})), pod("huge", 9, json!({}))];
    let capacity = capacity_of(&cluster, &[pod("web", 1, json!({}))], &[1], None);
    assert_eq!((capacity.fit.pods, capacity.still_pending), (1, 1));
}

#[test]
fn a_gated_pod_does_not_fit() {
    let gated = pod("web", 1, json!({"schedulingGates": [{"name": "quota"}]}));
    let capacity = capacity_of(&[node("a", "north", 4)], &[gated], &[1], None);
    assert_eq!(capacity.fit.pods, 0);
    assert!(capacity.fit.next.unwrap().rejection.message.contains("quota"));
}

#[test]
fn a_pod_without_a_name_does_not_fit() {
    let manifests = Manifests::parse("cluster.yaml", &text(&[node("a", "north", 4)])).unwrap();
    let objects = Objects::new(manifests, Options { api_server_defaults: false, ..Options::default() }).unwrap();
    let mut nameless = pod("web", 1, json!({}));
    nameless["metadata"].as_object_mut().unwrap().remove("name");
    let fit = capacity_in(objects, &[nameless], &[1], None).fit;
    assert_eq!((fit.pods, fit.next.unwrap().rejection.message.as_str()), (0, "the pod has no name"));
}

#[test]
fn the_memory_for_a_round_does_not_depend_on_the_ratio() {
    // A list of all pods of a round would not fit in memory.
    let mix = [pod("small", 1, json!({})), pod("large", 2, json!({}))];
    let capacity = capacity_of(&[node("a", "north", 7)], &mix, &[usize::MAX / 2, usize::MAX / 2], None);
    assert_eq!((capacity.fit.pods, capacity.fit.rounds), (7, 0));
}

#[test]
fn the_capacity_for_a_deployment_ignores_its_replicas() {
    let template = json!({"metadata": {"labels": {"app": "web"}}, "spec": pod("x", 1, json!({}))["spec"]});
    let deployment = json!({
        "apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web", "namespace": "shop"},
        "spec": {"replicas": 2, "selector": {"matchLabels": {"app": "web"}}, "template": template},
    });
    let capacity = capacity_of(&[node("a", "north", 5)], &[deployment], &[1], None);
    assert_eq!((capacity.fit.pods, capacity.workloads[0].workload.as_str()), (5, "Deployment shop/web"));
}

/// Generates pod specs without a constraint or with one. Some constraints depend on the pods that run on the nodes.
fn constraints() -> impl Strategy<Value = Value> {
    let selector = json!({"matchLabels": {"app": "web"}});
    prop_oneof![
        Just(json!({})),
        Just(json!({"affinity": {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [
            {"topologyKey": "kubernetes.io/hostname", "labelSelector": selector}]}}})),
        Just(json!({"topologySpreadConstraints": [{
            "maxSkew": 2, "topologyKey": "zone", "whenUnsatisfiable": "DoNotSchedule", "labelSelector": selector}]})),
        Just(json!({"nodeSelector": {"zone": "north"}})),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn exactly_the_capacity_fits(
        sizes in prop::collection::vec((0_u32..9, any::<bool>()), 1..5),
        cpu in 1_u32..4,
        spec in constraints(),
    ) {
        let zone = |north: bool| if north { "north" } else { "south" };
        let mut cluster: Vec<Value> =
            sizes.iter().enumerate().map(|(i, (cpu, north))| node(&format!("n{i}"), zone(*north), *cpu)).collect();
        let web = pod("web", cpu, spec.clone());
        let capacity = capacity_of(&cluster, std::slice::from_ref(&web), &[1], None);
        prop_assert!(capacity.fit.next.is_some());
        if spec == json!({}) {
            let sum: u32 = sizes.iter().map(|(size, _)| (size / cpu).min(8)).sum();
            prop_assert_eq!(capacity.fit.pods, sum as usize);
        }
        // If the counted pods are bound to their nodes, no further pod fits.
        for (name, pods) in &capacity.fit.nodes {
            for i in 0..*pods {
                let mut bound = pod(&format!("bound-{name}-{i}"), cpu, spec.clone());
                bound["spec"]["nodeName"] = name.as_str().into();
                cluster.push(bound);
            }
        }
        prop_assert_eq!(capacity_of(&cluster, &[web], &[1], None).fit.pods, 0);
    }
}
