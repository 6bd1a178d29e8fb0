//! Arithmetic with amounts of CPU and memory as 64-bit floating-point numbers, for loops over nodes. Arrays of both
//! amounts become vectors: x86-64 and AArch64 convert and divide two at once.

/// Maximum number of bits of an amount. The sum of two amounts is exact, and so is an amount times 100.
const BITS: u32 = 46;

/// The numbers from here to twice this value are the integers, and the low bits of their representations count up.
const INTEGERS: f64 = (1_u64 << 52) as f64;

/// Returns whether amounts are at least 0 and small enough for this arithmetic.
#[inline(always)]
pub(crate) fn are_exact<const N: usize>(amounts: [i64; N]) -> bool {
    // The sign bit is the highest one.
    amounts.into_iter().fold(0, |bits, amount| bits | amount) as u64 >> BITS == 0
}

/// Converts the sums of exact amounts.
#[inline(always)]
pub(crate) fn sums(amounts: [i64; 2], others: [i64; 2]) -> [f64; 2] {
    [0, 1].map(|at: usize| {
        let sum = amounts[at].wrapping_add(others[at]);
        f64::from_bits(INTEGERS.to_bits() | sum as u64) - INTEGERS
    })
}

/// Rounds a score from 0 to 255 down.
#[inline(always)]
pub(crate) fn floor(score: f64) -> i64 {
    // Conversions to larger integers take more instructions.
    i64::from(score as u8)
}

/// Returns 100 minus the standard deviation, in percent, of two utilizations. Each is `used` divided by `allocatable`, or
/// 1 if that is less.
#[inline(always)]
pub(crate) fn evenness_of_two(used: [f64; 2], allocatable: [f64; 2]) -> i64 {
    let [one, other] = [0, 1].map(|at: usize| (used[at] / allocatable[at]).min(1.0));
    floor((1.0 - ((one - other) / 2.0).abs()) * 100.0)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn percentages_round_down_as_integers(
            divisor in 1_i64..1 << BITS,
            small in 1_i64..1000,
            dividend in 0_i64..1 << BITS,
            percent in 0_i64..=100,
        ) {
            for divisor in [divisor, small] {
                // Also at, below and above the multiples of the divisor.
                let multiple = divisor * percent;
                for dividend in [dividend.min(divisor) * 100, multiple, (multiple - 1).max(0), multiple + 1] {
                    let [divisor_f64, _] = sums([divisor, 0], [0, 0]);
                    prop_assert_eq!(floor(dividend as f64 / divisor_f64), dividend / divisor);
                }
            }
        }

        #[test]
        fn sums_of_exact_amounts_are_exact(amounts in [0_i64..1 << BITS, 0_i64..1 << BITS], at in 0..2_usize) {
            let largest = [(1 << BITS) - 1, (1 << BITS) - 1];
            for others in [amounts, largest] {
                prop_assert_eq!(sums(amounts, others)[at] as i64, amounts[at] + others[at]);
            }
        }

        #[test]
        fn only_small_amounts_of_at_least_0_are_exact(amount: i64, shift in 0..64, position in 0..4_usize) {
            let amount = amount >> shift;
            let mut amounts = [0; 4];
            amounts[position] = amount;
            prop_assert_eq!(are_exact(amounts), (0..1 << BITS).contains(&amount));
        }
    }
}
