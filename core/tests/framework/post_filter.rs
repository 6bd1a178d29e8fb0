//! PostFilter and nominations: resources of a node are freed for a pod, and kept for it.

use expect_test::{Expect, expect};

use crate::framework::plugins::stage::{Answer, notes, set_answer};
use crate::framework::test_cluster::{TestCluster, uid};

mod scheduler {
    schedc_macros::profile!("tests/framework/profiles/preempting.toml", "tests/framework/profiles/helpless.toml");
}
use scheduler::Profiles;

/// Makes a cluster with a node for one pod, on which a pod runs.
fn full_cluster() -> TestCluster<Profiles> {
    let mut test_cluster = TestCluster::new();
    test_cluster.node_for(1, "n", "");
    test_cluster.running("old", "", "n");
    test_cluster
}

fn called_at_post_filter() -> Vec<String> {
    notes().into_iter().filter(|note| note.contains("post-filter")).collect()
}

/// Checks the outcome for a pod of priority 0, for which Preempt finds no victims, with these answers of A and B.
fn check(a: Answer, b: Answer, expected: Expect, called: &[&str]) {
    let mut test_cluster = full_cluster();
    set_answer("A post-filter", a);
    set_answer("B post-filter", b);
    test_cluster.pending("web", "");
    notes();
    expected.assert_eq(&test_cluster.step().unwrap());
    assert_eq!(called_at_post_filter(), called);
}

#[test]
fn post_filter_messages_are_part_of_the_message() {
    check(
        Answer::Reject("A has no result"),
        Answer::Reject("nor does B"),
        expect![
            "web waits: 0/1 nodes are available: 1 node(s) were full. A has no result, preemption found no victims, nor does B"
        ],
        &["A post-filter web", "B post-filter web"],
    );
}

#[test]
fn the_first_success_ends_the_run() {
    check(
        Answer::Done,
        Answer::Nothing,
        expect!["web waits: 0/1 nodes are available: 1 node(s) were full."],
        &["A post-filter web"],
    );
}

#[test]
fn an_unresolvable_rejection_and_an_error_end_the_run() {
    check(
        Answer::RejectUnresolvable("A has seen enough"),
        Answer::Nothing,
        expect!["web waits: 0/1 nodes are available: 1 node(s) were full. A has seen enough"],
        &["A post-filter web"],
    );
    check(
        Answer::Fail("A failed"),
        Answer::Nothing,
        expect!["web waits: 0/1 nodes are available: 1 node(s) were full. A failed"],
        &["A post-filter web"],
    );
}

#[test]
fn a_plugin_can_nominate_a_node_and_name_victims_which_are_removed() {
    let mut test_cluster = full_cluster();
    let pod = test_cluster.important_pod("urgent", "", 5);
    test_cluster.enqueue(0, pod);
    let outcome = test_cluster.cluster.step().unwrap();
    let Err(schedc_core::scheduler::Failure::Unschedulable(unschedulable)) = outcome.result else {
        panic!("the node is full")
    };
    assert_eq!(*unschedulable.post_filter.unwrap().victims, [uid("old")]);
    assert_eq!(test_cluster.nominations(), ["n for urgent"]);
    assert_eq!(test_cluster.pods_on("n"), [""; 0]);
    assert_eq!(test_cluster.run(), ["urgent on n"]);
    assert_eq!(test_cluster.nominations(), [""; 0]);
}

#[test]
fn freed_resources_are_kept_from_pods_of_lower_priority() {
    for (priority, outcome) in [
        (4, "other waits: 0/1 nodes are available: 1 node(s) were full. preemption found no victims"),
        (5, "other waits: 0/1 nodes are available: 1 node(s) were full. preemption found no victims"),
        (6, "other on n"),
    ] {
        let mut test_cluster = TestCluster::<Profiles>::new();
        test_cluster.node_for(1, "n", "");
        let urgent = test_cluster.important_pod("urgent", "", 5);
        let n = test_cluster.cluster.interner().intern("n");
        test_cluster.cluster.scheduler.cache.nominate(urgent, n);
        test_cluster.important("other", "", priority);
        assert_eq!(test_cluster.run(), [outcome], "priority {priority}");
    }
}

#[test]
fn a_pod_must_fit_with_and_without_nominated_pods() {
    let mut test_cluster = TestCluster::<Profiles>::new();
    test_cluster.node_for(2, "n", "");
    test_cluster.pod("unused", "");
    let nominated = test_cluster.important_pod("urgent", "team: blue", 5);
    let n = test_cluster.cluster.scheduler.cache.base.interner.intern("n");
    test_cluster.cluster.scheduler.cache.nominate(nominated, n);
    test_cluster.pending("rival", "team: blue");
    test_cluster.pending("stranger", "team: red");
    let waits = "rival waits: 0/1 nodes are available: 1 node(s) had a pod of the team. preemption found no victims";
    assert_eq!(
        test_cluster.run(),
        [waits, "stranger on n", waits],
        "every event concerns a plugin without registrations"
    );
}

#[test]
fn a_preemptor_is_placed_on_its_nominated_node_first() {
    let mut test_cluster = TestCluster::<Profiles>::new();
    for name in ["n1", "n2", "n3"] {
        test_cluster.node_for(1, name, "");
    }
    for nominated in ["n3", "n1", "n2"] {
        let pod = test_cluster
            .pod_from(&format!("metadata: {{ name: web, uid: web }}\nstatus: {{ nominatedNodeName: {nominated} }}"));
        let explanation = test_cluster.cluster.scheduler.explain(0, &pod, false);
        assert!(explanation.by_nomination);
        test_cluster.enqueue(0, pod);
        assert_eq!(test_cluster.run(), [format!("web on {nominated}")]);
        assert_eq!(test_cluster.nominations(), [""; 0], "the placement ends the nomination");
        test_cluster.delete("web");
    }
}

#[test]
fn a_pod_with_an_infeasible_nominated_node_gets_another_node() {
    let mut test_cluster = TestCluster::<Profiles>::new();
    test_cluster.node("n1", "health: sick");
    test_cluster.node("n2", "");
    let pod = test_cluster.pod_from("metadata: { name: web, uid: web }\nstatus: { nominatedNodeName: n1 }");
    assert!(!test_cluster.cluster.scheduler.explain(0, &pod, false).by_nomination);
    test_cluster.enqueue(0, pod);
    assert_eq!(test_cluster.run(), ["web on n2"]);
}

#[test]
fn a_retried_pod_keeps_its_nominated_node() {
    for seed in 0..10 {
        let mut test_cluster = TestCluster::<Profiles>::seeded(seed);
        test_cluster.node_for(1, "n1", "");
        test_cluster.running("old", "", "n1");
        test_cluster.important("urgent", "", 5);
        assert_eq!(test_cluster.step().unwrap(), "urgent waits: 0/1 nodes are available: 1 node(s) were full.");
        for name in ["n2", "n3", "n4", "n5"] {
            test_cluster.node(name, "");
        }
        assert_eq!(test_cluster.run(), ["urgent on n1"], "seed {seed}");
    }
}

#[test]
fn a_pod_that_waits_on_its_node_is_not_counted_twice() {
    let mut test_cluster = TestCluster::<Profiles>::new();
    test_cluster.node_for(2, "n", "");
    set_answer("A permit urgent", Answer::Wait(10));
    let pod = test_cluster.pod_from("metadata: { name: urgent, uid: urgent }\nstatus: { nominatedNodeName: 'n' }");
    test_cluster.enqueue(0, pod);
    test_cluster.pending("other", "");
    assert_eq!(test_cluster.step().unwrap(), "other on n");
}

#[test]
fn a_nomination_ends_without_post_filter_or_if_permit_fails() {
    // PostFilter keeps the nomination unless it returns another one. The nomination ends without a PostFilter plugin,
    // or if Permit rejects the pod or fails.
    for (profile, answer, keeps_nomination) in [
        (0, Answer::Nothing, true),
        (1, Answer::Nothing, false),
        (0, Answer::Reject("A objects"), false),
        (0, Answer::Fail("A is away"), false),
    ] {
        let mut test_cluster = TestCluster::<Profiles>::new();
        let room = usize::from(!matches!(answer, Answer::Nothing));
        test_cluster.node_for(room, "n", "");
        set_answer("A permit", answer);
        let pod = test_cluster.pod_from("metadata: { name: web, uid: web }\nstatus: { nominatedNodeName: 'n' }");
        test_cluster.enqueue(profile, pod);
        assert_eq!(test_cluster.nominations(), ["n for web"]);
        test_cluster.run();
        assert_eq!(!test_cluster.nominations().is_empty(), keeps_nomination, "profile {profile}, {answer:?}");
    }
}

#[test]
fn a_nominated_node_does_not_fail_attempts_of_lower_priority() {
    let mut test_cluster = TestCluster::<Profiles>::new();
    test_cluster.node("n1", "health: unknown");
    test_cluster.node("n2", "");
    let nominated = test_cluster.important_pod("urgent", "team: blue", 5);
    let n1 = test_cluster.cluster.scheduler.cache.base.interner.intern("n1");
    test_cluster.cluster.scheduler.cache.nominate(nominated, n1);
    test_cluster.pending("rival", "team: blue");
    assert_eq!(
        test_cluster.run(),
        ["rival on n2"],
        "with the nominated pod, TeamAntiAffinity rejects n1 before Health fails there"
    );
}
