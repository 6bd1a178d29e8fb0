//! Retries of pods at a time set by a plugin.

use std::collections::BTreeSet;

use crate::model::Uid;
use crate::model::map::Map;

/// At most one time for each pod: `set` replaces an earlier one.
#[derive(Default)]
pub(super) struct TimedActivations {
    by_time: BTreeSet<(i64, Uid)>,
    by_pod: Map<Uid, i64>,
}

impl TimedActivations {
    pub(super) fn set(&mut self, pod: Uid, time: i64) {
        self.forget(&pod);
        self.by_time.insert((time, pod.clone()));
        self.by_pod.insert(pod, time);
    }
    pub(super) fn forget(&mut self, pod: &Uid) {
        if let Some(time) = self.by_pod.remove(pod) {
            self.by_time.remove(&(time, pod.clone()));
        }
    }
    pub(super) fn is_set(&self, pod: &Uid) -> bool {
        self.by_pod.contains_key(pod)
    }
    /// Returns the next time.
    pub(super) fn next(&self) -> Option<i64> {
        self.by_time.first().map(|(time, _)| *time)
    }
    /// Removes and returns a pod whose time has come.
    pub(super) fn take(&mut self, now: i64) -> Option<Uid> {
        self.next().filter(|time| *time <= now)?;
        let (_, pod) = self.by_time.pop_first()?;
        self.by_pod.remove(&pod);
        Some(pod)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_last_activation_of_a_pod_counts() {
        let pod = |name: &str| Uid(name.into());
        let mut timed_activations = TimedActivations::default();
        for (name, time) in [("a", 5), ("b", 3), ("a", 9), ("c", 4)] {
            timed_activations.set(pod(name), time);
        }
        timed_activations.forget(&pod("c"));
        timed_activations.forget(&pod("d"));
        assert_eq!(
            (timed_activations.next(), timed_activations.is_set(&pod("a")), timed_activations.is_set(&pod("c"))),
            (Some(3), true, false)
        );
        assert_eq!(
            (timed_activations.take(2), timed_activations.take(5), timed_activations.take(5)),
            (None, Some(pod("b")), None)
        );
        assert_eq!((timed_activations.take(9), timed_activations.next()), (Some(pod("a")), None));
    }
}
