//! Numbers in Go's format: a label such as `le="1e-05"` equals kube-scheduler's.

use std::fmt;

/// Number in the format of Go's `strconv.FormatFloat(x, 'g', -1, 64)`: with the fewest digits that identify the number.
/// Numbers below 0.0001, and from a million on, have an exponent of at least two digits.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Number(pub f64);

impl fmt::Display for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Number(number) = *self;
        if number.is_nan() {
            return f.write_str("NaN");
        }
        if number.is_infinite() {
            return f.write_str(if number > 0.0 { "+Inf" } else { "-Inf" });
        }
        let scientific = format!("{number:e}");
        let (digits, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
        match exponent.parse().unwrap_or(0) {
            -4..=5 => write!(f, "{number}"),
            exponent => {
                let sign = if exponent < 0 { '-' } else { '+' };
                write!(f, "{digits}e{sign}{:02}", i32::abs(exponent))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Number;

    #[test]
    fn numbers_are_formatted_as_by_go() {
        for (number, text) in [
            (0.0, "0"),
            (-0.0, "-0"),
            (1.0, "1"),
            (-2.5, "-2.5"),
            (0.0001, "0.0001"),
            (0.00001, "1e-05"),
            (1.5000000000000002e-05, "1.5000000000000002e-05"),
            (604_800.0, "604800"),
            (1_048_576.0, "1.048576e+06"),
            (1e21, "1e+21"),
            (5e-324, "5e-324"),
            (5242.88, "5242.88"),
            (f64::INFINITY, "+Inf"),
            (f64::NEG_INFINITY, "-Inf"),
            (f64::NAN, "NaN"),
        ] {
            assert_eq!(Number(number).to_string(), text);
        }
    }
}
