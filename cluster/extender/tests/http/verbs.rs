//! Requests of each verb, and the use of responses.

use schedc_core::extenders::Extenders;
use schedc_core::extenders::Verb;
use schedc_extender::{Extender, ManagedResource};
use serde_json::json;

use crate::cluster::{Cluster, EXTENDER};
use crate::server::{Reply, Server};

fn answers(json: &'static str) -> Server {
    Server::start(move |_, _| Reply::Json(json.to_owned()))
}

#[test]
fn filter_sends_names_or_nodes_and_removes_nodes() {
    let server = answers(r#"{"NodeNames":["a","b"],"FailedNodes":{"c":"no"}}"#);
    let left = Cluster::new(EXTENDER, &server.url).filter().unwrap();
    assert_eq!(left, ("ab".into(), vec!["c: Unschedulable: no".into()]));
    let pod = json!({"metadata": {"name": "web"}, "spec": {}});
    let names = json!({"Pod": pod, "Nodes": null, "NodeNames": ["a", "b", "c"]});
    assert_eq!(server.take_requests(), [("/x/filter".into(), names)]);

    let server = answers(r#"{"nodes":{"items":[{"metadata":{"name":"b"},"spec":{}}]},"nodenames":["a"]}"#);
    let nodes = Extender { node_cache_capable: false, ..EXTENDER };
    assert_eq!(Cluster::new(nodes, &(server.url.clone() + "/")).filter().unwrap(), ("b".into(), vec![]));
    let items = ["a", "b", "c"].map(|name| json!({"metadata": {"name": name}}));
    let nodes = json!({"Pod": pod, "Nodes": {"metadata": {}, "items": items}, "NodeNames": null});
    assert_eq!(server.take_requests(), [("/x/filter".into(), nodes)]);
}

#[test]
fn unresolvable_takes_precedence_over_unschedulable() {
    let server = answers(r#"{"NodeNames":[],"FailedNodes":{"a":"x","b":"y"},"FailedAndUnresolvableNodes":{"a":"z"}}"#);
    let (left, rejections) = Cluster::new(EXTENDER, &server.url).filter().unwrap();
    assert_eq!(left, "");
    assert_eq!(rejections, ["a: Unschedulable: x", "b: Unschedulable: y", "a: UnschedulableAndUnresolvable: z"]);
}

#[test]
fn verdicts_on_unknown_nodes_are_ignored() {
    let server = answers(r#"{"NodeNames":["a"],"FailedNodes":{"b":"x","gone":"y"}}"#);
    assert_eq!(Cluster::new(EXTENDER, &server.url).filter().unwrap(), ("a".into(), vec!["b: Unschedulable: x".into()]));
}

#[test]
fn extenders_filter_in_order() {
    let (first, second) = (answers(r#"{"NodeNames":["a","c"]}"#), answers(r#"{"NodeNames":["c"]}"#));
    let both = || vec![(EXTENDER, &*first.url), (EXTENDER, &*second.url)];
    assert_eq!(Cluster::with(both()).unwrap().filter().unwrap().0, "c");
    assert_eq!(second.take_requests()[0].1["NodeNames"], json!(["a", "c"]));
    let none = answers("{}");
    let three = vec![(EXTENDER, &*none.url), (EXTENDER, &*second.url)];
    assert_eq!(Cluster::with(three).unwrap().filter().unwrap().0, "");
    assert!(second.take_requests().is_empty(), "no node is left");
}

#[test]
fn scores_are_weighted_and_scaled_and_those_of_all_extenders_add_up() {
    let server = answers(r#"[{"Host":"a","Score":10},{"host":"c","score":3},{"Host":"gone","Score":1}]"#);
    assert_eq!(Cluster::new(EXTENDER, &server.url).prioritize(), [200, 0, 60]);
    let other = Extender { weight: 1, ..EXTENDER };
    let both = vec![(EXTENDER, &*server.url), (other, &*server.url)];
    assert_eq!(Cluster::with(both).unwrap().prioritize(), [300, 0, 90]);
}

#[test]
fn preemption_uses_the_victims_of_the_extender() {
    let server = answers(
        r#"{"NodeNameToMetaVictims":{"a":{"Pods":[{"UID":"on-a"}],"NumPDBViolations":2},"c":{"pods":[{"uid":"on-c"}]}}}"#,
    );
    let uids = Cluster::new(EXTENDER, &server.url);
    assert_eq!(uids.preempt().unwrap(), ["a: on-a /2", "c: on-c /0"]);
    let on = |name: &str| json!({"Pods": [{"UID": format!("on-{name}")}], "NumPDBViolations": 0});
    let victims = json!({"a": on("a"), "b": on("b"), "c": on("c")});
    assert_eq!(server.take_requests()[0].1["NodeNameToMetaVictims"], victims);

    let whole = Extender { node_cache_capable: false, ..EXTENDER };
    Cluster::new(whole, &server.url).preempt().unwrap();
    let (path, body) = server.take_requests().remove(0);
    assert_eq!((path.as_str(), &body["NodeNameToMetaVictims"]), ("/x/preempt", &json!(null)));
    let of_a = json!({"Pods": [{"metadata": {"uid": "on-a"}}], "NumPDBViolations": 0});
    assert_eq!(body["NodeNameToVictims"]["a"], of_a);
}

#[test]
fn invalid_victims_are_errors() {
    for (answer, error) in [
        (r#"{"a":{"Pods":[]}}"#, r#"expected at least one victim pod on node "a""#),
        (r#"{"a":null}"#, r#"expected at least one victim pod on node "a""#),
        (r#"{"a":{"Pods":[{"UID":"on-b"}]}}"#, r#"victim with uid "on-b" is not on node "a""#),
        (r#"{"a":{"Pods":[null]}}"#, r#"victim with uid "" is not on node "a""#),
        (
            r#"{"z":{"Pods":[{"UID":"on-b"}]}}"#,
            r#"the extender returned victims on node "z", which was not in the request"#,
        ),
    ] {
        let answer = format!(r#"{{"NodeNameToMetaVictims":{answer}}}"#);
        let server = Server::start(move |_, _| Reply::Json(answer.clone()));
        assert_eq!(Cluster::new(EXTENDER, &server.url).preempt().unwrap_err(), error);
    }
    let server = answers(r#"{"NodeNameToMetaVictims":{"a":{"Pods":[{"UID":"on-a"}]}}}"#);
    let mut unimportant = Cluster::new(EXTENDER, &server.url);
    unimportant.pod = schedc_core::model::Pod { spec: Default::default(), ..(*unimportant.pod).clone() }.into();
    let error = "victim / on node \"a\" does not have a lower priority than n/web";
    assert_eq!(unimportant.preempt().unwrap_err(), error);
}

#[test]
fn ignorable_extenders_may_fail_in_preemption() {
    let ignorable = Extender { ignorable: true, ..EXTENDER };
    let server = answers(r#"{"NodeNameToMetaVictims":{"a":{"Pods":[]},"b":{"Pods":[{"UID":"on-b"}]}}}"#);
    assert_eq!(Cluster::new(ignorable, &server.url).preempt().unwrap(), ["b: on-b /0"]);
    let server = answers(r#"{"NodeNameToMetaVictims":{"a":{"Pods":[{"UID":"?"}]}}}"#);
    assert_eq!(Cluster::new(ignorable, &server.url).preempt().unwrap().len(), 3);
    let server = answers("{}");
    assert_eq!(Cluster::new(EXTENDER, &server.url).preempt().unwrap().len(), 0, "it may leave none");
}

#[test]
fn bind_and_unreserve_name_pod_and_node() {
    let server = answers("{}");
    let cluster = Cluster::new(EXTENDER, &server.url);
    assert_eq!(cluster.bind(), Some(Ok(true)));
    cluster.unreserve();
    let body = json!({"PodName": "web", "PodNamespace": "n", "PodUID": "u", "Node": "a"});
    assert_eq!(server.take_requests(), [("/x/bind".into(), body.clone()), ("/x/unreserve".into(), body)]);
    let refuses = answers(r#"{"Error":"taken"}"#);
    assert_eq!(Cluster::new(EXTENDER, &refuses.url).bind(), Some(Err("taken".into())));
    let ignorable = Extender { ignorable: true, ..EXTENDER };
    assert_eq!(Cluster::new(ignorable, &refuses.url).bind(), Some(Ok(false)), "plugins bind the pod");
    assert_eq!(Cluster::new(Extender { bind_verb: None, ..EXTENDER }, &server.url).bind(), None);
}

#[test]
fn managed_resources_select_pods() {
    let server = answers("{}");
    let managed_resources = &[ManagedResource { name: "example.com/gpu", ignored_by_scheduler: true }];
    let mut cluster = Cluster::new(Extender { managed_resources, ..EXTENDER }, &server.url);
    assert_eq!((cluster.filter().unwrap().0, cluster.prioritize(), cluster.bind()), ("abc".into(), vec![0; 3], None));
    assert_eq!(cluster.preempt().unwrap().len(), 3);
    cluster.unreserve();
    assert!(server.take_requests().is_empty());
    cluster.write_pod(r#"{"spec":{"containers":[{"resources":{"limits":{"example.com/gpu":"1"}}}]}}"#);
    assert_eq!((cluster.filter().unwrap().0, cluster.bind()), (String::new(), Some(Ok(true))));
}

#[test]
fn missing_verbs_are_not_called() {
    let nothing = Extender {
        filter_verb: None,
        prioritize_verb: None,
        preempt_verb: None,
        bind_verb: None,
        unreserve_verb: None,
        ..EXTENDER
    };
    let cluster = Cluster::new(nothing, "http://127.0.0.1:1");
    assert_eq!((cluster.filter().unwrap().0, cluster.prioritize(), cluster.bind()), ("abc".into(), vec![0; 3], None));
    cluster.unreserve();
    assert!(cluster.extenders.take_calls().is_empty());
}

#[test]
fn calls_are_counted_by_extender_and_verb() {
    let server = answers(r#"{"NodeNames":["?"]}"#);
    let cluster = Cluster::new(EXTENDER, &server.url);
    let (_, _) = (cluster.filter(), cluster.bind());
    let calls: Vec<_> = cluster.extenders.take_calls().into_iter().map(|call| (call.verb, call.succeeded)).collect();
    assert_eq!(calls, [(Verb::Filter, false), (Verb::Bind, true)]);
    assert!(cluster.extenders.take_calls().is_empty());
}
