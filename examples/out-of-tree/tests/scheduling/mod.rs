//! The scheduler of this crate in a minimal cluster.

#![allow(clippy::unwrap_used, reason = "a test that cannot continue panics")]

use std::sync::Arc;

use out_of_tree::scheduler::{Profiles, maintenance};
use schedc_core::cache::{Cache, PodState};
use schedc_core::engine::{Decision, Engine};
use schedc_core::handle::Handle;
use schedc_core::minimal_cluster::MinimalCluster;
use schedc_core::profile::Profile;
use schedc_core::scheduler::Outcome;
use schedc_objects::testing;

const WORKER: &str = "
metadata: { name: NAME }
status: { allocatable: { cpu: '2', memory: 4Gi, pods: '10' } }";

const REPAIRED: &str = "
metadata: { name: NAME, labels: { example.com/maintenance: disk } }
status: { allocatable: { cpu: '8', memory: 16Gi, pods: '10' } }";

const SINGLE: &str = "
metadata: { name: NAME, uid: NAME }
spec: { schedulerName: maintenance, containers: [{ name: c, image: i, resources: { requests: { cpu: '1' } } }] }";

/// Schedules pods one after the other, and returns their outcomes in that order.
fn outcomes(nodes: &[(&str, &str)], pods: &[(&str, &str)]) -> Vec<String> {
    let mut cluster = MinimalCluster::<Profiles>::new(7).unwrap();
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
    cluster.run().into_iter().map(in_words).collect()
}

#[test]
fn nodes_under_maintenance_stay_free() {
    assert_eq!(outcomes(&[("broken", REPAIRED), ("whole", WORKER)], &[("a", SINGLE)]), ["a on whole"]);
    assert_eq!(
        outcomes(&[("broken", REPAIRED)], &[("a", SINGLE)]),
        ["a: 0/1 nodes are available: 1 node(s) were under maintenance. no new claims to deallocate, preemption: 0/1 \
          nodes are available: 1 No preemption victims found for incoming pod."],
    );
}

#[test]
fn a_pipeline_works_without_a_scheduler() {
    let mut engine = Engine::<maintenance::Pipeline>::new(&Handle::default()).unwrap();
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
    let filters = maintenance::Pipeline::INFO.plugins("filter");
    assert!(filters.contains(&("Maintenance", None)), "{filters:?}");
}
