//! Units of numbers.

use serde::Serialize;

/// Unit of numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Unit {
    /// Number of items.
    #[default]
    Count,
    /// Percent.
    Percent,
    /// Seconds.
    Seconds,
    /// Microseconds.
    Microseconds,
    /// Thousandths of a core.
    Millicores,
    /// Bytes.
    Bytes,
}
