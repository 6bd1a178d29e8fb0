//! Overrides of extender settings for one installation: URLs and certificates.

/// A setting of an extender that can be overridden.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Setting {
    /// The prefix of its URL.
    UrlPrefix,
    /// File with the CA certificates that verify the extender's certificate.
    CaFile,
    /// File with the client certificate.
    CertFile,
    /// File with the key of the client certificate.
    KeyFile,
}

/// Overrides of extender settings. An entry is `URL=VALUE`, for the extender with that URL prefix in the profile, or
/// `VALUE`, for the only extender of a profile. The last of several entries counts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Overrides(Vec<(Setting, String)>);

impl Overrides {
    /// No overrides.
    pub const NONE: &'static Overrides = &Overrides(Vec::new());

    /// Adds an entry.
    pub fn add(&mut self, setting: Setting, entry: impl Into<String>) {
        self.0.push((setting, entry.into()));
    }

    /// Adds all entries of `others`, which have precedence.
    pub fn extend(&mut self, others: &Overrides) {
        self.0.extend_from_slice(&others.0);
    }

    /// Returns the entries, in the order in which they were added.
    pub fn entries(&self) -> impl DoubleEndedIterator<Item = (Setting, &str)> {
        self.0.iter().map(|(setting, entry)| (*setting, entry.as_str()))
    }
}
