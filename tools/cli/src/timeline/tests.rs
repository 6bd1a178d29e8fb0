//! Tests of the conversion of events files and traces to events.

use expect_test::{Expect, expect};
use schedc_objects::{Manifests, Options};

use super::*;

const CLUSTER: &str = "
{apiVersion: v1, kind: Node, metadata: {name: north-1, labels: {zone: north}}, status: {capacity: {cpu: 4}}}
---
{apiVersion: v1, kind: Pod, metadata: {name: web, labels: {app: web}}, spec: {containers: [{name: c}]}}
---
{apiVersion: scheduling.k8s.io/v1, kind: PriorityClass, metadata: {name: high}, value: 9}
";

fn objects(text: &str) -> Objects {
    let manifests = Manifests::parse("cluster.yaml", text).unwrap_or_else(|error| panic!("{error}"));
    Objects::new(manifests, Options::default()).unwrap_or_else(|error| panic!("{error}"))
}

/// Returns the events of an events file, one line each, or the errors.
fn timeline(cluster: &str, events: &str, trace: bool) -> String {
    let (mut written, mut problems) = (Vec::new(), Vec::new());
    match entries::parse("events.yaml", events) {
        Ok(entries) => entries
            .into_iter()
            .for_each(|entry| entry::read(entry, &mut ObjectReader::default(), &mut written, &mut problems)),
        Err(error) => return error.to_string(),
    }
    let mut objects = objects(cluster);
    match Timeline::new(written, problems, trace, None, &mut objects) {
        Ok(timeline) => show(&timeline),
        Err(error) => error.to_string(),
    }
}

fn show(timeline: &Timeline) -> String {
    let line = |event: &Event| {
        let Event { at, action, place } = event;
        let (verb, object) = match action {
            Action::Create(object) => ("create", Some(object)),
            Action::Update(object) => ("update", Some(object)),
            Action::Patch { object, .. } => ("patch", Some(object)),
            Action::Delete(reference) => return format!("{at} delete {reference} ({place})"),
        };
        let object = object.unwrap();
        let mut json = object.to_json().unwrap();
        let fields = json.as_object_mut().unwrap();
        fields.retain(|name, _| name == "metadata" || name == "value");
        let (reference, metadata) = (Reference::of(object), fields.remove("metadata").unwrap());
        let metadata =
            metadata.as_object().unwrap().iter().filter(|(name, _)| !["name", "namespace"].contains(&name.as_str()));
        let metadata: Vec<_> = metadata.map(|(name, value)| format!(" {name}={value}")).collect();
        format!("{at} {verb} {reference} ({place}){}", metadata.concat())
    };
    timeline.events.iter().map(line).collect::<Vec<_>>().join("\n")
}

fn check(events: &str, expected: Expect) {
    expected.assert_eq(&timeline(CLUSTER, events, false));
}

#[test]
fn events_are_ordered_by_time() {
    check(
        "
- at: 1m
  delete: {kind: Node, name: north-1}
- at: 12.5s
  create: {apiVersion: v1, kind: Pod, metadata: {name: a}, spec: {containers: [{name: c}]}}
- at: 12.5s
  apply: {apiVersion: v1, kind: Node, metadata: {name: north-1, labels: {zone: null, rack: r1}}}
- at: 30s
  update: {apiVersion: v1, kind: Pod, metadata: {name: web}, spec: {containers: [{name: c}]}}
- at: 20s
  delete:
    apiVersion: v1
    kind: Pod
    metadata: {name: a}
",
        expect![[r#"
            12.5s create Pod default/a (events.yaml:5) uid="default/a"
            12.5s patch Node north-1 (events.yaml:7) labels={"rack":"r1"} uid="Node/north-1"
            20s delete Pod default/a (events.yaml:11)
            30s update Pod default/web (events.yaml:9) uid="default/web"
            1m0s delete Node north-1 (events.yaml:3)"#]],
    );
}

#[test]
fn an_event_may_have_many_objects() {
    check(
        "
at: 1s
create:
- {apiVersion: v1, kind: Node, metadata: {name: a}}
- {apiVersion: v1, kind: Node, metadata: {name: b}}
---
at: 2s
create:
  apiVersion: v1
  kind: NodeList
  items: [{metadata: {name: c}}]
---
at: 3s
delete: [{kind: Node, name: a}, {kind: Node, name: b}]
",
        expect![[r#"
            1s create Node a (events.yaml:3 items[0]) uid="Node/a"
            1s create Node b (events.yaml:3 items[1]) uid="Node/b"
            2s create Node c (events.yaml:8 items[0]) uid="Node/c"
            3s delete Node a (events.yaml:14 items[0])
            3s delete Node b (events.yaml:14 items[1])"#]],
    );
}

#[test]
fn points_in_time_count_from_the_earliest() {
    check(
        "
{\"at\": \"2026-01-31T12:00:10Z\", \"delete\": {\"kind\": \"Pod\", \"name\": \"web\"}}
{\"at\": \"2026-01-31T13:00:00+01:00\", \"delete\": {\"kind\": \"Node\", \"name\": \"north-1\"}}
",
        expect![[r#"
            0s delete Node north-1 (events.yaml:3)
            10s delete Pod default/web (events.yaml:2)"#]],
    );
}

#[test]
fn apply_accepts_a_copy_of_an_older_version() {
    let copy = "metadata: {name: north-1, uid: old, resourceVersion: '7', labels: {zone: south}}";
    check(
        &format!("{{at: 1s, apply: {{apiVersion: v1, kind: Node, {copy}}}}}"),
        expect![[r#"1s patch Node north-1 (events.yaml:1) labels={"zone":"south"} uid="Node/north-1""#]],
    );
}

#[test]
fn a_recreated_object_is_a_new_object() {
    let pod = "{apiVersion: v1, kind: Pod, metadata: {name: web}, spec: {containers: [{name: c}]}}";
    check(
        &format!(
            "
[{{at: 1s, delete: {{kind: Pod, name: web}}}}, {{at: 2s, create: {pod}}}, {{at: 3s, update: {pod}}},
 {{at: 4s, delete: {{kind: Pod, name: web}}}}, {{at: 5s, apply: {pod}}}]
"
        ),
        expect![[r#"
            1s delete Pod default/web (events.yaml:2)
            2s create Pod default/web (events.yaml:2) uid="default/web#2"
            3s update Pod default/web (events.yaml:2) uid="default/web#2"
            4s delete Pod default/web (events.yaml:3)
            5s create Pod default/web (events.yaml:3) uid="default/web#3""#]],
    );
}

#[test]
fn namespaces_are_created_with_their_first_pods() {
    check(
        "
- {at: 1s, create: {apiVersion: v1, kind: Pod, metadata: {name: a, namespace: shop}, spec: {containers: [{name: c}]}}}
- {at: 2s, create: {apiVersion: v1, kind: Namespace, metadata: {name: shop, labels: {team: x}}}}
- {at: 3s, create: {apiVersion: v1, kind: Pod, metadata: {name: b, namespace: shop}, spec: {containers: [{name: c}]}}}
",
        expect![[r#"
            1s create Namespace shop (events.yaml:2) labels={"kubernetes.io/metadata.name":"shop"} uid="Namespace/shop"
            1s create Pod shop/a (events.yaml:2) uid="shop/a"
            2s update Namespace shop (events.yaml:3) labels={"kubernetes.io/metadata.name":"shop","team":"x"} uid="Namespace/shop"
            3s create Pod shop/b (events.yaml:4) uid="shop/b""#]],
    );
}

#[test]
fn kinds_that_scheduling_ignores_are_counted() {
    let events = "
- {at: 1s, create: {apiVersion: apps/v1, kind: DaemonSet, metadata: {name: a}}}
- {at: 2s, delete: {kind: DaemonSet, name: a}}
- {at: 2s, create: {apiVersion: example.com/v1, kind: Node, metadata: {name: a}}}
";
    let entries = entries::parse("events.yaml", events).unwrap();
    let (mut written, mut problems) = (Vec::new(), Vec::new());
    entries.into_iter().for_each(|entry| entry::read(entry, &mut ObjectReader::default(), &mut written, &mut problems));
    let timeline = Timeline::new(written, problems, false, None, &mut objects("")).unwrap();
    assert_eq!(timeline.events, []);
    assert_eq!(timeline.skipped.into_iter().collect::<Vec<_>>(), [("DaemonSet".to_owned(), 2), ("Node".to_owned(), 1)]);
}

#[test]
fn invalid_events_are_rejected() {
    check(
        "
- {}
- at: 1s
- delete: {kind: Pod, name: web}
- {at: soon, delete: {kind: Pod, name: web}}
- {at: 5, delete: {kind: Pod, name: web}}
- {at: [], delete: {kind: Pod, name: web}}
- {at: 1s, creat: {kind: Pod, name: web}}
- {at: 1s, reason: none, delete: {kind: Pod, name: web}}
- {at: 1s, create: {}, delete: {kind: Pod, name: web}}
- {apiVersion: v1, kind: Pod, metadata: {name: web}}
- {at: 1s, create: 5}
- {at: 1s, create: {kind: Pod}}
- {at: 1s, create: [{apiVersion: v1}]}
- {at: 1s, create: {apiVersion: v1, kind: pod}}
- {at: 1s, delete: web}
- {at: 1s, delete: {kind: Pod, nam: web}}
- {at: 1s, delete: {kind: Pod}}
- {at: 1s, delete: {name: web}}
- {at: 1s, delete: {kind: Nodes, name: web}}
- {at: 1s, delete: {kind: Pod, name: 5}}
",
        expect![[r#"
            events.yaml:2: has no time; add `at`, such as `at: 12.5s`
            events.yaml:3: has no action; an event has a time (`at: 12.5s`) and one of `create`, `apply`, `update` and `delete`
            events.yaml:4: has no time; add `at`, such as `at: 12.5s`
            events.yaml:5: at: `soon` is not a duration such as `12.5s` or `1h30m`, nor a time such as 2026-01-31T12:00:00Z
            events.yaml:6: at: `5` has no unit; write `5s` for seconds
            events.yaml:7: at: must be a duration such as `12.5s` or `1h30m`, or a time such as 2026-01-31T12:00:00Z
            events.yaml:8: unknown field `creat`; did you mean `create`?
            events.yaml:9: unknown field `reason`; an event has a time (`at: 12.5s`) and one of `create`, `apply`, `update` and `delete`
            events.yaml:10: has both `create` and `delete`; split it into two events
            events.yaml:11: is a manifest, not an event; put it below `create:` and add its time (`at: 12.5s`)
            events.yaml:12: create: must be a manifest
            events.yaml:13: create: is not a manifest: `apiVersion` is missing
            events.yaml:14 items[0]: create: is not a manifest: `kind` is missing
            events.yaml:15: create: there is no kind `pod`; did you mean `Pod`?
            events.yaml:16: delete: must be `kind`, `namespace` and `name` of an object
            events.yaml:17: delete: unknown field `nam`; did you mean `name`?
            events.yaml:18: delete: `name` of the Pod is missing
            events.yaml:19: delete: `kind` of the object is missing
            events.yaml:20: delete: there is no kind `Nodes`; did you mean `Node`?
            events.yaml:21: delete: name: must be text; put it in quotes"#]],
    );
}

#[test]
fn impossible_events_are_rejected() {
    check(
        "
- {at: 1s, create: {apiVersion: v1, kind: Node, metadata: {name: north-1}}}
- {at: 1s, delete: {kind: Node, name: nort-1}}
- {at: 1s, delete: {kind: Pod, namespace: shop, name: other}}
- {at: 1s, update: {apiVersion: v1, kind: Node, metadata: {name: somewhere}}}
- {at: 2s, delete: {kind: Node, name: north-1}}
- {at: 3s, delete: {kind: Node, name: north-1}}
- {at: 3s, create: {apiVersion: v1, kind: Pod, metadata: {name: a}, spec: {containers: 5}}}
- {at: 3s, create: {apiVersion: v1, kind: Pod, metadata: {name: b}, spec: {containers: []}}}
- {at: 3s, create: {apiVersion: v1beta1, kind: Pod, metadata: {name: b}}}
- {at: 3s, apply: {apiVersion: v1, kind: Pod, metadata: {name: web}, spec: {containers: []}}}
- {at: 4s, delete: {kind: PriorityClass, name: high}}
- {at: 5s, create: {apiVersion: v1, kind: Pod, metadata: {name: c}, spec: {priorityClassName: high, containers: [{name: c}]}}}
- {at: 6s, create: {apiVersion: v1, kind: Pod, metadata: {}, spec: {containers: [{name: c}]}}}
",
        expect![[r#"
            events.yaml:2: Node north-1 exists already at 1s, from cluster.yaml:2; delete it first, or use `apply`
            events.yaml:3: Node nort-1 does not exist at 1s; did you mean `north-1`?
            events.yaml:4: Pod shop/other does not exist at 1s
            events.yaml:5: Node somewhere does not exist at 1s; `apply` creates it
            events.yaml:7: Node north-1 does not exist at 3s: deleted at events.yaml:6
            events.yaml:8: Pod default/a: spec.containers: is integer `5`, but must be a list
            events.yaml:9: Pod default/b: spec.containers: is empty; a pod needs a container
            events.yaml:10: Pod default/b: apiVersion: is `v1beta1`, but a Pod is `v1`
            events.yaml:11: Pod default/web: spec.containers: is empty; a pod needs a container
            events.yaml:13: Pod default/c: spec.priorityClassName: is `high`, but there is no such PriorityClass; add it, or set spec.priority
            events.yaml:14: Pod without a name: metadata.name: is missing; every object needs a name"#]],
    );
}

#[test]
fn claims_and_volumes_may_be_created_by_controllers() {
    check(
        "{at: 1s, delete: {kind: PersistentVolumeClaim, name: web-data}}",
        expect!["1s delete PersistentVolumeClaim default/web-data (events.yaml:1)"],
    );
}

fn traced(name: &str, annotations: &str) -> String {
    format!(
        "{{apiVersion: v1, kind: Pod, metadata: {{name: {name}, annotations: {{{annotations}}}}}, spec: {{containers: [{{name: c}}]}}}}\n---\n"
    )
}

#[test]
fn a_trace_has_creation_and_deletion_times() {
    let pods = traced("there", "trace/created: '0', trace/deleted: '20'")
        + &traced("late", "trace/created: '10.5'")
        + &traced("short", "trace/created: 10s, trace/deleted: '10'")
        + &traced("early", "trace/created: '5', trace/deleted: '10'");
    let node = "{apiVersion: v1, kind: Node, metadata: {name: south-1, annotations: {trace/created: 1m}}}";
    let events = "{at: 10s, delete: {kind: Pod, name: web}}";
    let cluster = format!("{CLUSTER}---\n{pods}{node}");
    expect![[r#"
        5s create Pod default/early (cluster.yaml:14) annotations={"created":"5","deleted":"10"} uid="default/early"
        10s create Pod default/short (cluster.yaml:12) annotations={"created":"10s","deleted":"10"} uid="default/short"
        10s delete Pod default/short (cluster.yaml:12)
        10s delete Pod default/early (cluster.yaml:14)
        10s delete Pod default/web (events.yaml:1)
        10.5s create Pod default/late (cluster.yaml:10) annotations={"created":"10.5"} uid="default/late"
        20s delete Pod default/there (cluster.yaml:8)
        1m0s create Node south-1 (cluster.yaml:16) annotations={"created":"1m"} uid="Node/south-1""#]]
    .assert_eq(&timeline(&cluster, events, true).replace(r#""trace/"#, "\""));
    let mut all = objects(&cluster);
    Timeline::read(&Sources { trace: true, ..Sources::default() }, &mut all).unwrap();
    let names: Vec<_> = all.pods.iter().map(|pod| pod.object.metadata.name.as_deref().unwrap()).collect();
    assert_eq!((names, all.nodes.len()), (vec!["web", "there"], 1));
    let mut all = objects(&cluster);
    assert_eq!(Timeline::read(&Sources::default(), &mut all).unwrap(), Timeline::default());
    assert_eq!(all.pods.len(), 5);
}

#[test]
fn invalid_traces_are_rejected() {
    let pods = traced("a", "trace/created: soon")
        + &traced("b", "trace/created: '5', trace/deleted: '4'")
        + &traced("c", "trace/create: '5'")
        + &traced("d", "trace/start: '5'");
    expect![[r#"
        cluster.yaml:1: Pod default/a has an invalid trace/created: `soon` is not a duration such as `12.5s` or `1h30m`
        cluster.yaml:3: Pod default/b is deleted at 4s, but created only at 5s
        cluster.yaml:5: Pod default/c has the unknown annotation `trace/create`; did you mean `trace/created`?
        cluster.yaml:7: Pod default/d has the unknown annotation `trace/start`; those of a trace are `trace/created` and `trace/deleted`"#]]
    .assert_eq(&timeline(&pods, "", true));
}

#[test]
fn no_defaults_are_added_without_api_server_defaults() {
    let manifests = Manifests::parse("cluster.yaml", CLUSTER).unwrap();
    let mut objects = Objects::new(manifests, Options { api_server_defaults: false, ..Options::default() }).unwrap();
    let events = "
- {at: 1s, create: {apiVersion: v1, kind: Pod, metadata: {name: a, namespace: shop}}}
- {at: 2s, delete: {kind: Pod, namespace: shop, name: a}}
- {at: 3s, create: {apiVersion: v1, kind: Pod, metadata: {name: a, namespace: shop}}}
";
    let (mut written, mut problems) = (Vec::new(), Vec::new());
    let entries = entries::parse("events.yaml", events).unwrap();
    entries.into_iter().for_each(|entry| entry::read(entry, &mut ObjectReader::default(), &mut written, &mut problems));
    expect![[r#"
        1s create Pod shop/a (events.yaml:2)
        2s delete Pod shop/a (events.yaml:3)
        3s create Pod shop/a (events.yaml:4) uid="shop/a#2""#]]
    .assert_eq(&show(&Timeline::new(written, problems, false, None, &mut objects).unwrap()));
}

#[test]
fn wrong_apis_lists_and_metadata_are_not_ignored() {
    check(
        "
- {at: 1s, create: {apiVersion: apps/v1, kind: Pod, metadata: {name: a}, spec: {containers: [{name: c}]}}}
- {at: 1s, apply: {apiVersion: apps/v1, kind: Node, metadata: {name: north-1}, spec: {unschedulable: true}}}
- {at: 1s, create: {apiVersion: v1, kind: Widget, metadata: {name: a}}}
- {at: 1s, create: {apiVersion: v1, kind: PodList, item: []}}
- {at: 1s, create: {apiVersion: v1, kind: List, items: [], kinds: Pod}}
- {at: 1s, create: {apiVersion: v1, kind: PodList, items: {}}}
- {at: 1s, delete: {kind: Node, metadata: {name: north-1, lables: {}}}}
- {at: 1s, delete: {apiVersion: apps/v1, kind: Node, name: north-1}}
- {at: 1s, delete: {apiVersion: v1, kind: Widget, name: north-1}}
",
        expect![[r#"
            events.yaml:2: Pod default/a: apiVersion: is `apps/v1`, but a Pod is `v1`
            events.yaml:3: Node north-1: apiVersion: is `apps/v1`, but a Node is `v1`
            events.yaml:4: Widget a: kind: there is no `Widget` in `v1`
            events.yaml:5: PodList: item: unknown field; did you mean `items`?
            events.yaml:6: List: kinds: unknown field; did you mean `kind`?
            events.yaml:7: PodList: items: is fields, but must be a list
            events.yaml:8: Node north-1: metadata.lables: unknown field; did you mean `labels`?
            events.yaml:9: Node north-1: apiVersion: is `apps/v1`, but a Node is `v1`
            events.yaml:10: Widget north-1: kind: there is no `Widget` in `v1`"#]],
    );
    // Other API groups may have kinds with these names, and kinds that end in List.
    check(
        "
- {at: 1s, create: {apiVersion: example.com/v1, kind: Pod, metadata: {name: a}, spec: {}}}
- {at: 1s, create: {apiVersion: example.com/v1, kind: BlockList, items: {}}}
- {at: 1s, create: {apiVersion: v1, kind: ConfigMap, metadata: {name: a}}}
- {at: 1s, delete: {apiVersion: example.com/v1, kind: Node, name: north-1}}
- {at: 1s, delete: {kind: ConfigMap, name: a}}
",
        expect![[""]],
    );
}
