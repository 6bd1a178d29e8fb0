//! What is different where a scheduler runs from what its profiles say of extenders: where they are, and certificates.

/// A setting of an extender that depends on where the scheduler runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Setting {
    /// The prefix of its URL.
    UrlPrefix,
    /// The file with the certificates by which its own is checked.
    CaFile,
    /// The file with the certificate that it is shown.
    CertFile,
    /// The file with the key of that.
    KeyFile,
}

/// What is different, an entry each: `URL=VALUE`, of the extender with that URL prefix in the profile, or `VALUE`, of the
/// only one that a profile has. Of several, the last word counts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Overrides(Vec<(Setting, String)>);

impl Overrides {
    /// Nothing is different.
    pub const NONE: &'static Overrides = &Overrides(Vec::new());

    /// Adds an entry.
    pub fn add(&mut self, setting: Setting, entry: impl Into<String>) {
        self.0.push((setting, entry.into()));
    }

    /// Adds all entries of others, whose word counts more.
    pub fn extend(&mut self, others: &Overrides) {
        self.0.extend_from_slice(&others.0);
    }

    /// The entries, in the order in which they were added.
    pub fn entries(&self) -> impl DoubleEndedIterator<Item = (Setting, &str)> {
        self.0.iter().map(|(setting, entry)| (*setting, entry.as_str()))
    }
}
