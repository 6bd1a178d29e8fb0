//! Sets of the plugins of a profile.

use std::fmt;

use super::PluginEvents;

/// Plugins of a profile, by their places in [`Profile::plugins`](crate::profile::Profile::plugins) or, where documented,
/// by their places at an extension point.
#[derive(Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct PluginSet(u128);

impl PluginSet {
    /// Maximum number of plugins of a profile.
    pub const MAX: usize = 128;
    /// No plugin.
    pub const EMPTY: PluginSet = PluginSet(0);

    /// Returns the plugins with these names; names that the profile does not have are ignored.
    pub fn of<'a>(plugins: &[PluginEvents], names: impl IntoIterator<Item = &'a str>) -> PluginSet {
        let mut set = PluginSet::EMPTY;
        for name in names {
            if let Some(at) = plugins.iter().position(|plugin| plugin.name == name) {
                set.insert(at);
            }
        }
        set
    }
    /// Adds the plugin at a place. A place is less than 128, because a profile with more than 128 plugins does not
    /// compile.
    pub fn insert(&mut self, at: usize) {
        debug_assert!(at < 128);
        self.0 |= 1 << (at & 127);
    }
    /// Returns whether the set has the plugin at a place.
    pub fn contains(self, at: usize) -> bool {
        at < 128 && self.0 >> at & 1 == 1
    }
    /// Returns whether the set is empty.
    pub fn is_empty(self) -> bool {
        self.0 == 0
    }
    /// Returns the plugins in both sets.
    pub fn and(self, other: PluginSet) -> PluginSet {
        PluginSet(self.0 & other.0)
    }
    /// Returns the plugins in either set.
    pub fn or(self, other: PluginSet) -> PluginSet {
        PluginSet(self.0 | other.0)
    }
    /// Returns the plugins that are not in the other set.
    pub fn without(self, other: PluginSet) -> PluginSet {
        PluginSet(self.0 & !other.0)
    }
    /// Returns the places, in order.
    pub fn iter(self) -> impl Iterator<Item = usize> {
        let mut remaining = self.0;
        std::iter::from_fn(move || {
            let at = remaining.trailing_zeros() as usize;
            (remaining != 0).then(|| {
                remaining &= remaining - 1;
                at
            })
        })
    }
}

impl fmt::Debug for PluginSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.iter()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_set_has_the_inserted_places() {
        let mut set = PluginSet::default();
        for at in [3, 127, 64, 3] {
            set.insert(at);
        }
        assert_eq!(set.iter().collect::<Vec<_>>(), [3, 64, 127]);
        assert!(set.contains(64) && !set.contains(65) && !set.contains(128));
        let mut other = PluginSet::EMPTY;
        other.insert(64);
        other.insert(0);
        assert_eq!(set.and(other).iter().collect::<Vec<_>>(), [64]);
        assert_eq!(format!("{:?}", set.or(other)), "{0, 3, 64, 127}");
    }
}
