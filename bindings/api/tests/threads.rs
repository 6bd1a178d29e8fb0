//! Independent clusters in threads.

use std::thread;

use schedc_api::{Cluster, Defaults, Evaluator, Profiles};

use crate::{default_profile, node, pod};

fn is_send<T: Send>() {}
fn is_sync<T: Sync>() {}

#[test]
fn clusters_move_between_threads_and_profiles_are_shared() {
    is_send::<Cluster>();
    is_send::<Evaluator>();
    is_send::<Profiles>();
    is_sync::<Profiles>();
}

#[test]
fn ten_threads_with_their_own_clusters_do_not_affect_each_other() {
    let profiles = default_profile();
    let pods: Vec<usize> = (1..=10).collect();
    thread::scope(|scope| {
        let threads: Vec<_> = pods
            .iter()
            .map(|&count| {
                let profiles = &profiles;
                scope.spawn(move || {
                    let mut cluster = Cluster::new(profiles, "default").unwrap();
                    cluster.apply(&node("a", 20, "").replace("'10'", "'100'"), Defaults::AsGiven).unwrap();
                    for n in 0..count {
                        let name = format!("p{n}");
                        cluster.apply(&pod(&name, 2, ""), Defaults::AsGiven).unwrap();
                        assert_eq!(cluster.schedule(&name, "a").unwrap().code, "Success");
                    }
                    cluster.apply(&pod("last", 20 - 2 * count as u32 + 1, ""), Defaults::AsGiven).unwrap();
                    (count, cluster.check("last", "a").unwrap().reasons.join(","))
                })
            })
            .collect();
        for thread in threads {
            let (count, reasons) = thread.join().unwrap();
            assert_eq!(reasons, "Insufficient cpu", "{count} pods");
        }
    });
}
