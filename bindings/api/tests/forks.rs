//! Forks over random changes.

use schedc_api::{Cluster, Defaults};
use schedc_core::random::Random;

use crate::{default_profile, node, pod};

/// Makes a random change: objects are added, changed and deleted, and pods scheduled and unscheduled.
fn change(cluster: &mut Cluster, random: &mut Random) {
    let name = |prefix: &str, random: &mut Random| format!("{prefix}{}", random.below(5));
    let (node_name, pod_name) = (name("n", random), name("p", random));
    // Unknown names are errors, and change nothing.
    match random.below(8) {
        0 => drop(cluster.apply(&node(&node_name, 2 + random.below(3) as u32, ""), Defaults::AsGiven)),
        1 => drop(cluster.apply(&pod(&pod_name, random.below(3) as u32, ""), Defaults::AsGiven)),
        2 => {
            let bound = pod(&pod_name, 1, &format!("nodeName: {node_name}"));
            drop(cluster.apply(&bound, Defaults::AsGiven));
        }
        3 => drop(cluster.delete("Pod", "", &pod_name)),
        4 => drop(cluster.delete("Node", "", &node_name)),
        5 => drop(cluster.unschedule(&pod_name)),
        6 => drop(cluster.schedule(&pod_name, &node_name)),
        _ => drop(cluster.schedule_on_any::<&str>(&pod_name, None)),
    }
}

/// Returns the nodes and pods of a cluster, and the decision about each pod.
fn answers(cluster: &mut Cluster) -> Vec<String> {
    let mut answers = vec![format!("{:?} {:?}", cluster.nodes(), cluster.pods())];
    for pod in cluster.pods().into_keys() {
        answers.push(format!("{:?}", cluster.decide(&pod).unwrap()));
    }
    answers
}

#[test]
fn a_reverted_fork_leaves_every_answer_unchanged() {
    for seed in 0..40 {
        let mut random = Random::new(seed);
        let mut cluster = Cluster::new(&default_profile(), "default").unwrap();
        (0..20).for_each(|_| change(&mut cluster, &mut random));
        let before = answers(&mut cluster);
        cluster.fork();
        (0..10).for_each(|_| change(&mut cluster, &mut random));
        let within = answers(&mut cluster);
        cluster.fork();
        (0..10).for_each(|_| change(&mut cluster, &mut random));
        cluster.revert();
        assert_eq!(answers(&mut cluster), within, "seed {seed}");
        cluster.revert();
        assert_eq!(answers(&mut cluster), before, "seed {seed}");
        assert_eq!(cluster.forks(), 0);
    }
}

#[test]
fn a_committed_fork_equals_changes_without_one() {
    for seed in 0..20 {
        let [mut forked, mut direct] = [(); 2].map(|()| Cluster::new(&default_profile(), "default").unwrap());
        let [mut forked_random, mut direct_random] = [(); 2].map(|()| Random::new(seed));
        forked.fork();
        (0..20).for_each(|_| change(&mut forked, &mut forked_random));
        forked.commit();
        (0..20).for_each(|_| change(&mut direct, &mut direct_random));
        assert_eq!(answers(&mut forked), answers(&mut direct), "seed {seed}");
    }
}
