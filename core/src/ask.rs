//! Whether the loops over nodes ask a plugin at all. What is the same for all nodes is asked once: there is a form of each
//! loop for what is then known, [`Idle`], as a constant.

use crate::extension_points::{FilterPlugin, PreFilterPlugin, PreScorePlugin, Skips};
use crate::plugin::Slot;

/// Which plugins are known to have nothing to say about a pod, of those that may have nothing to say.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub enum Idle {
    /// That is not known.
    Unknown,
    /// Those that most pods make skip ([`Skips::Usually`]).
    Usual,
    /// All of them.
    All,
}

impl Idle {
    /// What is known together with what another plugin says.
    #[inline(always)]
    pub fn and(self, other: Idle) -> Idle {
        self.min(other)
    }

    /// What is known if a plugin skips, or not.
    const fn after(skips: Skips, skip: bool) -> Idle {
        match skips {
            Skips::Sometimes if !skip => Idle::Usual,
            Skips::Usually if !skip => Idle::Unknown,
            _ => Idle::All,
        }
    }
}

/// Whether a plugin takes part, by what is known and else by what its state says.
#[inline(always)]
const fn takes_part(skips: Skips, skip: bool, idle: u8) -> bool {
    match skips {
        Skips::Never => true,
        Skips::Sometimes => !(idle >= Idle::All as u8 || skip),
        Skips::Usually => !(idle >= Idle::Usual as u8 || skip),
    }
}

/// Whether the plugin filters, if it has no PreFilter in the profile.
#[inline(always)]
pub const fn filter<P: FilterPlugin>(idle: u8) -> bool {
    !(P::IDLES && idle == Idle::All as u8)
}

/// Whether the plugin filters after its PreFilter.
#[inline(always)]
pub const fn filter_after<P: PreFilterPlugin>(pre_filter: &Slot<P::Cycle>, idle: u8) -> bool {
    takes_part(P::SKIPS, pre_filter.skip, idle)
}

/// Whether the plugin scores after its PreScore.
#[inline(always)]
pub const fn score_after<P: PreScorePlugin>(pre_score: &Slot<P::Cycle>, idle: u8) -> bool {
    takes_part(P::SKIPS, pre_score.skip, idle)
}

/// What is known of a filter that has no PreFilter in the profile.
#[inline(always)]
pub fn idle<P: FilterPlugin>(pod: &P::Pod) -> Idle {
    if !P::IDLES || P::is_idle(pod) { Idle::All } else { Idle::Usual }
}

/// Whether such a filter has something to say about the pod.
#[inline(always)]
pub fn has_say<P: FilterPlugin>(pod: &P::Pod) -> bool {
    !(P::IDLES && P::is_idle(pod))
}

/// What is known of a filter after its PreFilter.
#[inline(always)]
pub const fn idle_after_pre_filter<P: PreFilterPlugin>(pre_filter: &Slot<P::Cycle>) -> Idle {
    Idle::after(P::SKIPS, pre_filter.skip)
}

/// What is known of a score after its PreScore.
#[inline(always)]
pub const fn idle_after_pre_score<P: PreScorePlugin>(pre_score: &Slot<P::Cycle>) -> Idle {
    Idle::after(P::SKIPS, pre_score.skip)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_known_and_what_is_asked_agree() {
        for skips in [Skips::Never, Skips::Sometimes, Skips::Usually] {
            for skip in [false, true] {
                for idle in [Idle::Unknown, Idle::Usual, Idle::All] {
                    // The form of the loop is the least that any plugin says.
                    if idle.and(Idle::after(skips, skip)) == idle {
                        let expected = skips == Skips::Never || !skip;
                        assert_eq!(takes_part(skips, skip, idle as u8), expected, "{skips:?} {skip} {idle:?}");
                    }
                }
            }
        }
    }
}
