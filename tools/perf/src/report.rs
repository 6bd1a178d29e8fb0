//! What comes of a run.

use serde::{Deserialize, Serialize};

use crate::measure::Decisions;

/// All workloads that ran.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Reports {
    /// In the order in which they ran.
    pub workloads: Vec<Report>,
}

/// One workload.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Report {
    /// `TEST/WORKLOAD`.
    pub name: String,
    /// How many decisions a scheduler makes in a second that does nothing else.
    pub decisions_per_s: f64,
    /// Pods that were bound in a second of real time, the whole cluster included.
    pub pods_per_s: f64,
    /// How long a decision takes.
    pub latency_us: Latency,
    /// How often a decision asks for memory; none if that was not counted.
    pub allocations_per_decision: Option<f64>,
    /// The most memory that the process had, in MiB; none where the system does not tell.
    pub peak_rss_mb: Option<f64>,
}

/// Times in microseconds: so many of a hundred decisions do not take longer.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[allow(missing_docs, reason = "the type says what they are")]
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
