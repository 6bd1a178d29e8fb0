//! Changes of a cluster, and questions about it.

use schedc_api::{Cluster, Defaults, Error, ErrorCode, Profiles};

use crate::{cluster, default_profile, node, pod};

fn code<T>(result: Result<T, Error>) -> ErrorCode {
    result.err().unwrap().code
}

#[test]
fn a_check_has_the_plugin_and_the_reasons() {
    let taint = "spec: { taints: [{ key: gpu, effect: NoSchedule }] }";
    let mut cluster = cluster(&[node("a", 2, ""), node("b", 4, taint), pod("p", 3, "")].concat());
    let answer = cluster.check("p", "a").unwrap();
    assert_eq!((answer.code.as_str(), answer.plugin), ("UnschedulableAndUnresolvable", "NodeResourcesFit"));
    assert_eq!(answer.reasons, ["Insufficient cpu"]);
    let answers = cluster.check_nodes("default/p", &["b", "a"]).unwrap();
    assert_eq!(answers[0].reasons, ["node(s) had untolerated taint(s)"]);
    assert_eq!(answers[1], answer, "a check of many nodes equals single ones");
}

#[test]
fn a_scheduled_pod_occupies_its_node() {
    let mut cluster = cluster(&[node("a", 2, ""), pod("p", 2, ""), pod("q", 1, "")].concat());
    assert_eq!(cluster.schedule("p", "a").unwrap().code, "Success");
    assert_eq!(cluster.schedule("q", "a").unwrap().reasons, ["Insufficient cpu"]);
    assert_eq!(cluster.pods()["default/p"].as_deref(), Some("a"));
    assert!(cluster.unschedule("p").unwrap());
    assert!(!cluster.unschedule("p").unwrap(), "it has no node any more");
    assert_eq!(cluster.schedule("q", "a").unwrap().code, "Success");
}

#[test]
fn a_search_is_limited_to_the_given_nodes() {
    let mut cluster = cluster(&[node("a", 2, ""), node("b", 2, ""), pod("p", 2, ""), pod("q", 9, "")].concat());
    assert_eq!(cluster.schedule_on_any("p", Some(&["b"])).unwrap().node.as_deref(), Some("b"));
    let none = cluster.schedule_on_any::<&str>("q", None).unwrap();
    assert_eq!((none.node, none.rejection), (None, None), "every node rejects the pod");
}

#[test]
fn a_decision_has_scores_and_the_message() {
    let mut cluster = cluster(&[node("a", 2, ""), node("b", 4, ""), pod("p", 1, ""), pod("q", 9, "")].concat());
    let decision = cluster.decide("p").unwrap();
    assert_eq!(decision.chosen.as_deref(), Some("b"));
    assert!(decision.nodes["b"].scores.as_ref().unwrap().scores["NodeResourcesFit"] > 0);
    let message = cluster.decide("q").unwrap().message.unwrap();
    assert!(message.starts_with("0/2 nodes are available: 2 Insufficient cpu."), "{message}");
    assert_eq!(cluster.pods()["default/p"], None, "a decision changes nothing");
}

#[test]
fn a_decision_has_the_victims_of_preemption() {
    let low = [pod("low", 2, "nodeName: a, priority: 1"), pod("lower", 2, "nodeName: b, priority: 0")].concat();
    let mut cluster = cluster(&[node("a", 2, ""), node("b", 2, ""), low, pod("high", 2, "priority: 5")].concat());
    let decision = cluster.decide("high").unwrap();
    assert_eq!(decision.chosen, None);
    let preemption = serde_json::to_value(&decision).unwrap()["preemption"].take();
    assert_eq!(preemption["outcomes"], serde_json::json!([{"node": "b", "victims": ["default/lower"]}]));
    assert_eq!(preemption["candidates"].as_array().unwrap().len(), 2);
    assert_eq!(cluster.pods()["default/lower"].as_deref(), Some("b"), "no pod is deleted");
    cluster.fork();
    assert!(cluster.delete("Pod", "", "lower").unwrap());
    assert_eq!(cluster.decide("high").unwrap().chosen.as_deref(), Some("b"));
    cluster.revert();
    assert_eq!(cluster.decide("high").unwrap().chosen, None);
}

#[test]
fn an_estimate_counts_the_nodes_of_a_group() {
    let pods: String = (0..5).map(|n| pod(&format!("p{n}"), 1, "")).collect();
    let mut cluster = cluster(&[pods, pod("large", 9, "")].concat());
    let template = [node("group", 3, ""), pod("daemon", 1, "nodeName: group")].concat();
    let pods = ["large", "p0", "p1", "p2", "p3", "p4"];
    let estimate = cluster.estimate(&template, &pods, 2).unwrap();
    assert_eq!((estimate.nodes, estimate.placed.len()), (2, 4), "each node has room for two pods and the daemon");
    assert_eq!(estimate.left[0].rejection.as_ref().unwrap().reasons, ["Insufficient cpu"]);
    assert_eq!((estimate.left[1].pod.as_str(), &estimate.left[1].rejection), ("default/p4", &None));
    assert!(cluster.nodes().is_empty(), "an estimate changes nothing");
}

#[test]
fn deleted_objects_are_gone() {
    let mut cluster = cluster(&[node("a", 2, ""), pod("p", 2, "nodeName: a"), pod("q", 1, "")].concat());
    assert!(cluster.delete("Pod", "", "p").unwrap());
    assert!(!cluster.delete("Pod", "default", "p").unwrap());
    assert_eq!(cluster.check("q", "a").unwrap().code, "Success");
    assert!(cluster.delete("Node", "", "a").unwrap());
    assert_eq!(code(cluster.check("q", "a")), ErrorCode::UnknownNode);
    cluster.apply(&node("a", 2, ""), Defaults::AsGiven).unwrap();
    cluster.clear();
    assert!(cluster.nodes().is_empty() && cluster.pods().is_empty());
}

#[test]
fn objects_other_than_nodes_and_pods_affect_answers() {
    let claim = "---\n{ apiVersion: v1, kind: PersistentVolumeClaim, metadata: { name: data }, spec: {} }\n";
    let volume = "volumes: [{ name: data, persistentVolumeClaim: { claimName: data } }]";
    let mut cluster = cluster(&[node("a", 2, ""), pod("p", 1, volume)].concat());
    let missing = cluster.check("p", "a").unwrap();
    assert_eq!(missing.reasons, [r#"persistentvolumeclaim "data" not found"#]);
    cluster.apply(claim, Defaults::AsGiven).unwrap();
    assert_ne!(cluster.check("p", "a").unwrap(), missing);
    assert!(cluster.delete("PersistentVolumeClaim", "default", "data").unwrap());
    assert_eq!(cluster.check("p", "a").unwrap(), missing);
}

#[test]
fn defaults_of_an_api_server_are_optional() {
    let class = "---\n{ apiVersion: scheduling.k8s.io/v1, kind: PriorityClass, metadata: { name: high }, value: 7 }\n";
    let high = pod("p", 1, "priorityClassName: high");
    let mut cluster = Cluster::new(&default_profile(), "default").unwrap();
    let applied = cluster.apply(&[class, &high].concat(), Defaults::Complete).unwrap();
    assert_eq!((applied.nodes, applied.pods), (0, 1));
    assert_eq!(code(cluster.apply(&high, Defaults::Complete)), ErrorCode::InvalidObjects);
    assert!(cluster.apply(&high, Defaults::AsGiven).is_ok(), "objects of an API server have their priority already");
}

#[test]
fn wrong_objects_change_nothing() {
    let mut cluster = cluster("");
    for wrong in [
        [node("a", 2, ""), "---\n{ apiVersion: v1, kind: Pod, metadata: { name: p }, spec: 7 }".to_owned()].concat(),
        [node("a", 2, ""), "---\n{ apiVersion: v1, kind: Pod, spec: {} }".to_owned()].concat(),
        [node("a", 2, ""), node("a", 2, "")].concat(),
        "{".to_owned(),
    ] {
        assert_eq!(code(cluster.apply(&wrong, Defaults::AsGiven)), ErrorCode::InvalidObjects, "{wrong}");
    }
    assert!(cluster.nodes().is_empty());
    assert_eq!(code(cluster.delete("DaemonSet", "", "web")), ErrorCode::UnknownKind);
    assert_eq!(code(cluster.decide("p")), ErrorCode::UnknownPod);
    assert_eq!(code(cluster.estimate::<&str>("", &[], 1)), ErrorCode::InvalidObjects);
}

#[test]
fn wrong_profiles_are_reported_with_their_location() {
    let error = Profiles::parse(&[("own.toml", "scheduler-name = 7")]).err().unwrap();
    assert_eq!(error.code, ErrorCode::InvalidProfile);
    assert!(error.message.contains("own.toml:1:"), "{error}");
    let profiles = Profiles::parse(&[("own.toml", ""), ("other.toml", "scheduler-name = \"other\"")]).unwrap();
    assert_eq!(profiles.names().collect::<Vec<_>>(), ["own", "other"]);
    assert!(Cluster::new(&profiles, "other").is_ok());
    let error = Cluster::new(&profiles, "third").err().unwrap();
    assert_eq!(error.code, ErrorCode::UnknownProfile);
    assert_eq!(error.message, "no profile is named `third`; the profiles are own, other");
}

#[test]
fn a_compiled_profile_answers_like_the_interpreted_one() {
    let objects = [node("a", 2, ""), node("b", 4, ""), pod("p", 1, ""), pod("q", 3, "")].concat();
    let mut compiled = Cluster::compiled::<default_profile::default::Pipeline>().unwrap();
    compiled.apply(&objects, Defaults::AsGiven).unwrap();
    let mut interpreted = cluster(&objects);
    for name in ["p", "q"] {
        assert_eq!(compiled.decide(name).unwrap(), interpreted.decide(name).unwrap());
        assert_eq!(compiled.check(name, "a").unwrap(), interpreted.check(name, "a").unwrap());
    }
}
