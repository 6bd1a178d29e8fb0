//! Whether the loops over nodes ask a plugin at all. What is the same for all nodes is asked once: `idle` says that every
//! plugin that can have nothing to say about the pod has nothing to say, and is a constant of the loop.

use crate::extension_points::{FilterPlugin, PreFilterPlugin, PreScorePlugin};
use crate::plugin::Slot;

/// Whether the plugin filters, if it has no PreFilter in the profile.
#[inline(always)]
pub const fn filter<P: FilterPlugin>(idle: bool) -> bool {
    !(P::IDLES && idle)
}

/// Whether the plugin filters after its PreFilter.
#[inline(always)]
pub const fn filter_after<P: PreFilterPlugin>(pre_filter: &Slot<P::Cycle>, idle: bool) -> bool {
    !(P::SKIPS && (idle || pre_filter.skip))
}

/// Whether the plugin scores after its PreScore.
#[inline(always)]
pub const fn score_after<P: PreScorePlugin>(pre_score: &Slot<P::Cycle>, idle: bool) -> bool {
    !(P::SKIPS && (idle || pre_score.skip))
}

/// Whether the plugin has nothing to say about the pod, or always has: it does not stand against an idle loop.
#[inline(always)]
pub fn is_idle<P: FilterPlugin>(pod: &P::Pod) -> bool {
    !P::IDLES || P::is_idle(pod)
}

/// The same for a plugin with PreFilter.
#[inline(always)]
pub const fn is_idle_after_pre_filter<P: PreFilterPlugin>(pre_filter: &Slot<P::Cycle>) -> bool {
    !P::SKIPS || pre_filter.skip
}

/// The same for a plugin with PreScore.
#[inline(always)]
pub const fn is_idle_after_pre_score<P: PreScorePlugin>(pre_score: &Slot<P::Cycle>) -> bool {
    !P::SKIPS || pre_score.skip
}
