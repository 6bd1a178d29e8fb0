//! Simulations from a few seeds: invariants hold, all faults happen, and injected bugs are detected.

use std::process::Command;

use schedc_fuzz::{
    Answer, BugExpectation, DeviceRequest, ExtendedResource, FuzzFailure, FuzzOptions, InjectedBug, Invariant,
    NodeSpec, PodDevices, PodSpec, Simulation, SliceSpec, Step, Stream, fuzz, replay,
};
use serde_json::Value;

/// Enough steps for all faults: the simulation fails if one does not happen within 50,000 steps.
const STEPS: u64 = 60_000;

fn simulate(seed: u64) {
    if slow_tests::is_skipped("it simulates 60,000 steps") {
        return;
    }
    let result = fuzz(FuzzOptions { seed, steps: STEPS, bug: None, shrink: true }, |_| {});
    match result {
        Ok(counts) => assert!(counts.count("simulated", "steps") >= STEPS),
        Err(broken) => panic!("{broken}"),
    }
}

#[test]
fn no_invariant_is_violated_from_the_first_seed() {
    simulate(1_000_000);
}

#[test]
fn no_invariant_is_violated_from_the_second_seed() {
    simulate(2_000_000);
}

fn failure_by(bug: InjectedBug, seed: u64, steps: u64, shrink: bool) -> FuzzFailure {
    match fuzz(FuzzOptions { seed, steps, bug: Some(bug), shrink }, |_| {}) {
        Ok(_) => panic!("{bug} from seed {seed} is not detected in {steps} steps"),
        Err(broken) => *broken,
    }
}

#[test]
fn every_injected_bug_is_detected_in_time() {
    let (seeds, max_steps): (&[u64], _) =
        if slow_tests::is_enabled() { (&[3, 30_000, 300_000], u64::MAX) } else { (&[3], 2_000) };
    for BugExpectation { bug, violates, steps } in InjectedBug::ALL.into_iter().filter(|bug| bug.steps <= max_steps) {
        for &seed in seeds {
            let broken = failure_by(bug, seed, steps, false);
            let invariant = broken.invariant;
            assert!(invariant.is_some_and(|found| violates.contains(&found)), "{bug} from seed {seed}: {broken}");
        }
    }
}

#[test]
fn all_injected_bugs_are_documented() {
    let listed = include_str!("../../../docs/fuzz.md");
    for BugExpectation { bug, violates, steps } in InjectedBug::ALL {
        let violates: Vec<String> = violates.iter().map(ToString::to_string).collect();
        let steps = if steps < 1000 { steps.to_string() } else { format!("{},{:03}", steps / 1000, steps % 1000) };
        let row = format!("| {bug} | {} | {steps} |", violates.join("; "));
        assert!(listed.contains(&row), "{row}");
    }
}

#[test]
fn every_invariant_detects_a_bug() {
    let is_detected = |invariant| InjectedBug::ALL.iter().any(|bug| bug.violates.contains(invariant));
    let undetected: Vec<_> = Invariant::ALL.iter().filter(|invariant| !is_detected(invariant)).collect();
    // Only an error in the scheduler itself violates these two invariants: docs/fuzz.md has examples.
    let expected = [Invariant::OnePreemptionPerPod, Invariant::EventsAreNotLost];
    assert_eq!(undetected, expected.iter().collect::<Vec<_>>());
}

#[test]
fn equal_seeds_have_equal_results() {
    let run = || fuzz(FuzzOptions { seed: 7, steps: 2_000, bug: None, shrink: false }, |_| {});
    let (once, again) = (run(), run());
    assert_eq!(once.ok(), again.ok());
}

#[test]
fn a_shrunk_history_violates_the_same_invariant() {
    let long = failure_by(InjectedBug::LostCompletion, 5, 2_000, false);
    let short = failure_by(InjectedBug::LostCompletion, 5, 2_000, true);
    assert_eq!((long.seed, long.invariant), (short.seed, short.invariant));
    assert!(short.history.len() <= 12, "{short}");
    assert!(replay(short.seed, &short.history, Some(InjectedBug::LostCompletion)).is_err());
    assert!(replay(short.seed, &short.history, None).is_ok(), "without the bug, no invariant is violated");
}

#[test]
fn a_report_has_the_replay_command() {
    let broken = failure_by(InjectedBug::MissedPodCreation, 5, 2_000, true);
    expect_test::expect![[r#"
        violated invariant: no pod is lost
          p16 should be Queued, and is not in the queue, not in the cache

        after:
            1  pod p12: priority 0, 600m cpu, group g0, grace period 0s, claim c0, gated
            2  pod p16: priority 100, 300m cpu, group g0, grace period 1s, claim c6, tolerates the taint
            3  watch: 3 changes of pods

        replay: cargo run --release -p schedc-fuzz -- --seed 5 --steps 15 --bug missed-pod-creation"#]]
    .assert_eq(&broken.to_string());
}

/// Returns the step that creates a pod that needs all three devices of a node.
fn pod_with_devices(id: u8) -> Step {
    pod_with(id, PodDevices::Extended(ExtendedResource::Implicit, 3))
}

fn pod_with(id: u8, devices: PodDevices) -> Step {
    Step::Pod(PodSpec {
        id,
        priority: 0,
        never_preempts: false,
        milli_cpu: 100,
        group: 0,
        ssd: false,
        tolerant: false,
        port: None,
        anti_affinity: false,
        spread: false,
        affinity: false,
        gated: false,
        claim: None,
        devices: Some(devices),
        foreign: false,
        grace: 0,
        planned_faults: Vec::new(),
    })
}

/// Returns a history with one node, its devices, and a first pod that needs all of them.
fn history_with_devices() -> Vec<Step> {
    history_with(pod_with_devices(0))
}

fn history_with(pod: Step) -> Vec<Step> {
    let (id, zone, milli_cpu, pods) = (0, 0, 2000, 5);
    let mut history = vec![
        Step::Node(NodeSpec { id, zone, milli_cpu, pods, ssd: false, tainted: false, cordoned: false }),
        Step::Slices(SliceSpec { node: 0, generation: 1, tainted: false }),
        Step::ResourceClaim(0, DeviceRequest::One),
        pod,
    ];
    let streams = [Stream::Nodes, Stream::DeviceClasses, Stream::Slices, Stream::ResourceClaims, Stream::Pods];
    history.extend(streams.map(|stream| Step::Deliver(stream, 9)));
    history
}

/// Returns the number of bound pods after a history.
fn bound_pods(history: &[Step]) -> u64 {
    let mut simulation = Simulation::new(1, None);
    for step in history {
        simulation.step(step).expect("no invariant is violated");
    }
    simulation.counts().count("attempt", "bound")
}

#[test]
fn devices_of_a_claim_that_is_never_received_are_free_again() {
    let mut history = history_with_devices();
    // The claim of the first pod is created and deleted while the watch of claims is interrupted.
    history.extend([Step::Break(Stream::ResourceClaims), Step::Schedule]);
    history.extend(vec![Step::Answer(0, Answer::Done); 8]);
    history.extend([Step::DeletePod(0), Step::Controllers, pod_with_devices(1), Step::Deliver(Stream::Pods, 9)]);
    history.extend([Step::List(Stream::ResourceClaims), Step::Schedule, Step::Settle]);
    assert_eq!(bound_pods(&history), 2);
}

#[test]
fn devices_of_a_claim_that_lost_its_allocation_before_the_next_attempt_are_free() {
    let mut history = history_with_devices();
    // The pod is deleted before its claim is created. The binding fails after the allocation is written, and so does the
    // deletion of the claim.
    history.extend([Step::Schedule, Step::Answer(0, Answer::Done), Step::DeletePod(0)]);
    history.extend(vec![Step::Answer(0, Answer::Done); 5]);
    history.extend([Step::Answer(0, Answer::Conflict), pod_with_devices(1), Step::Settle]);
    assert_eq!(bound_pods(&history), 1);
}

#[test]
fn a_claim_that_lost_its_allocation_between_two_notifications_wakes_pods() {
    let mut history = history_with(pod_with(0, PodDevices::Named(0)));
    // The allocation is written, but the scheduler does not receive it. The allocation leaves too few devices for the
    // second pod.
    history.push(Step::Schedule);
    history.extend(vec![Step::Answer(0, Answer::Done); 4]);
    history.extend([Step::DeletePod(0), pod_with_devices(1), Step::Deliver(Stream::Pods, 9), Step::Schedule]);
    // One notification has both the allocation and its end.
    history.extend([Step::Controllers, Step::Merge(Stream::ResourceClaims), Step::Deliver(Stream::ResourceClaims, 9)]);
    history.push(Step::Pass(60_000));
    let mut simulation = Simulation::new(1, None);
    for step in &history {
        simulation.step(step).expect("no invariant is violated");
    }
    assert_eq!((simulation.counts().count("attempt", "unschedulable"), simulation.summary().ready), (1, 1));
    simulation.step(&Step::Settle).expect("no invariant is violated");
}

fn output(args: &[&str]) -> String {
    let output = Command::new(env!("CARGO_BIN_EXE_schedc-fuzz")).args(args).output().expect("the program starts");
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout).expect("the program prints text")
}

#[test]
fn the_program_prints_a_summary() {
    let args = ["--seed", "5", "--steps", "3000"];
    let text = output(&args);
    assert!(text.starts_with("3,000 steps in "), "{text}");
    assert!(text.lines().any(|line| line.ends_with("  bind: conflict")), "{text}");
    let report: Value = serde_json::from_str(&output(&[&args[..], &["-o", "json"]].concat())).unwrap();
    assert_eq!((&report["seed"], &report["simulated"]["steps"]), (&5.into(), &3000.into()));
    let bound = report["attempt"]["bound"].as_u64().unwrap_or_default();
    assert!(bound > 50, "{report}");
}
