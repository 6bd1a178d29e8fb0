use std::collections::HashMap;

use proptest::prelude::*;
use schedc_core::erased::AnyBundle;
use schedc_core::extenders::Overrides;
use schedc_objects::{Manifests, Objects, Options};
use serde_json::{Value, json};

use super::*;
use crate::cluster::{self, Routes};
use crate::workloads::Submission;
use default_profile::with_edge::Profiles;

fn node(name: &str, cpu: usize) -> Value {
    json!({
        "apiVersion": "v1", "kind": "Node", "metadata": {"name": name},
        "status": {"allocatable": {"cpu": cpu, "memory": "64Gi", "pods": 20}},
    })
}

fn gpu_node(name: &str, cpu: usize, gpus: usize) -> Value {
    let mut node = node(name, cpu);
    node["status"]["allocatable"]["example.com/gpu"] = gpus.to_string().into();
    node
}

fn set(name: &str, replicas: usize) -> Value {
    json!({
        "apiVersion": "apps/v1", "kind": "ReplicaSet", "metadata": {"name": name, "uid": name},
        "spec": {"replicas": replicas, "selector": {"matchLabels": {"app": name}}},
    })
}

/// A running pod of a ReplicaSet.
fn pod(set: &str, number: usize, node: &str, cpu: usize) -> Value {
    json!({
        "apiVersion": "v1", "kind": "Pod",
        "metadata": {
            "name": format!("{set}-{number}"), "labels": {"app": set},
            "ownerReferences": [{"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": set, "uid": set, "controller": true}],
        },
        "spec": {"nodeName": node, "containers": [{"name": "c", "resources": {"requests": {"cpu": cpu}}}]},
    })
}

fn new_pod(name: &str, cpu: usize) -> Value {
    json!({
        "apiVersion": "v1", "kind": "Pod", "metadata": {"name": name},
        "spec": {"containers": [{"name": "c", "resources": {"requests": {"cpu": cpu}}}]},
    })
}

fn budget(set: &str, min_available: usize) -> Value {
    json!({
        "apiVersion": "policy/v1", "kind": "PodDisruptionBudget", "metadata": {"name": set},
        "spec": {"minAvailable": min_available, "selector": {"matchLabels": {"app": set}}},
    })
}

fn text(objects: &[Value]) -> String {
    objects.iter().map(Value::to_string).collect::<Vec<_>>().join("\n---\n")
}

fn load(objects: &[Value]) -> Objects {
    let manifests = Manifests::parse("cluster.yaml", &text(objects)).unwrap_or_else(|error| panic!("{error}"));
    Objects::new(manifests, Options::default()).unwrap_or_else(|error| panic!("{error}"))
}

fn options() -> (AnyBundle, trial::Options) {
    let bundle = AnyBundle::of::<Profiles>();
    let routes = Routes::to(bundle.profiles, "default").unwrap();
    (bundle, trial::Options { routes, seed: 0, extenders: Overrides::NONE })
}

const QUESTION: Question<'static> =
    Question { permissions: Permissions { force: false, delete_empty_dir_data: false }, nodes: &[], gpus: &[] };

fn emptied(cluster: &[Value]) -> Plan {
    let (bundle, options) = options();
    empty_nodes(&bundle, &cluster::objects(load(cluster)), &QUESTION, &options).unwrap()
}

fn room_for(cluster: &[Value], new: &[Value]) -> Plan {
    let (bundle, options) = options();
    let objects = load(cluster);
    let mut submission = Submission::parse("new.yaml", &text(new), &objects).unwrap();
    let pods =
        (0..submission.workloads.len()).flat_map(|at| submission.pods(at, std::iter::empty()).unwrap()).collect();
    make_room(&bundle, &cluster::objects(objects), pods, &QUESTION, &options).unwrap()
}

/// Returns the evicted pods with the nodes of their replacements.
fn moves(plan: &Plan) -> Vec<(&str, &str)> {
    let of = |action| match action {
        &Action::Evict { ref pod, replacement: Some(ref to), .. } => Some((pod.as_str(), to.node.as_str())),
        _ => None,
    };
    plan.actions.iter().filter_map(of).collect()
}

#[test]
fn the_nodes_with_the_fewest_pods_are_emptied() {
    let cluster = [
        node("a", 4),
        node("b", 4),
        node("c", 4),
        set("web", 4),
        pod("web", 0, "a", 1),
        pod("web", 1, "a", 1),
        pod("web", 2, "b", 1),
        pod("web", 3, "c", 1),
    ];
    let plan = emptied(&cluster);
    let emptying = plan.emptying.as_ref().unwrap();
    assert_eq!((emptying.at_most, emptying.optimal, plan.evictions), (2, true, 2), "{plan:?}");
    assert_eq!(moves(&plan), [("default/web-3", "a"), ("default/web-2", "a")]);
    assert!(plan.actions[..2].iter().all(|action| matches!(action, Action::Cordon { .. })));
}

#[test]
fn nodes_with_immovable_pods_are_reported() {
    let mut single = pod("single", 0, "a", 1);
    single["metadata"].as_object_mut().unwrap().remove("ownerReferences");
    let plan = emptied(&[node("a", 4), node("b", 4), set("web", 1), pod("web", 0, "b", 1), single]);
    let emptying = plan.emptying.as_ref().unwrap();
    assert_eq!((emptying.emptied.as_slice(), emptying.blocked.len()), (&["b".to_owned()][..], 1));
    assert_eq!(emptying.blocked[0].obstacles[0].pod, "default/single-0");
}

#[test]
fn a_node_whose_budget_allows_no_disruption_is_not_emptied() {
    let plan = emptied(&[node("a", 4), node("b", 4), set("web", 1), pod("web", 0, "a", 1), budget("web", 1)]);
    let emptying = plan.emptying.as_ref().unwrap();
    assert_eq!((emptying.emptied.len(), emptying.already_empty.as_slice()), (0, &["b".to_owned()][..]));
}

#[test]
fn room_is_made_by_the_fewest_evictions() {
    // The pod needs three CPUs: one eviction is enough on node b, two are necessary on node a.
    let cluster = [
        node("a", 4),
        node("b", 4),
        node("c", 2),
        set("web", 4),
        pod("web", 0, "a", 1),
        pod("web", 1, "a", 1),
        pod("web", 2, "a", 2),
        pod("web", 3, "b", 2),
    ];
    let plan = room_for(&cluster, &[new_pod("large", 3)]);
    assert_eq!(moves(&plan), [("default/web-3", "c")], "{plan:?}");
    let last = plan.actions.last();
    assert_eq!(last, Some(&Action::Create { pod: "default/large".to_owned(), node: "b".to_owned() }));
    assert_eq!(plan.room.unwrap().placed, 1);
}

#[test]
fn a_pod_that_fits_needs_no_move_and_one_that_does_not_is_reported() {
    let plan = room_for(&[node("a", 4)], &[new_pod("fits", 1), new_pod("huge", 8)]);
    assert_eq!(plan.actions, [Action::Create { pod: "default/fits".to_owned(), node: "a".to_owned() }]);
    let waiting = plan.room.unwrap().waiting;
    assert_eq!(waiting[0].rejection.reasons[0].reason, "Insufficient cpu");
}

#[test]
fn a_replacement_that_tolerates_the_cordon_does_not_return_to_its_node() {
    let tolerant = |number: usize, node: &str| {
        let mut pod = pod("web", number, node, 1);
        pod["spec"]["tolerations"] = json!([{"operator": "Exists"}]);
        pod
    };
    let plan = emptied(&[node("a", 4), node("b", 4), set("web", 2), tolerant(0, "a"), tolerant(1, "b")]);
    assert!(moves(&plan).iter().all(|(_, to)| !plan.emptying.as_ref().unwrap().emptied.iter().any(|node| node == to)));
}

#[test]
fn a_pod_that_was_just_created_is_not_moved_for_another_one() {
    let (bundle, options) = options();
    let objects = load(&[node("a", 4)]);
    let mut submission = Submission::parse("new.yaml", &text(&[new_pod("p", 3), new_pod("q", 3)]), &objects).unwrap();
    let pods = (0..2).flat_map(|at| submission.pods(at, std::iter::empty()).unwrap()).collect();
    let question = Question { permissions: Permissions { force: true, delete_empty_dir_data: false }, ..QUESTION };
    let room = make_room(&bundle, &cluster::objects(objects), pods, &question, &options).unwrap().room.unwrap();
    assert_eq!((room.placed, room.waiting.len()), (1, 1));
}

#[test]
fn resources_of_gpus_are_measured_separately() {
    let mut both = gpu_node("a", 8, 4);
    both["status"]["allocatable"]["example.com/mig"] = "9223372036854775807".into();
    let mut pod = new_pod("p", 1);
    pod["spec"]["containers"][0]["resources"]["limits"] = json!({"example.com/gpu": 1});
    pod["spec"]["containers"][0]["resources"]["requests"]["example.com/gpu"] = 1.into();
    let (bundle, options) = options();
    let gpus = ["example.com/gpu".to_owned(), "example.com/mig".to_owned()];
    let question = Question { gpus: &gpus, ..QUESTION };
    let plan = empty_nodes(&bundle, &cluster::objects(load(&[both, pod])), &question, &options).unwrap();
    let before = plan.gpus.unwrap().before;
    assert_eq!(before.fragmented, before.no_request, "only the resource that the pod does not request is a fragment");
    assert!(before.fragmented > 9e18 && before.free >= before.fragmented, "{before:?}");
}

#[test]
fn fragmentation_falls_when_a_node_of_gpus_is_freed() {
    // Each pod uses one GPU of its node; the workload also has a pod that needs two.
    let with_gpus = |mut pod: Value, gpus: usize| {
        pod["spec"]["containers"][0]["resources"]["limits"] = json!({"example.com/gpu": gpus});
        pod["spec"]["containers"][0]["resources"]["requests"]["example.com/gpu"] = gpus.into();
        pod
    };
    let cluster = [
        gpu_node("a", 4, 2),
        gpu_node("b", 4, 2),
        set("one", 2),
        with_gpus(pod("one", 0, "a", 1), 1),
        with_gpus(pod("one", 1, "b", 1), 1),
        with_gpus(new_pod("two", 1), 2),
    ];
    let gpus = emptied(&cluster).gpus.unwrap();
    // Each of the two nodes has one free GPU. The pod that requests two GPUs, one of the three pods, can use neither
    // GPU.
    assert!((gpus.before.fragmented - 2.0 / 3.0).abs() < 1e-9, "{gpus:?}");
    assert_eq!((gpus.before.free, gpus.before.cannot_run), (2.0, gpus.before.fragmented));
    assert!(gpus.after.fragmented < gpus.before.fragmented, "one node with two free GPUs is left: {gpus:?}");
    assert_eq!(gpus.resources, ["example.com/gpu"]);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 30, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn plans_keep_budgets_and_capacity_and_empty_the_nodes(
        sizes in prop::collection::vec(1_usize..6, 2..5),
        pods in prop::collection::vec((0_usize..2, 0_usize..4, 1_usize..3), 0..8),
        min_available in prop::collection::vec(0_usize..3, 2),
    ) {
        let names: Vec<String> = (0..sizes.len()).map(|i| format!("n{i}")).collect();
        let mut cluster: Vec<Value> = names.iter().zip(&sizes).map(|(name, cpu)| node(name, *cpu)).collect();
        let mut free: HashMap<String, i64> = names.iter().cloned().zip(sizes.iter().map(|cpu| *cpu as i64)).collect();
        let mut places: HashMap<String, (usize, String, i64)> = HashMap::new();
        let mut counts = [0_usize; 2];
        for (set, node, cpu) in pods {
            let name = &names[node % names.len()];
            if free[name] < cpu as i64 {
                continue;
            }
            *free.get_mut(name).unwrap() -= cpu as i64;
            cluster.push(pod(&format!("s{set}"), counts[set], name, cpu));
            places.insert(format!("default/s{set}-{}", counts[set]), (set, name.clone(), cpu as i64));
            counts[set] += 1;
        }
        for (i, (count, min)) in counts.iter().zip(&min_available).enumerate() {
            cluster.extend([set(&format!("s{i}"), *count), budget(&format!("s{i}"), *min)]);
        }
        let plan = emptied(&cluster);
        let emptying = plan.emptying.as_ref().unwrap();
        let planned: Vec<&String> = emptying.emptied.iter().chain(&emptying.already_empty).collect();
        prop_assert!(planned.len() <= emptying.at_most);
        for action in &plan.actions {
            let Action::Evict { node, pod, replacement: Some(to), .. } = action else { continue };
            let (set, place, cpus) = places.remove(pod).unwrap();
            prop_assert_eq!(&place, node);
            let left = places.values().filter(|(other, ..)| *other == set).count();
            prop_assert!(left >= min_available[set], "{:?} violates a budget", action);
            *free.get_mut(node).unwrap() += cpus;
            prop_assert!(!planned.contains(&&to.node), "{:?} goes to an emptied node", action);
            let room = free.get_mut(&to.node).unwrap();
            *room -= cpus;
            prop_assert!(*room >= 0, "{:?} overloads its node", action);
            places.insert(to.pod.clone(), (set, to.node.clone(), cpus));
        }
        for node in planned {
            prop_assert!(places.values().all(|(_, place, _)| place != node), "{} is not empty", node);
        }
    }
}
