//! Counts of events and faults.

use std::collections::BTreeMap;
use std::fmt;

use serde::Serialize;

/// Counts, by section and name.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct RunCounts(BTreeMap<String, BTreeMap<String, u64>>);

impl RunCounts {
    /// Adds 1 to a count.
    pub fn add(&mut self, section: &str, name: &str) {
        self.add_many(section, name, 1);
    }
    /// Adds to a count; 0 only registers the name.
    pub(crate) fn add_many(&mut self, section: &str, name: &str, times: u64) {
        if let Some(count) = self.0.get_mut(section).and_then(|section| section.get_mut(name)) {
            *count += times;
            return;
        }
        self.0.entry(section.to_owned()).or_default().insert(name.to_owned(), times);
    }
    /// Returns a count.
    pub fn count(&self, section: &str, name: &str) -> u64 {
        self.0.get(section).and_then(|section| section.get(name)).copied().unwrap_or_default()
    }
    /// Adds all counts of another run.
    pub fn add_all(&mut self, other: &RunCounts) {
        for (section, counts) in &other.0 {
            for (name, count) in counts {
                self.add_many(section, name, *count);
            }
        }
    }
    /// Returns the counts since an earlier state, with 0 for names whose count did not grow.
    pub fn since(&self, earlier: &RunCounts) -> RunCounts {
        let sections = self.0.iter().map(|(section, counts)| {
            let counts = counts.iter().map(|(name, count)| (name.clone(), count - earlier.count(section, name)));
            (section.clone(), counts.collect())
        });
        RunCounts(sections.collect())
    }
    /// Returns the names of a section with count 0.
    pub fn zeros<'a>(&'a self, section: &str) -> impl Iterator<Item = &'a str> {
        self.0.get(section).into_iter().flatten().filter(|(_, count)| **count == 0).map(|(name, _)| name.as_str())
    }
    /// Returns all sections, with names and counts.
    pub fn sections(&self) -> impl Iterator<Item = (&str, impl Iterator<Item = (&str, u64)>)> {
        self.0
            .iter()
            .map(|(section, counts)| (section.as_str(), counts.iter().map(|(name, count)| (name.as_str(), *count))))
    }
}

impl fmt::Display for RunCounts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (section, counts) in self.sections() {
            writeln!(f, "{section}")?;
            for (name, count) in counts {
                writeln!(f, "  {count:>9}  {name}")?;
            }
        }
        Ok(())
    }
}
