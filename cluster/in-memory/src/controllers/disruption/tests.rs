//! Counts of the disruption controller. Rows under the name of a test of `pkg/controller/disruption` (1.36) have the
//! numbers of that test.

use std::collections::BTreeMap;
use std::fmt::Write;

use expect_test::{Expect, expect};
use schedc_core::random::Random;
use schedc_objects::testing::api_object;
use serde_json::json;

use crate::controllers::Controllers;
use crate::server::{ApiServer, ApiServerOptions, Key, Request, json_of};

struct World {
    server: ApiServer,
    controllers: Controllers,
}

impl World {
    fn new() -> World {
        World { server: ApiServer::new(ApiServerOptions::default()), controllers: Controllers::default() }
    }

    fn apply(&mut self, object: &str) {
        self.server.apply(api_object(object), 0).unwrap();
    }

    fn budget(&mut self, fields: &str) {
        self.apply(&format!(
            "{{kind: PodDisruptionBudget, metadata: {{name: b}}, spec: {{selector: {{matchLabels: {{app: web}}}}{fields}}}}}"
        ));
    }

    /// Adds pods of a controller: `healthy` pods without a status, and `unhealthy` pods that are not ready.
    fn pods(&mut self, owner: &str, healthy: usize, unhealthy: usize) {
        for i in 0..healthy + unhealthy {
            let status = if i < healthy { "" } else { ", status: {conditions: [{type: Ready, status: 'False'}]}" };
            let prefix = if owner.is_empty() { "pod".to_owned() } else { owner.to_lowercase() };
            self.pod(&format!("{prefix}-{i}"), owner, status);
        }
    }

    fn pod(&mut self, name: &str, owner: &str, more: &str) {
        let api = match owner {
            "ReplicationController" => "v1",
            "Job" => "batch/v1",
            "PodSet" => "example.com/v1",
            _ => "apps/v1",
        };
        let owners = match owner {
            "" => String::new(),
            _ => {
                format!(", ownerReferences: [{{apiVersion: {api}, kind: {owner}, name: c, uid: '', controller: true}}]")
            }
        };
        self.apply(&format!(
            "{{kind: Pod, metadata: {{name: {name}, labels: {{app: web}}{owners}}}, spec: {{nodeName: n1}}{more}}}"
        ));
    }

    fn controller(&mut self, kind: &str, replicas: i32) {
        self.apply(&format!("{{kind: {kind}, metadata: {{name: c}}, spec: {{replicas: {replicas}}}}}"));
    }

    /// Returns the budget's counts, and the reason of its condition.
    fn numbers(&mut self) -> String {
        self.numbers_of("b")
    }

    fn numbers_of(&mut self, budget: &str) -> String {
        self.controllers.run(&mut self.server, 0);
        let key = Key { kind: "PodDisruptionBudget", namespace: "default".into(), name: budget.into() };
        let budget = json_of(self.server.get(&key).unwrap());
        let status = &budget["status"];
        let number = |field: &str| status[field].as_i64().map_or("-".to_owned(), |number| number.to_string());
        let condition = &status["conditions"][0];
        let reason = [&condition["reason"], &condition["message"]].map(|text| text.as_str().unwrap_or_default());
        format!(
            "allowed {} healthy {} desired {} expected {} {} {}",
            number("disruptionsAllowed"),
            number("currentHealthy"),
            number("desiredHealthy"),
            number("expectedPods"),
            reason[0],
            reason[1]
        )
        .trim_end()
        .to_owned()
    }
}

/// Compares one line for each row: a budget's spec, a controller with its replicas, the numbers of its healthy and
/// unhealthy pods, and the counts.
fn check(rows: &[(&str, &str, i32, usize, usize)], expected: Expect) {
    let mut text = String::new();
    for &(spec, kind, replicas, healthy, unhealthy) in rows {
        let mut world = World::new();
        world.budget(&format!(", {spec}"));
        if !matches!(kind, "" | "Job" | "PodSet") && replicas >= 0 {
            world.controller(kind, replicas);
        }
        world.pods(kind, healthy, unhealthy);
        let numbers = world.numbers();
        writeln!(text, "{spec} | {kind} {replicas} | {healthy}+{unhealthy} | {numbers}").unwrap();
    }
    expected.assert_eq(&text);
}

#[test]
fn budgets_count_numbers_and_percentages() {
    check(
        &[
            // An integer `minAvailable` counts all pods, with and without a controller.
            ("minAvailable: 0", "", -1, 3, 0),
            ("minAvailable: 0", "", -1, 0, 2),
            ("minAvailable: 2", "", -1, 3, 0),
            ("minAvailable: 3", "", -1, 3, 0),
            ("minAvailable: 3", "", -1, 1, 2),
            ("minAvailable: 1", "PodSet", -1, 3, 0),
            ("minAvailable: 5", "", -1, 0, 0),
            // TestUnavailable:
            ("minAvailable: 3", "", -1, 4, 0),
            ("minAvailable: 3", "", -1, 3, 1),
            // The following budgets count the replicas of controllers.
            // TestIntegerMaxUnavailableWithScaling:
            ("maxUnavailable: 2", "ReplicaSet", 7, 1, 0),
            ("maxUnavailable: 2", "ReplicaSet", 5, 1, 0),
            // TestPercentageMaxUnavailableWithScaling:
            ("maxUnavailable: 30%", "ReplicaSet", 7, 1, 0),
            ("maxUnavailable: 30%", "ReplicaSet", 3, 1, 0),
            // TestReplicaSet:
            ("minAvailable: 20%", "ReplicaSet", 10, 1, 0),
            // TestMultipleControllers:
            ("minAvailable: 1%", "ReplicationController", 1, 2, 0),
            // TestReplicationController:
            ("minAvailable: 34%", "ReplicationController", 3, 0, 0),
            ("minAvailable: 34%", "ReplicationController", 3, 1, 0),
            ("minAvailable: 34%", "ReplicationController", 3, 2, 0),
            ("minAvailable: 34%", "ReplicationController", 3, 3, 0),
            // TestStatefulSetController:
            ("minAvailable: 34%", "StatefulSet", 3, 3, 0),
            // TestTwoControllers, with its first controller:
            ("minAvailable: 28%", "ReplicationController", 11, 0, 6),
            ("minAvailable: 28%", "ReplicationController", 11, 4, 6),
            ("minAvailable: 28%", "ReplicationController", 11, 5, 6),
            // TestScaleResource has these numbers for a custom resource with a scale:
            ("maxUnavailable: 5", "StatefulSet", 10, 4, 0),
            // Not from a test of Kubernetes:
            ("maxUnavailable: 0", "ReplicaSet", 3, 3, 0),
            ("maxUnavailable: 100%", "ReplicaSet", 3, 2, 1),
            ("maxUnavailable: 9", "ReplicaSet", 3, 3, 0),
            ("minAvailable: 0%", "ReplicaSet", 3, 2, 1),
            ("minAvailable: 50%", "ReplicaSet", 0, 1, 0),
        ],
        expect![[r#"
            minAvailable: 0 |  -1 | 3+0 | allowed 3 healthy 3 desired 0 expected 3 SufficientPods
            minAvailable: 0 |  -1 | 0+2 | allowed 0 healthy 0 desired 0 expected 2 InsufficientPods
            minAvailable: 2 |  -1 | 3+0 | allowed 1 healthy 3 desired 2 expected 3 SufficientPods
            minAvailable: 3 |  -1 | 3+0 | allowed 0 healthy 3 desired 3 expected 3 InsufficientPods
            minAvailable: 3 |  -1 | 1+2 | allowed 0 healthy 1 desired 3 expected 3 InsufficientPods
            minAvailable: 1 | PodSet -1 | 3+0 | allowed 2 healthy 3 desired 1 expected 3 SufficientPods
            minAvailable: 5 |  -1 | 0+0 | allowed 0 healthy 0 desired 5 expected 0 InsufficientPods
            minAvailable: 3 |  -1 | 4+0 | allowed 1 healthy 4 desired 3 expected 4 SufficientPods
            minAvailable: 3 |  -1 | 3+1 | allowed 0 healthy 3 desired 3 expected 4 InsufficientPods
            maxUnavailable: 2 | ReplicaSet 7 | 1+0 | allowed 0 healthy 1 desired 5 expected 7 InsufficientPods
            maxUnavailable: 2 | ReplicaSet 5 | 1+0 | allowed 0 healthy 1 desired 3 expected 5 InsufficientPods
            maxUnavailable: 30% | ReplicaSet 7 | 1+0 | allowed 0 healthy 1 desired 4 expected 7 InsufficientPods
            maxUnavailable: 30% | ReplicaSet 3 | 1+0 | allowed 0 healthy 1 desired 2 expected 3 InsufficientPods
            minAvailable: 20% | ReplicaSet 10 | 1+0 | allowed 0 healthy 1 desired 2 expected 10 InsufficientPods
            minAvailable: 1% | ReplicationController 1 | 2+0 | allowed 1 healthy 2 desired 1 expected 1 SufficientPods
            minAvailable: 34% | ReplicationController 3 | 0+0 | allowed 0 healthy 0 desired 0 expected 0 InsufficientPods
            minAvailable: 34% | ReplicationController 3 | 1+0 | allowed 0 healthy 1 desired 2 expected 3 InsufficientPods
            minAvailable: 34% | ReplicationController 3 | 2+0 | allowed 0 healthy 2 desired 2 expected 3 InsufficientPods
            minAvailable: 34% | ReplicationController 3 | 3+0 | allowed 1 healthy 3 desired 2 expected 3 SufficientPods
            minAvailable: 34% | StatefulSet 3 | 3+0 | allowed 1 healthy 3 desired 2 expected 3 SufficientPods
            minAvailable: 28% | ReplicationController 11 | 0+6 | allowed 0 healthy 0 desired 4 expected 11 InsufficientPods
            minAvailable: 28% | ReplicationController 11 | 4+6 | allowed 0 healthy 4 desired 4 expected 11 InsufficientPods
            minAvailable: 28% | ReplicationController 11 | 5+6 | allowed 1 healthy 5 desired 4 expected 11 SufficientPods
            maxUnavailable: 5 | StatefulSet 10 | 4+0 | allowed 0 healthy 4 desired 5 expected 10 InsufficientPods
            maxUnavailable: 0 | ReplicaSet 3 | 3+0 | allowed 0 healthy 3 desired 3 expected 3 InsufficientPods
            maxUnavailable: 100% | ReplicaSet 3 | 2+1 | allowed 2 healthy 2 desired 0 expected 3 SufficientPods
            maxUnavailable: 9 | ReplicaSet 3 | 3+0 | allowed 3 healthy 3 desired 0 expected 3 SufficientPods
            minAvailable: 0% | ReplicaSet 3 | 2+1 | allowed 2 healthy 2 desired 0 expected 3 SufficientPods
            minAvailable: 50% | ReplicaSet 0 | 1+0 | allowed 0 healthy 1 desired 0 expected 0 InsufficientPods
        "#]],
    );
}

#[test]
fn pods_without_a_scale_are_not_disrupted() {
    check(
        &[
            // TestIntegerMaxUnavailable and TestNakedPod: pods without a controller do not count.
            ("maxUnavailable: 1", "", -1, 1, 0),
            ("minAvailable: 28%", "", -1, 1, 0),
            // TestUnsupportedControllerPod:
            ("minAvailable: 28%", "PodSet", -1, 1, 0),
            // Not from a test of Kubernetes:
            ("maxUnavailable: 1", "Job", -1, 3, 0),
            ("maxUnavailable: 1", "ReplicaSet", -1, 3, 0),
            ("maxUnavailable: half", "ReplicaSet", 3, 3, 0),
            ("unhealthyPodEvictionPolicy: AlwaysAllow", "ReplicaSet", 3, 3, 0),
        ],
        expect![[r#"
            maxUnavailable: 1 |  -1 | 1+0 | allowed 0 healthy 1 desired 0 expected 0 InsufficientPods pods without a controller do not count as expected; set `minAvailable` to a number to count them
            minAvailable: 28% |  -1 | 1+0 | allowed 0 healthy 1 desired 0 expected 0 InsufficientPods pods without a controller do not count as expected; set `minAvailable` to a number to count them
            minAvailable: 28% | PodSet -1 | 1+0 | allowed 0 healthy - desired - expected - SyncFailed found no controllers for pod "podset-0"
            maxUnavailable: 1 | Job -1 | 3+0 | allowed 0 healthy - desired - expected - SyncFailed jobs.batch does not implement the scale subresource
            maxUnavailable: 1 | ReplicaSet -1 | 3+0 | allowed 0 healthy - desired - expected - SyncFailed found no controllers for pod "replicaset-0"
            maxUnavailable: half | ReplicaSet 3 | 3+0 | allowed 0 healthy - desired - expected - SyncFailed `half` is not a percentage such as 50%
            unhealthyPodEvictionPolicy: AlwaysAllow | ReplicaSet 3 | 3+0 | allowed 0 healthy 3 desired 0 expected 0 InsufficientPods
        "#]],
    );
}

#[test]
fn a_rogue_pod_is_healthy_but_not_expected() {
    // The end of TestReplicationController.
    let mut world = World::new();
    world.budget(", minAvailable: 34%");
    world.controller("ReplicationController", 3);
    world.pods("ReplicationController", 3, 0);
    world.pod("rogue", "", "");
    expect!["allowed 2 healthy 4 desired 2 expected 3 SufficientPods"].assert_eq(&world.numbers());
}

#[test]
fn replica_sets_of_a_deployment_count_once() {
    let set = |name: &str, replicas: i32| {
        format!(
            "{{kind: ReplicaSet, metadata: {{name: {name}, ownerReferences: [{{apiVersion: apps/v1, kind: Deployment, name: d, uid: '', controller: true}}]}}, spec: {{replicas: {replicas}}}}}"
        )
    };
    let pod = |set: &str, i: usize| {
        format!(
            "{{kind: Pod, metadata: {{name: {set}-{i}, labels: {{app: web}}, ownerReferences: [{{apiVersion: apps/v1, kind: ReplicaSet, name: {set}, uid: '', controller: true}}]}}, spec: {{nodeName: n1}}}}"
        )
    };
    let mut world = World::new();
    world.budget(", maxUnavailable: 1");
    world.apply(&set("old", 1));
    world.apply(&set("new", 3));
    world.apply(&pod("old", 0));
    (0..3).for_each(|i| world.apply(&pod("new", i)));
    expect!["without the Deployment: allowed 1 healthy 4 desired 3 expected 4 SufficientPods"]
        .assert_eq(&format!("without the Deployment: {}", world.numbers()));
    world.apply("{kind: Deployment, metadata: {name: d}, spec: {replicas: 3}}");
    expect!["with it: allowed 2 healthy 4 desired 2 expected 3 SufficientPods"]
        .assert_eq(&format!("with it: {}", world.numbers()));
}

#[test]
fn pods_are_healthy_by_default() {
    let pods = [
        ("bound", "{nodeName: n1}", "{}"),
        ("running", "{nodeName: n1}", "{phase: Running}"),
        ("ready", "{nodeName: n1}", "{conditions: [{type: Ready, status: 'True'}]}"),
        ("unready", "{nodeName: n1}", "{phase: Running, conditions: [{type: Ready, status: 'False'}]}"),
        ("waiting", "{}", "{}"),
        ("failed", "{nodeName: n1}", "{phase: Failed}"),
        ("failed-ready", "{nodeName: n1}", "{phase: Failed, conditions: [{type: Ready, status: 'True'}]}"),
    ];
    let mut text = String::new();
    for (name, spec, status) in pods {
        let mut world = World::new();
        world.budget(", minAvailable: 0");
        world.apply(&format!(
            "{{kind: Pod, metadata: {{name: {name}, labels: {{app: web}}}}, spec: {spec}, status: {status}}}"
        ));
        writeln!(text, "{name}: {}", world.numbers()).unwrap();
    }
    expect![[r#"
        bound: allowed 1 healthy 1 desired 0 expected 1 SufficientPods
        running: allowed 1 healthy 1 desired 0 expected 1 SufficientPods
        ready: allowed 1 healthy 1 desired 0 expected 1 SufficientPods
        unready: allowed 0 healthy 0 desired 0 expected 1 InsufficientPods
        waiting: allowed 0 healthy 0 desired 0 expected 1 InsufficientPods
        failed: allowed 0 healthy 0 desired 0 expected 1 InsufficientPods
        failed-ready: allowed 1 healthy 1 desired 0 expected 1 SufficientPods
    "#]]
    .assert_eq(&text);
}

#[test]
fn the_status_tracks_pods_and_controllers() {
    let mut world = World::new();
    world.pods("ReplicaSet", 2, 0);
    world.controller("ReplicaSet", 3);
    world.budget(", maxUnavailable: 1");
    let mut text = String::new();
    let mut note = |what: &str, world: &mut World| writeln!(text, "{what}: {}", world.numbers()).unwrap();
    note("two of three", &mut world);
    world.pod("third", "ReplicaSet", "");
    note("the third comes", &mut world);
    world.server.handle(&Request::Delete(Key::pod("default", "third"), None), 0).unwrap();
    note("and is being deleted", &mut world);
    world.controller("ReplicaSet", 2);
    note("two are wanted", &mut world);
    world.budget(", maxUnavailable: 2");
    note("two may go", &mut world);
    let patch = json!({"metadata": {"labels": {"app": "other"}}});
    world.server.handle(&Request::Patch(Key::pod("default", "replicaset-0"), patch), 0).unwrap();
    note("one has other labels", &mut world);
    expect![[r#"
        two of three: allowed 0 healthy 2 desired 2 expected 3 InsufficientPods
        the third comes: allowed 1 healthy 3 desired 2 expected 3 SufficientPods
        and is being deleted: allowed 0 healthy 2 desired 2 expected 3 InsufficientPods
        two are wanted: allowed 1 healthy 2 desired 1 expected 2 SufficientPods
        two may go: allowed 2 healthy 2 desired 0 expected 2 SufficientPods
        one has other labels: allowed 1 healthy 1 desired 0 expected 2 SufficientPods
    "#]]
    .assert_eq(&text);
}

#[test]
fn a_status_of_the_manifest_stays_until_pods_change() {
    let mut text = String::new();
    for status in [
        "{disruptionsAllowed: 2}",
        "{disruptionsAllowed: 0}",
        "{disruptionsAllowed: 1, currentHealthy: 4, desiredHealthy: 3, expectedPods: 4, observedGeneration: 1}",
        "{disruptionsAllowed: 0, currentHealthy: 1, desiredHealthy: 3, expectedPods: 4, observedGeneration: 1}",
        "{disruptionsAllowed: 0, currentHealthy: 0, desiredHealthy: 0, expectedPods: 0}",
    ] {
        let mut world = World::new();
        world.pods("", 3, 0);
        world.apply(&format!("{{kind: PodDisruptionBudget, metadata: {{name: b}}, spec: {{selector: {{}}, minAvailable: 2}}, status: {status}}}"));
        writeln!(text, "{status}\n  given: {}", world.numbers()).unwrap();
        world.server.handle(&Request::Delete(Key::pod("default", "pod-0"), None), 0).unwrap();
        writeln!(text, "  one pod goes: {}", world.numbers()).unwrap();
        world.pod("four", "", "");
        world.pod("five", "", "");
        writeln!(text, "  two come: {}", world.numbers()).unwrap();
    }
    expect![[r#"
        {disruptionsAllowed: 2}
          given: allowed 2 healthy - desired - expected -
          one pod goes: allowed 1 healthy - desired - expected -
          two come: allowed 3 healthy - desired - expected -
        {disruptionsAllowed: 0}
          given: allowed 0 healthy - desired - expected -
          one pod goes: allowed 0 healthy - desired - expected -
          two come: allowed 1 healthy - desired - expected -
        {disruptionsAllowed: 1, currentHealthy: 4, desiredHealthy: 3, expectedPods: 4, observedGeneration: 1}
          given: allowed 1 healthy 4 desired 3 expected 4
          one pod goes: allowed 0 healthy 3 desired 3 expected 4
          two come: allowed 2 healthy 5 desired 3 expected 4
        {disruptionsAllowed: 0, currentHealthy: 1, desiredHealthy: 3, expectedPods: 4, observedGeneration: 1}
          given: allowed 0 healthy 1 desired 3 expected 4
          one pod goes: allowed 0 healthy 0 desired 3 expected 4
          two come: allowed 0 healthy 2 desired 3 expected 4
        {disruptionsAllowed: 0, currentHealthy: 0, desiredHealthy: 0, expectedPods: 0}
          given: allowed 1 healthy 3 desired 2 expected 3 SufficientPods
          one pod goes: allowed 0 healthy 2 desired 2 expected 3 InsufficientPods
          two come: allowed 2 healthy 4 desired 2 expected 5 SufficientPods
    "#]]
    .assert_eq(&text);
}

#[test]
fn missed_deletions_are_counted() {
    let mut world = World::new();
    world.pods("", 3, 0);
    world.budget(", minAvailable: 1");
    let given = "{disruptionsAllowed: 2, currentHealthy: 3, desiredHealthy: 1, expectedPods: 3, observedGeneration: 1}";
    for (name, status) in [("given", given), ("gone", "{}")] {
        world.apply(&format!(
            "{{kind: PodDisruptionBudget, metadata: {{name: {name}}}, spec: {{selector: {{}}}}, status: {status}}}"
        ));
    }
    assert_eq!(world.numbers(), "allowed 2 healthy 3 desired 1 expected 3 SufficientPods");
    let budget = Key { kind: "PodDisruptionBudget", namespace: "default".into(), name: "gone".into() };
    for key in [Key::pod("default", "pod-0"), budget] {
        world.server.handle(&Request::Delete(key, None), 0).unwrap();
    }
    // The grace period of the pod ends.
    world.server.tick(60_000_000_000);
    world.server.forget(world.server.store().version());
    assert_eq!(world.numbers(), "allowed 1 healthy 2 desired 1 expected 2 SufficientPods");
    assert_eq!(world.numbers_of("given"), "allowed 1 healthy 2 desired 1 expected 3");
    // No budget is left in the namespace, so the controller forgets the pods, too.
    for name in ["b", "given"] {
        let key = Key { kind: "PodDisruptionBudget", namespace: "default".into(), name: name.into() };
        world.server.handle(&Request::Delete(key, None), 0).unwrap();
    }
    world.server.forget(world.server.store().version());
    world.controllers.run(&mut world.server, 0);
    world.budget(", minAvailable: 1");
    assert_eq!(world.numbers(), "allowed 1 healthy 2 desired 1 expected 2 SufficientPods");
}

#[test]
fn two_controllers_count_together() {
    // TestTwoControllers, from the second controller on.
    let mut world = World::new();
    world.budget(", minAvailable: 28%");
    world.controller("ReplicationController", 11);
    world.pods("ReplicationController", 5, 6);
    world.controller("ReplicaSet", 11);
    let mut text = String::new();
    let mut note = |what: &str, world: &mut World| writeln!(text, "{what}: {}", world.numbers()).unwrap();
    note("11 pods of the first", &mut world);
    let not_ready = ", status: {conditions: [{type: Ready, status: 'False'}]}";
    for i in 0..11 {
        world.pod(&format!("second-{i}"), "ReplicaSet", if i < 7 { not_ready } else { "" });
        if [0, 6, 7, 8, 9, 10].contains(&i) {
            note(&format!("and {} of the second", i + 1), &mut world);
        }
    }
    world.pod("second-10", "ReplicaSet", not_ready);
    note("one becomes unready", &mut world);
    world.pod("second-9", "ReplicaSet", not_ready);
    note("another becomes unready", &mut world);
    world.pod("second-10", "ReplicaSet", ", status: {conditions: [{type: Ready, status: 'True'}]}");
    note("the first becomes ready", &mut world);
    expect![[r#"
        11 pods of the first: allowed 1 healthy 5 desired 4 expected 11 SufficientPods
        and 1 of the second: allowed 0 healthy 5 desired 7 expected 22 InsufficientPods
        and 7 of the second: allowed 0 healthy 5 desired 7 expected 22 InsufficientPods
        and 8 of the second: allowed 0 healthy 6 desired 7 expected 22 InsufficientPods
        and 9 of the second: allowed 0 healthy 7 desired 7 expected 22 InsufficientPods
        and 10 of the second: allowed 1 healthy 8 desired 7 expected 22 SufficientPods
        and 11 of the second: allowed 2 healthy 9 desired 7 expected 22 SufficientPods
        one becomes unready: allowed 1 healthy 8 desired 7 expected 22 SufficientPods
        another becomes unready: allowed 0 healthy 7 desired 7 expected 22 InsufficientPods
        the first becomes ready: allowed 1 healthy 8 desired 7 expected 22 SufficientPods
    "#]]
    .assert_eq(&text);
}

#[test]
fn each_budget_counts_the_pods_that_it_selects() {
    let mut world = World::new();
    world.pods("", 3, 0);
    world.apply("{kind: Pod, metadata: {name: other, labels: {app: db}}, spec: {nodeName: n1}}");
    world.apply("{kind: Pod, metadata: {name: far, namespace: far, labels: {app: web}}, spec: {nodeName: n1}}");
    let budgets = [
        // TestNoSelector: an empty selector selects all pods of the namespace.
        ("all", "selector: {}, minAvailable: 3"),
        ("none", "minAvailable: 0"),
        ("web", "selector: {matchLabels: {app: web}}, minAvailable: 2"),
        ("strict", "selector: {matchLabels: {app: web}}, minAvailable: 3"),
        ("not-web", "selector: {matchExpressions: [{key: app, operator: NotIn, values: [web]}]}, minAvailable: 0"),
    ];
    for (name, spec) in budgets {
        world.apply(&format!("{{kind: PodDisruptionBudget, metadata: {{name: {name}}}, spec: {{{spec}}}}}"));
    }
    let mut text = String::new();
    for (name, spec) in budgets {
        writeln!(text, "{spec}: {}", world.numbers_of(name)).unwrap();
    }
    world.server.handle(&Request::Delete(Key::pod("default", "pod-0"), None), 0).unwrap();
    for (name, _) in budgets {
        writeln!(text, "{name}, one pod is being deleted: {}", world.numbers_of(name)).unwrap();
    }
    expect![[r#"
        selector: {}, minAvailable: 3: allowed 1 healthy 4 desired 3 expected 4 SufficientPods
        minAvailable: 0: allowed 0 healthy 0 desired 0 expected 0 InsufficientPods
        selector: {matchLabels: {app: web}}, minAvailable: 2: allowed 1 healthy 3 desired 2 expected 3 SufficientPods
        selector: {matchLabels: {app: web}}, minAvailable: 3: allowed 0 healthy 3 desired 3 expected 3 InsufficientPods
        selector: {matchExpressions: [{key: app, operator: NotIn, values: [web]}]}, minAvailable: 0: allowed 1 healthy 1 desired 0 expected 1 SufficientPods
        all, one pod is being deleted: allowed 0 healthy 3 desired 3 expected 4 InsufficientPods
        none, one pod is being deleted: allowed 0 healthy 0 desired 0 expected 0 InsufficientPods
        web, one pod is being deleted: allowed 0 healthy 2 desired 2 expected 3 InsufficientPods
        strict, one pod is being deleted: allowed 0 healthy 2 desired 3 expected 3 InsufficientPods
        not-web, one pod is being deleted: allowed 1 healthy 1 desired 0 expected 1 SufficientPods
    "#]]
    .assert_eq(&text);
}

#[test]
fn budgets_follow_labels_and_selectors() {
    /// Whether a selector selects the labels `app` and `tier`.
    type Selects = fn(&str, &str) -> bool;
    let selectors: [(&str, Selects); 5] = [
        ("{matchLabels: {app: a}}", |app, _| app == "a"),
        ("{matchLabels: {app: b, tier: x}}", |app, tier| app == "b" && tier == "x"),
        ("{matchLabels: {tier: x}, matchExpressions: [{key: app, operator: In, values: [a]}]}", |app, tier| {
            app == "a" && tier == "x"
        }),
        ("{matchExpressions: [{key: tier, operator: NotIn, values: [x]}]}", |_, tier| tier != "x"),
        ("{}", |_, _| true),
    ];
    let mut world = World::new();
    let mut random = Random::new(3);
    let mut pods: BTreeMap<usize, (&str, &str)> = BTreeMap::new();
    let mut budgets: BTreeMap<usize, usize> = BTreeMap::new();
    for _ in 0..400 {
        match random.below(4) {
            0 | 1 => {
                let (pod, app, tier) = (random.below(6), ["a", "b"][random.below(2)], ["x", "z"][random.below(2)]);
                world.apply(&format!(
                    "{{kind: Pod, metadata: {{name: p{pod}, labels: {{app: {app}, tier: {tier}}}}}, spec: {{nodeName: n1}}}}"
                ));
                pods.insert(pod, (app, tier));
            }
            2 => {
                let (budget, selector) = (random.below(4), random.below(selectors.len()));
                let text = selectors[selector].0;
                world.apply(&format!(
                    "{{kind: PodDisruptionBudget, metadata: {{name: b{budget}}}, spec: {{selector: {text}, minAvailable: 1}}}}"
                ));
                budgets.insert(budget, selector);
            }
            _ => {
                if let Some((budget, _)) = budgets.pop_first() {
                    let key = Key::new("PodDisruptionBudget", "default", format!("b{budget}"));
                    world.server.handle(&Request::Delete(key, None), 0).unwrap();
                }
            }
        }
        for (budget, selector) in &budgets {
            let healthy = pods.values().filter(|(app, tier)| selectors[*selector].1(app, tier)).count();
            let numbers = world.numbers_of(&format!("b{budget}"));
            assert!(numbers.contains(&format!(" healthy {healthy} ")), "{numbers}: {selector} of {pods:?}");
        }
    }
}

#[test]
fn strings_of_pods_and_budgets_that_are_gone_are_freed() {
    let mut world = World::new();
    world.budget(", minAvailable: 1");
    let mut max_len = 0;
    for number in 0..1_500 {
        let labels: Vec<_> = (0..50).map(|label| format!("key-{label}: value-{number}-{label}")).collect();
        let labels = labels.join(", ");
        world.apply(&format!("{{kind: Pod, metadata: {{name: p-{number}, labels: {{app: web, {labels}}}}}}}"));
        world.controllers.run(&mut world.server, 0);
        world.server.handle(&Request::Delete(Key::pod("default", format!("p-{number}")), None), 0).unwrap();
        world.controllers.run(&mut world.server, 0);
        max_len = max_len.max(world.controllers.disruption.interner.len());
    }
    // Pods without a node have no grace period. Strings are freed in the second pass, and a pass begins after 16,384
    // new strings.
    assert!(max_len <= 3 * 16_384, "{max_len} strings of 75,000");
}
