//! Whether the loops over nodes ask a plugin at all. What is the same for all nodes is asked once: there is a form of each
//! loop for what is then known, [`IdlePlugins`], as a constant.

use crate::extension_points::{FilterPlugin, PreFilterPlugin, PreScorePlugin, SkipFrequency};
use crate::plugin::CycleSlot;

/// Which plugins are known to have nothing to say about a pod, of those that may have nothing to say.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub enum IdlePlugins {
    /// That is not known.
    Unknown,
    /// Those that most pods make skip ([`SkipFrequency::Usually`]).
    Usual,
    /// All of them.
    All,
}

impl IdlePlugins {
    /// What is known together with what another plugin says.
    #[inline(always)]
    pub fn and(self, other: IdlePlugins) -> IdlePlugins {
        self.min(other)
    }

    /// What is known if a plugin skips, or not.
    const fn after(skips: SkipFrequency, skip: bool) -> IdlePlugins {
        match skips {
            SkipFrequency::Sometimes if !skip => IdlePlugins::Usual,
            SkipFrequency::Usually if !skip => IdlePlugins::Unknown,
            _ => IdlePlugins::All,
        }
    }
}

/// Whether a plugin takes part, by what is known and else by what its state says.
#[inline(always)]
const fn takes_part(skips: SkipFrequency, skip: bool, idle: u8) -> bool {
    match skips {
        SkipFrequency::Never => true,
        SkipFrequency::Sometimes => !(idle >= IdlePlugins::All as u8 || skip),
        SkipFrequency::Usually => !(idle >= IdlePlugins::Usual as u8 || skip),
    }
}

/// Whether the plugin filters, if it has no PreFilter in the profile.
#[inline(always)]
pub const fn filter_runs<P: FilterPlugin>(idle: u8) -> bool {
    !(P::CAN_BE_IDLE && idle == IdlePlugins::All as u8)
}

/// Whether the plugin filters after its PreFilter.
#[inline(always)]
pub const fn filter_runs_after_pre_filter<P: PreFilterPlugin>(pre_filter: &CycleSlot<P::Cycle>, idle: u8) -> bool {
    takes_part(P::SKIPS, pre_filter.skip, idle)
}

/// Whether the plugin scores after its PreScore.
#[inline(always)]
pub const fn score_runs_after_pre_score<P: PreScorePlugin>(pre_score: &CycleSlot<P::Cycle>, idle: u8) -> bool {
    takes_part(P::SKIPS, pre_score.skip, idle)
}

/// What is known of a filter that has no PreFilter in the profile.
#[inline(always)]
pub fn idle_filter<P: FilterPlugin>(pod: &P::Pod) -> IdlePlugins {
    if !P::CAN_BE_IDLE || P::is_idle(pod) { IdlePlugins::All } else { IdlePlugins::Usual }
}

/// Whether such a filter has something to say about the pod.
#[inline(always)]
pub fn is_filter_active<P: FilterPlugin>(pod: &P::Pod) -> bool {
    !(P::CAN_BE_IDLE && P::is_idle(pod))
}

/// What is known of a filter after its PreFilter.
#[inline(always)]
pub const fn idle_after_pre_filter<P: PreFilterPlugin>(pre_filter: &CycleSlot<P::Cycle>) -> IdlePlugins {
    IdlePlugins::after(P::SKIPS, pre_filter.skip)
}

/// What is known of a score after its PreScore.
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
                    // The form of the loop is the least that any plugin says.
                    if idle.and(IdlePlugins::after(skips, skip)) == idle {
                        let expected = skips == SkipFrequency::Never || !skip;
                        assert_eq!(takes_part(skips, skip, idle as u8), expected, "{skips:?} {skip} {idle:?}");
                    }
                }
            }
        }
    }
}
