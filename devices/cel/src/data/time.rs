//! Timestamps and durations.

use std::cmp::Ordering;
use std::fmt;

/// Nanoseconds in a second.
pub(crate) const NANOSECONDS: i64 = 1_000_000_000;
/// First and last second of the years 1 to 9999.
const SECONDS: std::ops::RangeInclusive<i64> = -62_135_596_800..=253_402_300_799;

/// Moment, with the offset in seconds of the time zone in which it was written.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Timestamp {
    seconds: i64,
    pub(crate) nanoseconds: u32,
    offset: i32,
}

/// Date and time of day in a time zone.
pub(crate) struct Civil {
    pub(crate) year: i64,
    /// From 1.
    pub(crate) month: i64,
    /// From 1.
    pub(crate) day: i64,
    pub(crate) second_of_day: i64,
    /// Days since 1970-01-01.
    pub(crate) days: i64,
}

impl Timestamp {
    pub(crate) fn new(seconds: i64, nanoseconds: u32, offset: i32) -> Option<Timestamp> {
        SECONDS.contains(&seconds).then_some(Timestamp { seconds, nanoseconds, offset })
    }

    pub(crate) fn seconds(self) -> i64 {
        self.seconds
    }

    /// Returns whether this is Go's zero time, the first moment of year 1.
    pub(crate) fn is_zero(self) -> bool {
        self.seconds == *SECONDS.start() && self.nanoseconds == 0
    }

    /// Returns the moment after a duration. `None`: its year is not in 1 to 9999.
    pub(crate) fn add(self, nanoseconds: i64) -> Option<Timestamp> {
        let total = i64::from(self.nanoseconds) + nanoseconds.rem_euclid(NANOSECONDS);
        let seconds = self.seconds + nanoseconds.div_euclid(NANOSECONDS) + total / NANOSECONDS;
        Timestamp::new(seconds, (total % NANOSECONDS) as u32, self.offset)
    }

    /// Returns the nanoseconds since another moment. `None`: the number exceeds 64 bits.
    pub(crate) fn since(self, other: Timestamp) -> Option<i64> {
        let nanoseconds = i64::from(self.nanoseconds) - i64::from(other.nanoseconds);
        (self.seconds - other.seconds).checked_mul(NANOSECONDS)?.checked_add(nanoseconds)
    }

    /// Returns date and time in a zone with an offset in seconds.
    pub(crate) fn civil(self, offset: i64) -> Civil {
        let local = self.seconds + offset;
        let days = local.div_euclid(86_400);
        // Days are counted from 0000-03-01, so that a leap day is the last day of its year.
        let from_march = days + 719_468;
        let era = from_march.div_euclid(146_097);
        let day_of_era = from_march.rem_euclid(146_097);
        let year_of_era = (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
        let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
        let month_from_march = (5 * day_of_year + 2) / 153;
        let month = if month_from_march < 10 { month_from_march + 3 } else { month_from_march - 9 };
        Civil {
            year: year_of_era + era * 400 + i64::from(month <= 2),
            month,
            day: day_of_year - (153 * month_from_march + 2) / 5 + 1,
            second_of_day: local.rem_euclid(86_400),
            days,
        }
    }
}

/// Returns the days from 1970-01-01 to a date.
pub(crate) fn days_until(year: i64, month: i64, day: i64) -> i64 {
    let year = year - i64::from(month <= 2);
    let era = year.div_euclid(400);
    let year_of_era = year.rem_euclid(400);
    let day_of_year = (153 * (month + if month > 2 { -3 } else { 9 }) + 2) / 5 + day - 1;
    era * 146_097 + year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year - 719_468
}

impl PartialEq for Timestamp {
    fn eq(&self, other: &Timestamp) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Timestamp {}

impl PartialOrd for Timestamp {
    fn partial_cmp(&self, other: &Timestamp) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Timestamp {
    fn cmp(&self, other: &Timestamp) -> Ordering {
        (self.seconds, self.nanoseconds).cmp(&(other.seconds, other.nanoseconds))
    }
}

impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Civil { year, month, day, second_of_day, .. } = self.civil(self.offset.into());
        let (hour, minute, second) = (second_of_day / 3600, second_of_day / 60 % 60, second_of_day % 60);
        write!(f, "{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}")?;
        if self.nanoseconds > 0 {
            write!(f, ".{}", format!("{:09}", self.nanoseconds).trim_end_matches('0'))?;
        }
        if self.offset == 0 {
            return f.write_str("Z");
        }
        let minutes = self.offset.abs() / 60;
        write!(f, "{}{:02}:{:02}", if self.offset < 0 { '-' } else { '+' }, minutes / 60, minutes % 60)
    }
}

/// Reads a timestamp by RFC 3339. Returns `None` if the text is malformed, and `Some(None)` if the timestamp is out of
/// range.
pub(crate) fn parse_timestamp(text: &str) -> Option<Option<Timestamp>> {
    let bytes = text.as_bytes();
    let number = |from: usize, to: usize| -> Option<i64> {
        let digits = text.get(from..to)?;
        if digits.bytes().all(|byte| byte.is_ascii_digit()) { digits.parse().ok() } else { None }
    };
    let is = |at: usize, byte: u8| bytes.get(at) == Some(&byte);
    if !(is(4, b'-') && is(7, b'-') && is(10, b'T') && is(13, b':') && is(16, b':')) {
        return None;
    }
    let (year, month, day) = (number(0, 4)?, number(5, 7)?, number(8, 10)?);
    let (hour, minute, second) = (number(11, 13)?, number(14, 16)?, number(17, 19)?);
    let is_leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let last_day = match month {
        2 => 28 + i64::from(is_leap),
        4 | 6 | 9 | 11 => 30,
        1..=12 => 31,
        _ => return None,
    };
    if !(1..=last_day).contains(&day) || hour > 23 || minute > 59 || second > 59 {
        return None;
    }
    let mut at = 19;
    let mut nanoseconds = 0;
    if is(at, b'.') || is(at, b',') {
        let digits = bytes[at + 1..].iter().take_while(|byte| byte.is_ascii_digit()).count();
        if digits == 0 {
            return None;
        }
        // Digits beyond nanoseconds are dropped.
        let fraction = text.get(at + 1..at + 1 + digits.min(9))?;
        nanoseconds = format!("{fraction:0<9}").parse().ok()?;
        at += 1 + digits;
    }
    let offset = match text.get(at..)? {
        "Z" => 0,
        zone if zone.len() == 6 && (is(at, b'+') || is(at, b'-')) && is(at + 3, b':') => {
            let (hours, minutes) = (number(at + 1, at + 3)?, number(at + 4, at + 6)?);
            if hours > 24 || minutes > 60 {
                return None;
            }
            let offset = hours * 3600 + minutes * 60;
            if is(at, b'-') { -offset } else { offset }
        }
        _ => return None,
    };
    let seconds = days_until(year, month, day) * 86_400 + hour * 3600 + minute * 60 + second - offset;
    Some(Timestamp::new(seconds, nanoseconds, offset as i32))
}

/// Returns the nanoseconds of a duration such as `1h30m` or `-1.5s`. `None`: it is malformed or too long.
pub(crate) fn parse_duration(text: &str) -> Option<i64> {
    let (negative, mut rest) = match text.strip_prefix(['-', '+']) {
        Some(rest) => (text.starts_with('-'), rest),
        None => (false, text),
    };
    if rest == "0" {
        return Some(0);
    }
    if rest.is_empty() {
        return None;
    }
    let mut total: i128 = 0;
    while !rest.is_empty() {
        let length = rest.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(rest.len());
        let (number, after) = rest.split_at(length);
        let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
        if whole.is_empty() && fraction.is_empty() || fraction.contains('.') {
            return None;
        }
        let (unit, length) = [
            ("ns", 1),
            ("us", 1_000),
            ("µs", 1_000),
            ("μs", 1_000),
            ("ms", 1_000_000),
            ("s", NANOSECONDS),
            ("m", 60 * NANOSECONDS),
            ("h", 3_600 * NANOSECONDS),
        ]
        .into_iter()
        .find(|(name, _)| after.starts_with(name))
        .map(|(name, unit)| (i128::from(unit), name.len()))?;
        let whole: i128 = if whole.is_empty() { 0 } else { whole.parse::<i64>().ok()?.into() };
        total += whole * unit;
        // 16 digits are enough for a fraction of an hour with the precision of a nanosecond.
        let fraction = &fraction[..fraction.len().min(16)];
        if !fraction.is_empty() {
            total += fraction.parse::<i128>().ok()? * unit / 10_i128.pow(fraction.len() as u32);
        }
        rest = &after[length..];
        if total > i128::from(i64::MAX) + 1 {
            return None;
        }
    }
    i64::try_from(if negative { -total } else { total }).ok()
}

/// Writes a duration as seconds with a fraction and `s`.
pub(crate) fn duration_text(nanoseconds: i64) -> String {
    format!("{}s", seconds(nanoseconds))
}

/// Converts to seconds as a floating-point number, rounded as Go does.
fn seconds(nanoseconds: i64) -> f64 {
    (nanoseconds / NANOSECONDS) as f64 + (nanoseconds % NANOSECONDS) as f64 / 1e9
}
