//! Generated code with a plugin at every extension point: it compiles, and makes the expected calls.

#![allow(clippy::unwrap_used, reason = "a test that cannot continue panics")]

#[allow(unreachable_pub, reason = "plugins are public, but these are in no library")]
mod plugins;

use schedc_core::minimal_cluster::MinimalCluster;
use schedc_core::profile::Bundle;
use schedc_objects::testing;

mod scheduler {
    schedc_macros::profile!("tests/every_point/all.toml", "tests/every_point/less.toml");
}

use scheduler::Profiles;

/// Schedules pods of a profile on `nodes` empty nodes. Returns outcomes and events.
fn schedule(profile: &str, nodes: usize, pods: &[&str]) -> (Vec<String>, Vec<String>) {
    let mut cluster = MinimalCluster::<Profiles>::new(1).unwrap();
    for node in 0..nodes {
        let yaml = format!("metadata: {{ name: node-{node} }}\nstatus: {{ allocatable: {{ pods: '10' }} }}");
        let node = testing::node(&yaml, cluster.interner());
        cluster.node(node);
    }
    let mut outcomes = Vec::new();
    for pod in pods {
        let (name, spec) = pod.split_once(' ').unwrap_or((pod, "containers: []"));
        let yaml = format!("metadata: {{ name: {name}, uid: {name} }}\nspec: {{ schedulerName: {profile}, {spec} }}");
        let pod = testing::pod(&yaml, cluster.interner());
        let uid = pod.uid.clone();
        cluster.pod(pod);
        if let Some(held) = cluster.scheduler.gate_status(&uid) {
            outcomes.push(format!("{name}: {}", held.message()));
        }
    }
    while let Some(outcome) = cluster.step() {
        outcomes.push(match &outcome.result {
            Ok(placed) => format!("{} on {}", outcome.pod.name, placed.node),
            Err(failure) => format!("{}: {}", outcome.pod.name, failure.message()),
        });
    }
    let recorded = cluster.take_events().into_iter().filter(|e| !matches!(e.reason, "Scheduled" | "FailedScheduling"));
    let events = recorded.map(|e| format!("{} {}: {}", e.regarding.name, e.reason, e.note)).collect();
    (outcomes, events)
}

#[test]
fn the_queue_is_sorted_and_gated() {
    let (outcomes, _) = schedule("all", 1, &["b", "a", "c schedulingGates: [{ name: quota }]"]);
    assert_eq!(outcomes, ["c: waits for quota", "a on node-0", "b on node-0"]);
}

#[test]
fn an_unschedulable_pod_is_explained_by_filter_and_all_post_filters() {
    let (outcomes, _) = schedule("all", 2, &["a", "b", "c", "d", "e"]);
    assert_eq!(outcomes[4], "e: 0/2 nodes are available: 2 2 of 2 pod(s). no help for e, 2 nodes");
}

#[test]
fn a_filter_is_skipped_if_pre_filter_skips() {
    let (outcomes, _) = schedule("all", 1, &["a", "b priority: 2000"]);
    assert_eq!(outcomes[1], "b: 0/1 nodes are available: 1 taken. no help for b, 1 nodes");
}

#[test]
fn scores_spread_the_pods() {
    for profile in ["all", "less"] {
        let (outcomes, _) = schedule(profile, 2, &["a", "b"]);
        let node = |outcome: &String| outcome.rsplit_once(' ').unwrap().1.to_owned();
        assert_ne!(node(&outcomes[0]), node(&outcomes[1]), "{outcomes:?}");
    }
}

#[test]
fn binding_goes_through_all_plugins_until_one_binds() {
    let (_, events) = schedule("all", 1, &["a"]);
    assert_eq!(events, ["a PreBind: node-0", "a Bind: Hooks skips", "a Bind: Other binds", "a PostBind: node-0"]);
}

#[test]
fn failures_after_the_decision_are_undone_in_reverse_order() {
    let check = |pod: &str, message: &str, events: &[&str]| {
        let (outcomes, recorded) = schedule("all", 1, &[pod]);
        assert_eq!(
            (outcomes, recorded),
            (vec![format!("{pod}: {message}")], events.iter().map(|e| format!("{pod} {e}")).collect())
        );
    };
    let before = ["Unreserve: Other None", "Unreserve: Hooks Some(\"node-0\")"];
    check("unlucky", "0/1 nodes are available: 1 bad luck.", &before);
    check("broken", "running Reserve plugin \"Other\": out of order", &before);
    let after = ["Unreserve: Other Some(())", "Unreserve: Hooks Some(\"node-0\")"];
    check("refused", "0/1 nodes are available: 1 refused.", &after);
    check("unbound", "", &[["PreBind: node-0", "Bind: Hooks skips"], after].concat());
}

#[test]
fn a_profile_lists_its_plugins() {
    let [all, less] = Profiles::PROFILES else { panic!("two profiles") };
    assert_eq!((all.name, all.source, less.scheduler_name), ("all", "tests/every_point/all.toml", "less"));
    assert_eq!(all.plugins("score"), [("Limit", Some(1)), ("View", Some(1))]);
    assert_eq!(less.plugins("pre-filter"), []);
}
