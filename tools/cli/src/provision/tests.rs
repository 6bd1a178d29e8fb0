use proptest::prelude::*;
use schedc_core::erased::AnyBundle;
use schedc_core::extenders::Overrides;
use schedc_objects::{Manifests, Objects, Options};
use serde_json::{Value, json};

use super::*;
use crate::cluster::{self, Routes};
use crate::workloads::Submission;
use default_profile::with_edge::Profiles;

fn node(name: &str, cpu: u32) -> Value {
    json!({
        "apiVersion": "v1", "kind": "Node", "metadata": {"name": name, "labels": {"kubernetes.io/hostname": name}},
        "status": {"allocatable": {"cpu": cpu, "memory": "64Gi", "pods": 20}},
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

fn shape(name: &str, cpu: u32, price: u64) -> Shape {
    let node = load(&[node(name, cpu)]).nodes.remove(0).object;
    Shape { node, price: price * UNIT, max: usize::MAX, daemons: Vec::new() }
}

fn provision_for(cluster: &[Value], pods: &[Value], shapes: &[Shape], max_trials: usize) -> Provision {
    let objects = load(cluster);
    let mut submission = Submission::parse("new.yaml", &text(pods), &objects).unwrap();
    let pods =
        (0..submission.workloads.len()).flat_map(|at| submission.pods(at, std::iter::empty()).unwrap()).collect();
    let bundle = AnyBundle::of::<Profiles>();
    let routes = Routes::to(bundle.profiles, "default").unwrap();
    let options = trial::Options { routes, seed: 0, extenders: Overrides::NONE };
    let question = Question::new(&bundle, &options, &cluster::objects(objects), pods, shapes.to_vec());
    provision(&question, max_trials).unwrap()
}

fn counts(provisioning: &Provision) -> Vec<(&str, usize)> {
    provisioning.nodes.iter().map(|(name, count)| (name.as_str(), *count)).collect()
}

#[test]
fn the_cheapest_mix_is_better_than_the_greedy_choice() {
    // The medium node places two pods for 6, the large one three for 10: the greedy choice is two medium nodes.
    let pods = ["a", "b", "c"].map(|name| pod(name, 4, json!({})));
    let provisioning = provision_for(&[node("n", 1)], &pods, &[shape("large", 12, 10), shape("medium", 8, 6)], 1000);
    assert_eq!((counts(&provisioning), provisioning.price, provisioning.optimal), (vec![("large", 1)], 10.0, true));
    assert_eq!(provisioning.placements.len(), 3);
}

#[test]
fn free_room_of_the_cluster_is_used_first() {
    let provisioning = provision_for(&[node("n", 4)], &[pod("a", 3, json!({}))], &[shape("large", 8, 15)], 1000);
    assert_eq!((provisioning.sufficient, counts(&provisioning), provisioning.lower_bound), (true, vec![], 0.0));
}

#[test]
fn the_profile_decides_about_constraints() {
    // One node would have enough CPUs, but the pods repel each other.
    let apart = json!({"affinity": {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [
        {"topologyKey": "kubernetes.io/hostname", "labelSelector": {"matchLabels": {"app": "web"}}}]}}});
    let pods = [pod("a", 1, apart.clone()), pod("b", 1, apart)];
    let provisioning = provision_for(&[], &pods, &[shape("large", 8, 15), shape("small", 1, 4)], 1000);
    assert_eq!((counts(&provisioning), provisioning.optimal), (vec![("small", 2)], true));
}

#[test]
fn pending_pods_of_the_cluster_do_not_take_the_new_nodes() {
    let provisioning =
        provision_for(&[pod("waits", 3, json!({}))], &[pod("a", 3, json!({}))], &[shape("large", 4, 15)], 1000);
    assert_eq!((counts(&provisioning), provisioning.optimal), (vec![("large", 1)], true));
}

#[test]
fn a_new_node_does_not_replace_one_with_its_name() {
    let mut full = pod("runs", 3, json!({"nodeName": "large-new-1"}));
    full["metadata"]["uid"] = "runs".into();
    let provisioning =
        provision_for(&[node("large-new-1", 4), full], &[pod("a", 3, json!({}))], &[shape("large", 4, 15)], 1000);
    assert_eq!(counts(&provisioning), [("large", 1)]);
    assert_eq!(provisioning.placements[0].node, "large-new-2");
}

#[test]
fn pods_that_fit_no_shape_are_reported() {
    let provisioning =
        provision_for(&[], &[pod("a", 1, json!({})), pod("b", 9, json!({}))], &[shape("large", 8, 15)], 1000);
    assert_eq!(
        (provisioning.sufficient, provisioning.placements.len(), provisioning.waiting[0].pod.as_str()),
        (false, 1, "default/b")
    );
}

#[test]
fn a_search_without_a_solution_ends_at_a_limit_or_after_all_sets() {
    let shapes = ["a", "b", "c"].map(|name| shape(name, 8, 15));
    let pods: Vec<Value> =
        (0..10).map(|i| pod(&format!("p{i}"), 1, json!({"nodeSelector": {"disk": "ssd"}}))).collect();
    let find = |pods: &[Value]| {
        let provisioning = provision_for(&[], pods, &shapes, 1000);
        (provisioning.sufficient, provisioning.cut, provisioning.at_max_trials)
    };
    assert_eq!(find(&pods), (false, true, false));
    assert_eq!(find(&pods[..1]), (false, false, false));
}

#[test]
fn many_nodes_need_few_trials() {
    let pods: Vec<Value> = (0..60).map(|i| pod(&format!("p{i}"), 3, json!({}))).collect();
    let provisioning = provision_for(&[], &pods, &[shape("large", 4, 15), shape("small", 2, 5)], 30);
    assert_eq!((provisioning.sufficient, counts(&provisioning)), (true, vec![("large", 60)]));
    let provisioning = provision_for(&[], &pods, &[shape("large", 4, 15), shape("small", 2, 5)], 4);
    assert_eq!(
        (provisioning.sufficient, provisioning.cut, provisioning.at_max_trials, provisioning.trials),
        (false, true, true, 4)
    );
}

#[test]
fn nodes_that_are_added_at_once_are_not_too_many() {
    // The first node places one pod, each further node places eight. No trial is left for branch and bound.
    let mut pods = vec![pod("first", 8, json!({"priority": 10}))];
    pods.extend((0..16).map(|i| pod(&format!("p{i}"), 1, json!({}))));
    let provisioning = provision_for(&[], &pods, &[shape("large", 8, 15)], 6);
    assert_eq!((provisioning.sufficient, counts(&provisioning)), (true, vec![("large", 3)]));
}

#[test]
fn pods_of_daemon_sets_take_their_share_of_new_nodes() {
    let objects = load(&[node("n", 1)]);
    let agent = json!({
        "apiVersion": "apps/v1", "kind": "DaemonSet", "metadata": {"name": "agent"},
        "spec": {"selector": {"matchLabels": {"app": "agent"}}, "template": {
            "metadata": {"labels": {"app": "agent"}}, "spec": pod("x", 1, json!({}))["spec"]}},
    });
    let mut large = shape("large", 4, 15);
    let mut submission = Submission::parse("new.yaml", &agent.to_string(), &objects).unwrap();
    large.daemons = submission.pods(0, std::iter::once(&large.node)).unwrap().into_iter().map(|new| new.pod).collect();
    let pods = ["a", "b"].map(|name| pod(name, 2, json!({})));
    let provisioning = provision_for(&[], &pods, &[large], 1000);
    // Without the DaemonSet, one node would be enough.
    assert_eq!((provisioning.sufficient, counts(&provisioning)), (true, vec![("large", 2)]));
    let of_agents = provisioning.placements.iter().filter(|placement| placement.pod.contains("agent"));
    let mut nodes: Vec<&str> = of_agents.map(|placement| placement.node.as_str()).collect();
    nodes.sort_unstable();
    assert_eq!(nodes, ["large-new-1", "large-new-2"]);
}

#[test]
fn a_search_that_ends_at_its_limit_has_a_lower_bound() {
    let pods: Vec<Value> = (0..12).map(|i| pod(&format!("p{i}"), 3, json!({}))).collect();
    let shapes = [shape("large", 8, 17), shape("medium", 4, 9), shape("other", 7, 15)];
    let provisioning = provision_for(&[], &pods, &shapes, 40);
    assert!(provisioning.sufficient && !provisioning.optimal && provisioning.trials <= 40, "{provisioning:?}");
    assert!(provisioning.lower_bound > 0.0 && provisioning.lower_bound < provisioning.price, "{provisioning:?}");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 20, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_cheaper_set_of_nodes_is_sufficient(
        sizes in prop::collection::vec(1_u32..5, 1..5),
        shapes in prop::collection::vec((2_u32..8, 1_u64..9), 1..3),
    ) {
        let pods: Vec<Value> = sizes.iter().enumerate().map(|(i, cpu)| pod(&format!("p{i}"), *cpu, json!({}))).collect();
        let shapes: Vec<Shape> =
            shapes.iter().enumerate().map(|(i, (cpu, price))| shape(&format!("s{i}"), *cpu, *price)).collect();
        let provisioning = provision_for(&[], &pods, &shapes, 10_000);
        let largest = shapes.iter().filter_map(|shape| shape.node.status.as_ref()?.allocatable.as_ref()?["cpu"].0.parse::<u32>().ok()).max();
        prop_assert_eq!(provisioning.sufficient, sizes.iter().max() <= largest.as_ref());
        if provisioning.sufficient {
            prop_assert!(provisioning.optimal);
            // All sets, by brute force.
            let most = sizes.len() + 1;
            let mut cheapest = f64::MAX;
            for set in 0..most.pow(shapes.len() as u32) {
                let counts: Vec<usize> = (0..shapes.len()).map(|at| set / most.pow(at as u32) % most).collect();
                let price: u64 = counts.iter().zip(&shapes).map(|(count, shape)| *count as u64 * shape.price).sum();
                if amount(price) < cheapest.min(provisioning.price) {
                    let fixed: Vec<Value> = counts.iter().zip(&shapes).enumerate().flat_map(|(at, (count, shape))| {
                        let cpu = shape.node.status.as_ref().unwrap().allocatable.as_ref().unwrap()["cpu"].0.parse().unwrap();
                        (0..*count).map(move |n| node(&format!("n{at}-{n}"), cpu))
                    }).collect();
                    if provision_for(&fixed, &pods, &shapes, 1).sufficient {
                        cheapest = amount(price);
                    }
                }
            }
            prop_assert!(cheapest >= provisioning.price, "{} is cheaper than {}", cheapest, provisioning.price);
        }
    }
}
