//! DynamicResources' part of the message of an unschedulable pod.

use expect_test::{Expect, expect};

use crate::cycle::scheduler::claims::Pipeline;
use crate::cycle::test_cluster::TestCluster;

fn check(spec: &str, expected: Expect) {
    let mut cluster = TestCluster::<Pipeline>::new();
    cluster.node("{metadata: {name: n1}}");
    cluster.node("{metadata: {name: n2}, spec: {unschedulable: true}}");
    expected.assert_eq(&cluster.decide(&format!("spec: {spec}")));
}

#[test]
fn pods_without_claims_skip() {
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
fn an_earlier_unresolvable_rejection_leaves_no_state() {
    let name = |name: &str| format!("{{key: metadata.name, operator: In, values: [{name}]}}");
    let term = format!("{{matchFields: [{}, {}]}}", name("n1"), name("n2"));
    let required = format!("requiredDuringSchedulingIgnoredDuringExecution: {{nodeSelectorTerms: [{term}]}}");
    check(
        &format!("{{affinity: {{nodeAffinity: {{{required}}}}}}}"),
        expect!["0/2 nodes are available: pod affinity terms conflict. not found"],
    );
}
