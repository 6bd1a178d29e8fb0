//! Powers of ten, with Kubernetes' behaviour on overflow.

/// Returns `value * 10^by`; `None` if that overflows, or if `by` is negative and `value` is not 0.
pub(super) fn scale_up(value: i64, by: i32) -> Option<i64> {
    match value {
        0 => Some(0),
        _ => value.checked_mul(10_i64.checked_pow(by.try_into().ok()?)?),
    }
}

/// Returns the result for a `value * 10^by` that overflows. As in Kubernetes, the product wraps for the powers 1, 2, 3,
/// 6 and 9, which need one multiplication, and is 0 otherwise.
pub(super) fn scale_too_far(value: i64, by: i32) -> i64 {
    match by {
        _ if value == i64::MIN => 0,
        1 | 2 | 3 | 6 | 9 => value.wrapping_mul(10_i64.pow(by.unsigned_abs())),
        _ => 0,
    }
}

/// Returns `value / 10^by`, rounded away from zero.
pub(super) fn scale_down(value: i64, by: i32) -> i64 {
    match u32::try_from(by).ok().and_then(|by| 10_i64.checked_pow(by)) {
        Some(divisor) => value / divisor + if value % divisor == 0 { 0 } else { value.signum() },
        None => value.signum(),
    }
}

/// Returns `value * 10^by` for the long representation: wraps if the result exceeds an `i64`. Negative amounts are
/// rounded like Kubernetes' `scaledValue`, neither away from zero nor up.
pub(super) fn scale_long(value: i128, by: i32) -> i64 {
    let low = value as i64;
    if by >= 0 {
        // On amd64, Go's conversion of a float beyond 64 bits to an integer has the result `i64::MIN`.
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

/// Returns `value * 10^by`, at most the maximum of the long representation.
pub(super) fn widen(value: i128, by: i32) -> i128 {
    match value {
        0 => 0,
        _ => match u32::try_from(by).ok().and_then(|by| 10_i128.checked_pow(by)) {
            Some(factor) => value.saturating_mul(factor),
            None if value < 0 => i128::MIN,
            None => i128::MAX,
        },
    }
}
