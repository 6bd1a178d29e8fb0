use std::collections::HashMap;

use proptest::prelude::*;
use schedc_core::erased::AnyBundle;
use schedc_core::extenders::Overrides;
use schedc_objects::{Manifests, Objects, Options};
use serde_json::{Value, json};

use super::*;
use crate::cluster::{self, Routes};
use default_profile::with_edge::Profiles;

fn node(name: &str, cpu: u32) -> Value {
    json!({
        "apiVersion": "v1", "kind": "Node", "metadata": {"name": name},
        "status": {"allocatable": {"cpu": cpu, "memory": "64Gi", "pods": 20}},
    })
}

fn set(name: &str, replicas: usize) -> Value {
    json!({
        "apiVersion": "apps/v1", "kind": "ReplicaSet", "metadata": {"name": name, "uid": name},
        "spec": {"replicas": replicas, "selector": {"matchLabels": {"app": name}}},
    })
}

/// Returns a running pod of a ReplicaSet.
fn pod(set: &str, number: usize, node: &str, cpu: u32) -> Value {
    json!({
        "apiVersion": "v1", "kind": "Pod",
        "metadata": {
            "name": format!("{set}-{number}"), "labels": {"app": set},
            "ownerReferences": [{"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": set, "uid": set, "controller": true}],
        },
        "spec": {"nodeName": node, "containers": [{"name": "c", "resources": {"requests": {"cpu": cpu}}}]},
    })
}

fn budget(set: &str, min_available: usize) -> Value {
    json!({
        "apiVersion": "policy/v1", "kind": "PodDisruptionBudget", "metadata": {"name": set},
        "spec": {"minAvailable": min_available, "selector": {"matchLabels": {"app": set}}},
    })
}

fn plan_with(cluster: &[Value], nodes: &[&str], permissions: Permissions) -> DrainPlan {
    let text = cluster.iter().map(Value::to_string).collect::<Vec<_>>().join("\n---\n");
    let manifests = Manifests::parse("cluster.yaml", &text).unwrap_or_else(|error| panic!("{error}"));
    let objects = Objects::new(manifests, Options::default()).unwrap_or_else(|error| panic!("{error}"));
    let bundle = AnyBundle::of::<Profiles>();
    let extenders: &'static Overrides = Box::leak(Box::default());
    let routes = Routes::to(bundle.profiles, "default").unwrap();
    let nodes: Vec<String> = nodes.iter().map(|node| (*node).to_owned()).collect();
    let options = trial::Options { routes, seed: 0, extenders };
    plan(&bundle, &cluster::objects(objects), &nodes, permissions, &options).unwrap()
}

fn plan_for(cluster: &[Value], nodes: &[&str]) -> DrainPlan {
    plan_with(cluster, nodes, Permissions::default())
}

/// Returns the only obstacle of a plan as a text.
#[track_caller]
fn obstacle(plan: &DrainPlan) -> String {
    let [BlockedNode { obstacles, .. }] = &plan.blocked[..] else { panic!("{plan:?}") };
    let [Obstacle { pod, reason }] = &obstacles[..] else { panic!("{plan:?}") };
    format!("{pod} {reason}")
}

#[test]
fn replacements_run_on_other_nodes() {
    let cluster = [node("a", 4), node("b", 4), set("web", 2), pod("web", 0, "a", 1), pod("web", 1, "a", 1)];
    let plan = plan_for(&cluster, &["a"]);
    assert_eq!(plan.emptied, ["a"]);
    let steps: Vec<_> =
        plan.steps.iter().map(|step| (step.evict.as_str(), step.replacement.as_ref().unwrap().node.as_str())).collect();
    assert_eq!(steps, [("default/web-0", "b"), ("default/web-1", "b")]);
}

#[test]
fn a_budget_without_disruptions_blocks_the_node() {
    let cluster = [node("a", 4), node("b", 4), set("web", 1), pod("web", 0, "a", 1), budget("web", 1)];
    let plan = plan_for(&cluster, &["a"]);
    assert_eq!(
        obstacle(&plan),
        "default/web-0 cannot be evicted: PodDisruptionBudget default/web allows no disruption"
    );
    assert!(plan.emptied.is_empty() && plan.steps.is_empty());
}

#[test]
fn a_budget_for_one_disruption_permits_one_eviction_after_the_other() {
    let pods = (0..3).map(|i| pod("web", i, "a", 1));
    let cluster: Vec<Value> =
        [node("a", 4), node("b", 4), set("web", 3), budget("web", 2)].into_iter().chain(pods).collect();
    let plan = plan_for(&cluster, &["a"]);
    let allowed: Vec<i32> = plan.steps.iter().map(|step| step.budget.as_ref().unwrap().allowed).collect();
    assert_eq!((plan.emptied.len(), allowed), (1, vec![1, 1, 1]));
}

#[test]
fn the_eviction_of_a_pod_that_is_not_ready_uses_no_disruption() {
    let mut broken = pod("web", 0, "a", 1);
    broken["status"]["conditions"] = json!([{"type": "Ready", "status": "False"}]);
    let mut budget = budget("web", 1);
    budget["spec"]["unhealthyPodEvictionPolicy"] = "AlwaysAllow".into();
    let pods = [broken, pod("web", 1, "b", 1), pod("web", 2, "b", 1)];
    let cluster: Vec<Value> = [node("a", 4), node("b", 4), set("web", 3), budget].into_iter().chain(pods).collect();
    let plan = plan_for(&cluster, &["a"]);
    assert!(plan.steps.len() == 1 && plan.steps[0].budget.is_none(), "{plan:?}");
}

#[test]
fn a_pod_that_fits_on_no_other_node_blocks_its_node() {
    let cluster = [node("a", 4), node("b", 1), set("web", 1), pod("web", 0, "a", 2)];
    let text = obstacle(&plan_for(&cluster, &["a"]));
    let expected = "default/web-0 would wait after its eviction: 0/2 nodes are available: 1 Insufficient cpu, 1 node(s) were unschedulable.";
    assert!(text.starts_with(expected), "{text}");
}

#[test]
fn a_replacement_that_would_preempt_blocks_the_node() {
    let mut important = pod("web", 0, "a", 2);
    important["spec"]["priority"] = 10.into();
    let cluster = [node("a", 4), node("b", 2), set("web", 1), set("batch", 1), important, pod("batch", 0, "b", 2)];
    assert_eq!(obstacle(&plan_for(&cluster, &["a"])), "default/web-0 would preempt default/batch-0 after its eviction");
}

#[test]
fn immovable_pods_are_all_named() {
    let mut single = pod("single", 0, "a", 1);
    single["metadata"].as_object_mut().unwrap().remove("ownerReferences");
    let mut marked = pod("marked", 0, "a", 1);
    marked["metadata"]["annotations"] = json!({"karpenter.sh/do-not-disrupt": "true"});
    let mut local = pod("local", 0, "a", 1);
    local["spec"]["volumes"] = json!([{"name": "scratch", "emptyDir": {}}]);
    let cluster = [node("a", 4), node("b", 4), single, marked, local];
    let plan = plan_for(&cluster, &["a"]);
    let obstacles: Vec<String> =
        plan.blocked[0].obstacles.iter().map(|obstacle| format!("{} {}", obstacle.pod, obstacle.reason)).collect();
    assert_eq!(
        obstacles,
        [
            "default/local-0 has data in the emptyDir volume scratch (--delete-emptydir-data deletes it)",
            "default/marked-0 has the annotation karpenter.sh/do-not-disrupt: \"true\"",
            "default/single-0 has no controller that creates it again (--force deletes it)",
        ]
    );
    let permissions = Permissions { force: true, delete_empty_dir_data: true };
    assert_eq!(plan_with(&cluster, &["a"], permissions).blocked[0].obstacles.len(), 1, "annotations always block");
}

#[test]
fn a_pod_without_a_controller_is_deleted_on_request() {
    let mut single = pod("single", 0, "a", 1);
    single["metadata"].as_object_mut().unwrap().remove("ownerReferences");
    let permissions = Permissions { force: true, ..Permissions::default() };
    let plan = plan_with(&[node("a", 4), single], &["a"], permissions);
    assert_eq!((plan.emptied.len(), &plan.steps[0].replacement), (1, &None));
}

#[test]
fn pods_of_daemon_sets_and_static_pods_stay() {
    let mut daemon = pod("agent", 0, "a", 1);
    daemon["metadata"]["ownerReferences"][0]["kind"] = "DaemonSet".into();
    let mut mirror = pod("kubelet", 0, "a", 1);
    mirror["metadata"]["annotations"] = json!({"kubernetes.io/config.mirror": "x"});
    let plan = plan_for(&[node("a", 4), daemon, mirror], &["a"]);
    assert_eq!((plan.emptied.len(), plan.steps.len()), (1, 0));
}

#[test]
fn as_many_nodes_as_possible_are_emptied() {
    // Node c has room for the pod of node a or for the pods of node b, but not for both.
    let cluster = [
        node("a", 4),
        node("b", 4),
        node("c", 3),
        set("big", 1),
        set("small", 2),
        pod("big", 0, "a", 3),
        pod("small", 0, "b", 1),
        pod("small", 1, "b", 1),
    ];
    let plan = plan_for(&cluster, &["b", "a"]);
    assert_eq!((plan.emptied.len(), plan.blocked.len(), plan.all_orders), (1, 1, true));
}

#[test]
fn a_search_that_ends_early_has_not_tried_all_orders() {
    let cluster = [node("a", 4), node("b", 4)];
    let orders = |nodes: &[&str]| {
        let plan = plan_for(&cluster, nodes);
        (plan.orders, plan.all_orders)
    };
    assert_eq!([orders(&["a"]), orders(&["a", "b"])], [(1, true), (1, false)]);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_plan_keeps_budgets_and_leaves_no_pod_without_a_node(
        sizes in prop::collection::vec(1_u32..8, 2..5),
        pods in prop::collection::vec((0_usize..3, 0_usize..4, 1_u32..3), 0..10),
        min_available in prop::collection::vec(0_usize..4, 3),
        drained in prop::collection::vec(any::<bool>(), 4),
    ) {
        let names: Vec<String> = (0..sizes.len()).map(|i| format!("n{i}")).collect();
        let mut cluster: Vec<Value> = names.iter().zip(&sizes).map(|(name, cpu)| node(name, *cpu)).collect();
        // The free CPUs of each node, the place of each pod, and the running pods of each set.
        let mut free: HashMap<String, i64> = names.iter().cloned().zip(sizes.iter().map(|cpu| i64::from(*cpu))).collect();
        let mut places: HashMap<String, (String, String, i64)> = HashMap::new();
        let mut counts = [0_usize; 3];
        for (set, node, cpu) in pods {
            let (name, cpus) = (&names[node % names.len()], i64::from(cpu));
            if free[name] < cpus {
                continue;
            }
            *free.get_mut(name).unwrap() -= cpus;
            cluster.push(pod(&format!("s{set}"), counts[set], name, cpu));
            places.insert(format!("default/s{set}-{}", counts[set]), (format!("s{set}"), name.clone(), cpus));
            counts[set] += 1;
        }
        for (i, (count, min)) in counts.iter().zip(&min_available).enumerate() {
            cluster.extend([set(&format!("s{i}"), *count), budget(&format!("s{i}"), *min)]);
        }
        let nodes: Vec<&str> = names.iter().zip(drained).filter(|(_, drain)| *drain).map(|(name, _)| name.as_str()).collect();
        let plan = plan_for(&cluster, &nodes);
        prop_assert_eq!(plan.emptied.len() + plan.blocked.len(), nodes.len());
        for step in &plan.steps {
            let (set, node, cpus) = places.remove(&step.evict).unwrap();
            prop_assert_eq!(&node, &step.node);
            let number: usize = set[1..].parse().unwrap();
            let left = places.values().filter(|(other, ..)| *other == set).count();
            prop_assert!(left >= min_available[number], "{:?} violates a budget", step);
            *free.get_mut(&node).unwrap() += cpus;
            let replacement = step.replacement.as_ref().unwrap();
            prop_assert!(!nodes.contains(&replacement.node.as_str()), "{:?} goes to a cordoned node", step);
            let room = free.get_mut(&replacement.node).unwrap();
            *room -= cpus;
            prop_assert!(*room >= 0, "{:?} overloads its node", step);
            places.insert(replacement.pod.clone(), (set, replacement.node.clone(), cpus));
        }
        for node in &plan.emptied {
            prop_assert!(places.values().all(|(_, place, _)| place != node), "{} is not empty", node);
        }
        for BlockedNode { node, obstacles } in &plan.blocked {
            prop_assert!(!obstacles.is_empty() && places.values().any(|(_, place, _)| place == node));
        }
    }
}
