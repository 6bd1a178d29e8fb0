//! Planted bugs of cached answers, with their reports.

use expect_test::expect;
use schedc_testing::{Contract, check};

use super::scheduler::Profiles;
use super::{MANIFESTS, check_detected};

#[test]
fn an_update_without_effect_is_detected() {
    check_detected(
        "Stale",
        Contract::CachedAnswers,
        expect![[r#"
            Stale violates the contract CachedAnswers in profile stale

            b/waits-3:
              differs in Stale
              Filter on n1
                full evaluation: passes
                cached answer:   rejects, like the earlier evaluation: Stale rejects: node(s) had a pod of the namespace

            Steps:
              1. apply Node n1 (manifest 1)
              2. apply Pod b/runs-2 (manifest 2)
              3. apply Pod b/waits-3 (manifest 3)
              4. delete Pod b/runs-2
            Manifests:
            --- # manifest 1
            apiVersion: v1
            kind: Node
            metadata:
              name: n1
            status:
              allocatable:
                pods: "9"
            --- # manifest 2
            apiVersion: v1
            kind: Pod
            metadata:
              name: runs-2
              namespace: b
            spec:
              containers:
              - image: i
                name: c
              nodeName: n1
            --- # manifest 3
            apiVersion: v1
            kind: Pod
            metadata:
              name: waits-3
              namespace: b
            spec:
              containers:
              - image: i
                name: c

            CONTRACT_SEED=0 CONTRACT_CASES=1 repeats this history."#]],
    );
}

#[test]
fn a_filter_that_depends_on_more_than_the_node_is_detected() {
    check_detected(
        "Frozen",
        Contract::CachedAnswers,
        expect![[r#"
        Frozen violates the contract CachedAnswers in profile frozen

        b/waits-3:
          differs in Frozen
          Filter on n1
            full evaluation: passes
            cached answer:   rejects, like the earlier evaluation: Frozen rejects: node(s) had a pod of the namespace

        Steps:
          1. apply Node n1 (manifest 1)
          2. apply Pod b/runs-2 (manifest 2)
          3. apply Pod b/waits-3 (manifest 3)
          4. delete Pod b/runs-2
        Manifests:
        --- # manifest 1
        apiVersion: v1
        kind: Node
        metadata:
          name: n1
        status:
          allocatable:
            pods: "9"
        --- # manifest 2
        apiVersion: v1
        kind: Pod
        metadata:
          name: runs-2
          namespace: b
        spec:
          containers:
          - image: i
            name: c
          nodeName: n1
        --- # manifest 3
        apiVersion: v1
        kind: Pod
        metadata:
          name: waits-3
          namespace: b
        spec:
          containers:
          - image: i
            name: c

        CONTRACT_SEED=0 CONTRACT_CASES=1 repeats this history."#]],
    );
}

#[test]
fn a_compiled_pod_that_outlives_its_index_is_detected() {
    check_detected(
        "Expired",
        Contract::CachedAnswers,
        expect![[r#"
        Expired violates the contract CachedAnswers in profile expired

        a/waits-2:
          differs in Expired
          Filter on n1
            full evaluation: passes
            cached answer:   rejects, like the earlier evaluation: Expired rejects: node(s) had a pod of the namespace
          Filter on n2
            full evaluation: passes
            cached answer:   rejects

        Steps:
          1. apply Node n1 (manifest 1)
          2. apply Pod a/runs-1 (manifest 2)
          3. apply Pod a/waits-1 (manifest 3)
          4. apply Pod a/waits-2 (manifest 4)
          5. apply Node n2 (manifest 5)
          6. apply Pod b/waits-3 (manifest 6)
        Manifests:
        --- # manifest 1
        apiVersion: v1
        kind: Node
        metadata:
          name: n1
        status:
          allocatable:
            pods: "9"
        --- # manifest 2
        apiVersion: v1
        kind: Pod
        metadata:
          name: runs-1
          namespace: a
        spec:
          containers:
          - image: i
            name: c
          nodeName: n1
        --- # manifest 3
        apiVersion: v1
        kind: Pod
        metadata:
          name: waits-1
          namespace: a
        spec:
          containers:
          - image: i
            name: c
        --- # manifest 4
        apiVersion: v1
        kind: Pod
        metadata:
          name: waits-2
          namespace: a
        spec:
          containers:
          - image: i
            name: c
        --- # manifest 5
        apiVersion: v1
        kind: Node
        metadata:
          name: n2
        status:
          allocatable:
            pods: "9"
        --- # manifest 6
        apiVersion: v1
        kind: Pod
        metadata:
          name: waits-3
          namespace: b
        spec:
          containers:
          - image: i
            name: c

        CONTRACT_SEED=0 CONTRACT_CASES=1 repeats this history."#]],
    );
}

#[test]
fn a_filter_that_fails_despite_its_promise_is_detected() {
    let report = check::<Profiles>("Fails", Contract::CachedAnswers, MANIFESTS).expect_err("a bug");
    let promise = "Filter of plugin Fails fails, and its trait Incremental promises that it does not";
    assert!(report.contains(promise), "{report}");
}

#[test]
fn a_stale_score_is_detected() {
    check_detected(
        "Outdated",
        Contract::CachedAnswers,
        expect![[r#"
            Outdated violates the contract CachedAnswers in profile outdated

            b/waits-3:
              differs in Outdated
              total score of n1
                full evaluation: 0 = Outdated 0
                cached answer:   100

            Steps:
              1. apply Node n1 (manifest 1)
              2. apply Node n2 (manifest 2)
              3. apply Pod a/runs-1 (manifest 3)
              4. apply Pod a/waits-1 (manifest 4)
              5. delete Node n1
              6. apply Node n1 (manifest 1)
              7. apply Pod b/waits-3 (manifest 5)
            Manifests:
            --- # manifest 1
            apiVersion: v1
            kind: Node
            metadata:
              name: n1
            status:
              allocatable:
                pods: "9"
            --- # manifest 2
            apiVersion: v1
            kind: Node
            metadata:
              name: n2
            status:
              allocatable:
                pods: "9"
            --- # manifest 3
            apiVersion: v1
            kind: Pod
            metadata:
              name: runs-1
              namespace: a
            spec:
              containers:
              - image: i
                name: c
              nodeName: n1
            --- # manifest 4
            apiVersion: v1
            kind: Pod
            metadata:
              name: waits-1
              namespace: a
            spec:
              containers:
              - image: i
                name: c
            --- # manifest 5
            apiVersion: v1
            kind: Pod
            metadata:
              name: waits-3
              namespace: b
            spec:
              containers:
              - image: i
                name: c

            CONTRACT_SEED=8 CONTRACT_CASES=1 repeats this history."#]],
    );
}
