//! Resource quantities (`500m`, `1.5Gi`, `2e3`), parsed, added and rounded as Kubernetes does.

mod scale;
mod text;

use std::cmp::Ordering;
use std::fmt;
use std::str::FromStr;

use scale::{scale_down, scale_long, scale_too_far, scale_up, widen};
use text::{Parts, Suffix};

/// Smallest exponent of ten of a quantity.
const NANO: i32 = -9;
/// Number of decimal digits that always fit an `i64`.
const SHORT_DIGITS: i32 = 18;

/// An amount of a resource: Kubernetes' `resource.Quantity` without its spelling.
///
/// Exact to a billionth; finer amounts are rounded away from zero by the parser. As in Kubernetes, there are two
/// representations: a 64-bit number with a power of ten, and a long representation for all other amounts. Amounts
/// of both representations are compared by their numeric values. The representation only decides how
/// [`Quantity::value`] and [`Quantity::milli_value`] overflow and round negative amounts.
///
/// Kubernetes' long representation is unbounded. Here the maximum is 2<sup>127</sup> billionths, more than
/// 10<sup>29</sup> units.
#[derive(Clone, Copy)]
pub struct Quantity(Amount);

#[derive(Clone, Copy)]
enum Amount {
    /// `value * 10^exponent`.
    Short { value: i64, exponent: i32 },
    /// `value * 10^exponent`, the exponent mostly -9.
    Long { value: i128, exponent: i32 },
}

/// Reason why a text is no quantity. Displays Kubernetes' message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum QuantityError {
    /// The text does not have the form of a number with a suffix.
    Format,
    /// There is no digit.
    Number,
    /// The letters after the number are no suffix.
    Suffix,
}

impl fmt::Display for QuantityError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            QuantityError::Format => {
                "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"
            }
            QuantityError::Number => "unable to parse numeric part of quantity",
            QuantityError::Suffix => "unable to parse quantity's suffix",
        })
    }
}

impl std::error::Error for QuantityError {}

impl Quantity {
    /// The quantity 0.
    pub const ZERO: Quantity = Quantity::from_units(0);

    /// Makes a whole number.
    pub const fn from_units(units: i64) -> Quantity {
        Quantity(Amount::Short { value: units, exponent: 0 })
    }

    /// Makes a number of thousandths.
    pub const fn from_milli(milli: i64) -> Quantity {
        Quantity(Amount::Short { value: milli, exponent: -3 })
    }

    /// Parses a quantity like `resource.ParseQuantity`, after removing the surrounding white space as the JSON decoder
    /// does. As in Kubernetes, some texts without digits are valid and mean 0: `-`, `.` and `Ki`.
    ///
    /// # Errors
    /// The text is no quantity.
    pub fn parse(text: &str) -> Result<Quantity, QuantityError> {
        let parts = Parts::split(text.trim())?;
        let suffix = Suffix::interpret(parts.suffix)?;
        match parts.short(suffix) {
            Some(short) => Ok(short),
            None => parts.long(suffix),
        }
    }

    /// Adds at full precision.
    pub fn add(&mut self, other: Quantity) {
        if let (Amount::Short { value: a, exponent: ae }, Amount::Short { value: b, exponent: be }) = (self.0, other.0)
        {
            let sum = match (a, b) {
                (_, 0) => return,
                (0, _) => Some(other.0),
                _ => {
                    let exponent = ae.min(be);
                    scale_up(a, ae.wrapping_sub(exponent))
                        .zip(scale_up(b, be.wrapping_sub(exponent)))
                        .and_then(|(a, b)| a.checked_add(b))
                        .map(|value| Amount::Short { value, exponent })
                }
            };
            if let Some(sum) = sum {
                self.0 = sum;
                return;
            }
        }
        let ((a, ae), (b, be)) = (self.long(), other.long());
        let exponent = ae.min(be);
        let value = widen(a, ae.wrapping_sub(exponent)).saturating_add(widen(b, be.wrapping_sub(exponent)));
        self.0 = Amount::Long { value, exponent };
    }

    /// Subtracts at full precision.
    pub fn sub(&mut self, other: Quantity) {
        let negated = match other.0 {
            Amount::Short { value, exponent } => match value.checked_neg() {
                Some(value) => Amount::Short { value, exponent },
                None => Amount::Long { value: -i128::from(value), exponent },
            },
            Amount::Long { value, exponent } => Amount::Long { value: value.saturating_neg(), exponent },
        };
        self.add(Quantity(negated));
    }

    /// Returns the value as an integer, if Kubernetes' `AsInt64()` succeeds. Fractions are not reduced: the result for
    /// `1000m` is `None`.
    pub fn as_i64(self) -> Option<i64> {
        match self.0 {
            Amount::Short { value, exponent } if exponent >= 0 => scale_up(value, exponent),
            _ => None,
        }
    }

    /// Returns an approximate floating-point number, like `AsApproximateFloat64()`.
    pub fn as_f64(self) -> f64 {
        match self.0 {
            Amount::Short { value, exponent: 0 } => value as f64,
            Amount::Short { value, exponent } => value as f64 * 10_f64.powi(exponent),
            Amount::Long { value, exponent } => value as f64 * 10_f64.powi(exponent),
        }
    }

    /// Sets the quantity to `other` if `other` is larger, like Kubernetes' maximum of two quantities.
    pub fn raise_to(&mut self, other: Quantity) {
        if other > *self {
            // As in Kubernetes, a long quantity stays long, even if the larger one is short.
            let is_long = matches!(self.0, Amount::Long { .. });
            let (value, exponent) = other.long();
            self.0 = if is_long { Amount::Long { value, exponent } } else { other.0 };
        }
    }

    /// Returns whole units, rounded away from zero. Negative amounts in the long representation are rounded in another
    /// way, like Kubernetes' `scaledValue`. Wraps, or is 0, where Kubernetes' `Value()` overflows.
    pub fn value(self) -> i64 {
        self.scaled(0)
    }

    /// Returns thousandths, rounded as by [`Quantity::value`]. Wraps, or is 0, where Kubernetes' `MilliValue()`
    /// overflows.
    pub fn milli_value(self) -> i64 {
        self.scaled(-3)
    }

    /// Returns whether it is 0.
    pub fn is_zero(self) -> bool {
        self.long().0 == 0
    }

    /// Returns whether it is below 0.
    pub fn is_negative(self) -> bool {
        self.long().0 < 0
    }

    fn long(self) -> (i128, i32) {
        match self.0 {
            Amount::Short { value, exponent } => (value.into(), exponent),
            Amount::Long { value, exponent } => (value, exponent),
        }
    }

    fn scaled(self, to: i32) -> i64 {
        match self.0 {
            Amount::Short { value, exponent } if exponent < to => scale_down(value, to.wrapping_sub(exponent)),
            Amount::Short { value, exponent } => {
                let by = exponent.wrapping_sub(to);
                scale_up(value, by).unwrap_or_else(|| scale_too_far(value, by))
            }
            Amount::Long { value, exponent } => scale_long(value, exponent.wrapping_sub(to)),
        }
    }
}

impl FromStr for Quantity {
    type Err = QuantityError;

    fn from_str(text: &str) -> Result<Quantity, QuantityError> {
        Quantity::parse(text)
    }
}

impl Ord for Quantity {
    fn cmp(&self, other: &Quantity) -> Ordering {
        let ((a, ae), (b, be)) = (self.long(), other.long());
        if a.signum() != b.signum() || a == 0 {
            return a.signum().cmp(&b.signum());
        }
        // Same sign: the amount with the larger exponent is scaled to the smaller exponent. If this overflows, it is
        // further from zero.
        let scaled = |value: i128, by: i64| {
            u32::try_from(by).ok().and_then(|by| 10_i128.checked_pow(by)).and_then(|factor| value.checked_mul(factor))
        };
        let gap = i64::from(ae) - i64::from(be);
        if gap >= 0 {
            scaled(a, gap).map_or_else(|| a.cmp(&0), |a| a.cmp(&b))
        } else {
            scaled(b, -gap).map_or_else(|| 0.cmp(&b), |b| a.cmp(&b))
        }
    }
}

impl PartialOrd for Quantity {
    fn partial_cmp(&self, other: &Quantity) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Quantity {
    fn eq(&self, other: &Quantity) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Quantity {}

impl Default for Quantity {
    fn default() -> Quantity {
        Quantity::ZERO
    }
}

/// Decimal and exact: the largest suffix that leaves a whole number (`1500m`, `2k`), like Kubernetes' decimal
/// quantities. The text can be parsed again.
impl fmt::Display for Quantity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (mut value, mut exponent) = self.long();
        if value == 0 {
            return f.write_str("0");
        }
        while value % 1000 == 0 || (exponent % 3 != 0 && value % 10 == 0) {
            let step = if exponent % 3 == 0 { 3 } else { 1 };
            value /= if step == 3 { 1000 } else { 10 };
            exponent = exponent.saturating_add(step);
        }
        while exponent % 3 != 0 && value.checked_mul(10).is_some() {
            value *= 10;
            exponent = exponent.saturating_sub(1);
        }
        let suffixes = [(-9, "n"), (-6, "u"), (-3, "m"), (0, ""), (3, "k"), (6, "M"), (9, "G"), (12, "T"), (15, "P")];
        match suffixes.iter().find(|suffix| suffix.0 == exponent) {
            Some((_, suffix)) => write!(f, "{value}{suffix}"),
            None => write!(f, "{value}e{exponent}"),
        }
    }
}

impl fmt::Debug for Quantity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

#[cfg(test)]
mod tests;
