//! Agreement with kube-scheduler, as a metric.

use super::exposition::Exposition;
use super::table::SHADOW_DECISIONS;
use crate::shadow::ShadowCounts;

/// Writes the counts for profiles with these scheduler names.
pub(super) fn write(shadow_counts: &ShadowCounts, profiles: &[&str], exposition: &mut Exposition<'_>) {
    for (profile, counts) in profiles.iter().zip(shadow_counts.counts()) {
        for (result, count) in counts.results() {
            exposition.number(&SHADOW_DECISIONS, &[profile, result], count as f64);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn counts_are_written_by_profile_and_result() {
        let (shadow_counts, disabled) = (ShadowCounts::default(), BTreeSet::new());
        shadow_counts.count(1, |counts| counts.same_best += 3);
        let mut exposition = Exposition::new(&disabled);
        write(&shadow_counts, &["a", "b"], &mut exposition);
        let text = exposition.text();
        assert!(text.contains("# TYPE scheduler_shadow_decisions_total counter\n"), "{text}");
        assert!(text.contains("scheduler_shadow_decisions_total{profile=\"b\",result=\"same_best\"} 3\n"), "{text}");
        assert!(text.contains("scheduler_shadow_decisions_total{profile=\"a\",result=\"infeasible\"} 0\n"), "{text}");
    }
}
