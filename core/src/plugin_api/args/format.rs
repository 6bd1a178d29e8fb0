//! String formats of arguments.

use super::duration::parse_duration;

/// Format of a string argument.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Format {
    /// Any string.
    Any,
    /// A Kubernetes label key or resource name: `cpu`, `example.com/gpu` (apimachinery's `IsQualifiedName`).
    QualifiedName,
    /// Prefix of resource names, without the `/` that follows it, as in kube-scheduler's `ignoredResourceGroups`.
    NamePrefix,
    /// A Kubernetes label value, which may be empty (apimachinery's `IsValidLabelValue`).
    LabelValue,
    /// Any non-empty string.
    NonEmpty,
    /// A duration in the format of Kubernetes' configuration, not negative: `10s`, `1m30s`.
    Duration,
}

impl Format {
    /// Returns the name of the format in `#[args(format = "...")]` and in schemas.
    pub const fn name(self) -> &'static str {
        match self {
            Format::Any => "any",
            Format::QualifiedName => "qualified-name",
            Format::NamePrefix => "name-prefix",
            Format::LabelValue => "label-value",
            Format::NonEmpty => "non-empty",
            Format::Duration => "duration",
        }
    }

    /// Returns the description of the format in errors.
    pub const fn description(self) -> &'static str {
        match self {
            Format::Any => "a string",
            Format::QualifiedName => "a qualified name, like `cpu` or `example.com/gpu`",
            Format::NamePrefix => "the prefix of a qualified name, like `example.com`, without `/`",
            Format::LabelValue => {
                "a label value: at most 63 letters, digits, `-`, `_` and `.`, with a letter or digit at both ends"
            }
            Format::NonEmpty => "a string that is not empty",
            Format::Duration => "a duration, like `10s`, `1m30s` or `500ms`",
        }
    }

    /// Returns whether `text` has this format.
    pub const fn accepts(self, text: &str) -> bool {
        let bytes = text.as_bytes();
        match self {
            Format::Any => true,
            Format::QualifiedName => is_qualified_name(bytes),
            Format::NamePrefix => is_name(bytes),
            Format::LabelValue => bytes.is_empty() || is_name(bytes),
            Format::NonEmpty => !bytes.is_empty(),
            Format::Duration => parse_duration(text).is_some(),
        }
    }
}

const fn is_qualified_name(bytes: &[u8]) -> bool {
    let mut i = 0;
    while i < bytes.len() {
        if bytes[i] == b'/' {
            let (prefix, rest) = bytes.split_at(i);
            // A name cannot contain a second `/`.
            return is_dns_subdomain(prefix) && is_name(rest.split_at(1).1);
        }
        i += 1;
    }
    is_name(bytes)
}

/// Returns whether the text consists of at most 63 letters, digits, `-`, `_` and `.`, with a letter or digit at both
/// ends.
const fn is_name(bytes: &[u8]) -> bool {
    let [first, ..] = bytes else { return false };
    let [.., last] = bytes else { return false };
    if bytes.len() > 63 || !first.is_ascii_alphanumeric() || !last.is_ascii_alphanumeric() {
        return false;
    }
    let mut i = 0;
    while i < bytes.len() {
        if !(bytes[i].is_ascii_alphanumeric() || matches!(bytes[i], b'-' | b'_' | b'.')) {
            return false;
        }
        i += 1;
    }
    true
}

/// Returns whether the text consists of labels of lower-case letters, digits and `-`, joined by `.`; at most 253 bytes.
const fn is_dns_subdomain(bytes: &[u8]) -> bool {
    if bytes.len() > 253 {
        return false;
    }
    // A label may neither begin nor end with `-`, nor be empty.
    let mut alphanumeric_before = false;
    let mut after_hyphen = false;
    let mut i = 0;
    while i < bytes.len() {
        match bytes[i] {
            b'a'..=b'z' | b'0'..=b'9' => (alphanumeric_before, after_hyphen) = (true, false),
            b'-' if alphanumeric_before || after_hyphen => (alphanumeric_before, after_hyphen) = (false, true),
            b'.' if alphanumeric_before => (alphanumeric_before, after_hyphen) = (false, false),
            _ => return false,
        }
        i += 1;
    }
    alphanumeric_before
}

#[cfg(test)]
mod tests {
    use super::Format;

    #[test]
    fn formats_are_those_of_kubernetes() {
        let long = ["a".repeat(63), "a".repeat(64), format!("{}/a", "a".repeat(253)), format!("{}/a", "a".repeat(254))];
        let [name63, name64, prefix253, prefix254] = long.each_ref().map(String::as_str);
        let check = |format: Format, yes: &[&str], no: &[&str]| {
            for text in yes {
                assert!(format.accepts(text), "{} {text:?}", format.name());
            }
            for text in no {
                assert!(!format.accepts(text), "{} {text:?}", format.name());
            }
        };
        check(
            Format::QualifiedName,
            &["cpu", "a", "A.b_c-D", "example.com/gpu", "a-b.c--d/x", "1/2", name63, prefix253],
            &[
                "", "-a", "a-", "a b", "a/", "/a", "a/b/c", "A.com/x", "a..b/c", "a-.b/c", ".a/c", "ä", name64,
                prefix254,
            ],
        );
        check(Format::NamePrefix, &["example.com", "a", name63], &["", "example.com/", "a/b", "-a", name64]);
        check(Format::LabelValue, &["", "a", "A.b_c-D", name63], &["-", "a/b", "a.", name64]);
        check(Format::NonEmpty, &[" ", "a/b"], &[""]);
        check(Format::Any, &["", "anything at all"], &[]);
    }
}
