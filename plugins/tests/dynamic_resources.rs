//! DynamicResources in a cycle: its part of the message of a pod that fits nowhere.

use std::sync::Arc;

use expect_test::{Expect, expect};
use schedc_core::cache::Cache;
use schedc_core::engine::{Decision, Engine, UNTIMED};
use schedc_core::handle::Handle;
use schedc_objects::testing;

mod scheduler {
    schedc_macros::profile!("tests/profiles/claims.toml");
}

fn check(spec: &str, expected: Expect) {
    let mut engine = Engine::<scheduler::claims::Pipeline>::new(&Handle::default()).unwrap();
    let mut cache = Cache::default();
    for node in ["{metadata: {name: n1}}", "{metadata: {name: n2}, spec: {unschedulable: true}}"] {
        let node = testing::node(node, &mut cache.base.interner);
        cache.set_node(node);
    }
    let pod = Arc::new(testing::pod(&format!("spec: {spec}"), &mut cache.base.interner));
    let answer = match engine.decide(&pod, &mut cache, UNTIMED, |_| 0) {
        Decision::Node(node) => cache.base.name(node).to_owned(),
        Decision::Unschedulable(pod) => pod.message,
        Decision::Error(error) => error,
    };
    expected.assert_eq(&answer);
}

#[test]
fn a_pod_without_claims_is_not_its_business() {
    check("{}", expect!["n1"]);
    check(
        "{nodeSelector: {zone: a}}",
        expect![
            "0/2 nodes are available: 1 node(s) didn't match Pod's node affinity/selector, 1 node(s) were unschedulable. no new claims to deallocate"
        ],
    );
}

#[test]
fn a_pod_with_claims_is_rejected() {
    check(
        "{resourceClaims: [{name: gpu}]}",
        expect!["0/2 nodes are available: resource claims are not supported yet. no new claims to deallocate"],
    );
}

#[test]
fn an_earlier_rejection_for_good_leaves_it_without_state() {
    let name = |name: &str| format!("{{key: metadata.name, operator: In, values: [{name}]}}");
    let term = format!("{{matchFields: [{}, {}]}}", name("n1"), name("n2"));
    let required = format!("requiredDuringSchedulingIgnoredDuringExecution: {{nodeSelectorTerms: [{term}]}}");
    check(
        &format!("{{affinity: {{nodeAffinity: {{{required}}}}}}}"),
        expect!["0/2 nodes are available: pod affinity terms conflict. not found"],
    );
}
