//! Pod counts in a budget's status.

use k8s_openapi::api::policy::v1::PodDisruptionBudgetSpec;
use k8s_openapi::apimachinery::pkg::util::intstr::IntOrString;

/// Counts of pods in a budget's status.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct BudgetCounts {
    /// Number of expected pods.
    pub(super) expected: i32,
    /// Number of pods that must be healthy.
    pub(super) desired: i32,
    /// Number of healthy pods.
    pub(super) healthy: i32,
    /// Number of pods that may be disrupted.
    pub(super) allowed: i32,
}

impl BudgetCounts {
    /// Returns whether the counts of a budget depend on the replicas of controllers.
    pub(super) fn need_scale(spec: &PodDisruptionBudgetSpec) -> bool {
        spec.max_unavailable.is_some() || matches!(spec.min_available, Some(IntOrString::String(_)))
    }

    /// Computes the counts of a budget with `pods` pods, of which `healthy` are healthy (`getExpectedPodCount`,
    /// `updatePdbStatus`). `scale` returns the replicas of the pods' controllers; it is called only if needed.
    ///
    /// # Errors
    /// Returns an error if the scale is unknown, or a text is not a percentage.
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
        // Without expected pods, no disruption is allowed. The first pods of a budget are therefore safe until they are
        // counted.
        let allowed = if expected > 0 { healthy.saturating_sub(desired).max(0) } else { 0 };
        Ok(BudgetCounts { expected, desired, healthy, allowed })
    }
}

/// Returns a number, or a percentage of `total`, rounded up (`GetScaledValueFromIntOrPercent`).
fn scaled(value: &IntOrString, total: i32) -> Result<i32, String> {
    let text = match value {
        IntOrString::Int(value) => return Ok(*value),
        IntOrString::String(text) => text,
    };
    let percentage = text.strip_suffix('%').and_then(|digits| digits.parse::<i32>().ok());
    let Some(percentage) = percentage else { return Err(format!("`{text}` is not a percentage such as 50%")) };
    // The product, even divided by 100, may exceed 32 bits.
    let product = i64::from(percentage) * i64::from(total);
    let rounded_up = product.div_euclid(100) + i64::from(product.rem_euclid(100) > 0);
    Ok(i32::try_from(rounded_up).unwrap_or(if rounded_up < 0 { i32::MIN } else { i32::MAX }))
}
