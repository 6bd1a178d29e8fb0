//! Disruption budgets without a status, and their effects on preemption.

use expect_test::{Expect, expect};
use serde_json::json;

use crate::cli::harness::Folder;

const CLUSTER: &str = "
apiVersion: v1
kind: Node
metadata: {name: n1}
status: {allocatable: {cpu: 4, pods: 10}}
---
apiVersion: scheduling.k8s.io/v1
kind: PriorityClass
metadata: {name: low}
value: 1
---
apiVersion: scheduling.k8s.io/v1
kind: PriorityClass
metadata: {name: middle}
value: 100
---
apiVersion: scheduling.k8s.io/v1
kind: PriorityClass
metadata: {name: high}
value: 1000
";

fn pod(name: &str, app: &str, class: &str, cpu: u32, node: &str) -> String {
    let node = if node.is_empty() { String::new() } else { format!("nodeName: {node}, ") };
    format!(
        "---\n{{apiVersion: v1, kind: Pod, metadata: {{name: {name}, labels: {{app: {app}}}}}, spec: {{{node}priorityClassName: {class}, containers: [{{name: c, image: c, resources: {{requests: {{cpu: {cpu}}}}}}}]}}}}\n"
    )
}

fn budget(app: &str, spec: &str) -> String {
    format!(
        "---\n{{apiVersion: policy/v1, kind: PodDisruptionBudget, metadata: {{name: {app}}}, spec: {{selector: {{matchLabels: {{app: {app}}}}}, {spec}}}}}\n"
    )
}

/// Creates a full node, which runs a web pod of low priority and a database of higher priority, and an urgent pending
/// pod.
fn folder(budgets: &str) -> Folder {
    let pods =
        pod("web", "web", "low", 2, "n1") + &pod("db", "db", "middle", 2, "n1") + &pod("urgent", "x", "high", 2, "");
    Folder::with(&[("cluster.yaml", &format!("{CLUSTER}{pods}{budgets}"))])
}

fn check(budgets: &str, simulated: Expect, explained: Expect) {
    let folder = folder(budgets);
    let report = folder.schedc(&["simulate", "cluster.yaml", "-o", "json"]).json();
    let mut found = json!({"preempted": report["preempted"], "kept": report["keptByBudgets"]});
    for pod in found["preempted"].as_array_mut().expect("a list") {
        pod.as_object_mut().expect("fields").remove("at");
    }
    simulated.assert_eq(&found.to_string());
    let text = folder.schedc(&["explain", "urgent", "cluster.yaml"]).ok();
    let from = text.find("  preemption on ").unwrap_or(text.len());
    let to = text.find("  filters without effect").unwrap_or(text.len());
    let lines: Vec<&str> = text[from..to.max(from)].lines().map(str::trim).collect();
    explained.assert_eq(&lines.join("\n"));
}

#[test]
fn a_budget_that_allows_all_protects_nothing() {
    check(
        &budget("web", "minAvailable: 0"),
        expect![[r#"{"kept":null,"preempted":[{"by":"default/urgent","node":"n1","pod":"default/web"}]}"#]],
        expect![[r#"
            preemption on n1 would remove 1 pod:
            default/web"#]],
    );
}

#[test]
fn a_budget_protects_a_pod_over_a_more_important_one() {
    check(
        &budget("web", "minAvailable: 1"),
        expect![[
            r#"{"kept":[{"budget":"default/web","from":"default/urgent","node":"n1","pod":"default/web"}],"preempted":[{"by":"default/urgent","node":"n1","pod":"default/db"}]}"#
        ]],
        expect![[r#"
            preemption on n1 would remove 1 pod:
            default/db
            the disruption budget default/web protects default/web on n1"#]],
    );
}

#[test]
fn a_preemption_names_violated_budgets() {
    check(
        &(budget("web", "minAvailable: 1") + &budget("db", "maxUnavailable: 0")),
        expect![[
            r#"{"kept":null,"preempted":[{"by":"default/urgent","node":"n1","pod":"default/web","violates":["default/web"]}]}"#
        ]],
        expect![[r#"
            preemption on n1 would remove 1 pod:
            default/web
            this violates the disruption budget default/web: 1 pod removed, 0 allowed"#]],
    );
}

/// Returns the tables about preemption.
fn preempted(folder: &Folder) -> String {
    let text = folder.schedc(&["simulate", "cluster.yaml"]).ok();
    let from = text.find("Preempted").expect("a preemption");
    let to = text.find("Utilisation").expect("the table");
    text[from..to].to_owned()
}

#[test]
fn a_budget_is_current_when_the_second_pod_preempts() {
    let web = |i: u32| pod(&format!("web-{i}"), "web", "low", 2, "n1");
    let urgent = |i: u32| pod(&format!("urgent-{i}"), "x", "high", 2, "");
    let text = format!("{CLUSTER}{}{}{}{}{}", web(1), web(2), urgent(1), urgent(2), budget("web", "minAvailable: 1"));
    let folder = Folder::with(&[("cluster.yaml", &text)]);
    expect![[r#"
        Preempted
          POD            NODE  BY                VIOLATED BUDGETS
          default/web-2  n1    default/urgent-1
          default/web-1  n1    default/urgent-2  default/web

    "#]]
    .assert_eq(&preempted(&folder));
}

#[test]
fn a_budget_protects_pods_of_another_node() {
    let second = "---\n{apiVersion: v1, kind: Node, metadata: {name: n2}, status: {allocatable: {cpu: 4, pods: 10}}}\n";
    let pods =
        pod("web", "web", "low", 4, "n1") + &pod("db", "db", "middle", 4, "n2") + &pod("urgent", "x", "high", 4, "");
    let text = format!("{CLUSTER}{second}{pods}{}", budget("web", "minAvailable: 1"));
    let folder = Folder::with(&[("cluster.yaml", &text)]);
    expect![[r#"
        Preempted
          POD         NODE  BY
          default/db  n2    default/urgent

        Protected from preemption by disruption budgets
          POD          NODE  BUDGET       FROM
          default/web  n1    default/web  default/urgent

    "#]]
    .assert_eq(&preempted(&folder));
}

#[test]
fn uncounted_pods_are_reported() {
    let owned = "---\n{apiVersion: v1, kind: Pod, metadata: {name: owned, labels: {app: lost}, ownerReferences: [{apiVersion: apps/v1, kind: ReplicaSet, name: r, uid: u, controller: true}]}, spec: {nodeName: n1, containers: [{name: c, image: c}]}}\n";
    let folder = folder(&(budget("web", "maxUnavailable: 1") + owned + &budget("lost", "minAvailable: 50%")));
    let noted = folder.schedc(&["simulate", "cluster.yaml"]).stderr;
    expect![[r#"
        note: PodDisruptionBudget default/lost allows no disruption: found no controllers for pod "owned"
        note: PodDisruptionBudget default/web allows no disruption: pods without a controller do not count as expected; set `minAvailable` to a number to count them
    "#]]
    .assert_eq(&noted);
    assert_eq!(folder.schedc(&["explain", "urgent", "cluster.yaml"]).stderr, noted);
}
