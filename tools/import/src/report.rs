//! Report about a configuration.

use std::collections::HashSet;

use schedc_profile_rules::Diagnostic;
use schedc_profile_rules::source::Files;

/// Severity of a remark.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Level {
    /// The configuration may not have the effect that its author expects, or schedc decides differently from
    /// kube-scheduler.
    Warning,
    /// A remark that needs no reaction, such as about a setting that profiles do not have.
    Note,
}

/// A remark about a configuration that can be imported.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Remark {
    /// Its severity.
    pub level: Level,
    /// The index of its profile; `None` for the whole file.
    pub profile: Option<usize>,
    /// Text and location.
    pub diagnostic: Diagnostic,
}

impl Remark {
    /// Returns one line: `scheduler.yaml:9:13: ..`
    pub fn one_line(&self, files: &Files) -> String {
        self.diagnostic.one_line(files)
    }
}

/// All findings, under construction.
#[derive(Debug, Default)]
pub(crate) struct Report {
    pub(crate) errors: Vec<Diagnostic>,
    pub(crate) remarks: Vec<Remark>,
    /// The same remarks, to find repetitions.
    known: HashSet<Remark>,
    /// Profiles and titles of remarks.
    titles: HashSet<(Option<usize>, String)>,
    /// Index of the current profile; `None` for the whole file.
    pub(crate) profile: Option<usize>,
}

impl Report {
    pub(crate) fn error(&mut self, diagnostic: Diagnostic) {
        self.errors.push(diagnostic);
    }

    pub(crate) fn warning(&mut self, diagnostic: Diagnostic) {
        self.remark(Level::Warning, diagnostic);
    }

    pub(crate) fn note(&mut self, diagnostic: Diagnostic) {
        self.remark(Level::Note, diagnostic);
    }

    fn remark(&mut self, level: Level, diagnostic: Diagnostic) {
        let remark = Remark { level, profile: self.profile, diagnostic };
        if self.known.insert(remark.clone()) {
            self.titles.insert((remark.profile, remark.diagnostic.title.clone()));
            self.remarks.push(remark);
        }
    }

    /// Returns whether the current profile has a remark with this title.
    pub(crate) fn has_remark(&self, title: &str) -> bool {
        self.titles.contains(&(self.profile, title.to_owned()))
    }
}
