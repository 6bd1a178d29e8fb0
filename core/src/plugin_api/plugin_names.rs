//! Sets of plugin names.

use std::ops::Deref;

use smallvec::SmallVec;

/// A set of plugin names, sorted. Usual sets need no allocation.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct PluginNames(SmallVec<[&'static str; 4]>);

impl PluginNames {
    /// Inserts a name. An empty name is ignored: it stands for the framework, which is not a plugin.
    pub fn insert(&mut self, name: &'static str) {
        if let (false, Err(at)) = (name.is_empty(), self.0.binary_search(&name)) {
            self.0.insert(at, name);
        }
    }
}

impl Deref for PluginNames {
    type Target = [&'static str];
    fn deref(&self) -> &[&'static str] {
        &self.0
    }
}

impl Extend<&'static str> for PluginNames {
    fn extend<I: IntoIterator<Item = &'static str>>(&mut self, names: I) {
        names.into_iter().for_each(|name| self.insert(name));
    }
}

impl FromIterator<&'static str> for PluginNames {
    fn from_iter<I: IntoIterator<Item = &'static str>>(names: I) -> Self {
        let mut set = PluginNames::default();
        set.extend(names);
        set
    }
}

impl IntoIterator for PluginNames {
    type Item = &'static str;
    type IntoIter = smallvec::IntoIter<[&'static str; 4]>;
    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_sorted_and_unique() {
        let names = PluginNames::from_iter(["B", "", "A", "B"]);
        assert_eq!(*names, ["A", "B"]);
    }
}
