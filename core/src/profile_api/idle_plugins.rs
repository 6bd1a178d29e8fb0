//! Idle plugins: those whose Filter or Score need not run for a pod, on any node. The loops over nodes do not check
//! this for each node: each loop is compiled in one variant for each value of [`IdlePlugins`].

use crate::plugin_api::extension_points::SkipFrequency;
use crate::plugin_api::incremental::DependsOn;

/// Which plugins are known to be idle for a pod, among those that can be idle.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub enum IdlePlugins {
    /// None is known to be idle.
    Unknown,
    /// The plugins that most pods skip ([`SkipFrequency::Usually`]).
    Usual,
    /// All plugins that can be idle.
    All,
}

impl IdlePlugins {
    /// Combines the knowledge about two plugins.
    #[inline(always)]
    pub fn and(self, other: IdlePlugins) -> IdlePlugins {
        self.min(other)
    }

    /// Returns the knowledge about a plugin after its PreFilter or PreScore; `skip` is whether it skipped.
    #[inline(always)]
    pub const fn after(skips: SkipFrequency, skip: bool) -> IdlePlugins {
        match skips {
            SkipFrequency::Sometimes if !skip => IdlePlugins::Usual,
            SkipFrequency::Usually if !skip => IdlePlugins::Unknown,
            _ => IdlePlugins::All,
        }
    }

    /// Returns the knowledge about a Filter without PreFilter.
    #[inline(always)]
    pub const fn of_filter(skips: SkipFrequency, is_idle: bool) -> IdlePlugins {
        match skips {
            SkipFrequency::Usually => IdlePlugins::after(skips, is_idle),
            SkipFrequency::Never | SkipFrequency::Sometimes => IdlePlugins::All,
        }
    }
}

/// Returns whether a plugin's Filter or Score runs. `idle` is the variant of the loop, as an [`IdlePlugins`]. If this
/// variant does not imply that the plugin is idle, `skip` decides.
#[inline(always)]
pub const fn runs(skips: SkipFrequency, skip: bool, idle: u8) -> bool {
    match skips {
        SkipFrequency::Never => true,
        SkipFrequency::Sometimes => !(idle >= IdlePlugins::All as u8 || skip),
        SkipFrequency::Usually => !(idle >= IdlePlugins::Usual as u8 || skip),
    }
}

/// Returns whether a Filter without PreFilter runs. An idle one passes on every node and need not run.
#[inline(always)]
pub const fn filter_runs(skips: SkipFrequency, idle: u8) -> bool {
    !(matches!(skips, SkipFrequency::Usually) && idle >= IdlePlugins::Usual as u8)
}

/// Returns whether a plugin may have to update its part of a cached answer. `are_idle` is whether
/// [`is_idle_or_not_usual`] is true for all plugins.
#[inline(always)]
pub const fn may_update(skips: SkipFrequency, are_idle: bool) -> bool {
    !(are_idle && matches!(skips, SkipFrequency::Usually))
}

/// Returns whether a plugin that most pods skip is idle in a cached answer: it skips, and no change of the cluster can
/// affect its state. For all other plugins, the result is true.
#[inline(always)]
pub const fn is_idle_or_not_usual(skips: SkipFrequency, skip: bool, depends: DependsOn) -> bool {
    !matches!(skips, SkipFrequency::Usually) || skip && !depends.needs_update()
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
                        assert_eq!(runs(skips, skip, idle as u8), expected, "{skips:?} {skip} {idle:?}");
                    }
                }
            }
        }
    }
}
