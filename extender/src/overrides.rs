//! What is different where the scheduler runs from what its profile says of extenders: where they are, and certificates.

use std::env;

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

/// Variables of the environment. Each has entries, with commas in between: `URL=VALUE`, of the extender with that URL prefix
/// in the profile, or `VALUE`, of the only one.
const VARIABLES: [(&str, Setting); 4] = [
    ("SCHEDC_EXTENDER_URL_PREFIX", Setting::UrlPrefix),
    ("SCHEDC_EXTENDER_CA_FILE", Setting::CaFile),
    ("SCHEDC_EXTENDER_CERT_FILE", Setting::CertFile),
    ("SCHEDC_EXTENDER_KEY_FILE", Setting::KeyFile),
];

/// What is different, an entry each.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Overrides(Vec<(Setting, String)>);

impl Overrides {
    /// What the environment says: see [`Setting`] and docs/extenders.md.
    pub fn from_environment() -> Self {
        let mut overrides = Overrides::default();
        for (name, setting) in VARIABLES {
            let entries = env::var(name).unwrap_or_default();
            entries.split(',').map(str::trim).filter(|entry| !entry.is_empty()).for_each(|entry| {
                overrides.add(setting, entry);
            });
        }
        overrides
    }

    /// Adds an entry: `URL=VALUE`, or `VALUE`.
    pub fn add(&mut self, setting: Setting, entry: impl Into<String>) {
        self.0.push((setting, entry.into()));
    }

    /// What is said of the extender of this URL prefix; the last word counts. `is_only`: the profile has no other one.
    pub(crate) fn of(&self, setting: Setting, url_prefix: &str, is_only: bool) -> Option<&str> {
        let entries = self.0.iter().rev().filter(|(of, _)| *of == setting);
        let mut said = entries.filter_map(|(_, entry)| {
            let named = entry.strip_prefix(url_prefix).and_then(|rest| rest.strip_prefix('='));
            named.or_else(|| is_only.then_some(entry))
        });
        said.next()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_said_of_an_extender_names_it_unless_there_is_one() {
        let mut overrides = Overrides::default();
        overrides.add(Setting::UrlPrefix, "http://a=http://c");
        overrides.add(Setting::UrlPrefix, "http://x");
        overrides.add(Setting::CaFile, "http://b=ca.pem");
        overrides.add(Setting::CaFile, "http://b=other.pem");
        assert_eq!(overrides.of(Setting::UrlPrefix, "http://a", false), Some("http://c"));
        assert_eq!(overrides.of(Setting::UrlPrefix, "http://b", false), None);
        assert_eq!(overrides.of(Setting::UrlPrefix, "http://b", true), Some("http://x"));
        assert_eq!(overrides.of(Setting::CaFile, "http://b", true), Some("other.pem"));
        assert_eq!(overrides.of(Setting::KeyFile, "http://b", true), None);
    }
}
