//! Idle plugins in the loops over nodes. Conditions that are equal for all nodes are checked once. Each loop is
//! compiled in one variant for each value of [`IdlePlugins`].

use crate::plugin_api::extension_points::{FilterPlugin, PreFilterPlugin, PreScorePlugin, SkipFrequency};
use crate::plugin_api::plugin::CycleSlot;

/// Which plugins are known to be idle for a pod, among those that can be idle.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub enum IdlePlugins {
    /// None is known to be idle.
    Unknown,
    /// Those that most pods skip ([`SkipFrequency::Usually`]).
    Usual,
    /// All of them.
    All,
}

impl IdlePlugins {
    /// Combines the knowledge about two plugins.
    #[inline(always)]
    pub fn and(self, other: IdlePlugins) -> IdlePlugins {
        self.min(other)
    }

    /// Returns the knowledge about a plugin that skips or not.
    const fn after(skips: SkipFrequency, skip: bool) -> IdlePlugins {
        match skips {
            SkipFrequency::Sometimes if !skip => IdlePlugins::Usual,
            SkipFrequency::Usually if !skip => IdlePlugins::Unknown,
            _ => IdlePlugins::All,
        }
    }
}

/// Returns whether a plugin runs, by `idle` where it decides, otherwise by the plugin's state.
#[inline(always)]
const fn takes_part(skips: SkipFrequency, skip: bool, idle: u8) -> bool {
    match skips {
        SkipFrequency::Never => true,
        SkipFrequency::Sometimes => !(idle >= IdlePlugins::All as u8 || skip),
        SkipFrequency::Usually => !(idle >= IdlePlugins::Usual as u8 || skip),
    }
}

/// Returns whether the plugin's Filter runs, if it has no PreFilter in the profile.
#[inline(always)]
pub const fn filter_runs<P: FilterPlugin>(idle: u8) -> bool {
    !(P::CAN_BE_IDLE && idle == IdlePlugins::All as u8)
}

/// Returns whether the plugin's Filter runs after its PreFilter.
#[inline(always)]
pub const fn filter_runs_after_pre_filter<P: PreFilterPlugin>(pre_filter: &CycleSlot<P::Cycle>, idle: u8) -> bool {
    takes_part(P::SKIPS, pre_filter.skip, idle)
}

/// Returns whether the plugin's Score runs after its PreScore.
#[inline(always)]
pub const fn score_runs_after_pre_score<P: PreScorePlugin>(pre_score: &CycleSlot<P::Cycle>, idle: u8) -> bool {
    takes_part(P::SKIPS, pre_score.skip, idle)
}

/// Returns the knowledge about a filter without PreFilter in the profile.
#[inline(always)]
pub fn idle_filter<P: FilterPlugin>(pod: &P::Pod) -> IdlePlugins {
    if !P::CAN_BE_IDLE || P::is_idle(pod) { IdlePlugins::All } else { IdlePlugins::Usual }
}

/// Returns whether such a filter is active for the pod.
#[inline(always)]
pub fn is_filter_active<P: FilterPlugin>(pod: &P::Pod) -> bool {
    !(P::CAN_BE_IDLE && P::is_idle(pod))
}

/// Returns the knowledge about a filter after its PreFilter.
#[inline(always)]
pub const fn idle_after_pre_filter<P: PreFilterPlugin>(pre_filter: &CycleSlot<P::Cycle>) -> IdlePlugins {
    IdlePlugins::after(P::SKIPS, pre_filter.skip)
}

/// Returns the knowledge about a score after its PreScore.
#[inline(always)]
pub const fn idle_after_pre_score<P: PreScorePlugin>(pre_score: &CycleSlot<P::Cycle>) -> IdlePlugins {
    IdlePlugins::after(P::SKIPS, pre_score.skip)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loops_skip_only_plugins_known_to_be_idle() {
        for skips in [SkipFrequency::Never, SkipFrequency::Sometimes, SkipFrequency::Usually] {
            for skip in [false, true] {
                for idle in [IdlePlugins::Unknown, IdlePlugins::Usual, IdlePlugins::All] {
                    // The plugin that is least idle determines the variant of the loop.
                    if idle.and(IdlePlugins::after(skips, skip)) == idle {
                        let expected = skips == SkipFrequency::Never || !skip;
                        assert_eq!(takes_part(skips, skip, idle as u8), expected, "{skips:?} {skip} {idle:?}");
                    }
                }
            }
        }
    }
}
