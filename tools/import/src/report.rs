//! What is said about a configuration.

use schedc_codegen::Diagnostic;
use schedc_codegen::source::Files;

/// How much a remark matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// The configuration may not mean what its author thinks, or schedc will decide otherwise than kube-scheduler.
    Warning,
    /// Something that has no place in a profile.
    Note,
}

/// Something to know about a configuration that could be imported all the same.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Remark {
    /// How much it matters.
    pub level: Level,
    /// The index of the profile that it is about; `None` for the whole file.
    pub profile: Option<usize>,
    /// What and where.
    pub diagnostic: Diagnostic,
}

impl Remark {
    /// One line: `scheduler.yaml:9:13: ..`
    pub fn one_line(&self, files: &Files) -> String {
        self.diagnostic.one_line(files)
    }
}

/// All that is found, in the making.
#[derive(Debug, Default)]
pub(crate) struct Report {
    pub(crate) errors: Vec<Diagnostic>,
    pub(crate) remarks: Vec<Remark>,
    /// The profile that is being looked at.
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
        if !self.remarks.contains(&remark) {
            self.remarks.push(remark);
        }
    }
}
