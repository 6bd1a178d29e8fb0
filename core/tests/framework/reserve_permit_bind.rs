//! From the choice of a node to the binding: Reserve, Permit, PreBind, Bind, PostBind, and Unreserve.

use expect_test::{Expect, expect};
use schedc_core::scheduler::Failure;

use crate::framework::plugins::stage::{Answer, notes, set_answer};
use crate::framework::test_cluster::{TestCluster, uid};

mod scheduler {
    schedc_macros::profile!("tests/framework/profiles/binding.toml", "tests/framework/profiles/skipping.toml");
}
use scheduler::Profiles;

/// Makes a cluster with a node for one pod.
fn small_cluster() -> TestCluster<Profiles> {
    let mut test_cluster = TestCluster::new();
    test_cluster.node_for(1, "n", "");
    test_cluster
}

/// Checks the outcome for a pod and the calls of plugins, if plugins return these answers.
fn check(answers: &[(&str, Answer)], outcome: Expect, calls: Expect) {
    let mut test_cluster = small_cluster();
    answers.iter().for_each(|(call, answer)| set_answer(call, *answer));
    test_cluster.pending("web", "");
    notes();
    outcome.assert_eq(&test_cluster.run().join("\n"));
    let mut called = notes();
    called.retain(|note| note != "Slots filter");
    calls.assert_eq(&called.join("\n"));
    let bound = test_cluster.cluster.scheduler.cache.pod(&uid("web")).is_some();
    assert_eq!(test_cluster.pods_on("n").len(), usize::from(bound), "a pod that is not bound leaves its node free");
}

#[test]
fn a_pod_goes_through_all_plugins_of_a_point_before_the_next() {
    check(
        &[("B bind", Answer::Done)],
        expect!["web on n"],
        expect![[r#"
            A reserve web
            B reserve web
            C reserve web
            A permit web
            B permit web
            C permit web
            A pre-flight web
            B pre-flight web
            C pre-flight web
            A pre-bind web
            B pre-bind web
            C pre-bind web
            A bind web
            B bind web
            A post-bind web
            B post-bind web
            C post-bind web"#]],
    );
}

#[test]
fn after_a_failed_reserve_all_plugins_unreserve_in_reverse_order() {
    check(
        &[("B reserve", Answer::Reject("B has nothing left"))],
        expect!["web waits: 0/1 nodes are available: 1 B has nothing left."],
        expect![[r#"
            A reserve web
            B reserve web
            C unreserve web: nothing
            B unreserve web: nothing
            A unreserve web: A has n for web"#]],
    );
    check(
        &[("A reserve", Answer::Fail("A is away"))],
        expect![[r#"web failed: running Reserve plugin "A": A is away"#]],
        expect![[r#"
            A reserve web
            C unreserve web: nothing
            B unreserve web: nothing
            A unreserve web: nothing"#]],
    );
}

#[test]
fn rejections_by_reserve_and_permit_report_the_plugin_and_its_code() {
    for (answer, pending) in [(Answer::Reject("no"), &[][..]), (Answer::Pend("not yet"), &["B"])] {
        for point in ["B reserve", "B permit"] {
            let mut test_cluster = TestCluster::<Profiles>::new();
            test_cluster.node("n", "");
            set_answer(point, answer);
            test_cluster.pending("web", "");
            let outcome = test_cluster.cluster.step().unwrap();
            let Err(Failure::Unschedulable(unschedulable)) = outcome.result else { panic!("{outcome:?}") };
            assert_eq!(Vec::from_iter(unschedulable.diagnosis.unschedulable_plugins), ["B"]);
            assert_eq!(Vec::from_iter(unschedulable.diagnosis.pending_plugins), pending);
        }
    }
}

#[test]
fn a_pod_that_permit_rejects_is_unreserved() {
    check(
        &[("A permit", Answer::Wait(5)), ("B permit", Answer::Reject("B objects"))],
        expect!["web waits: 0/1 nodes are available: 1 B objects."],
        expect![[r#"
            A reserve web
            B reserve web
            C reserve web
            A permit web
            B permit web
            C unreserve web: C has n for web
            B unreserve web: B has n for web
            A unreserve web: A has n for web"#]],
    );
    let mut test_cluster = small_cluster();
    set_answer("C permit", Answer::Fail("C is away"));
    test_cluster.pending("web", "");
    assert_eq!(test_cluster.run(), [r#"web failed: running Permit plugin "C": C is away"#]);
}

#[test]
fn a_waiting_pod_keeps_its_node_until_its_timeout() {
    let mut test_cluster = small_cluster();
    set_answer("A permit", Answer::Wait(30));
    set_answer("B permit", Answer::Wait(10));
    test_cluster.pending("web", "");
    test_cluster.pending("late", "");
    assert_eq!(test_cluster.step().unwrap(), "late waits: 0/1 nodes are available: 1 node(s) were full.");
    assert_eq!(test_cluster.pods_on("n"), ["web"]);
    notes();
    assert_eq!(
        test_cluster.step().unwrap(),
        "web waits: 0/1 nodes are available: 1 rejected due to timeout after waiting 10s at plugin B."
    );
    assert_eq!(notes().len(), 3, "all three unreserve");
    assert_eq!(test_cluster.pods_on("n"), [""; 0]);
}

#[test]
fn a_waiting_pod_is_bound_to_its_deleted_node_although_another_node_reuses_the_index() {
    let mut test_cluster = TestCluster::<Profiles>::new();
    let slot = test_cluster.node("gone", "");
    set_answer("A permit first", Answer::Wait(10));
    set_answer("A permit third", Answer::AllowOthers);
    test_cluster.pending("first", "");
    test_cluster.pending("second", "");
    assert_eq!(test_cluster.step().unwrap(), "second on gone");
    let name = test_cluster.cluster.scheduler.cache.base.interner.intern("gone");
    test_cluster.cluster.scheduler.cache.remove_node(name);
    assert_eq!(test_cluster.node("new", ""), slot);
    test_cluster.pending("third", "");
    assert_eq!(test_cluster.run(), ["first on gone", "third on new"]);
    assert_eq!(test_cluster.pods_on("new"), ["third"]);
}

#[test]
fn no_pod_waits_in_permit_longer_than_15_minutes() {
    let mut test_cluster = small_cluster();
    set_answer("A permit", Answer::Wait(86_400));
    test_cluster.pending("web", "");
    assert_eq!(
        test_cluster.run(),
        ["web waits: 0/1 nodes are available: 1 rejected due to timeout after waiting 15m0s at plugin A."]
    );
}

#[test]
fn permit_of_another_pod_can_allow_a_waiting_pod() {
    let mut test_cluster = TestCluster::<Profiles>::new();
    test_cluster.node("n", "");
    set_answer("A permit first", Answer::Wait(10));
    set_answer("A permit second", Answer::AllowOthers);
    test_cluster.pending("first", "");
    test_cluster.pending("second", "");
    assert_eq!(test_cluster.run(), ["first on n", "second on n"]);
}

#[test]
fn every_plugin_for_which_a_pod_waits_must_allow_it() {
    let mut test_cluster = TestCluster::<Profiles>::new();
    test_cluster.node("n", "");
    set_answer("A permit first", Answer::Wait(20));
    set_answer("B permit first", Answer::Wait(10));
    set_answer("A permit second", Answer::AllowOthers);
    test_cluster.pending("first", "");
    test_cluster.pending("second", "");
    assert_eq!(
        [test_cluster.step().unwrap(), test_cluster.step().unwrap()],
        [
            "second on n",
            "first waits: 0/1 nodes are available: 1 rejected due to timeout after waiting 10s at plugin B.",
        ]
    );
}

#[test]
fn a_waiting_pod_can_be_allowed_or_rejected_through_the_handle() {
    for (answer, outcome) in [
        (Answer::Call(|handle| handle.allow(uid("first"), "A")), "first on n"),
        (
            Answer::Call(|handle| handle.reject(uid("first"), "A", "no longer wanted")),
            "first waits: 0/1 nodes are available: 1 no longer wanted.",
        ),
        (
            Answer::Call(|handle| {
                assert_eq!(handle.waiting_pods(), [uid("first")]);
                handle.allow(uid("first"), "A");
                handle.reject(uid("first"), "A", "too late");
            }),
            "first on n",
        ),
        (
            Answer::Call(|handle| {
                handle.reject(uid("first"), "A", "no longer wanted");
                handle.allow(uid("first"), "A");
            }),
            "first waits: 0/1 nodes are available: 1 no longer wanted.",
        ),
    ] {
        let mut test_cluster = TestCluster::<Profiles>::new();
        test_cluster.node("n", "");
        set_answer("A permit first", Answer::Wait(10));
        set_answer("A post-bind second", answer);
        test_cluster.pending("first", "");
        test_cluster.pending("second", "");
        assert_eq!([test_cluster.step().unwrap(), test_cluster.step().unwrap()], ["second on n", outcome]);
    }
}

#[test]
fn pre_bind_runs_only_if_its_pre_flight_does_not_skip() {
    check(
        &[("A pre-flight", Answer::Skip), ("C pre-flight", Answer::Skip)],
        expect!["web on n"],
        expect![[r#"
            A reserve web
            B reserve web
            C reserve web
            A permit web
            B permit web
            C permit web
            A pre-flight web
            B pre-flight web
            C pre-flight web
            B pre-bind web
            A bind web
            B bind web
            C bind web
            A post-bind web
            B post-bind web
            C post-bind web"#]],
    );
}

#[test]
fn pre_bind_is_polled_until_it_is_ready() {
    let mut test_cluster = small_cluster();
    set_answer("B pre-bind", Answer::NotYet);
    test_cluster.pending("web", "");
    notes();
    assert_eq!(test_cluster.run(), ["web on n"]);
    let of_b: Vec<String> = notes().into_iter().filter(|note| note.starts_with("B pre-bind")).collect();
    assert_eq!(of_b, ["B pre-bind web", "B pre-bind is not ready", "B pre-bind is ready"]);
}

#[test]
fn pre_binds_that_allow_it_run_concurrently() {
    let calls = |answers: &[(&str, Answer)]| {
        let mut test_cluster = small_cluster();
        answers.iter().for_each(|(call, answer)| set_answer(call, *answer));
        test_cluster.pending("web", "");
        notes();
        let outcome = test_cluster.run();
        (outcome, notes().into_iter().filter(|note| note.contains("pre-bind")).collect::<Vec<_>>())
    };
    let [a, b] = [("A pre-flight", Answer::Parallel), ("B pre-flight", Answer::Parallel)];
    let slow = ("A pre-bind", Answer::NotYet);
    let together = ["A pre-bind web", "A pre-bind is not ready", "B pre-bind web"];
    let bound = calls(&[a, b, slow]);
    assert_eq!(bound.0, ["web on n"]);
    assert_eq!(bound.1, [&together[..], &["A pre-bind is ready", "C pre-bind web"]].concat());
    let failed = calls(&[a, b, slow, ("B pre-bind", Answer::Fail("B is away"))]);
    assert_eq!(failed.0, [r#"web failed: running PreBind plugin "B": B is away"#]);
    assert_eq!(failed.1, together, "A is dropped, C never runs");
    let skipped = calls(&[a, ("B pre-flight", Answer::Skip), ("C pre-flight", Answer::Parallel), slow]);
    assert_eq!(skipped.1, ["A pre-bind web", "A pre-bind is not ready", "C pre-bind web", "A pre-bind is ready"]);
    let one_by_one = calls(&[a, ("C pre-flight", Answer::Parallel), slow]);
    assert_eq!(
        one_by_one.1,
        ["A pre-bind web", "A pre-bind is not ready", "A pre-bind is ready", "B pre-bind web", "C pre-bind web"]
    );
}

#[test]
fn a_pod_that_cannot_be_bound_is_unreserved_and_its_node_is_free_again() {
    for (call, answer, outcome) in [
        ("B pre-flight", Answer::Fail("B is away"), r#"web failed: running PreBindPreFlight "B": B is away"#),
        (
            "B pre-flight",
            Answer::Reject("B objects"),
            "web failed: PreBindPreFlight B returned \"Unschedulable\", which is unsupported. It is supposed to return \
             Success, Skip, or Error status",
        ),
        ("B pre-bind", Answer::Fail("B is away"), r#"web failed: running PreBind plugin "B": B is away"#),
        ("B pre-bind", Answer::Reject("B objects"), "web waits: B objects"),
        ("B bind", Answer::Fail("B is away"), r#"web failed: running Bind plugin "B": B is away"#),
        ("B bind", Answer::Reject("B objects"), "web waits: B objects"),
    ] {
        let mut test_cluster = small_cluster();
        set_answer(call, answer);
        test_cluster.pending("web", "");
        notes();
        assert_eq!(test_cluster.run(), [outcome], "{call} {answer:?}");
        let after = notes().split_off(1);
        let unreserved: Vec<&String> = after.iter().filter(|note| note.contains("unreserve")).collect();
        assert_eq!(
            unreserved,
            [
                "C unreserve web: C has n for web",
                "B unreserve web: B has n for web",
                "A unreserve web: A has n for web"
            ]
        );
        assert!(!after.iter().any(|note| note.contains("post-bind")));
        test_cluster.pending("next", "");
        set_answer(call, Answer::Nothing);
        assert_eq!(test_cluster.run(), ["next on n"]);
    }
}

#[test]
fn a_refused_binding_frees_the_node() {
    let mut test_cluster = small_cluster();
    test_cluster.pending("web", "");
    assert_eq!(test_cluster.run_refused(), [r#"web failed: running Bind plugin "Binder": n has another owner"#]);
    assert_eq!(test_cluster.pods_on("n"), [""; 0]);
}

#[test]
fn the_first_bind_plugin_that_does_not_skip_binds_the_pod() {
    let mut test_cluster = small_cluster();
    set_answer("A bind", Answer::Done);
    test_cluster.pending("web", "");
    notes();
    assert_eq!(test_cluster.run_refused(), ["web on n"], "the cluster receives no binding");
    assert!(!notes().contains(&"B bind web".to_owned()));
}

#[test]
fn if_all_bind_plugins_skip_the_pod_is_not_bound() {
    let mut test_cluster = small_cluster();
    let pod = test_cluster.pod("web", "");
    test_cluster.enqueue(1, pod);
    notes();
    assert_eq!(test_cluster.run(), ["web failed: "], "an empty message, as in kube-scheduler");
    let after: Vec<String> = notes().into_iter().filter(|note| note != "Slots filter").collect();
    assert_eq!(after, ["A reserve web", "A bind web", "B bind web", "A unreserve web: A has n for web"]);
    assert_eq!(test_cluster.pods_on("n"), [""; 0]);
}
