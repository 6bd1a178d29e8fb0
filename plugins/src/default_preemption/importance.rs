//! Order of pods by importance.

use std::cmp::Reverse;
use std::sync::Arc;

use schedc_core::model::Pod;

/// Returns the start time of a pod, or `now` if it has not started (`GetPodStartTime`).
pub(super) fn start_time(pod: &Pod, now: i64) -> i64 {
    pod.started.unwrap_or(now)
}

/// Sorts pods by descending importance (`MoreImportantPod`): by priority, then by running time. Equal pods
/// keep their order, except pods that have not started: their order is reversed.
pub(super) fn sort_by_importance(pods: &mut [&Arc<Pod>], now: i64) {
    pods.sort_by_key(|pod| (Reverse(pod.spec.priority), start_time(pod, now)));
    // As the start time of a pod that has not started, kube-scheduler reads the clock. Of two such pods, it first reads
    // it for the one that is later in the list. Therefore this pod always seems slightly older, and precedes the other
    // one.
    let start_now =
        |a: &&Arc<Pod>, b: &&Arc<Pod>| a.started.is_none() && b.started.is_none() && a.spec.priority == b.spec.priority;
    pods.chunk_by_mut(start_now).for_each(<[_]>::reverse);
}

#[cfg(test)]
mod tests {
    use schedc_core::intern::Interner;
    use schedc_objects::testing::pod;

    use super::*;

    #[test]
    fn pods_are_sorted_by_priority_and_start_time() {
        let mut interner = Interner::default();
        let minute = |minute: i64| (1_767_225_600 + 60 * minute) * 1_000_000_000;
        let mut check = |pods: &[(&str, i32, &str)], now: i64, expected: &str| {
            let pods: Vec<Arc<Pod>> = pods
                .iter()
                .map(|(name, priority, minute)| {
                    let started = match *minute {
                        "" => String::new(),
                        minute => format!("startTime: '2026-01-01T00:{minute}:00Z'"),
                    };
                    let yaml = format!(
                        "{{metadata: {{name: {name}}}, spec: {{priority: {priority}}}, status: {{{started}}}}}"
                    );
                    Arc::new(pod(&yaml, &mut interner))
                })
                .collect();
            let mut pods: Vec<&Arc<Pod>> = pods.iter().collect();
            sort_by_importance(&mut pods, now);
            assert_eq!(pods.iter().map(|pod| &*pod.name).collect::<String>(), expected);
        };
        check(&[("a", 1, "05"), ("b", 2, "05"), ("c", -1, "05")], i64::MAX, "bac");
        check(&[("a", 1, "05"), ("b", 1, "03"), ("c", 1, "04")], i64::MAX, "bca");
        check(&[("a", 1, "05"), ("b", 1, "05"), ("c", 1, "05")], i64::MAX, "abc");
        check(&[("a", 1, ""), ("b", 1, "05"), ("c", 0, "01")], i64::MAX, "bac");
        check(&[("a", 1, ""), ("b", 1, "05")], minute(4), "ab");
        check(&[("a", 1, ""), ("b", 1, "05")], minute(6), "ba");
        check(
            &[("a", 1, ""), ("b", 1, "05"), ("c", 1, ""), ("d", 2, ""), ("e", 2, ""), ("f", 1, "")],
            i64::MAX,
            "edbfca",
        );
    }
}
