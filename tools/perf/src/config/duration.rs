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
        // Zero is the only number without a unit.
        let (mut seconds, mut rest) = (0.0, if text == "0" { "" } else { text.as_str() });
        while !rest.is_empty() {
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

#[cfg(test)]
mod tests {
    use super::Duration;

    #[test]
    fn numbers_need_a_unit_except_for_zero() {
        let seconds = |text: &str| Duration::try_from(text.to_owned()).ok().map(|duration| duration.0.as_secs_f64());
        assert_eq!(["0", "1m30s", "0s", "1.5h"].map(seconds), [Some(0.0), Some(90.0), Some(0.0), Some(5400.0)]);
        assert_eq!(["", "1m0", "00", "5"].map(seconds), [None; 4]);
    }
}
