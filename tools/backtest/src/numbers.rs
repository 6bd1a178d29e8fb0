//! Conversions of numbers for results.

/// Converts nanoseconds to seconds.
pub(crate) fn seconds(nanoseconds: i64) -> f64 {
    nanoseconds as f64 / 1e9
}

/// Rounds to six decimals, which are short in JSON.
pub(crate) fn rounded(value: f64) -> f64 {
    (value * 1e6).round() / 1e6
}
