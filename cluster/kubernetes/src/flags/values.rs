//! Flag values in the syntax of Go's flag packages.

use std::time::Duration;

use schedc_core::args::parse_duration;

/// Parses a boolean like Go's `strconv.ParseBool`.
pub(super) fn boolean(text: &str) -> Result<bool, String> {
    match text {
        "1" | "t" | "T" | "true" | "TRUE" | "True" => Ok(true),
        "0" | "f" | "F" | "false" | "FALSE" | "False" => Ok(false),
        _ => Err("is neither `true` nor `false`".to_owned()),
    }
}

/// Parses a duration like Go's `time.ParseDuration`, without signs.
pub fn duration(text: &str) -> Result<Duration, String> {
    match parse_duration(text).map(u64::try_from) {
        Some(Ok(nanoseconds)) => Ok(Duration::from_nanos(nanoseconds)),
        _ => Err("is not a duration such as `15s` or `1m30s`".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn booleans_are_spelled_as_in_go() {
        let values = ["true", "T", "1", "false", "F", "0", "yes", ""].map(|text| boolean(text).ok());
        let (yes, no) = (Some(true), Some(false));
        assert_eq!(values, [yes, yes, yes, no, no, no, None, None]);
    }

    #[test]
    fn durations_are_not_negative() {
        assert_eq!(duration("1m30s"), Ok(Duration::from_secs(90)));
        assert_eq!(duration("-1s"), Err("is not a duration such as `15s` or `1m30s`".to_owned()));
    }
}
