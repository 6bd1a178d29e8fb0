//! Resource quantities (`500m`, `1.5Gi`, `2e3`), parsed, added and rounded as Kubernetes does.

use std::cmp::Ordering;
use std::fmt;
use std::str::FromStr;

/// Quantities are never finer than this power of ten.
const NANO: i32 = -9;
/// Decimal digits that always fit an `i64`.
const SHORT_DIGITS: i32 = 18;

/// An amount of a resource: Kubernetes' `resource.Quantity` without its spelling.
///
/// Exact to a billionth; anything finer is rounded up, away from zero, when it is read. As in Kubernetes there are two
/// representations, a 64-bit number with a power of ten, and a long one for what does not fit. They compare as the
/// numbers they are, but [`Quantity::value`] and [`Quantity::milli_value`] overflow differently.
///
/// Kubernetes' long representation is unbounded. Here it stops at 2<sup>127</sup> billionths, which is more than
/// 10<sup>29</sup>.
#[derive(Clone, Copy)]
pub struct Quantity(Amount);

#[derive(Clone, Copy)]
enum Amount {
    /// `value * 10^exponent`.
    Short { value: i64, exponent: i32 },
    /// `value * 10^exponent`, the exponent mostly -9.
    Long { value: i128, exponent: i32 },
}

/// Why a text is no quantity. Displays as Kubernetes says it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum QuantityError {
    /// The text has not the form of a number with a suffix.
    Format,
    /// There is no digit.
    Number,
    /// The letters behind the number are no suffix.
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
    /// Nothing.
    pub const ZERO: Quantity = Quantity::from_units(0);

    /// A whole number.
    pub const fn from_units(units: i64) -> Quantity {
        Quantity(Amount::Short { value: units, exponent: 0 })
    }

    /// A number of thousandths.
    pub const fn from_milli(milli: i64) -> Quantity {
        Quantity(Amount::Short { value: milli, exponent: -3 })
    }

    /// Reads a quantity as `resource.ParseQuantity` does, after the surrounding white space that the JSON decoder
    /// takes away.
    ///
    /// # Errors
    /// If the text is no quantity. A missing number is read as 0 where Kubernetes does so (`-`, `.`, `Ki`).
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

    /// Becomes `other` if that is more, as Kubernetes takes the larger of two quantities.
    pub fn raise_to(&mut self, other: Quantity) {
        if other > *self {
            // Comparing with a long quantity leaves a long one.
            let is_long = matches!(self.0, Amount::Long { .. });
            let (value, exponent) = other.long();
            self.0 = if is_long { Amount::Long { value, exponent } } else { other.0 };
        }
    }

    /// Whole units, rounded up. Wraps, or is 0, where Kubernetes' `Value()` overflows.
    pub fn value(self) -> i64 {
        self.scaled(0)
    }

    /// Thousandths, rounded up. Wraps, or is 0, where Kubernetes' `MilliValue()` overflows.
    pub fn milli_value(self) -> i64 {
        self.scaled(-3)
    }

    /// Whether it is nothing.
    pub fn is_zero(self) -> bool {
        self.long().0 == 0
    }

    /// Whether it is less than nothing.
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

/// `value * 10^by`, unless that overflows.
fn scale_up(value: i64, by: i32) -> Option<i64> {
    match value {
        0 => Some(0),
        _ => value.checked_mul(10_i64.checked_pow(by.try_into().ok()?)?),
    }
}

/// `value * 10^by` where that overflows: Kubernetes wraps if it multiplies once, for the powers that suffixes stand for,
/// and gives up otherwise.
fn scale_too_far(value: i64, by: i32) -> i64 {
    match by {
        _ if value == i64::MIN => 0,
        1 | 2 | 3 | 6 | 9 => value.wrapping_mul(10_i64.pow(by.unsigned_abs())),
        _ => 0,
    }
}

/// `value / 10^by`, rounded away from zero.
fn scale_down(value: i64, by: i32) -> i64 {
    match u32::try_from(by).ok().and_then(|by| 10_i64.checked_pow(by)) {
        Some(divisor) => value / divisor + if value % divisor == 0 { 0 } else { value.signum() },
        None => value.signum(),
    }
}

/// `value * 10^by` for the long representation: wraps where the result is no `i64`. Negative amounts are rounded as
/// Kubernetes' `scaledValue` rounds them, which is neither away from zero nor up.
fn scale_long(value: i128, by: i32) -> i64 {
    let low = value as i64;
    if by >= 0 {
        // A power of ten beyond 64 bits is this number once a float has become an integer.
        return low.wrapping_mul(10_i64.checked_pow(by.unsigned_abs()).unwrap_or(i64::MIN));
    }
    let by = by.unsigned_abs();
    match 10_i64.checked_pow(by) {
        Some(divisor) if value < i64::MAX.into() && by < 19 => {
            (low / divisor).wrapping_add(i64::from(low % divisor != 0))
        }
        _ => match 10_i128.checked_pow(by) {
            Some(divisor) => (value.div_euclid(divisor) as i64).wrapping_add(i64::from(value.rem_euclid(divisor) != 0)),
            None => i64::from(value > 0),
        },
    }
}

/// `value * 10^by`, at most what the long representation holds.
fn widen(value: i128, by: i32) -> i128 {
    match value {
        0 => 0,
        _ => match u32::try_from(by).ok().and_then(|by| 10_i128.checked_pow(by)) {
            Some(factor) => value.saturating_mul(factor),
            None if value < 0 => i128::MIN,
            None => i128::MAX,
        },
    }
}

/// The pieces of a quantity's text.
struct Parts<'a> {
    negative: bool,
    /// Digits before the point, without leading zeros, but at least one.
    whole: &'a str,
    /// Digits after the point.
    fraction: &'a str,
    /// Whether a digit was written at all.
    has_digits: bool,
    suffix: &'a str,
}

impl<'a> Parts<'a> {
    fn split(text: &'a str) -> Result<Parts<'a>, QuantityError> {
        if text.is_empty() {
            return Err(QuantityError::Format);
        }
        let negative = text.starts_with('-');
        let unsigned = text.strip_prefix(['-', '+']).unwrap_or(text);
        let stripped = unsigned.trim_start_matches('0');
        let (whole, mut rest) = split_digits(stripped);
        let mut fraction = "";
        if let Some(after_point) = rest.strip_prefix('.') {
            (fraction, rest) = split_digits(after_point);
        }
        let suffix = rest;
        let exponent = suffix.trim_start_matches(|c| "eEinumkKMGTP".contains(c));
        let exponent = exponent.strip_prefix(['-', '+']).unwrap_or(exponent);
        if !split_digits(exponent).1.is_empty() {
            return Err(QuantityError::Format);
        }
        let has_digits = stripped.len() < unsigned.len() || !whole.is_empty() || !fraction.is_empty();
        let whole = if whole.is_empty() { "0" } else { whole };
        Ok(Parts { negative, whole, fraction, has_digits, suffix })
    }

    fn digits(&self) -> i32 {
        i32::try_from(self.whole.len() + self.fraction.len()).unwrap_or(i32::MAX)
    }

    /// The short representation, where Kubernetes uses it.
    fn short(&self, suffix: Suffix) -> Option<Quantity> {
        let (factor, exponent) = match suffix {
            Suffix::Decimal(exponent) => {
                (self.digits() <= SHORT_DIGITS).then_some(())?;
                (1, exponent.wrapping_sub(i32::try_from(self.fraction.len()).ok()?))
            }
            Suffix::Binary(bits) => {
                // Ten bits are about three digits.
                let room = 14 - i32::try_from(self.whole.len()).ok()? - (bits * 3 / 10).cast_signed();
                (self.fraction.is_empty() && room >= 0).then_some(())?;
                (1 << bits, 0)
            }
        };
        (exponent >= NANO).then_some(())?;
        let digits = self.whole.bytes().chain(self.fraction.bytes());
        let value = digits.fold(0_i64, |value, digit| value * 10 + i64::from(digit - b'0')).checked_mul(factor)?;
        Some(Quantity(Amount::Short { value: if self.negative { -value } else { value }, exponent }))
    }

    /// The long representation: billionths, rounded up, and at most 2^63-1 units if the suffix is a binary one.
    fn long(&self, suffix: Suffix) -> Result<Quantity, QuantityError> {
        if !self.has_digits {
            return Err(QuantityError::Number);
        }
        let mut digits: Vec<u8> = self.whole.bytes().chain(self.fraction.bytes()).map(|digit| digit - b'0').collect();
        let fraction = i64::try_from(self.fraction.len()).unwrap_or(i64::MAX);
        let mut value = match suffix {
            Suffix::Decimal(exponent) => billionths(&digits, i64::from(exponent) - fraction),
            Suffix::Binary(bits) => {
                multiply(&mut digits, 1 << bits);
                billionths(&digits, -fraction).min(i128::from(i64::MAX) * 1_000_000_000)
            }
        };
        if self.negative {
            value = -value;
        }
        Ok(Quantity(Amount::Long { value, exponent: NANO }))
    }
}

fn split_digits(text: &str) -> (&str, &str) {
    text.split_at(text.bytes().take_while(u8::is_ascii_digit).count())
}

/// Multiplies a number written in decimal digits.
fn multiply(digits: &mut Vec<u8>, factor: u64) {
    let mut carry = 0_u128;
    for digit in digits.iter_mut().rev() {
        carry += u128::from(*digit) * u128::from(factor);
        *digit = (carry % 10) as u8;
        carry /= 10;
    }
    let mut front = Vec::new();
    while carry > 0 {
        front.push((carry % 10) as u8);
        carry /= 10;
    }
    front.reverse();
    digits.splice(0..0, front);
}

/// `digits * 10^exponent` in billionths, rounded up.
fn billionths(digits: &[u8], exponent: i64) -> i128 {
    let shift = exponent.saturating_sub(NANO.into());
    let cut = usize::try_from(shift.saturating_neg()).unwrap_or(0).min(digits.len());
    let (kept, dropped) = digits.split_at(digits.len() - cut);
    let value = kept.iter().fold(0_i128, |value, &digit| value.saturating_mul(10).saturating_add(digit.into()));
    let value = widen(value, i32::try_from(shift.max(0)).unwrap_or(i32::MAX));
    value.saturating_add(i128::from(dropped.iter().any(|&digit| digit != 0)))
}

/// What the letters behind the number multiply it by.
#[derive(Clone, Copy)]
enum Suffix {
    /// A power of ten.
    Decimal(i32),
    /// A power of two.
    Binary(u32),
}

impl Suffix {
    fn interpret(text: &str) -> Result<Suffix, QuantityError> {
        Ok(match text {
            "" => Suffix::Decimal(0),
            "n" => Suffix::Decimal(-9),
            "u" => Suffix::Decimal(-6),
            "m" => Suffix::Decimal(-3),
            "k" => Suffix::Decimal(3),
            "M" => Suffix::Decimal(6),
            "G" => Suffix::Decimal(9),
            "T" => Suffix::Decimal(12),
            "P" => Suffix::Decimal(15),
            "E" => Suffix::Decimal(18),
            "Ki" => Suffix::Binary(10),
            "Mi" => Suffix::Binary(20),
            "Gi" => Suffix::Binary(30),
            "Ti" => Suffix::Binary(40),
            "Pi" => Suffix::Binary(50),
            "Ei" => Suffix::Binary(60),
            _ => {
                let exponent = text.strip_prefix(['e', 'E']).ok_or(QuantityError::Suffix)?;
                // Kubernetes keeps the low 32 bits of the exponent.
                Suffix::Decimal(exponent.parse::<i64>().map_err(|_| QuantityError::Suffix)? as i32)
            }
        })
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
        // Same sign: the one with the larger exponent is scaled to the smaller one, or is further from zero.
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

/// Decimal and exact: the largest suffix that leaves a whole number (`1500m`, `2k`), as Kubernetes writes decimal
/// quantities. What is written can be read again.
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
