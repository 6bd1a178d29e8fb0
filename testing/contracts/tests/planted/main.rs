//! The contracts hold for a correct plugin, and detect bugs in variants of it.

extern crate self as planted;

mod cached_answers;
#[allow(unreachable_pub, reason = "plugins are public, but these are in no library")]
mod plugins;
#[allow(unreachable_pub, reason = "plugins are public, but these are in no library")]
mod promises;
#[cfg(debug_assertions)]
mod samples;

#[allow(unreachable_pub, reason = "the macro writes code for libraries, too")]
mod scheduler {
    schedc_macros::profile!(
        "tests/planted/profiles/sound.toml",
        "tests/planted/profiles/forgets.toml",
        "tests/planted/profiles/misses.toml",
        "tests/planted/profiles/leaks.toml",
        "tests/planted/profiles/stale.toml",
        "tests/planted/profiles/drifts.toml",
        "tests/planted/profiles/frozen.toml",
        "tests/planted/profiles/expired.toml",
        "tests/planted/profiles/fails.toml",
        "tests/planted/profiles/outdated.toml",
        "tests/planted/profiles/panics.toml",
        "tests/planted/profiles/skips-after-all.toml",
        "tests/planted/profiles/rejects-after-all.toml",
        "tests/planted/profiles/depends-on-cluster.toml",
        "tests/planted/profiles/joins-classes.toml",
        "tests/planted/profiles/swaps-classes.toml",
        "tests/planted/profiles/outdated-data.toml",
    );
}

use expect_test::{Expect, expect};
use schedc_testing::{Contract, check};
use scheduler::Profiles;

const MANIFESTS: &str = include_str!("manifests.yaml");

schedc_testing::contracts!(Profiles, "Sound", MANIFESTS);

/// Checks that a contract detects a planted bug, and checks the report.
#[track_caller]
fn check_detected(plugin: &str, by: Contract, expect: Expect) {
    let report = check::<Profiles>(plugin, by, MANIFESTS).expect_err("a bug");
    expect.assert_eq(&report);
}

#[test]
fn a_remove_pod_without_effect_is_detected() {
    check_detected(
        "Forgets",
        Contract::AddAndRemovePod,
        expect![[r#"
        Forgets violates the contract AddAndRemovePod in profile forgets

        a/waits-1 on n1, RemovePod and AddPod of a/runs-1:
          differs in Forgets
          state of PreFilter
            before: as PreFilter returned it
            after:  a different state

        Steps:
          1. apply Node n1 (manifest 1)
          2. apply Pod a/runs-1 (manifest 2)
          3. apply Pod a/waits-1 (manifest 3)
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

        CONTRACT_SEED=0 CONTRACT_CASES=1 repeats this history."#]],
    );
}

#[test]
fn a_missing_hint_is_detected() {
    check_detected(
        "Misses",
        Contract::Hints,
        expect![[r#"
        Misses violates the contract Hints in profile misses

        a/waits-1:
          Misses rejected the pod before the last step: node(s) had a pod of the namespace
          after that step, the pod fits on n2, but no hint of Misses woke it

        Steps:
          1. apply Node n2 (manifest 1)
          2. apply Pod a/runs-3 (manifest 2)
          3. apply Pod a/waits-1 (manifest 3)
          4. delete Pod a/runs-3
        Manifests:
        --- # manifest 1
        apiVersion: v1
        kind: Node
        metadata:
          name: n2
        status:
          allocatable:
            pods: "9"
        --- # manifest 2
        apiVersion: v1
        kind: Pod
        metadata:
          name: runs-3
          namespace: a
        spec:
          containers:
          - image: i
            name: c
          nodeName: n2
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

        CONTRACT_SEED=5 CONTRACT_CASES=1 repeats this history."#]],
    );
}

#[test]
fn a_leaking_unreserve_is_detected() {
    check_detected(
        "Leaks",
        Contract::ReserveAndUnreserve,
        expect![[r#"
        Leaks violates the contract ReserveAndUnreserve in profile leaks

        a/waits-2, after bindings of pods failed:
          differs in Leaks
          result
            scheduler that has just started: running Bind plugin "DefaultBinder": refused by the test
            scheduler after failed bindings: 0/1 nodes are available: 1 all tickets are out.

        Steps:
          1. apply Node n1 (manifest 1)
          2. apply Pod a/waits-2 (manifest 2)
          3. schedule all pods, and let all bindings fail
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
          name: waits-2
          namespace: a
        spec:
          containers:
          - image: i
            name: c

        CONTRACT_SEED=1 CONTRACT_CASES=1 repeats this history."#]],
    );
}

#[test]
fn a_stale_index_is_detected() {
    check_detected(
        "Drifts",
        Contract::Rebuilt,
        expect![[r#"
            Drifts violates the contract Rebuilt in profile drifts

            a/waits-2:
              differs in Drifts
              PreFilter
                rebuilt cluster:      passes
                cluster after events: rejects (UnschedulableAndUnresolvable): the namespace has three pods

            Steps:
              1. apply Node n2 (manifest 1)
              2. apply Pod a/runs-3 (manifest 2)
              3. apply Pod a/waits-1 (manifest 3)
              4. apply Pod a/waits-2 (manifest 4)
              5. apply Node n1 (manifest 5)
              6. apply Pod a/runs-1 (manifest 6)
              7. delete Pod a/runs-3
            Manifests:
            --- # manifest 1
            apiVersion: v1
            kind: Node
            metadata:
              name: n2
            status:
              allocatable:
                pods: "9"
            --- # manifest 2
            apiVersion: v1
            kind: Pod
            metadata:
              name: runs-3
              namespace: a
            spec:
              containers:
              - image: i
                name: c
              nodeName: n2
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
              name: n1
            status:
              allocatable:
                pods: "9"
            --- # manifest 6
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

            CONTRACT_SEED=5 CONTRACT_CASES=1 repeats this history."#]],
    );
}

#[test]
fn a_panic_is_caught_with_its_place() {
    let report = check::<Profiles>("Panics", Contract::CachedAnswers, MANIFESTS).expect_err("a bug");
    // The line number is not stable.
    let report = report.split_once("plugins.rs:").and_then(|(before, after)| {
        let after = after.split_once(":\n")?.1;
        Some(format!("{before}plugins.rs:LINE:\n{after}"))
    });
    expect![[r#"
        Panics violates the contract CachedAnswers in profile panics

        panic at testing/contracts/tests/planted/plugins.rs:LINE:
          index out of bounds: the len is 0 but the index is 0

        Steps:
          1. apply Node n2 (manifest 1)
          2. apply Pod b/waits-3 (manifest 2)
        Manifests:
        --- # manifest 1
        apiVersion: v1
        kind: Node
        metadata:
          name: n2
        status:
          allocatable:
            pods: "9"
        --- # manifest 2
        apiVersion: v1
        kind: Pod
        metadata:
          name: waits-3
          namespace: b
        spec:
          containers:
          - image: i
            name: c

        CONTRACT_SEED=0 CONTRACT_CASES=1 repeats this history."#]]
    .assert_eq(&report.unwrap_or_default());
}

#[test]
fn invalid_manifests_and_unknown_plugins_are_reported() {
    let problem = |plugin: &str, manifests: &str| check::<Profiles>(plugin, Contract::Hints, manifests).unwrap_err();
    assert_eq!(problem("Other", MANIFESTS), "no profile runs a plugin Other");
    assert_eq!(problem("Sound", "# nothing\n"), "the manifests contain no objects");
    let unknown = "apiVersion: v1\nkind: Secret\nmetadata: {name: s}\n";
    assert_eq!(problem("Sound", unknown), "manifest 1: scheduling ignores objects of kind Secret");
    assert!(problem("Sound", "kind: Node\n").contains("manifest 1"));
}
