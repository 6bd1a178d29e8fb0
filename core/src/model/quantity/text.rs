//! The text of a quantity: digits and a suffix.

use super::scale::widen;
use super::{Amount, NANO, Quantity, QuantityError, SHORT_DIGITS};

/// Parts of a quantity's text.
pub(super) struct Parts<'a> {
    negative: bool,
    /// Digits before the point, without leading zeros; `0` if there are no others.
    whole: &'a str,
    /// Digits after the point.
    fraction: &'a str,
    /// Whether the text has a digit before or after the point.
    has_digits: bool,
    pub(super) suffix: &'a str,
}

impl<'a> Parts<'a> {
    pub(super) fn split(text: &'a str) -> Result<Parts<'a>, QuantityError> {
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

    /// Returns the short representation, if Kubernetes uses it for this quantity.
    pub(super) fn short(&self, suffix: Suffix) -> Option<Quantity> {
        let (factor, exponent) = match suffix {
            Suffix::Decimal(exponent) => {
                (self.digits() <= SHORT_DIGITS).then_some(())?;
                (1, exponent.wrapping_sub(i32::try_from(self.fraction.len()).ok()?))
            }
            Suffix::Binary(bits) => {
                // Ten bits are about three digits.
                let spare_digits = 14 - i32::try_from(self.whole.len()).ok()? - (bits * 3 / 10).cast_signed();
                (self.fraction.is_empty() && spare_digits >= 0).then_some(())?;
                (1 << bits, 0)
            }
        };
        (exponent >= NANO).then_some(())?;
        let digits = self.whole.bytes().chain(self.fraction.bytes());
        let value = digits.fold(0_i64, |value, digit| value * 10 + i64::from(digit - b'0')).checked_mul(factor)?;
        Some(Quantity(Amount::Short { value: if self.negative { -value } else { value }, exponent }))
    }

    /// Returns the long representation: billionths, rounded away from zero, and at most 2^63-1 units with a binary
    /// suffix.
    pub(super) fn long(&self, suffix: Suffix) -> Result<Quantity, QuantityError> {
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

/// Multiplies a number that is given as decimal digits.
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

/// Returns `digits * 10^exponent` in billionths, rounded up.
fn billionths(digits: &[u8], exponent: i64) -> i128 {
    let shift = exponent.saturating_sub(NANO.into());
    let cut = usize::try_from(shift.saturating_neg()).unwrap_or(0).min(digits.len());
    let (kept, dropped) = digits.split_at(digits.len() - cut);
    let value = kept.iter().fold(0_i128, |value, &digit| value.saturating_mul(10).saturating_add(digit.into()));
    let value = widen(value, i32::try_from(shift.max(0)).unwrap_or(i32::MAX));
    value.saturating_add(i128::from(dropped.iter().any(|&digit| digit != 0)))
}

/// Factor of the letters after the number.
#[derive(Clone, Copy)]
pub(super) enum Suffix {
    /// A power of ten.
    Decimal(i32),
    /// A power of two.
    Binary(u32),
}

impl Suffix {
    pub(super) fn interpret(text: &str) -> Result<Suffix, QuantityError> {
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
