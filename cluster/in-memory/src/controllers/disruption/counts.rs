//! The numbers of a budget's status.

use k8s_openapi::api::policy::v1::PodDisruptionBudgetSpec;
use k8s_openapi::apimachinery::pkg::util::intstr::IntOrString;

/// Counts of pods in a budget's status.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct BudgetCounts {
    /// Pods that there should be.
    pub(super) expected: i32,
    /// Pods that must be healthy.
    pub(super) desired: i32,
    /// Pods that are healthy.
    pub(super) healthy: i32,
    /// Pods that may go.
    pub(super) allowed: i32,
}

impl BudgetCounts {
    /// Whether the numbers of a budget depend on how many pods controllers want.
    pub(super) fn need_scale(spec: &PodDisruptionBudgetSpec) -> bool {
        spec.max_unavailable.is_some() || matches!(spec.min_available, Some(IntOrString::String(_)))
    }

    /// The numbers of a budget with so many `pods`, of which some are `healthy` (`getExpectedPodCount`, `updatePdbStatus`).
    /// `scale` returns the number of pods that the controllers of these pods want; it is called only if needed.
    ///
    /// # Errors
    /// The scale is not known, or a text is no percentage.
    pub(super) fn of(
        spec: &PodDisruptionBudgetSpec,
        pods: i32,
        healthy: i32,
        scale: impl FnOnce() -> Result<i32, String>,
    ) -> Result<BudgetCounts, String> {
        let (expected, desired) = match (&spec.max_unavailable, &spec.min_available) {
            (Some(max_unavailable), _) => {
                let expected = scale()?;
                (expected, expected.saturating_sub(scaled(max_unavailable, expected)?).max(0))
            }
            (None, Some(IntOrString::Int(min_available))) => (pods, *min_available),
            (None, Some(min_available)) => {
                let expected = scale()?;
                (expected, scaled(min_available, expected)?)
            }
            (None, None) => (0, 0),
        };
        // A budget of no pods allows nothing, so that its first pods are safe until they are counted.
        let allowed = if expected > 0 { healthy.saturating_sub(desired).max(0) } else { 0 };
        Ok(BudgetCounts { expected, desired, healthy, allowed })
    }
}

/// A number, or a percentage of `total`, rounded up (`GetScaledValueFromIntOrPercent`).
fn scaled(value: &IntOrString, total: i32) -> Result<i32, String> {
    let text = match value {
        IntOrString::Int(value) => return Ok(*value),
        IntOrString::String(text) => text,
    };
    let percentage = text.strip_suffix('%').and_then(|digits| digits.parse::<i32>().ok());
    let Some(percentage) = percentage else { return Err(format!("`{text}` is not a percentage such as 50%")) };
    // The quotient of two 32-bit numbers by 100 may be larger than 32 bits.
    let product = i64::from(percentage) * i64::from(total);
    let rounded_up = product.div_euclid(100) + i64::from(product.rem_euclid(100) > 0);
    Ok(i32::try_from(rounded_up).unwrap_or(if rounded_up < 0 { i32::MIN } else { i32::MAX }))
}
