//! Pods that differ only in the node that their required node affinity names, such as those of a DaemonSet.

use expect_test::{Expect, expect};

use crate::framework::plugins::stage::notes;
use crate::framework::test_cluster::TestCluster;

mod scheduler {
    schedc_macros::profile!("tests/framework/profiles/named-nodes.toml", "tests/framework/profiles/unnamed-nodes.toml");
}
use scheduler::Profiles;

/// Returns a cluster with the nodes n1, n2 and n3, each with room for one pod.
fn cluster() -> TestCluster<Profiles> {
    let mut test_cluster = TestCluster::new();
    for name in ["n1", "n2", "n3"] {
        test_cluster.node_for(1, name, "");
    }
    notes();
    test_cluster
}

/// Places a pod for each of these nodes. Returns the number of times that the pods were compiled.
fn check(
    test_cluster: &mut TestCluster<Profiles>,
    profile: usize,
    labels: &str,
    nodes: &[&str],
    expected: Expect,
) -> usize {
    for node in nodes {
        let pod = test_cluster.pod_from(&format!(
            "{{metadata: {{name: for-{node}, uid: for-{node}, labels: {{{labels}}}}},
               spec: {{affinity: {{nodeAffinity: {{requiredDuringSchedulingIgnoredDuringExecution: {{nodeSelectorTerms: [
                 {{matchFields: [{{key: metadata.name, operator: In, values: [{node}]}}]}}]}}}}}}}}}}"
        ));
        assert_eq!(test_cluster.enqueue(profile, pod), None);
    }
    expected.assert_eq(&test_cluster.run().join("\n"));
    notes().iter().filter(|note| *note == "NamedNode compile").count()
}

#[test]
fn pods_that_differ_in_the_named_node_are_compiled_once() {
    let expected = expect![[r#"
        for-n1 on n1
        for-n2 on n2
        for-n3 on n3"#]];
    assert_eq!(check(&mut cluster(), 0, "", &["n1", "n2", "n3"], expected), 1);
}

#[test]
fn a_pod_that_does_not_fit_on_the_named_node_is_compiled_again_for_its_message() {
    let mut test_cluster = cluster();
    test_cluster.running("first", "", "n2");
    let expected = expect![[r#"
        for-n1 on n1
        for-n2 waits: 0/3 nodes are available: 1 node(s) were full, 2 node(s) didn't satisfy plugin(s) [NamedNode].
        for-missing waits: 0/3 nodes are available: 3 node(s) didn't satisfy plugin(s) [NamedNode].
        for-n3 on n3
        for-n2 waits: 0/3 nodes are available: 1 node(s) were full, 2 node(s) didn't satisfy plugin(s) [NamedNode].
        for-missing waits: 0/3 nodes are available: 3 node(s) didn't satisfy plugin(s) [NamedNode]."#]];
    // Once without the name, and once for each attempt that fails.
    assert_eq!(check(&mut test_cluster, 0, "", &["n1", "n2", "missing", "n3"], expected), 5);
}

#[test]
fn every_pod_is_compiled_if_a_plugin_reads_the_name() {
    let expected = expect![[r#"
        for-n1 on n1
        for-n2 waits: 0/3 nodes are available: 1 node(s) had the wrong name, 2 node(s) didn't satisfy plugin(s) [NamedNode].
        for-n3 on n3
        for-n2 waits: 0/3 nodes are available: 1 node(s) had the wrong name, 2 node(s) didn't satisfy plugin(s) [NamedNode]."#]];
    // Once without the name, and once for each attempt.
    assert_eq!(check(&mut cluster(), 0, "reads: 'yes'", &["n1", "n2", "n3"], expected), 5);
}

#[test]
fn names_that_no_plugin_enforces_have_no_effect() {
    let mut test_cluster = cluster();
    test_cluster.running("first", "", "n1");
    test_cluster.running("second", "", "n2");
    check(
        &mut test_cluster,
        1,
        "",
        &["n2", "n1"],
        expect![[r#"
        for-n2 on n3
        for-n1 waits: 0/3 nodes are available: 3 node(s) were full."#]],
    );
}
