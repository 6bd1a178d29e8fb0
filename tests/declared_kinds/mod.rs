//! Objects of a kind that a plugin declares, in the tools of the command: pods wait for groups that come, change and go.

#![allow(clippy::unwrap_used, reason = "a test that cannot continue panics")]

use std::path::PathBuf;
use std::time::Duration;

use coscheduling::scheduler::Profiles;
use schedc::cluster::Routes;
use schedc::evaluation::{Evaluator, Hint, HintResult, HintScenario, Place, Scenario};
use schedc::simulation::{Options, Report, simulate};
use schedc::timeline::{Sources, Timeline};
use schedc_core::erased::AnyBundle;
use schedc_core::extenders::Overrides;
use schedc_core::profile::Bundle;
use schedc_objects::{Kinds, Manifests, Objects};
use serde_json::{Value, json};

const RESOURCE: &str = "podgroups.v1alpha1.scheduling.x-k8s.io";

/// A node, and two pods of a group.
const CLUSTER: &str = "
{apiVersion: v1, kind: Node, metadata: {name: n1}, status: {allocatable: {cpu: 4, pods: 10}}}
---
apiVersion: v1
kind: Pod
metadata: {name: a, labels: {scheduling.x-k8s.io/pod-group: g}}
spec: {schedulerName: coscheduling, containers: [{name: c}]}
---
apiVersion: v1
kind: Pod
metadata: {name: b, labels: {scheduling.x-k8s.io/pod-group: g}}
spec: {schedulerName: coscheduling, containers: [{name: c}]}
";

fn objects() -> Objects {
    let kinds = Kinds::of::<Profiles>();
    let manifests = Manifests::parse_with("cluster.yaml", CLUSTER, kinds).unwrap();
    Objects::new(manifests, schedc_objects::Options { kinds, ..Default::default() }).unwrap()
}

/// Returns the timeline of an events file.
fn timeline(name: &str, events: &str, objects: &mut Objects) -> Result<Timeline, String> {
    let file = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::write(&file, events).unwrap();
    let sources = Sources { files: vec![file], ..Sources::default() };
    Timeline::read(&sources, objects).map_err(|error| error.to_string())
}

fn simulated(name: &str, events: &str) -> Report {
    let mut objects = objects();
    let timeline = timeline(name, events, &mut objects).unwrap();
    let routes = Routes::by_scheduler_name(Profiles::PROFILES);
    let extenders = Overrides::NONE;
    let options = Options { routes, extenders, seed: 0, until: None, log: false, read: Duration::ZERO };
    simulate(&AnyBundle::of::<Profiles>(), objects, timeline, options, |_| ()).unwrap()
}

#[test]
fn events_create_and_change_declared_objects() {
    let report = simulated(
        "groups.yaml",
        "
- at: 10s
  create:
    apiVersion: scheduling.x-k8s.io/v1alpha1
    kind: PodGroup
    metadata: {name: g}
    spec: {minMember: 3}
- at: 1m
  apply:
    apiVersion: scheduling.x-k8s.io/v1alpha1
    kind: PodGroup
    metadata: {name: g}
    spec: {minMember: 2}
- at: 2m
  delete: {kind: PodGroup, name: g}
",
    );
    let mut placed: Vec<_> = report.placements.iter().map(|pod| (&*pod.pod, &*pod.node, pod.at)).collect();
    placed.sort_by_key(|(pod, ..)| *pod);
    assert_eq!(placed, [("default/a", "n1", 60.0), ("default/b", "n1", 60.0)]);
    assert_eq!(report.summary.objects.get(RESOURCE), Some(&1));
    assert_eq!((report.summary.events, report.summary.events_without_object), (3, 0));
}

#[test]
fn a_group_deleted_too_early_leaves_its_pods_pending() {
    let report = simulated(
        "no-groups.yaml",
        "
- at: 10s
  create:
    apiVersion: scheduling.x-k8s.io/v1alpha1
    kind: PodGroup
    metadata: {name: g}
    spec: {minMember: 3}
- at: 20s
  delete: {kind: PodGroup, name: g}
- at: 30s
  create:
    apiVersion: v1
    kind: Pod
    metadata: {name: c, labels: {scheduling.x-k8s.io/pod-group: g}}
    spec: {schedulerName: coscheduling, containers: [{name: c}]}
",
    );
    assert_eq!((report.summary.placed, report.summary.unschedulable), (0, 3));
    let too_late = report.unschedulable.iter().find(|pod| pod.pod == "default/c").unwrap();
    assert!(too_late.message.contains("pod group default/g does not exist"), "{}", too_late.message);
}

#[test]
fn events_for_missing_objects_are_reported() {
    let error = timeline("wrong.yaml", "- {at: 1s, delete: {kind: PodGroup, name: g}}\n", &mut objects()).unwrap_err();
    assert!(error.ends_with(&format!("{RESOURCE} default/g does not exist at 1s")), "{error}");
}

fn group(name: &str, min_member: u32) -> Value {
    json!({
        "apiVersion": "scheduling.x-k8s.io/v1alpha1", "kind": "PodGroup",
        "metadata": {"name": name, "namespace": "default"},
        "spec": {"minMember": min_member},
    })
}

fn pod(name: &str, node: Option<&str>) -> Value {
    json!({
        "apiVersion": "v1", "kind": "Pod",
        "metadata": {"name": name, "namespace": "default", "labels": {"scheduling.x-k8s.io/pod-group": "g"}},
        "spec": {"schedulerName": "coscheduling", "nodeName": node, "containers": [{"name": "c"}]},
    })
}

fn node() -> Value {
    json!({
        "apiVersion": "v1", "kind": "Node", "metadata": {"name": "n"},
        "status": {"allocatable": {"cpu": "4", "pods": "10"}},
    })
}

#[test]
fn scenarios_accept_declared_kinds() {
    let scenario = json!({
        "id": "groups", "profile": "coscheduling",
        "objects": [node(), pod("first", Some("n"))],
        "steps": [
            {"schedule": pod("a", None)},
            {"create": group("g", 1)},
            {"schedule": pod("b", None)},
            {"update": group("g", 9)},
            {"schedule": pod("c", None)},
            {"delete": {"kind": "PodGroup", "name": "g"}},
            {"schedule": pod("d", None)},
        ],
    });
    let scenario = Scenario::read(scenario.to_string().as_bytes()).unwrap();
    let results = Evaluator::of::<Profiles>().unwrap().evaluate(scenario).unwrap().results;
    let texts = results.into_iter().map(|result| result.chosen.or(result.message).unwrap());
    let first_sentences: Vec<_> = texts.map(|text| text.split(". ").next().unwrap().to_owned()).collect();
    assert_eq!(
        first_sentences,
        [
            "0/1 nodes are available: pod group default/g does not exist",
            "n",
            "0/1 nodes are available: pod group default/g has 2 of 9 pods",
            "0/1 nodes are available: pod group default/g does not exist",
        ]
    );
}

/// Returns the hints about an event for a pod that waits for its group.
fn hints(old: Option<Value>, new: Option<Value>, direct: Option<(&str, &str)>) -> Result<HintResult, String> {
    let direct = direct.map(|(resource, action)| json!({"resource": resource, "action": action}));
    let scenario = json!({
        "id": "hints", "profile": "coscheduling", "objects": [node()], "pod": pod("a", None), "plugins": ["Coscheduling"],
        "event": {"old": old, "new": new}, "direct": direct,
    });
    let scenario = HintScenario::read(scenario.to_string().as_bytes()).unwrap();
    Evaluator::of::<Profiles>().unwrap().hints(scenario).map_err(|error| error.to_string())
}

#[test]
fn events_of_declared_kinds_wake_pods() {
    for (old, new, action, hint, place) in [
        (None, Some(group("g", 1)), "Add", Some(Hint::Queue), Place::Backoff),
        (None, Some(group("other", 1)), "Add", Some(Hint::Skip), Place::Unschedulable),
        (Some(group("g", 2)), Some(group("g", 1)), "Update", Some(Hint::Queue), Place::Backoff),
        // The plugin does not register for deletions.
        (Some(group("g", 2)), None, "Delete", None, Place::Unschedulable),
    ] {
        let result = hints(old, new, None).unwrap();
        let events: Vec<_> = hint.iter().map(|_| format!("{RESOURCE}{action}")).collect();
        assert_eq!((&result.events, result.hints.get("Coscheduling").copied(), result.queue), (&events, hint, place));
    }
}

#[test]
fn hints_accept_any_event_of_declared_kinds() {
    let evaluated = |resource, action| hints(Some(group("g", 2)), Some(group("g", 1)), Some((resource, action)));
    let answer = |result: HintResult| (result.registered["Coscheduling"], result.hints.get("Coscheduling").copied());
    assert_eq!(evaluated(RESOURCE, "Update").map(answer), Ok((true, Some(Hint::Queue))));
    assert_eq!(evaluated(RESOURCE, "Delete").map(answer), Ok((false, None)));
    let unknown = "podgroups.v2.scheduling.x-k8s.io";
    assert_eq!(evaluated(unknown, "Add").map(answer), Err(format!("direct: there is no event `Add` of `{unknown}`")));
}

#[test]
fn a_program_embeds_its_profiles_and_their_catalogs() {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("examples/coscheduling");
    let read = |file: &str| std::fs::read_to_string(folder.join(file)).unwrap();
    let [source] = Profiles::SOURCES else { panic!("{:?}", Profiles::SOURCES) };
    assert_eq!(source.path, "profiles/coscheduling.toml");
    assert_eq!(source.lines.join("\n"), read(source.path));
    let catalogs: Vec<_> = source.catalogs.iter().map(|(name, lines)| (*name, lines.join("\n"))).collect();
    assert_eq!(catalogs, [("coscheduling", read("schedc.toml"))]);
}
