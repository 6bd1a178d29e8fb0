//! Semantic versions, as in version attributes and `semver()`.

use std::cmp::Ordering;
use std::fmt;
use std::str::FromStr;

/// Version by the rules of Semantic Versioning 2.0. Build metadata is checked but not kept: it has no effect on
/// comparisons.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Version {
    /// First number.
    pub major: u64,
    /// Second number.
    pub minor: u64,
    /// Third number.
    pub patch: u64,
    pre_release: Vec<Identifier>,
}

/// Part of a pre-release. Numbers are less than words.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum Identifier {
    Number(u64),
    Word(Box<str>),
}

/// Reason why a text is no version.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VersionError(String);

impl fmt::Display for VersionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for VersionError {}

fn error<T>(text: impl Into<String>) -> Result<T, VersionError> {
    Err(VersionError(text.into()))
}

impl Version {
    /// Reads a version.
    ///
    /// # Errors
    /// If the text is no semantic version.
    pub fn parse(text: &str) -> Result<Version, VersionError> {
        if text.is_empty() {
            return error("Version string empty");
        }
        let parts: Vec<&str> = text.splitn(3, '.').collect();
        let [major, minor, rest] = parts[..] else { return error("No Major.Minor.Patch elements found") };
        let end = rest.find(['-', '+']).unwrap_or(rest.len());
        let (patch, suffix) = rest.split_at(end);
        let (pre_release, build) = match suffix.split_once('+') {
            Some((pre_release, build)) => (pre_release, Some(build)),
            None => (suffix, None),
        };
        let mut identifiers = Vec::new();
        if let Some(pre_release) = pre_release.strip_prefix('-') {
            for identifier in pre_release.split('.') {
                identifiers.push(pre_release_identifier(identifier)?);
            }
        }
        if let Some(build) = build {
            for identifier in build.split('.') {
                if identifier.is_empty() {
                    return error("Build meta data is empty");
                }
                check_characters(identifier)?;
            }
        }
        Ok(Version {
            major: number(major, "major")?,
            minor: number(minor, "minor")?,
            patch: number(patch, "patch")?,
            pre_release: identifiers,
        })
    }

    /// Reads a version that may begin with `v`, lack minor and patch numbers, or have leading zeros, as
    /// `semver(text, true)` does.
    ///
    /// # Errors
    /// If the text is no version in this form.
    pub(crate) fn parse_normalized(text: &str) -> Result<Version, VersionError> {
        let text = text.strip_prefix('v').unwrap_or(text);
        let mut parts: Vec<String> = text.splitn(3, '.').map(normalized).collect();
        if parts.len() < 3 {
            if parts.last().is_some_and(|part| part.contains(['+', '-'])) {
                return error("short version cannot contain PreRelease/Build meta data");
            }
            parts.resize(3, "0".to_owned());
        }
        Version::parse(&parts.join("."))
    }
}

/// Removes the leading zeros of a number, which may have a suffix.
fn normalized(part: &str) -> String {
    if part.len() < 2 {
        return part.to_owned();
    }
    let stripped = part.trim_start_matches('0');
    if stripped.starts_with(|c: char| c.is_ascii_digit()) { stripped.to_owned() } else { format!("0{stripped}") }
}

fn number(text: &str, name: &str) -> Result<u64, VersionError> {
    if text.is_empty() || !text.bytes().all(|byte| byte.is_ascii_digit()) {
        return error(format!("Invalid character(s) found in {name} number {text:?}"));
    }
    if text.len() > 1 && text.starts_with('0') {
        return error(format!("{name} number must not contain leading zeroes {text:?}"));
    }
    text.parse().or_else(|_| error(format!("{name} number {text:?} is too large")))
}

fn pre_release_identifier(text: &str) -> Result<Identifier, VersionError> {
    if text.is_empty() {
        return error("Prerelease is empty");
    }
    if text.bytes().all(|byte| byte.is_ascii_digit()) {
        return number(text, "prerelease").map(Identifier::Number);
    }
    check_characters(text)?;
    Ok(Identifier::Word(text.into()))
}

fn check_characters(text: &str) -> Result<(), VersionError> {
    if text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-') {
        Ok(())
    } else {
        error(format!("Invalid character(s) found in {text:?}"))
    }
}

impl FromStr for Version {
    type Err = VersionError;

    fn from_str(text: &str) -> Result<Version, VersionError> {
        Version::parse(text)
    }
}

impl Ord for Version {
    fn cmp(&self, other: &Version) -> Ordering {
        let numbers = |version: &Version| (version.major, version.minor, version.patch);
        // A version without pre-release is greater than its pre-releases.
        numbers(self)
            .cmp(&numbers(other))
            .then_with(|| self.pre_release.is_empty().cmp(&other.pre_release.is_empty()))
            .then_with(|| self.pre_release.cmp(&other.pre_release))
    }
}

impl PartialOrd for Version {
    fn partial_cmp(&self, other: &Version) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}
