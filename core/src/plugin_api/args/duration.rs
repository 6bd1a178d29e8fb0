//! Durations in the format of Kubernetes' configuration: `10s`, `1m30s`, `500ms`.

use std::time::Duration;

use super::text::eq_bytes;

/// Nanoseconds in each unit, by the unit's name.
const UNITS: [(&[u8], i64); 8] = [
    (b"ns", 1),
    (b"us", 1_000),
    ("\u{b5}s".as_bytes(), 1_000),
    ("\u{3bc}s".as_bytes(), 1_000),
    (b"ms", 1_000_000),
    (b"s", 1_000_000_000),
    (b"m", 60_000_000_000),
    (b"h", 3_600_000_000_000),
];

/// Returns the nanoseconds of a duration, parsed like Go's `time.ParseDuration`. `None` if it is not a duration, has a
/// minus sign, or is too long for 64 bits.
pub const fn parse_duration(text: &str) -> Option<i64> {
    let mut rest = match text.as_bytes() {
        [b'+', unsigned @ ..] => unsigned,
        unsigned => unsigned,
    };
    if matches!(rest, b"0") {
        return Some(0);
    }
    if rest.is_empty() {
        return None;
    }
    let mut total: i64 = 0;
    while !rest.is_empty() {
        let (whole, after_whole) = digits(rest);
        let (fraction, after_fraction) = match after_whole {
            [b'.', after @ ..] => digits(after),
            _ => (&[] as &[u8], after_whole),
        };
        if whole.is_empty() && fraction.is_empty() {
            return None;
        }
        let (name, after) = unit(after_fraction);
        let Some(unit) = nanoseconds(name) else { return None };
        let Some(part) = amount(whole, fraction, unit) else { return None };
        total = match total.checked_add(part) {
            Some(total) => total,
            None => return None,
        };
        rest = after;
    }
    Some(total)
}

/// Splits off the leading digits of `text`.
const fn digits(text: &[u8]) -> (&[u8], &[u8]) {
    let mut i = 0;
    while i < text.len() && text[i].is_ascii_digit() {
        i += 1;
    }
    text.split_at(i)
}

/// Splits off a unit's name: all bytes up to the next digit or `.`.
const fn unit(text: &[u8]) -> (&[u8], &[u8]) {
    let mut i = 0;
    while i < text.len() && !text[i].is_ascii_digit() && text[i] != b'.' {
        i += 1;
    }
    text.split_at(i)
}

const fn nanoseconds(unit: &[u8]) -> Option<i64> {
    let mut i = 0;
    while i < UNITS.len() {
        if eq_bytes(UNITS[i].0, unit) {
            return Some(UNITS[i].1);
        }
        i += 1;
    }
    None
}

const fn amount(whole: &[u8], fraction: &[u8], unit: i64) -> Option<i64> {
    let mut value: i64 = 0;
    let mut i = 0;
    while i < whole.len() {
        let Some(tens) = value.checked_mul(10) else { return None };
        let Some(next) = tens.checked_add((whole[i] - b'0') as i64) else { return None };
        value = next;
        i += 1;
    }
    let Some(mut value) = value.checked_mul(unit) else { return None };
    // Each digit has a tenth of the weight of the previous one. Parts of a nanosecond are truncated.
    let mut scale: i128 = 1;
    let mut part: i128 = 0;
    let mut i = 0;
    while i < fraction.len() && scale < 1_000_000_000_000_000_000 {
        scale *= 10;
        part = part * 10 + (fraction[i] - b'0') as i128;
        i += 1;
    }
    value = match value.checked_add((part * unit as i128 / scale) as i64) {
        Some(value) => value,
        None => return None,
    };
    Some(value)
}

/// Formats nanoseconds like Go. Negative ones begin with `-`.
pub(crate) fn format_nanoseconds(nanoseconds: i64) -> String {
    let sign = if nanoseconds < 0 { "-" } else { "" };
    format!("{sign}{}", format_duration(Duration::from_nanos(nanoseconds.unsigned_abs())))
}

/// Formats a duration like Go: `1m30s`. A duration below a second has one unit: `20ms`.
pub fn format_duration(time: Duration) -> String {
    let (seconds, nanoseconds) = (time.as_secs(), time.subsec_nanos());
    let fraction = |value: u64, digits: usize| {
        let text = format!("{value:0digits$}");
        let text = text.trim_end_matches('0');
        if text.is_empty() { String::new() } else { format!(".{text}") }
    };
    if seconds == 0 {
        let nanoseconds = u64::from(nanoseconds);
        return match nanoseconds {
            0 => "0s".to_owned(),
            1..1_000 => format!("{nanoseconds}ns"),
            1_000..1_000_000 => format!("{}{}µs", nanoseconds / 1_000, fraction(nanoseconds % 1_000, 3)),
            _ => format!("{}{}ms", nanoseconds / 1_000_000, fraction(nanoseconds % 1_000_000, 6)),
        };
    }
    let (hours, minutes) = (seconds / 3600, seconds / 60 % 60);
    let seconds_text = format!("{}{}s", seconds % 60, fraction(nanoseconds.into(), 9));
    match (hours, minutes) {
        (0, 0) => seconds_text,
        (0, _) => format!("{minutes}m{seconds_text}"),
        _ => format!("{hours}h{minutes}m{seconds_text}"),
    }
}

#[cfg(test)]
mod tests {
    use super::{format_nanoseconds, parse_duration};

    #[test]
    fn durations_are_those_of_go() {
        const MILLISECOND: i64 = 1_000_000;
        for (text, nanoseconds) in [
            ("0", Some(0)),
            ("0s", Some(0)),
            ("10s", Some(10_000 * MILLISECOND)),
            ("1m30s", Some(90_000 * MILLISECOND)),
            ("500ms", Some(500 * MILLISECOND)),
            ("1.5s", Some(1500 * MILLISECOND)),
            (".5s", Some(500 * MILLISECOND)),
            ("5.s", Some(5000 * MILLISECOND)),
            ("1h1m1s1ms1us1ns", Some(3_661_001 * MILLISECOND + 1001)),
            ("3µs", Some(3000)),
            ("3μs", Some(3000)),
            ("0.1234567891234567891ns", Some(0)),
            ("9223372036854775807ns", Some(i64::MAX)),
            ("9223372036854775808ns", None),
            ("2562048h", None),
            ("", None),
            ("10", None),
            ("s", None),
            (".s", None),
            ("+1m30s", Some(90_000 * MILLISECOND)),
            ("+0", Some(0)),
            ("+", None),
            ("++1s", None),
            ("1m+30s", None),
            ("-1s", None),
            ("1 s", None),
            ("1d", None),
            ("1s1", None),
        ] {
            assert_eq!(parse_duration(text), nanoseconds, "{text:?}");
        }
    }

    #[test]
    fn durations_are_printed_as_go_does() {
        let times = [
            (0, "0s"),
            (15, "15ns"),
            (1_500, "1.5µs"),
            (20_000_000, "20ms"),
            (1_500_000_000, "1.5s"),
            (15_000_000_000, "15s"),
            (90_500_000_000, "1m30.5s"),
            (600_000_000_000, "10m0s"),
            (3_605_000_000_000, "1h0m5s"),
            (-1, "-1ns"),
            (-1_500_000_000, "-1.5s"),
            (-3_605_000_000_000, "-1h0m5s"),
            (i64::MAX, "2562047h47m16.854775807s"),
            (i64::MIN, "-2562047h47m16.854775808s"),
        ];
        for (nanoseconds, expected) in times {
            assert_eq!(format_nanoseconds(nanoseconds), expected);
        }
    }
}
