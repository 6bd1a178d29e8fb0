//! Results of workloads.

use serde::{Deserialize, Serialize};

use crate::measure::Decisions;

/// Results of all workloads.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Reports {
    /// Reports, in the order of the runs.
    pub workloads: Vec<Report>,
}

/// Result of one workload.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Report {
    /// `TEST/WORKLOAD`.
    pub name: String,
    /// Decisions per second of time spent on decisions.
    pub decisions_per_s: f64,
    /// Pods bound per second of real time, which includes the work of the in-memory cluster.
    pub pods_per_s: f64,
    /// Duration of a decision.
    pub latency_us: Latency,
    /// Allocations per decision; `None` if not counted.
    pub allocations_per_decision: Option<f64>,
    /// Peak memory of the process, in MiB; `None` if the system does not report it.
    pub peak_rss_mb: Option<f64>,
}

/// Percentiles in microseconds.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[allow(missing_docs, reason = "documented at the type")]
pub struct Latency {
    pub p50: f64,
    pub p90: f64,
    pub p99: f64,
    pub p999: f64,
    pub max: f64,
}

impl Latency {
    pub(crate) fn of(decisions: &mut Decisions) -> Self {
        let times = decisions.quantiles([500, 900, 990, 999, 1000]);
        let [p50, p90, p99, p999, max] = times.map(|nanoseconds| nanoseconds as f64 / 1000.0);
        Latency { p50, p90, p99, p999, max }
    }
}
