//! Overrides of extender settings, from the environment and the command line.

use std::env;

use schedc_core::extenders::{Overrides, Setting};
use schedc_core::profile::ProfileInfo;
use serde::Deserialize;

/// Command-line flag and environment variable of each setting. Commas separate the entries in a variable.
const SETTINGS: [(Setting, &str, &str); 4] = [
    (Setting::UrlPrefix, "--extender-url-prefix", "SCHEDC_EXTENDER_URL_PREFIX"),
    (Setting::CaFile, "--extender-ca-file", "SCHEDC_EXTENDER_CA_FILE"),
    (Setting::CertFile, "--extender-cert-file", "SCHEDC_EXTENDER_CERT_FILE"),
    (Setting::KeyFile, "--extender-key-file", "SCHEDC_EXTENDER_KEY_FILE"),
];

/// Reads the overrides of the environment.
pub(crate) fn from_environment() -> Overrides {
    let mut overrides = Overrides::default();
    for (setting, _, variable) in SETTINGS {
        let entries = env::var(variable).unwrap_or_default();
        entries.split(',').map(str::trim).filter(|entry| !entry.is_empty()).for_each(|entry| {
            overrides.add(setting, entry);
        });
    }
    overrides
}

/// Returns the override for the extender with this URL prefix; the last entry wins. `is_only`: its profile has no other
/// extender, so entries without a URL prefix apply to it, too.
pub(crate) fn value<'a>(
    overrides: &'a Overrides,
    setting: Setting,
    url_prefix: &str,
    is_only: bool,
) -> Option<&'a str> {
    let mut values = overrides.entries().rev().filter(|(of, _)| *of == setting).filter_map(|(_, entry)| {
        let value = value_for(entry, url_prefix);
        value.or_else(|| (is_only && named_url(entry).is_none()).then_some(entry))
    });
    values.next()
}

/// Checks that each URL prefix in an entry belongs to an extender of any profile, and that entries without one are not
/// ambiguous.
///
/// # Errors
/// No extender has the URL prefix of an entry, or an entry has none and this profile has several extenders.
pub(crate) fn check(overrides: &Overrides, own: &[&str], profiles: &[ProfileInfo]) -> Result<(), String> {
    let others: Vec<String> =
        profiles.iter().flat_map(|profile| profile.extenders).filter_map(|extender| url(extender)).collect();
    let mut all: Vec<&str> = own.iter().copied().chain(others.iter().map(String::as_str)).collect();
    all.sort_unstable();
    all.dedup();
    for (setting, entry) in
        overrides.entries().filter(|(_, entry)| all.iter().all(|url| value_for(entry, url).is_none()))
    {
        let source = SETTINGS.iter().find(|(of, ..)| *of == setting);
        let source = source.map(|(_, flag, variable)| format!("{flag} or {variable}")).unwrap_or_default();
        match named_url(entry) {
            Some(url) => {
                return Err(format!(
                    "{source}: no extender has the `url-prefix` {url}; {} {}",
                    if all.len() == 1 { "there is" } else { "there are" },
                    all.join(", ")
                ));
            }
            None if own.len() > 1 => {
                let own = own.join(", ");
                return Err(format!(
                    "{source}: several extenders could be meant; write URL={entry}, where URL is one of {own}"
                ));
            }
            None => {}
        }
    }
    Ok(())
}

/// Returns the value of an entry that names this URL prefix.
fn value_for<'a>(entry: &'a str, url_prefix: &str) -> Option<&'a str> {
    entry.strip_prefix(url_prefix)?.strip_prefix('=')
}

/// Returns the URL that an entry begins with, if a value follows it.
fn named_url(entry: &str) -> Option<&str> {
    let (url, _) = entry.split_once('=')?;
    ["http://", "https://"].iter().any(|scheme| url.starts_with(scheme)).then_some(url)
}

/// Returns the URL prefix in an extender's JSON ([`ProfileInfo::extenders`]).
fn url(json: &str) -> Option<String> {
    #[derive(Deserialize)]
    #[serde(rename_all = "kebab-case")]
    struct Extender {
        url_prefix: String,
    }
    serde_json::from_str(json).ok().map(|Extender { url_prefix }| url_prefix)
}

#[cfg(test)]
mod tests {
    use schedc_core::profile::Budget;

    use super::*;

    fn overrides(entries: &[(Setting, &str)]) -> Overrides {
        let mut overrides = Overrides::default();
        entries.iter().for_each(|(setting, entry)| overrides.add(*setting, *entry));
        overrides
    }

    #[test]
    fn entries_without_a_url_apply_only_if_there_is_one_extender() {
        let given = overrides(&[
            (Setting::UrlPrefix, "http://a=http://c"),
            (Setting::UrlPrefix, "http://x"),
            (Setting::CaFile, "http://b=ca.pem"),
            (Setting::CaFile, "http://b=other.pem"),
        ]);
        assert_eq!(value(&given, Setting::UrlPrefix, "http://a", false), Some("http://c"));
        assert_eq!(value(&given, Setting::UrlPrefix, "http://b", false), None);
        assert_eq!(value(&given, Setting::UrlPrefix, "http://b", true), Some("http://x"));
        assert_eq!(value(&given, Setting::CaFile, "http://b", true), Some("other.pem"));
        assert_eq!(value(&given, Setting::CaFile, "http://a", true), None, "the entry names another extender");
        assert_eq!(value(&given, Setting::KeyFile, "http://b", true), None);
    }

    #[test]
    fn entries_without_a_unique_extender_are_errors() {
        let profile = ProfileInfo {
            name: "other",
            source: "other.toml",
            scheduler_name: "other",
            percentage_of_nodes_to_score: 100,
            pod_initial_backoff_seconds: 1,
            pod_max_backoff_seconds: 10,
            budget: Budget::NONE,
            points: &[],
            args: &[],
            extenders: &[r#"{"url-prefix":"http://c","filter-verb":"filter"}"#],
        };
        let check = |entry: (Setting, &str), own: &[&str]| check(&overrides(&[entry]), own, &[profile]);
        assert_eq!(check((Setting::UrlPrefix, "http://b=http://x"), &["http://a", "http://b"]), Ok(()));
        assert_eq!(check((Setting::UrlPrefix, "http://c=http://x"), &["http://a"]), Ok(()), "it is another profile's");
        assert_eq!(check((Setting::UrlPrefix, "http://x"), &["http://a"]), Ok(()));
        assert_eq!(
            check((Setting::CaFile, "http://d=ca.pem"), &["http://a"]).unwrap_err(),
            "--extender-ca-file or SCHEDC_EXTENDER_CA_FILE: no extender has the `url-prefix` http://d; there are http://a, \
             http://c"
        );
        assert_eq!(
            check((Setting::UrlPrefix, "http://x"), &["http://a", "http://b"]).unwrap_err(),
            "--extender-url-prefix or SCHEDC_EXTENDER_URL_PREFIX: several extenders could be meant; write URL=http://x, where \
             URL is one of http://a, http://b"
        );
    }
}
