//! Shared parts of the benchmarks: a generated cluster, pods, and the implementations that must agree.

pub(crate) mod by_hand;
mod cluster;
mod implementation;
mod pods;

use schedc::pipelines::{binpack, default, edge};
use schedc_core::model::PodSpec;

pub(crate) use cluster::cluster;
use implementation::{ByHand, Generated, Interpreted};
pub(crate) use implementation::{Cluster, Implementation};
pub(crate) use pods::{KINDS, pods};

/// Names of the implementations, in the order of [`implementations`].
pub(crate) const IMPLEMENTATIONS: [&str; 4] = ["generated", "by hand", "by hand, fused", "interpreted"];
/// Profiles of the comparison.
pub(crate) const PROFILES: [&str; 3] = ["default", "edge", "binpack"];

/// Creates a cluster and one pod of each kind.
pub(crate) fn setup(nodes: usize) -> (Cluster, Vec<PodSpec>) {
    let mut cluster = cluster(nodes);
    let pods = pods(&mut cluster.base.interner).into();
    (cluster, pods)
}

/// Returns the implementations of a profile.
pub(crate) fn implementations(
    profile: &str,
    cluster: &mut Cluster,
    pods: &[PodSpec],
) -> [Box<dyn Implementation>; IMPLEMENTATIONS.len()] {
    let generated: Box<dyn Implementation> = match profile {
        "default" => Box::new(Generated::<default::Pipeline>::new(pods, cluster)),
        "edge" => Box::new(Generated::<edge::Pipeline>::new(pods, cluster)),
        "binpack" => Box::new(Generated::<binpack::Pipeline>::new(pods, cluster)),
        other => unreachable!("profile {other} is not compared"),
    };
    let by_hand = ByHand::new(by_hand::evaluate::<false>(profile), pods, cluster);
    let fused = ByHand::new(by_hand::evaluate::<true>(profile), pods, cluster);
    let interpreted = Interpreted::new(profile, cluster.base.count());
    [generated, Box::new(by_hand), Box::new(fused), Box::new(interpreted)]
}

/// Asserts that all implementations return the same feasible nodes and totals, for every profile and kind of pod.
///
/// # Panics
/// If two implementations differ.
pub(crate) fn assert_agreement(nodes: usize) {
    let (mut cluster, pods) = setup(nodes);
    for profile in PROFILES {
        let mut implementations = implementations(profile, &mut cluster, &pods);
        for (kind, name) in KINDS.iter().enumerate() {
            let [expected, others @ ..] = implementations.each_mut().map(|implementation| {
                let best = implementation.pass(kind, &cluster);
                (best, implementation.totals())
            });
            assert!(!expected.1.is_empty(), "no node is feasible for {name}");
            assert!(expected.1.len() < nodes, "no node is infeasible for {name}");
            for (implementation, other) in IMPLEMENTATIONS[1..].iter().zip(others) {
                assert!(
                    other == expected,
                    "{implementation} and generated disagree: profile {profile}, {name}, {nodes} nodes"
                );
            }
        }
    }
}
