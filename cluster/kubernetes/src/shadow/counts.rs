//! How often we agreed.

use std::sync::{Arc, Mutex, PoisonError};

use serde::Serialize;

use crate::metrics::exposition::Exposition;
use crate::metrics::family::{Family, Stability};

/// How often we agreed, as a metric. kube-scheduler has none like it.
pub static DECISIONS: Family = Family::counter(
    "scheduler_shadow_decisions_total",
    &["profile", "result"],
    Stability::None,
    "Decisions of kube-scheduler that were judged, by profile and by what came of it.",
);

/// What was counted of a profile.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ProfileCounts {
    /// Pods that were bound to one of the nodes that we would have drawn one of.
    pub same_best: u64,
    /// Pods that were bound to a node of a lower total.
    pub lower_score: u64,
    /// The most that a total was lower by.
    pub largest_difference: i64,
    /// Pods that were bound to a node that is not feasible for us.
    pub infeasible: u64,
    /// Pods that fit nowhere for both, in the same words.
    pub same_message: u64,
    /// Pods that fit nowhere for both, in other words.
    pub other_message: u64,
    /// Pods that fit nowhere for kube-scheduler, and somewhere for us.
    pub fits: u64,
    /// Pods that were bound before all of the cluster was known here.
    pub not_judged: u64,
}

impl ProfileCounts {
    /// How many pods were bound and judged.
    pub fn bound(&self) -> u64 {
        self.same_best + self.lower_score + self.infeasible
    }

    /// Each count with its name as a label's value.
    fn results(&self) -> [(&'static str, u64); 7] {
        [
            ("same_best", self.same_best),
            ("lower_score", self.lower_score),
            ("infeasible", self.infeasible),
            ("same_message", self.same_message),
            ("other_message", self.other_message),
            ("fits", self.fits),
            ("not_judged", self.not_judged),
        ]
    }

    /// How many pods were said to fit nowhere.
    pub fn unschedulable(&self) -> u64 {
        self.same_message + self.other_message + self.fits
    }
}

/// The counts of all profiles. Clones are the same.
#[derive(Clone, Debug, Default)]
pub struct ShadowCounts(Arc<Mutex<Vec<ProfileCounts>>>);

impl ShadowCounts {
    /// The counts of each profile, by its index. Profiles of which nothing was counted may be missing at the end.
    pub fn counts(&self) -> Vec<ProfileCounts> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub(super) fn count(&self, profile: usize, count: impl FnOnce(&mut ProfileCounts)) {
        let mut profiles = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if profiles.len() <= profile {
            profiles.resize(profile + 1, ProfileCounts::default());
        }
        count(&mut profiles[profile]);
    }

    /// Writes the metric, of profiles of these scheduler names.
    pub(crate) fn write(&self, profiles: &[&str], exposition: &mut Exposition<'_>) {
        for (profile, counts) in profiles.iter().zip(self.counts()) {
            for (result, count) in counts.results() {
                exposition.number(&DECISIONS, &[profile, result], count as f64);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn counts_are_written_as_a_metric() {
        let (shadow_counts, disabled) = (ShadowCounts::default(), BTreeSet::new());
        shadow_counts.count(1, |counts| counts.same_best += 3);
        let mut exposition = Exposition::new(&disabled);
        shadow_counts.write(&["a", "b"], &mut exposition);
        let text = exposition.text();
        assert!(text.contains("# TYPE scheduler_shadow_decisions_total counter\n"), "{text}");
        assert!(text.contains("scheduler_shadow_decisions_total{profile=\"b\",result=\"same_best\"} 3\n"), "{text}");
        assert!(text.contains("scheduler_shadow_decisions_total{profile=\"a\",result=\"infeasible\"} 0\n"), "{text}");
    }
}
