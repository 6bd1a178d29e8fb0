//! Durations in Kubernetes' notation, and points in time.

use std::fmt;

use k8s_openapi::jiff::Timestamp;

/// Nanoseconds of each unit, the longest first.
const UNITS: [(&str, i128); 8] = [
    ("h", 3_600_000_000_000),
    ("m", 60_000_000_000),
    ("s", 1_000_000_000),
    ("ms", 1_000_000),
    ("us", 1_000),
    ("µs", 1_000),
    ("μs", 1_000),
    ("ns", 1),
];

/// A duration in nanoseconds, up to 292 years. Parsed durations are not negative. Displays in Go's notation, such as
/// `1h2m3.5s`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Span(pub i64);

impl Span {
    /// Returns the duration in seconds.
    pub fn seconds(self) -> f64 {
        self.0 as f64 / 1e9
    }

    /// Parses a duration such as `1h30m`, `12.5s` or `300ms`.
    ///
    /// # Errors
    /// Returns an error with the expected form.
    pub fn parse(text: &str) -> Result<Span, String> {
        if text == "0" {
            return Ok(Span(0));
        }
        if text.parse::<f64>().is_ok_and(|number| number >= 0.0 && number.is_finite()) {
            return Err(format!("`{text}` has no unit; write `{text}s` for seconds"));
        }
        let mut rest = text;
        let mut total = 0;
        while !rest.is_empty() {
            let (amount, after) = split_while(rest, |c| c.is_ascii_digit() || c == '.');
            let (unit, after) = split_while(after, |c| !c.is_ascii_digit() && c != '.');
            let Some(&(_, size)) = UNITS.iter().find(|(name, _)| *name == unit) else {
                return Err(match amount.is_empty() || unit.is_empty() || unit.contains(char::is_whitespace) {
                    true => invalid_duration(text),
                    false => format!("`{text}` has the unit `{unit}`; the units are h, m, s, ms, us and ns"),
                });
            };
            total += scaled(amount, size).ok_or_else(|| invalid_duration(text))?;
            if total > i128::from(i64::MAX) {
                return Err(format!("`{text}` is too long; 292 years are the limit"));
            }
            rest = after;
        }
        match i64::try_from(total) {
            Ok(nanoseconds) if !text.is_empty() => Ok(Span(nanoseconds)),
            _ => Err(invalid_duration(text)),
        }
    }

    /// Parses a number of seconds without a unit, or a duration.
    ///
    /// # Errors
    /// Returns an error if the text is neither.
    pub(super) fn parse_seconds(text: &str) -> Result<Span, String> {
        let is_number = text.starts_with(|c: char| c.is_ascii_digit()) && text.ends_with(|c: char| c.is_ascii_digit());
        if is_number { Span::parse(&format!("{text}s")) } else { Span::parse(text) }
    }
}

fn invalid_duration(text: &str) -> String {
    format!("`{text}` is not a duration such as `12.5s` or `1h30m`")
}

/// Splits a text before the first character that does not meet a condition.
fn split_while(text: &str, condition: impl Fn(char) -> bool) -> (&str, &str) {
    text.split_at(text.find(|c| !condition(c)).unwrap_or(text.len()))
}

/// Converts a decimal number of units to nanoseconds, truncated as in Go.
fn scaled(amount: &str, unit: i128) -> Option<i128> {
    let (whole, fraction) = amount.split_once('.').unwrap_or((amount, ""));
    let is_number = |digits: &str| digits.bytes().all(|b| b.is_ascii_digit());
    if (whole.is_empty() && fraction.is_empty()) || !is_number(whole) || !is_number(fraction) {
        return None;
    }
    // Further digits have no effect.
    let fraction = &fraction[..fraction.len().min(18)];
    let number = |digits: &str| if digits.is_empty() { Some(0) } else { digits.parse::<u64>().ok().map(i128::from) };
    let scale = 10_i128.pow(u32::try_from(fraction.len()).ok()?);
    number(whole)?.checked_mul(unit)?.checked_add(number(fraction)? * unit / scale)
}

impl fmt::Display for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let nanoseconds = self.0.unsigned_abs();
        if self.0 < 0 {
            f.write_str("-")?;
        }
        let (size, unit) = match nanoseconds {
            0 => return f.write_str("0s"),
            1..1_000 => (1, "ns"),
            1_000..1_000_000 => (1_000, "µs"),
            1_000_000..1_000_000_000 => (1_000_000, "ms"),
            _ => (1_000_000_000, "s"),
        };
        let minutes = nanoseconds / 60_000_000_000;
        if minutes >= 60 {
            write!(f, "{}h", minutes / 60)?;
        }
        if minutes > 0 {
            write!(f, "{}m", minutes % 60)?;
        }
        let (whole, rest) = (nanoseconds % 60_000_000_000 / size, nanoseconds % size);
        match rest {
            0 => write!(f, "{whole}{unit}"),
            _ => {
                let digits = format!("{rest:0width$}", width = size.ilog10() as usize);
                write!(f, "{whole}.{}{unit}", digits.trim_end_matches('0'))
            }
        }
    }
}

/// The time of an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum EventTime {
    /// A duration after the start.
    After(Span),
    /// At this point in time.
    At(Timestamp),
}

impl EventTime {
    /// Parses a duration or a time of RFC 3339.
    pub(super) fn parse(text: &str) -> Result<EventTime, String> {
        let begins_like_a_date = text.len() > 4 && text.as_bytes()[..4].iter().all(u8::is_ascii_digit);
        if begins_like_a_date && text.contains('-') {
            return point(text).map(EventTime::At);
        }
        Span::parse(text).map(EventTime::After).map_err(|error| match error.contains(" is not a duration") {
            true => format!("{error}, nor a time such as 2026-01-31T12:00:00Z"),
            false => error,
        })
    }
}

/// Parses a time of RFC 3339.
///
/// # Errors
/// Returns an error with the expected form.
pub fn point(text: &str) -> Result<Timestamp, String> {
    text.parse().map_err(|_| format!("`{text}` is not a time such as 2026-01-31T12:00:00Z"))
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::*;

    #[test]
    fn durations_match_go() {
        let rows = [
            ("0", 0),
            ("0s", 0),
            ("12.5s", 12_500_000_000),
            ("1h30m", 5_400_000_000_000),
            ("1.5h", 5_400_000_000_000),
            (".5s", 500_000_000),
            ("1.s", 1_000_000_000),
            ("1m0.25s", 60_250_000_000),
            ("100ms3us2ns", 100_003_002),
            ("7µs", 7_000),
            ("0.3333333333333333333333h", 1_199_999_999_999),
            ("2562047h", 9_223_369_200_000_000_000),
        ];
        for (text, nanoseconds) in rows {
            assert_eq!(Span::parse(text), Ok(Span(nanoseconds)), "{text}");
        }
    }

    #[test]
    fn durations_display_as_in_go() {
        let rows = ["0s", "1ns", "1.5µs", "300ms", "12.5s", "1m0s", "1h0m0.000000001s", "3583h49m20s"];
        for text in rows {
            assert_eq!(Span::parse(text).map(|span| span.to_string()).as_deref(), Ok(text));
        }
        assert_eq!(Span(-1_500_000_000).to_string(), "-1.5s");
    }

    #[test]
    fn invalid_times_name_the_expected_form() {
        let rows = [
            "",
            "12",
            "1.5",
            "-3s",
            "+3s",
            "s",
            "5d",
            "1h 30m",
            "1..5s",
            ".s",
            "12:30",
            "soon",
            "2562048h",
            "1e3s",
            "99999999999999999999s",
            "2026-01-31",
            "2026-01-31 12:00",
            "2026-13-31T12:00:00Z",
        ];
        let errors: Vec<_> = rows.iter().map(|text| EventTime::parse(text).unwrap_err()).collect();
        expect![[r#"
            `` is not a duration such as `12.5s` or `1h30m`, nor a time such as 2026-01-31T12:00:00Z
            `12` has no unit; write `12s` for seconds
            `1.5` has no unit; write `1.5s` for seconds
            `-3s` is not a duration such as `12.5s` or `1h30m`, nor a time such as 2026-01-31T12:00:00Z
            `+3s` is not a duration such as `12.5s` or `1h30m`, nor a time such as 2026-01-31T12:00:00Z
            `s` is not a duration such as `12.5s` or `1h30m`, nor a time such as 2026-01-31T12:00:00Z
            `5d` has the unit `d`; the units are h, m, s, ms, us and ns
            `1h 30m` is not a duration such as `12.5s` or `1h30m`, nor a time such as 2026-01-31T12:00:00Z
            `1..5s` is not a duration such as `12.5s` or `1h30m`, nor a time such as 2026-01-31T12:00:00Z
            `.s` is not a duration such as `12.5s` or `1h30m`, nor a time such as 2026-01-31T12:00:00Z
            `12:30` has the unit `:`; the units are h, m, s, ms, us and ns
            `soon` is not a duration such as `12.5s` or `1h30m`, nor a time such as 2026-01-31T12:00:00Z
            `2562048h` is too long; 292 years are the limit
            `1e3s` has the unit `e`; the units are h, m, s, ms, us and ns
            `99999999999999999999s` is not a duration such as `12.5s` or `1h30m`, nor a time such as 2026-01-31T12:00:00Z
            `2026-01-31` is not a time such as 2026-01-31T12:00:00Z
            `2026-01-31 12:00` is not a time such as 2026-01-31T12:00:00Z
            `2026-13-31T12:00:00Z` is not a time such as 2026-01-31T12:00:00Z"#]].assert_eq(&errors.join("\n"));
    }

    #[test]
    fn points_in_time_have_a_zone() {
        let moment = EventTime::parse("2026-01-31T12:00:00.5+01:00").unwrap();
        let EventTime::At(time) = moment else { panic!("{moment:?}") };
        assert_eq!(time.to_string(), "2026-01-31T11:00:00.5Z");
    }

    #[test]
    fn a_trace_counts_seconds() {
        for (text, nanoseconds) in
            [("0", 0), ("427061", 427_061_000_000_000), ("1.5", 1_500_000_000), ("2m", 120_000_000_000)]
        {
            assert_eq!(Span::parse_seconds(text), Ok(Span(nanoseconds)), "{text}");
        }
        expect!["`-1` is not a duration such as `12.5s` or `1h30m`"].assert_eq(&Span::parse_seconds("-1").unwrap_err());
    }
}
