//! Arithmetic with amounts of resources in 64-bit floating-point numbers, for loops over nodes: vector instructions of
//! every CPU divide them, and convert between them and integers.

/// The numbers from here to twice this value are the integers, and the low bits of their representations count up.
const INTEGERS: f64 = (1_u64 << 52) as f64;

/// Returns whether amounts are at least 0, and [exact](to_f64) also after multiplication by 100.
#[inline(always)]
pub(crate) fn are_exact(amounts: [i64; 4]) -> bool {
    // The sign bit is the highest one.
    let [a, b, c, d] = amounts;
    (a | b | c | d) as u64 >> 46 == 0
}

/// Converts an integer that is at least 0 and less than 2^52.
#[inline(always)]
pub(crate) fn to_f64(amount: i64) -> f64 {
    f64::from_bits(INTEGERS.to_bits() | amount as u64) - INTEGERS
}

/// Rounds a score down.
#[inline(always)]
pub(crate) fn floor(score: f64) -> i64 {
    // Conversions to larger types take more instructions.
    i64::from(score as u8)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn quotients_of_exact_amounts_round_down_as_integers(
            divisor in 1_i64..1 << 46,
            small in 1_i64..1000,
            dividend in 0_i64..1 << 46,
            percent in 0_i64..=100,
        ) {
            for divisor in [divisor, small] {
                // Also at, below and above the multiples of the divisor.
                let multiple = divisor * percent;
                for dividend in [dividend.min(divisor) * 100, multiple, (multiple - 1).max(0), multiple + 1] {
                    prop_assert_eq!(floor(dividend as f64 / to_f64(divisor)), dividend / divisor);
                }
            }
        }

        #[test]
        fn only_exact_amounts_are_accepted(amount: i64, position in 0..4_usize) {
            let mut amounts = [0; 4];
            amounts[position] = amount;
            prop_assert_eq!(are_exact(amounts), (0..1 << 46).contains(&amount));
        }
    }
}
