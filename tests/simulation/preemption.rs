//! Preemption.

use expect_test::expect;
use schedc::explanation::Preemption;

use crate::simulation::{explanation, nodes, outcome, report};

fn pod(name: &str, cpu: u32, more: &str) -> String {
    format!(
        "---
apiVersion: v1
kind: Pod
metadata: {{name: {name}, labels: {{app: {name}}}}}
spec: {{containers: [{{name: c, resources: {{requests: {{cpu: {cpu}}}}}}}], {more}}}
"
    )
}

#[test]
fn victims_leave_and_the_pod_takes_their_place() {
    let manifests = nodes(&[("n1", "a"), ("n2", "b")])
        + &pod("running", 3, "nodeName: n1")
        + &pod("critical", 3, "nodeName: n2, priority: 1000")
        + &pod("urgent", 4, "priority: 100")
        + &pod("modest", 1, "priority: 200");
    expect![[r#"
        default/modest on n2
        default/urgent on n1
        default/running left n1 to default/urgent
    "#]]
    .assert_eq(&outcome(&manifests));
    let summary = report(&manifests).summary;
    assert_eq!((summary.skipped_by.bound, summary.preempted, summary.skipped), (1, 1, 1));
}

#[test]
fn pods_of_equal_priority_stay() {
    let manifests = nodes(&[("n1", "a")]) + &pod("first", 3, "") + &pod("second", 3, "");
    expect![[r#"
        default/first on n1
        default/second: 0/1 nodes are available: 1 Insufficient cpu. no new claims to deallocate, preemption: 0/1 nodes are available: 1 No preemption victims found for incoming pod.
    "#]].assert_eq(&outcome(&manifests));
}

#[test]
fn a_budget_is_spared_if_another_node_will_do() {
    let budget = "---
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata: {name: protected}
spec: {minAvailable: 1, selector: {matchLabels: {app: protected}}}
status: {disruptionsAllowed: 0, currentHealthy: 1, desiredHealthy: 1, expectedPods: 1}
";
    let manifests = nodes(&[("n1", "a"), ("n2", "b")])
        + budget
        + &pod("protected", 3, "nodeName: n1")
        + &pod("other", 3, "nodeName: n2, priority: 5")
        + &pod("urgent", 4, "priority: 100");
    expect![[r#"
        default/urgent on n2
        default/other left n2 to default/urgent
    "#]]
    .assert_eq(&outcome(&manifests));
    expect![[r#"
        default/urgent on n1
        default/protected left n1 to default/urgent
    "#]]
    .assert_eq(&outcome(&manifests.replace("disruptionsAllowed: 0", "disruptionsAllowed: 1")));
}

#[test]
fn a_pod_that_never_preempts_has_no_victims() {
    let manifests = nodes(&[("n1", "a")])
        + &pod("running", 3, "nodeName: n1")
        + &pod("patient", 4, "priority: 100, preemptionPolicy: Never");
    expect![[r#"
        default/patient: 0/1 nodes are available: 1 Insufficient cpu. no new claims to deallocate, preemption: not eligible due to preemptionPolicy=Never.
    "#]].assert_eq(&outcome(&manifests));
}

#[test]
fn a_pod_keeps_its_nominated_node() {
    let patient = pod("patient", 4, "priority: 100, preemptionPolicy: Never") + "status: {nominatedNodeName: n1}\n";
    let manifests = nodes(&[("n1", "a")]) + &pod("running", 3, "nodeName: n1") + &patient;
    assert_eq!(report(&manifests).unschedulable[0].nominated_node.as_deref(), Some("n1"));
    let without = manifests.replace("status: {nominatedNodeName: n1}\n", "");
    assert_eq!(report(&without).unschedulable[0].nominated_node, None);
}

#[test]
fn a_terminating_pod_is_not_a_victim() {
    let going = pod("going", 3, "nodeName: n1")
        .replace("metadata: {", "metadata: {deletionTimestamp: '2026-01-01T00:00:00Z', ");
    let manifests = nodes(&[("n1", "a")]) + &going + &pod("urgent", 4, "priority: 100");
    expect![[r#"
        default/urgent on n1
    "#]]
    .assert_eq(&outcome(&manifests));
}

#[test]
fn an_explanation_includes_preemption() {
    let manifests = nodes(&[("n1", "a")])
        + &pod("small", 1, "nodeName: n1, priority: 5")
        + &pod("large", 3, "nodeName: n1")
        + &pod("urgent", 4, "priority: 100");
    let explanation = explanation(&manifests);
    assert_eq!(
        (explanation.node, explanation.message.unwrap().as_str()),
        (None, "0/1 nodes are available: 1 Insufficient cpu.")
    );
    let victims = vec!["default/small".to_owned(), "default/large".to_owned()];
    let expected =
        Preemption { node: "n1".to_owned(), victims, violated_budgets: Vec::new(), kept_by_budgets: Vec::new() };
    assert_eq!(explanation.preemption, Some(expected));
}
