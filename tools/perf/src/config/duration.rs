//! Durations in Go's notation.

use serde::Deserialize;

/// A duration in Go's notation: `1m30s`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub struct Duration(pub std::time::Duration);

impl TryFrom<String> for Duration {
    type Error = String;
    fn try_from(text: String) -> Result<Self, String> {
        const UNITS: [(&str, f64); 7] =
            [("ns", 1e-9), ("us", 1e-6), ("µs", 1e-6), ("ms", 1e-3), ("s", 1.0), ("m", 60.0), ("h", 3600.0)];
        let invalid = || format!("`{text}` is not a duration such as 90s, 1m30s or 250ms");
        let (mut seconds, mut rest) = (0.0, text.as_str());
        while !rest.is_empty() && rest != "0" {
            let end = rest.find(|c: char| !c.is_ascii_digit() && c != '.').ok_or_else(invalid)?;
            let amount: f64 = rest[..end].parse().map_err(|_| invalid())?;
            rest = &rest[end..];
            let end = rest.find(|c: char| c.is_ascii_digit()).unwrap_or(rest.len());
            let unit = UNITS.iter().find(|(unit, _)| *unit == &rest[..end]).ok_or_else(invalid)?;
            seconds += amount * unit.1;
            rest = &rest[end..];
        }
        if text.is_empty() {
            return Err(invalid());
        }
        std::time::Duration::try_from_secs_f64(seconds).map(Duration).map_err(|_| invalid())
    }
}
