//! Times of pods in traces.

use k8s_openapi::jiff::Timestamp;
use schedc_bounds::text::shortened;

use super::TraceError;
use super::mapping::{PodMapping, TimeUnit};
use super::rows::Row;
use super::text::Text;

/// Largest distance of a time from 0: about 126 years, so that differences fit into 64 bits.
const MAX_TIME: i64 = 4_000_000_000_000_000_000;

/// Times of a pod in nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Times {
    pub(super) created: i64,
    pub(super) ended: Option<i64>,
    /// Time from its start to its end; `None` if it does not end.
    pub(super) runs: Option<i64>,
}

impl TimeUnit {
    /// Returns whether times are dates.
    pub(super) fn has_dates(self) -> bool {
        self == TimeUnit::Date
    }

    /// Returns the nanoseconds of the unit.
    fn nanoseconds(self) -> f64 {
        match self {
            TimeUnit::Nanoseconds | TimeUnit::Date => 1.0,
            TimeUnit::Microseconds => 1e3,
            TimeUnit::Milliseconds => 1e6,
            TimeUnit::Seconds => 1e9,
            TimeUnit::Minutes => 60e9,
            TimeUnit::Hours => 3600e9,
            TimeUnit::Days => 86400e9,
        }
    }

    /// Reads the times of a pod.
    pub(super) fn times(self, pods: &PodMapping, row: &Row<'_>) -> Result<Times, TraceError> {
        let created = self.time(&pods.created, row)?.ok_or_else(|| row.error("`created` is empty"))?;
        let optional = |text: &Option<Text>| match text {
            Some(text) => self.time(text, row),
            None => Ok(None),
        };
        let (started, ended) = (optional(&pods.started)?, optional(&pods.ended)?);
        let begin = started.unwrap_or(created);
        match ended {
            Some(ended) if ended < begin => {
                Err(row.error("the pod ends before it begins; leave out such rows, or correct them"))
            }
            _ => Ok(Times { created, ended, runs: ended.map(|ended| ended - begin) }),
        }
    }

    fn time(self, text: &Text, row: &Row<'_>) -> Result<Option<i64>, TraceError> {
        let Some(text) = row.text(text)? else { return Ok(None) };
        let time = self.parse(&text).filter(|time| (-MAX_TIME..=MAX_TIME).contains(time));
        let message = || match self {
            TimeUnit::Date => "is not a date such as 2026-01-01T00:00:00Z",
            _ => "is not a number, or exceeds 126 years",
        };
        time.map(Some).ok_or_else(|| row.error(format_args!("`{}` {}", shortened(&text, 100), message())))
    }

    fn parse(self, text: &str) -> Option<i64> {
        if self.has_dates() {
            let time: Timestamp = text.parse().ok()?;
            return i64::try_from(time.as_nanosecond()).ok();
        }
        let unit = self.nanoseconds();
        // Whole numbers are exact.
        match text.parse::<i64>() {
            Ok(number) => number.checked_mul(unit as i64),
            Err(_) => {
                let number = text.parse::<f64>().ok()? * unit;
                (number.abs() <= MAX_TIME as f64).then_some(number.round() as i64)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_numbers_or_dates() {
        let parse = |unit: TimeUnit, text: &str| unit.parse(text);
        assert_eq!(parse(TimeUnit::Seconds, "12"), Some(12_000_000_000));
        assert_eq!(parse(TimeUnit::Days, "-0.5"), Some(-43_200_000_000_000));
        assert_eq!(parse(TimeUnit::Date, "1970-01-01T00:00:01Z"), Some(1_000_000_000));
        for (unit, text) in [(TimeUnit::Seconds, "x"), (TimeUnit::Days, "1e300"), (TimeUnit::Hours, "NaN")] {
            assert_eq!(parse(unit, text), None, "{text}");
        }
        assert_eq!(parse(TimeUnit::Days, "999999999999"), None);
    }
}
