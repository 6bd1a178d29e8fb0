//! `schedc explain`: remedies for unschedulable pods, and comparisons of nodes.

use expect_test::expect;
use serde_json::json;

use crate::cli::harness::{EXAMPLE, schedc};

/// Returns the part of the output that begins with a heading.
fn part(output: &str, heading: &str) -> String {
    let lines = output.lines().skip_while(|line| !line.starts_with(heading));
    lines.map(|line| format!("{line}\n")).collect()
}

#[test]
fn an_unschedulable_pod_has_remedies() {
    let remedies_of = |pod: &str, more: &[&str]| {
        let output = schedc(&[&["explain", pod, EXAMPLE], more].concat()).ok();
        part(&output, "Remedies") + &part(&output, "No remedy")
    };
    expect![[r#"
        Remedies (one row is enough; each is verified by a decision)
          NODE     CHANGE
          gpu-1    tolerate the taint example.com/gpu=present:NoSchedule
          north-2  lower the cpu request of container simulation from 12 to 7700m
          gpu-1    remove the taint example.com/gpu=present:NoSchedule from node gpu-1
    "#]]
    .assert_eq(&remedies_of("research/simulation", &[]));
    expect![[r#"
        Remedies (one row is enough; each is verified by a decision)
          NODE          CHANGE
          south-2       remove topology.kubernetes.io/zone=north from the node selector
          north-1-copy  add a node like north-1
    "#]]
    .assert_eq(&remedies_of("research/metrics-proxy", &["--max-remedies", "2"]));
    expect![[r#"
        Remedies (one row is enough; each is verified by a decision)
          NODE     CHANGE
          north-2  remove the scheduling gate example.com/waits-for-approval
    "#]]
    .assert_eq(&remedies_of("shop/checkout-canary", &[]));
    assert_eq!(remedies_of("research/simulation", &["--max-remedies", "0"]), "");
}

#[test]
fn remedies_as_json() {
    let explanation = schedc(&["explain", "checkout-canary", EXAMPLE, "-o", "json"]).json();
    let remedy = &explanation["remedies"]["found"][0];
    assert_eq!(
        remedy["changes"],
        json!([{
            "kind": "RemoveGates",
            "gates": ["example.com/waits-for-approval"],
            "text": "remove the scheduling gate example.com/waits-for-approval",
        }])
    );
    assert!(remedy["node"].is_string() && remedy["disturbance"].is_u64(), "{remedy}");
    assert_eq!(explanation["remedies"]["cut"], false);
    let without = schedc(&["explain", "checkout-canary", EXAMPLE, "-o", "json", "--max-remedies", "0"]).json();
    assert!(without["remedies"].is_null());
}

#[test]
fn the_chosen_node_is_compared_with_another_one() {
    let against = |pod: &str, node: &str| part(&schedc(&["explain", pod, EXAMPLE, "--against", node]).ok(), "Why");
    expect![[r#"
        Why south-1 and not south-2
          deciding: TaintToleration, which favours south-1 most
          margin: 306
          PLUGIN                           WEIGHT  DIFFERENCE  DECISIVE WEIGHT  BEST WITHOUT IT
          TaintToleration                       3         300  -                south-1
          NodeResourcesFit                      1           5  -                south-1
          NodeResourcesBalancedAllocation       1           1  -                south-1
          DynamicResources                      2           0  -                south-1
          ImageLocality                         1           0  -                south-1
    "#]]
    .assert_eq(&against("shop/web-1", "south-2"));
    expect![[r#"
        Why north-1 and not gpu-1
          TaintToleration rejects gpu-1: node(s) had untolerated taint(s)
          InterPodAffinity rejects gpu-1: node(s) didn't match pod affinity rules
          leaving out a single one of these 2 filters does not make gpu-1 feasible
    "#]]
    .assert_eq(&against("shop/cache-0", "gpu-1"));
    expect![[r#"
        Why north-1 and not north-2
          deciding: NodeAffinity, which favours north-1 most
          margin: 195
          PLUGIN                           WEIGHT  DIFFERENCE  DECISIVE WEIGHT  BEST WITHOUT IT
          NodeAffinity                          2         200  -                north-2
          TaintToleration                       3           0  -                north-1
          DynamicResources                      2           0  -                north-1
          NodeResourcesBalancedAllocation       1           0  -                north-1
          ImageLocality                         1           0  -                north-1
          NodeResourcesFit                      1          -5  41               north-1
    "#]]
    .assert_eq(&against("shop/cache-0", "north-2"));
    expect![[r#"
        error: there is no node `north-3` in the input; did you mean `north-1`?
    "#]]
    .assert_eq(&schedc(&["explain", "cache-0", EXAMPLE, "--against", "north-3"]).refused());
    // An unschedulable pod has no chosen node.
    assert_eq!(against("research/simulation", "north-1"), "");
    let comparison = &schedc(&["explain", "web-1", EXAMPLE, "--against", "south-2", "-o", "json"]).json()["comparison"];
    let difference = |plugin: &serde_json::Value| plugin["difference"].as_i64().expect("a number");
    let plugins = comparison["plugins"].as_array().expect("a list");
    assert_eq!(comparison["margin"].as_i64(), Some(plugins.iter().map(difference).sum()));
}
