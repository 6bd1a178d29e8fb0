//! Preemption: the victims and the nominated node of unschedulable pods.

use std::collections::BTreeSet;

use expect_test::{Expect, expect};
use schedc_core::engine::{Decision, Unschedulable};
use schedc_core::extension_points::Nomination;
use schedc_core::model::Pod;
use schedc_core::profile::Profile;

use crate::cycle::scheduler::one_candidate;
use crate::cycle::scheduler::preemption::Pipeline;
use crate::cycle::test_cluster::TestCluster;

/// Creates a cluster with nodes of 4 CPUs, and pods in the order of their creation.
fn cluster<P: Profile>(nodes: &[&str], pods: &[String]) -> TestCluster<P> {
    let mut cluster = TestCluster::new();
    for node in nodes {
        cluster.node(&format!("{{metadata: {{name: {node}}}, status: {{allocatable: {{cpu: 4, pods: 20}}}}}}"));
    }
    pods.iter().for_each(|pod| _ = cluster.add_running(pod));
    cluster
}

/// Returns the manifest of a pod on a node, with a priority, a number of CPUs and the minute of its start.
fn running(name: &str, node: &str, priority: i32, cpu: &str, minute: u32) -> String {
    let status = format!("{{startTime: '2026-01-01T00:{minute:02}:00Z'}}");
    pod(&format!("name: {name}, labels: {{app: {name}}}"), priority, cpu, &format!("nodeName: {node}"), &status)
}

/// Returns the manifest of a pending pod.
fn pending(priority: i32, cpu: &str) -> String {
    pod("name: new", priority, cpu, "", "{}")
}

fn pod(metadata: &str, priority: i32, cpu: &str, spec: &str, status: &str) -> String {
    let containers = format!("[{{name: c, resources: {{requests: {{cpu: '{cpu}'}}}}}}]");
    let spec = if spec.is_empty() { String::new() } else { format!(", {spec}") };
    format!(
        "{{metadata: {{{metadata}}}, spec: {{priority: {priority}, containers: {containers}{spec}}}, status: {status}}}"
    )
}

/// Returns the manifest of a budget for the pods of one app.
fn budget(app: &str, fields: &str) -> String {
    let spec = format!("spec: {{selector: {{matchLabels: {{app: {app}}}}}}}");
    format!("{{kind: PodDisruptionBudget, metadata: {{name: {app}}}, {spec}, {fields}}}")
}

fn rejected(decision: Decision) -> Unschedulable {
    match decision {
        Decision::Unschedulable(unschedulable) => *unschedulable,
        other => panic!("{other:?}"),
    }
}

/// Returns the result of preemption for a pod: the candidates with their victims, and a star for the best candidates.
/// Without candidates, returns the message.
fn preemption_result<P: Profile>(cluster: &mut TestCluster<P>, pod: &str) -> String {
    let pod = rejected(cluster.decision(pod, 0));
    if pod.candidates().is_empty() {
        return pod.message;
    }
    let base = &cluster.cache.base;
    let results = pod.candidates().iter().map(|candidate| {
        let star = if candidate.best { "*" } else { "" };
        let violations = match candidate.violations {
            0 => String::new(),
            n => format!(" ({n} against a budget)"),
        };
        format!("{}{star}: {}{violations}", base.name(candidate.node), names(candidate.victims.iter()))
    });
    let mut results: Vec<String> = results.collect();
    results.sort_unstable();
    results.join("; ")
}

fn names<'p>(pods: impl IntoIterator<Item = &'p std::sync::Arc<Pod>>) -> String {
    pods.into_iter().map(|pod| &*pod.name).collect::<Vec<_>>().join(" ")
}

fn check(nodes: &[&str], pods: &[String], pod: &str, expected: Expect) {
    expected.assert_eq(&preemption_result(&mut cluster::<Pipeline>(nodes, pods), pod));
}

#[test]
fn only_the_necessary_least_important_pods_are_evicted() {
    let pods = [
        running("a", "n1", 1, "1", 1),
        running("b", "n1", 1, "1", 2),
        running("c", "n1", 2, "1", 9),
        running("d", "n1", 7, "1", 0),
    ];
    check(&["n1"], &pods, &pending(5, "1"), expect!["n1*: b"]);
    check(&["n1"], &pods, &pending(5, "2"), expect!["n1*: a b"]);
    check(&["n1"], &pods, &pending(5, "3"), expect!["n1*: c a b"]);
    check(
        &["n1"],
        &pods,
        &pending(5, "4"),
        expect![
            "0/1 nodes are available: 1 Insufficient cpu. preemption: 0/1 nodes are available: 1 Insufficient cpu."
        ],
    );
}

#[test]
fn one_less_important_pod_is_evicted_instead_of_more_important_ones() {
    let pods =
        [running("large", "n1", 1, "3", 1), running("small", "n1", 2, "500m", 1), running("other", "n1", 2, "500m", 2)];
    check(&["n1"], &pods, &pending(5, "3"), expect!["n1*: large"]);
}

#[test]
fn equally_important_pods_are_evicted_in_reverse_order() {
    let pods = ["a", "b", "c", "d"].map(|name| running(name, "n1", 1, "1", 1));
    check(&["n1"], &pods, &pending(5, "2"), expect!["n1*: c d"]);
    let mut cluster = cluster::<Pipeline>(&["n1"], &pods);
    let uid = cluster.pod(&pods[0]).uid.clone();
    cluster.cache.remove_pod(&uid);
    cluster.add_running(&running("e", "n1", 1, "1", 1));
    expect!["n1*: c e"].assert_eq(&preemption_result(&mut cluster, &pending(5, "2")));
}

#[test]
fn a_pod_that_has_not_started_yet_is_the_youngest() {
    let fresh = pod("name: fresh", 1, "2", "nodeName: n1", "{}");
    check(&["n1"], &[fresh.clone(), running("old", "n1", 1, "2", 1)], &pending(5, "2"), expect!["n1*: fresh"]);
    // The current time is 0. A pod can have a later start time if the clock of its node is ahead. Then this pod is the
    // youngest, and not the one that has not started yet.
    let mut cluster = cluster::<Pipeline>(&["n1"], &[fresh, running("early", "n1", 1, "2", 1)]);
    let unschedulable = rejected(cluster.decision_at(&pending(5, "2"), 0, |_| 0));
    assert_eq!(names(unschedulable.candidates()[0].victims.iter()), "early");
}

#[test]
fn nodes_have_a_reason_why_preemption_fails() {
    let strong = |node: &str| running(node, node, 9, "4", 1);
    let mut cluster =
        cluster::<Pipeline>(&["n1", "n2", "n3", "n4"], &[strong("n1"), strong("n2"), running("weak", "n2", 1, "0", 1)]);
    cluster.node("{metadata: {name: n3}, spec: {unschedulable: true}, status: {allocatable: {cpu: 4, pods: 9}}}");
    cluster.node("{metadata: {name: n4}, status: {allocatable: {cpu: 1, pods: 9}}}");
    expect!["0/4 nodes are available: 1 node(s) were unschedulable, 3 Insufficient cpu. preemption: 0/4 nodes are available: 1 Insufficient cpu, 1 No preemption victims found for incoming pod, 2 Preemption is not helpful for scheduling."].assert_eq(&preemption_result(&mut cluster, &pending(5, "2")));
}

#[test]
fn the_nomination_is_set_cleared_or_kept() {
    let weak = [running("weak", "n1", 1, "4", 1)];
    let none = [running("strong", "n1", 9, "4", 1)];
    let never = "preemptionPolicy: Never";
    for (pods, spec, nomination) in
        [(&weak, "", "set"), (&none, "", "clear"), (&weak, never, "keep"), (&none, never, "keep")]
    {
        let mut cluster = cluster::<Pipeline>(&["n1"], pods);
        let pod = pod("name: new", 5, "4", spec, "{nominatedNodeName: n1}");
        let unschedulable = rejected(cluster.decision(&pod, 0));
        let actual = match unschedulable.nomination() {
            Nomination::Set(_) => "set",
            Nomination::Clear => "clear",
            Nomination::Keep => "keep",
        };
        assert_eq!(actual, nomination, "{spec}: {}", unschedulable.message);
    }
}

#[test]
fn pods_that_wait_for_a_victim_or_never_preempt_are_ineligible() {
    let dying = |name: &str, node: &str, priority: i32, reason: &str| {
        let metadata = format!("name: {name}, deletionTimestamp: 2026-01-01T00:00:09Z");
        let condition = format!("{{type: DisruptionTarget, status: 'True', reason: {reason}}}");
        let status = format!("{{startTime: 2026-01-01T00:00:00Z, conditions: [{condition}]}}");
        pod(&metadata, priority, "4", &format!("nodeName: {node}"), &status)
    };
    let preempted = "PreemptionByScheduler";
    let check = |victim: String, cordoned: bool, expected: Expect| {
        let mut cluster = cluster::<Pipeline>(
            &["n1", "n2"],
            &[victim, running("w1", "n1", 1, "4", 1), running("w2", "n2", 1, "4", 1)],
        );
        if cordoned {
            cluster
                .node("{metadata: {name: n1}, spec: {unschedulable: true}, status: {allocatable: {cpu: 4, pods: 20}}}");
        }
        expected.assert_eq(&preemption_result(&mut cluster, &pod("name: new", 5, "4", "", "{nominatedNodeName: n1}")));
    };
    check(
        dying("v", "n1", 1, preempted),
        false,
        expect![
            "0/2 nodes are available: 2 Insufficient cpu. preemption: not eligible due to a terminating pod on the nominated node."
        ],
    );
    check(dying("v", "n1", 1, "EvictionByEvictionAPI"), false, expect!["n1: v w1; n2*: w2"]);
    check(dying("v", "n1", 9, preempted), false, expect!["n2*: w2"]);
    check(dying("v", "n2", 1, preempted), false, expect!["n1*: w1; n2: v w2"]);
    check(dying("v", "n1", 1, preempted), true, expect!["n2*: w2"]);
    let mut cluster = cluster::<Pipeline>(&["n1"], &[running("weak", "n1", 1, "4", 1)]);
    expect!["0/1 nodes are available: 1 Insufficient cpu. preemption: not eligible due to preemptionPolicy=Never."]
        .assert_eq(&preemption_result(&mut cluster, &pod("name: new", 5, "4", "preemptionPolicy: Never", "{}")));
}

#[test]
fn terminating_victims_are_not_deleted_again() {
    let metadata = "name: dying, deletionTimestamp: 2026-01-01T00:00:09Z";
    let dying = pod(metadata, 1, "2", "nodeName: n1", "{}");
    let mut cluster = cluster::<Pipeline>(&["n1"], &[dying, running("other", "n1", 1, "2", 1)]);
    for (cpu, victims, removed) in [("2", "dying", ""), ("4", "other dying", "default/other")] {
        let unschedulable = rejected(cluster.decision(&pending(5, cpu), 0));
        assert_eq!(names(unschedulable.candidates()[0].victims.iter()), victims);
        let uids: Vec<&str> = unschedulable.victims().iter().map(|uid| &*uid.0).collect();
        assert_eq!(uids.join(" "), removed);
    }
}

#[test]
fn budgets_protect_as_many_pods_as_they_can() {
    let pods = ["a", "b", "c", "d"].map(|name| running(name, "n1", 1, "1", 1));
    let check = |budgets: &[String], cpu: &str, expected: Expect| {
        let mut cluster = cluster::<Pipeline>(&["n1"], &pods);
        budgets.iter().for_each(|budget| cluster.object(budget));
        expected.assert_eq(&preemption_result(&mut cluster, &pending(5, cpu)));
    };
    check(&[], "2", expect!["n1*: c d"]);
    check(&[budget("d", "status: {}")], "2", expect!["n1*: b c"]);
    check(&[budget("d", "status: {}")], "4", expect!["n1*: d a b c (1 against a budget)"]);
    check(&[budget("d", "status: {disruptionsAllowed: 1}")], "2", expect!["n1*: c d"]);
    check(&[budget("d", "status: {disruptedPods: {d: 2026-01-01T00:00:00Z}}")], "2", expect!["n1*: c d"]);
    let everything = |namespace: &str, spec: &str| {
        format!("{{kind: PodDisruptionBudget, metadata: {{name: x, namespace: {namespace}}}, spec: {{{spec}}}}}")
    };
    let exists = "selector: {matchExpressions: [{key: app, operator: Exists}]}";
    check(&[everything("default", "")], "2", expect!["n1*: c d"]);
    check(&[everything("default", "selector: {}")], "2", expect!["n1*: c d"]);
    check(&[everything("elsewhere", exists)], "2", expect!["n1*: c d"]);
    check(&[everything("default", exists)], "2", expect!["n1*: c d (2 against a budget)"]);
}

#[test]
fn a_budget_is_used_up_in_the_order_of_importance() {
    let pods = ["a", "b", "c", "d"].map(|name| {
        let metadata = format!("name: {name}, labels: {{app: web}}");
        let started = format!("{{startTime: '2026-01-01T00:0{}:00Z'}}", name.as_bytes()[0] - b'a');
        pod(&metadata, 1, "1", "nodeName: n1", &started)
    });
    for (allowed, expected) in [
        (0, expect!["n1*: b c d (3 against a budget)"]),
        (1, expect!["n1*: a c d (2 against a budget)"]),
        (3, expect!["n1*: a b c"]),
    ] {
        let mut cluster = cluster::<Pipeline>(&["n1"], &pods);
        cluster.object(&budget("web", &format!("status: {{disruptionsAllowed: {allowed}}}")));
        expected.assert_eq(&preemption_result(&mut cluster, &pending(5, "3")));
    }
}

#[test]
fn candidates_are_compared_by_their_victims() {
    let on = |name: &str, node: &str, priority: i32, cpu: &str, minute: u32| running(name, node, priority, cpu, minute);
    // Fewest violations of budgets.
    let mut cluster = cluster::<Pipeline>(&["n1", "n2"], &[on("a", "n1", 1, "4", 1), on("b", "n2", 4, "4", 1)]);
    cluster.object(&budget("a", "status: {}"));
    expect!["n1: a (1 against a budget); n2*: b"].assert_eq(&preemption_result(&mut cluster, &pending(5, "4")));
    // Lowest priority of the most important victim.
    let pods = [on("a", "n1", 3, "4", 1), on("b", "n2", 2, "2", 1), on("c", "n2", 2, "2", 1)];
    check(&["n1", "n2"], &pods, &pending(5, "4"), expect!["n1: a; n2*: b c"]);
    // Smallest sum of priorities: two victims of priority -3 are worse than one.
    let pods = [on("a", "n1", -3, "2", 1), on("b", "n1", -3, "2", 1), on("c", "n2", -3, "4", 1)];
    check(&["n1", "n2"], &pods, &pending(5, "4"), expect!["n1: a b; n2*: c"]);
    // Latest start time. For each node, this is the earliest start time of its most important victims.
    let pods = [
        on("a", "n1", 3, "2", 1),
        on("b", "n1", 3, "2", 9),
        on("c", "n2", 3, "2", 2),
        on("d", "n2", 3, "2", 3),
        on("e", "n3", 3, "2", 1),
        on("f", "n3", 3, "2", 9),
    ];
    check(&["n1", "n2", "n3"], &pods, &pending(5, "4"), expect!["n1: a b; n2*: c d; n3: e f"]);
}

#[test]
fn equal_candidates_are_chosen_at_random() {
    let nodes = ["n1", "n2", "n3"];
    let mut cluster = cluster::<Pipeline>(&nodes, &nodes.map(|node| running(node, node, 1, "4", 1)));
    expect!["n1*: n1; n2*: n2; n3*: n3"].assert_eq(&preemption_result(&mut cluster, &pending(5, "4")));
    let mut draw = |seed| rejected(cluster.decision(&pending(5, "4"), seed)).victims()[0].0.to_string();
    let drawn: BTreeSet<String> = (0..20).map(&mut draw).collect();
    assert_eq!(Vec::from_iter(drawn), ["default/n1", "default/n2", "default/n3"]);
    assert_eq!(draw(7), draw(7));
}

#[test]
fn evaluation_ends_with_enough_candidates() {
    let nodes = ["n1", "n2", "n3"];
    let mut cluster = cluster::<one_candidate::Pipeline>(&nodes, &nodes.map(|node| running(node, node, 1, "4", 1)));
    let tried = |cluster: &mut TestCluster<one_candidate::Pipeline>| -> BTreeSet<String> {
        let candidates = |seed| {
            let unschedulable = rejected(cluster.decision(&pending(5, "4"), seed));
            let mut victims: Vec<String> = unschedulable.candidates().iter().map(|c| names(c.victims.iter())).collect();
            victims.sort_unstable();
            victims.join(" ")
        };
        (0..20).map(candidates).collect()
    };
    assert_eq!(Vec::from_iter(tried(&mut cluster)), ["n1", "n2", "n3"], "from a random node up to the first candidate");
    cluster.object(&budget("n1", "status: {}"));
    cluster.object(&budget("n2", "status: {}"));
    assert_eq!(
        Vec::from_iter(tried(&mut cluster)),
        ["n1 n3", "n2 n3", "n3"],
        "up to the first candidate without a violation"
    );
}

#[test]
fn the_pod_must_fit_with_and_without_nominated_pods() {
    let mut cluster = cluster::<Pipeline>(&["n1"], &["a", "b"].map(|name| running(name, "n1", 1, "2", 1)));
    let nominated = cluster.pod(&pod("name: nominated", 5, "1", "", "{nominatedNodeName: n1}"));
    let node = cluster.cache.base.interner.intern("n1");
    cluster.cache.nominate(nominated, node);
    for (priority, cpu, expected) in [
        (5, "1", expect!["n1*: b"]),
        (5, "2", expect!["n1*: a b"]),
        (
            5,
            "4",
            expect![
                "0/1 nodes are available: 1 Insufficient cpu. preemption: 0/1 nodes are available: 1 Insufficient cpu."
            ],
        ),
        (6, "2", expect!["n1*: b"]),
        (6, "4", expect!["n1*: a b"]),
    ] {
        expected.assert_eq(&preemption_result(&mut cluster, &pending(priority, cpu)));
    }
}

#[test]
fn affinity_is_evaluated_without_the_victims() {
    let mut cluster = TestCluster::<Pipeline>::new();
    for (node, zone) in [("n1", "a"), ("n2", "a"), ("n3", "b")] {
        let resources = "status: {allocatable: {cpu: 2, pods: 9}}";
        cluster.node(&format!("{{metadata: {{name: {node}, labels: {{zone: {zone}}}}}, {resources}}}"));
        cluster.add_running(&running("strong", node, 9, "1", 1).replace("name: strong", &format!("name: s-{node}")));
    }
    for (name, node) in [("v1", "n1"), ("v2", "n3")] {
        cluster.add_running(&running("v", node, 1, "1", 1).replace("name: v", &format!("name: {name}")));
    }
    let check = |cluster: &mut TestCluster<Pipeline>, kind: &str, expected: Expect| {
        let term = "{topologyKey: zone, labelSelector: {matchLabels: {app: v}}}";
        let rule = format!("affinity: {{{kind}: {{requiredDuringSchedulingIgnoredDuringExecution: [{term}]}}}}");
        expected.assert_eq(&preemption_result(cluster, &pod("name: new", 5, "1", &rule, "{}")));
    };
    // For n2, the pod on n1 in the same zone conflicts, but only pods on n2 itself could be evicted.
    check(&mut cluster, "podAntiAffinity", expect!["n1*: v1; n3*: v2"]);
    // On n1 and n3, preemption would evict the very pod that the affinity requires. For n2, this pod is on n1 in the
    // same zone, but n2 has no capacity and no victims.
    cluster.add_running(&running("full", "n2", 9, "1", 1));
    check(
        &mut cluster,
        "podAffinity",
        expect![
            "0/3 nodes are available: 3 Insufficient cpu. preemption: 0/3 nodes are available: 1 No preemption victims found for incoming pod, 2 node(s) didn't match pod affinity rules."
        ],
    );
}

#[test]
fn victims_free_host_ports() {
    let with_port = |name: &str, priority: i32, node: &str| {
        let ports = "[{name: c, ports: [{hostPort: 80}]}]";
        format!("{{metadata: {{name: {name}}}, spec: {{priority: {priority}, containers: {ports}{node}}}}}")
    };
    let weak = with_port("weak", 1, ", nodeName: n1");
    let strong = with_port("strong", 9, ", nodeName: n2");
    check(
        &["n1", "n2"],
        &[weak, running("bystander", "n1", 1, "1", 1), strong],
        &with_port("new", 5, ""),
        expect!["n1*: weak"],
    );
}

#[test]
fn pre_filter_may_reject_the_pod_as_a_whole() {
    let with_claim = |name: &str, priority: i32, spec: &str| {
        let volumes = "volumes: [{name: v, persistentVolumeClaim: {claimName: mine}}]";
        pod(&format!("name: {name}"), priority, "1", &format!("{volumes}{spec}"), "{}")
    };
    let claim = "{kind: PersistentVolumeClaim, metadata: {name: mine}, spec: {accessModes: [ReadWriteOncePod]}}";
    for (holder, expected) in [
        (1, expect!["n1*: holder"]),
        (
            9,
            expect![
                "0/2 nodes are available: 2 node(s) unavailable due to PersistentVolumeClaim with ReadWriteOncePod access mode already in-use by another pod. preemption: 0/2 nodes are available: 1 No preemption victims found for incoming pod, 1 node(s) unavailable due to PersistentVolumeClaim with ReadWriteOncePod access mode already in-use by another pod."
            ],
        ),
    ] {
        let mut cluster = cluster::<Pipeline>(&["n1", "n2"], &[running("bystander", "n2", 1, "1", 1)]);
        cluster.object(claim);
        cluster.add_running(&with_claim("holder", holder, ", nodeName: n1"));
        expected.assert_eq(&preemption_result(&mut cluster, &with_claim("new", 5, "")));
    }
    // Evicting pods does not create a missing claim.
    let mut cluster = cluster::<Pipeline>(&["n1"], &[running("weak", "n1", 1, "4", 1)]);
    expect![[r#"0/1 nodes are available: persistentvolumeclaim "mine" not found. preemption: 0/1 nodes are available: 1 Preemption is not helpful for scheduling."#]].assert_eq(&preemption_result(&mut cluster, &with_claim("new", 5, "")));
}
