//! The scheduler of this crate at work in an embedded cluster.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on panics")]

use std::sync::Arc;

use out_of_tree::scheduler::{Profiles, gang};
use schedc_core::cache::{Cache, PodState};
use schedc_core::embedded::Embedded;
use schedc_core::engine::{Decision, Engine};
use schedc_core::handle::Handle;
use schedc_core::profile::Profile;
use schedc_core::scheduler::Outcome;
use schedc_objects::testing;

const WORKER: &str = "
metadata: { name: NAME }
status: { allocatable: { cpu: '2', memory: 4Gi, pods: '10' } }";

const REPAIRED: &str = "
metadata: { name: NAME, labels: { example.com/maintenance: disk } }
status: { allocatable: { cpu: '8', memory: 16Gi, pods: '10' } }";

const TRAINING: &str = "
metadata: { name: NAME, uid: NAME, labels: { example.com/gang: training, example.com/gang-size: '3' } }
spec: { schedulerName: gang, containers: [{ name: c, image: i, resources: { requests: { cpu: '1' } } }] }";

const SINGLE: &str = "
metadata: { name: NAME, uid: NAME }
spec: { schedulerName: gang, containers: [{ name: c, image: i, resources: { requests: { cpu: '1' } } }] }";

/// Schedules pods one after the other on nodes, and tells what became of each, in that order.
fn outcomes(nodes: &[(&str, &str)], pods: &[(&str, &str)]) -> (Vec<String>, Embedded<Profiles>) {
    let mut cluster = Embedded::<Profiles>::new(7).unwrap();
    for (name, yaml) in nodes {
        let node = testing::node(&yaml.replace("NAME", name), cluster.interner());
        cluster.node(node);
    }
    for (name, yaml) in pods {
        let pod = testing::pod(&yaml.replace("NAME", name), cluster.interner());
        cluster.pod(pod);
    }
    let in_words = |outcome: Outcome| match &outcome.result {
        Ok(placed) => format!("{} on {}", outcome.pod.name, placed.node),
        Err(failure) => format!("{}: {}", outcome.pod.name, failure.message()),
    };
    let mut outcomes = cluster.run();
    if cluster.wait() {
        outcomes.extend(cluster.run());
    }
    (outcomes.into_iter().map(in_words).collect(), cluster)
}

#[test]
fn nodes_under_maintenance_stay_free() {
    let (placed, _) = outcomes(&[("broken", REPAIRED), ("whole", WORKER)], &[("a", SINGLE)]);
    assert_eq!(placed, ["a on whole"]);
    let (placed, _) = outcomes(&[("broken", REPAIRED)], &[("a", SINGLE)]);
    assert_eq!(
        placed,
        ["a: 0/1 nodes are available: 1 node(s) were under maintenance. no new claims to deallocate, preemption: 0/1 \
          nodes are available: 1 No preemption victims found for incoming pod., the gang is not complete"],
    );
}

#[test]
fn a_gang_is_bound_when_it_is_complete() {
    let pods = [("a", TRAINING), ("single", SINGLE), ("b", TRAINING), ("c", TRAINING)];
    let (mut placed, mut cluster) = outcomes(&[("one", WORKER), ("two", WORKER)], &pods);
    assert!(placed[0].starts_with("single on"), "only it need not wait: {placed:?}");
    placed.sort();
    let names: Vec<&str> = placed.iter().map(|text| text.split(" on ").next().unwrap()).collect();
    assert_eq!(names, ["a", "b", "c", "single"]);
    let events = cluster.take_events();
    let told: Vec<&str> = events.iter().map(|event| event.reason).filter(|reason| *reason != "Scheduled").collect();
    assert_eq!(told, ["GangBound"; 3]);
}

#[test]
fn an_incomplete_gang_gives_its_nodes_back_in_time() {
    let (placed, _) = outcomes(&[("one", WORKER)], &[("a", TRAINING), ("b", TRAINING)]);
    assert_eq!(placed[0], "a: 0/1 nodes are available: 1 rejected due to timeout after waiting 30s at plugin Gang.");
}

#[test]
fn a_gang_of_which_one_fits_nowhere_is_given_up() {
    let (placed, cluster) = outcomes(&[("one", WORKER)], &[("a", TRAINING), ("b", TRAINING), ("c", TRAINING)]);
    assert!(placed[0].starts_with("c: 0/1 nodes are available: 1 Insufficient cpu."), "{placed:?}");
    assert!(placed[1..].iter().all(|text| text.contains("a pod of the gang fits nowhere")), "{placed:?}");
    assert!(cluster.scheduler.cache.base.infos().iter().all(|info| info.pods.is_empty()));
}

#[test]
fn a_pipeline_can_be_asked_without_a_scheduler() {
    let mut engine = Engine::<gang::Pipeline>::new(&Handle::default()).unwrap();
    let mut cache = Cache::default();
    let node = testing::node(&WORKER.replace("NAME", "one"), &mut cache.base.interner);
    let node = cache.set_node(node);
    let first = Arc::new(testing::pod(&SINGLE.replace("NAME", "a"), &mut cache.base.interner));
    assert_eq!(engine.decide(&first, &mut cache, 0, |_| 0), Decision::Node(node));
    for name in ["b", "c"] {
        let pod = Arc::new(testing::pod(&SINGLE.replace("NAME", name), &mut cache.base.interner));
        let on = cache.base.interner.intern("one");
        cache.add_pod(pod, on, PodState::Bound);
    }
    assert!(matches!(engine.decide(&first, &mut cache, 0, |_| 0), Decision::Unschedulable(_)));
    assert_eq!(gang::Pipeline::INFO.plugins("permit"), [("Gang", None)]);
    assert_eq!(gang::args::GANG.patience_seconds, 30);
}
