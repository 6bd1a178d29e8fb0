//! Quantiles of Student's t-distribution.

/// 97.5 % quantiles for 1 to 30 degrees of freedom.
const QUANTILES: [f64; 30] = [
    12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160, 2.145, 2.131, 2.120,
    2.110, 2.101, 2.093, 2.086, 2.080, 2.074, 2.069, 2.064, 2.060, 2.056, 2.052, 2.048, 2.045, 2.042,
];

/// 97.5 % quantile of the normal distribution.
const NORMAL: f64 = 1.959_964;

/// Returns the 97.5 % quantile for a number of degrees of freedom, at least 1.
pub(crate) fn quantile(degrees: usize) -> f64 {
    match QUANTILES.get(degrees.saturating_sub(1)) {
        Some(quantile) => *quantile,
        // The first terms of the expansion at the normal quantile; from 31 degrees of freedom on, exact to three
        // decimals.
        None => {
            let (z, n) = (NORMAL, degrees as f64);
            z + (z.powi(3) + z) / (4.0 * n) + (5.0 * z.powi(5) + 16.0 * z.powi(3) + 3.0 * z) / (96.0 * n * n)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_those_of_tables() {
        for (degrees, expected) in [(1, 12.706), (9, 2.262), (30, 2.042), (40, 2.021), (60, 2.000), (120, 1.980)] {
            assert!((quantile(degrees) - expected).abs() < 0.0006, "{degrees}: {}", quantile(degrees));
        }
    }
}
