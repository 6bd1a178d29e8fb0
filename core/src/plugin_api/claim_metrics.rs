//! Counts of writes and waits for resource claims, for metrics.

use std::sync::Arc;

use crate::plugin_api::duration_histogram::DurationHistogram;

/// Counts of all profiles of a scheduler.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ClaimMetrics {
    /// Number of requests that created a claim for extended resources.
    pub created: u64,
    /// Number of failed requests to create such a claim.
    pub not_created: u64,
    /// Durations of PreBind's waits for binding conditions. A wait is added once for each device of the pod. The first
    /// upper bound of the histograms is 0.1 seconds.
    pub waits: Vec<(WaitLabels, DurationHistogram<100_000_000>)>,
    /// Number of devices that have binding conditions and for which PreBind waited.
    pub allocations: Vec<(WaitLabels, u64)>,
}

/// Labels of a wait for binding conditions.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct WaitLabels {
    /// Scheduler name of the profile.
    pub profile: Arc<str>,
    /// Driver of the device.
    pub driver: Arc<str>,
    /// How the wait ended.
    pub result: WaitResult,
}

/// The end of a wait for binding conditions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum WaitResult {
    /// All conditions are true.
    Success,
    /// A device reports a failure.
    Failure,
    /// The timeout passed.
    Timeout,
    /// The claims cannot be read.
    Error,
}

impl WaitResult {
    /// Returns kube-scheduler's label value.
    pub fn label(self) -> &'static str {
        match self {
            WaitResult::Success => "success",
            WaitResult::Failure => "failure",
            WaitResult::Timeout => "timeout",
            WaitResult::Error => "error",
        }
    }
}

impl ClaimMetrics {
    /// Counts a request to create a claim.
    pub fn add_creation(&mut self, is_created: bool) {
        *(if is_created { &mut self.created } else { &mut self.not_created }) += 1;
    }

    /// Adds a wait of `nanoseconds` for a device. `has_conditions`: whether this device has binding conditions.
    pub fn add_wait(&mut self, labels: &WaitLabels, has_conditions: bool, nanoseconds: i64) {
        entry(&mut self.waits, labels).add(nanoseconds);
        if has_conditions {
            *entry(&mut self.allocations, labels) += 1;
        }
    }
}

/// Returns the value for these labels, and inserts it if necessary. A linear search suffices, because there are few
/// combinations of labels.
fn entry<'v, V: Default>(values: &'v mut Vec<(WaitLabels, V)>, labels: &WaitLabels) -> &'v mut V {
    let at = values.iter().position(|(known, _)| known == labels).unwrap_or_else(|| {
        values.push((labels.clone(), V::default()));
        values.len() - 1
    });
    &mut values[at].1
}
