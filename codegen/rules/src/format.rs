//! The syntax of Kubernetes names (apimachinery's `IsDNS1123Subdomain`, `IsQualifiedName`, `IsValidLabelValue`), and of
//! durations.

use crate::schema::Format;

/// Returns whether a string has a format.
pub fn matches(format: Format, text: &str) -> bool {
    match format {
        Format::Any => true,
        Format::QualifiedName => match text.split_once('/') {
            None => is_name(text),
            Some((prefix, name)) => is_dns_subdomain(prefix) && is_name(name),
        },
        Format::NamePrefix => is_name(text),
        Format::LabelValue => text.is_empty() || is_name(text),
        Format::NonEmpty => !text.is_empty(),
        Format::Duration => duration(text).is_some(),
    }
}

/// Returns the nanoseconds of a non-negative duration in the syntax of Go's `time.ParseDuration`. `None`: the text is
/// invalid or negative, or the number exceeds 63 bits.
pub fn duration(text: &str) -> Option<f64> {
    const UNITS: [(&str, u64); 8] = [
        ("ns", 1),
        ("us", 1_000),
        ("\u{b5}s", 1_000),
        ("\u{3bc}s", 1_000),
        ("ms", 1_000_000),
        ("s", 1_000_000_000),
        ("m", 60_000_000_000),
        ("h", 3_600_000_000_000),
    ];
    let text = text.strip_prefix('+').unwrap_or(text);
    let (mut rest, mut total) = (text, 0.0);
    while !rest.is_empty() {
        let number = rest.len() - rest.trim_start_matches(|c: char| c.is_ascii_digit() || c == '.').len();
        let (number, after) = rest.split_at(number);
        let unit = after.find(|c: char| c.is_ascii_digit() || c == '.').unwrap_or(after.len());
        let (unit, after) = after.split_at(unit);
        let known = UNITS.iter().find(|(name, _)| *name == unit);
        let (Ok(number), Some((_, unit))) = (number.parse::<f64>(), known) else { return (text == "0").then_some(0.0) };
        total += number * *unit as f64;
        rest = after;
    }
    (!text.is_empty() && total < i64::MAX as f64).then_some(total)
}

/// Returns whether a text is a DNS subdomain in Kubernetes' sense, as a scheduler's name must be. It has at
/// most 253 characters, and consists of parts of lower-case letters, digits and inner `-`, joined by dots.
pub fn is_dns_subdomain(text: &str) -> bool {
    text.len() <= 253
        && text.split('.').all(|part| {
            !part.is_empty()
                && !part.starts_with('-')
                && !part.ends_with('-')
                && part.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-')
        })
}

/// Returns whether a text can be the name of an API resource, such as `pods`: a DNS label (RFC 1035) in lower case.
pub fn is_resource_name(text: &str) -> bool {
    text.len() <= 63
        && text.starts_with(|first: char| first.is_ascii_lowercase())
        && is_dns_subdomain(text)
        && !text.contains('.')
}

fn is_name(text: &str) -> bool {
    (1..=63).contains(&text.len())
        && text.starts_with(|first: char| first.is_ascii_alphanumeric())
        && text.ends_with(|last: char| last.is_ascii_alphanumeric())
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.'))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(format: Format, good: &[&str], bad: &[&str]) {
        for text in good {
            assert!(matches(format, text), "{format:?} takes {text:?}");
        }
        for text in bad {
            assert!(!matches(format, text), "{format:?} does not take {text:?}");
        }
    }

    #[test]
    fn formats_are_those_of_kubernetes() {
        let long = "a".repeat(64);
        check(
            Format::QualifiedName,
            &["cpu", "example.com/gpu", "a_B-c.d", "topology.kubernetes.io/zone", "1"],
            &["", "a b", "-a", "a-", "Example.com/gpu", "a/b/c", "/a", "a/", "example..com/x", &long],
        );
        check(Format::NamePrefix, &["vendor.io", "a"], &["", "a/b", ".a", &long]);
        check(Format::LabelValue, &["", "ssd", "4", "a.b_c-D"], &["a b", "a/b", "-a", &long]);
        check(Format::NonEmpty, &["x", " "], &[""]);
        check(
            Format::Duration,
            &["0", "0s", "10s", "1m30s", "500ms", "1.5h", ".5s", "5.s", "3\u{b5}s", "+1s", "+0"],
            &["", "10", "s", ".s", "1..5s", "-1s", "+", "++1s", "1m+30s", "1 s", "1d", "1s1", "2562048h"],
        );
        check(Format::Any, &["", "anything at all"], &[]);
    }

    #[test]
    fn scheduler_names_are_subdomains() {
        assert!(is_dns_subdomain("default-scheduler") && is_dns_subdomain("a.b.c9"));
        assert!(!is_dns_subdomain("") && !is_dns_subdomain("Edge") && !is_dns_subdomain("a_b"));
        assert!(
            !is_dns_subdomain("a..b") && !is_dns_subdomain("-a") && !is_dns_subdomain("a.") && !is_dns_subdomain("ü")
        );
        assert!(is_dns_subdomain(&"a".repeat(253)) && !is_dns_subdomain(&"a".repeat(254)));
    }

    #[test]
    fn names_of_resources_may_contain_digits() {
        for name in ["pods", "s3buckets", "pod-groups", "v2"] {
            assert!(is_resource_name(name), "{name:?}");
        }
        for name in ["", "Pods", "2pods", "pods-", "pods.v1", "pods/status", &"a".repeat(64)] {
            assert!(!is_resource_name(name), "{name:?}");
        }
    }
}
