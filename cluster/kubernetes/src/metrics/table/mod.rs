//! All metrics of kube-scheduler 1.36.2, with their implementation or the reason of their absence.

mod absent;
mod names;

pub use absent::{ABSENT, Absent};
pub use names::*;

use super::family::Family;
use crate::metrics::extenders::CALL_DURATION;

/// HTTP endpoint with metrics.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Endpoint {
    /// `/metrics`.
    Metrics,
    /// `/metrics/resources`.
    Resources,
    /// `/metrics/slis`.
    Slis,
}

impl Endpoint {
    /// Returns the path of the endpoint.
    pub const fn path(self) -> &'static str {
        match self {
            Endpoint::Metrics => "/metrics",
            Endpoint::Resources => "/metrics/resources",
            Endpoint::Slis => "/metrics/slis",
        }
    }
}

/// Implemented metric.
#[derive(Clone, Copy, Debug)]
pub struct Row {
    /// The metric.
    pub family: &'static Family,
    /// Endpoints that contain the metric.
    pub endpoints: &'static [Endpoint],
    /// Difference from kube-scheduler, or the condition under which the metric exists; empty for none.
    pub differs: &'static str,
}

const fn row(family: &'static Family, differs: &'static str) -> Row {
    Row { family, endpoints: &[Endpoint::Metrics], differs }
}

/// All implemented metrics of kube-scheduler.
pub(crate) static ROWS: &[Row] = &[
    row(&DISABLED_METRICS, ""),
    row(&HIDDEN_METRICS, "always 0: no metric is hidden"),
    row(&REGISTERED_METRICS, "counts the metrics in this table"),
    row(
        &BUILD_INFO,
        "describes schedc: `git_version` is its version, `compiler` is rustc, and values that the build does not record are empty",
    ),
    row(&VERSION_INFO, "`component` is schedc; `emulation` is the version of Kubernetes that it reproduces"),
    Row { family: &HEALTHCHECK, endpoints: &[Endpoint::Slis], differs: "" },
    Row { family: &HEALTHCHECKS, endpoints: &[Endpoint::Slis], differs: "" },
    Row {
        family: &POD_RESOURCE_REQUEST,
        endpoints: &[Endpoint::Resources],
        differs: "pending pods of other schedulers are left out, because they are not stored; \
                  `priority` is 0 for a pod without one",
    },
    row(&LEADER_ELECTION, ""),
    row(&PROCESS_CPU, ""),
    row(&PROCESS_MAX_FDS, ""),
    row(&PROCESS_RECEIVED, ""),
    row(&PROCESS_TRANSMITTED, ""),
    row(&PROCESS_OPEN_FDS, ""),
    row(&PROCESS_RESIDENT, ""),
    Row { family: &PROCESS_START, endpoints: &[Endpoint::Metrics, Endpoint::Slis], differs: "" },
    row(&PROCESS_VIRTUAL, ""),
    row(&PROCESS_VIRTUAL_MAX, ""),
    row(&RATE_LIMITER_DURATION, "exists only if `--kube-api-qps` sets a limit: otherwise no request waits"),
    row(&REQUEST_DURATION, "for a watch, the time until its first bytes"),
    row(&REQUEST_SIZE, ""),
    row(&REQUESTS, ""),
    row(&RESPONSE_SIZE, "watches are left out: they have no end"),
    row(&CACHE_SIZE, ""),
    row(&BINDING_CONDITIONS_ALLOCATIONS, ""),
    row(&BINDING_CONDITIONS_WAIT_DURATION, ""),
    row(&EVENT_HANDLING_DURATION, "a change that produces several events is observed once, under the first event"),
    row(
        &EXTENSION_POINT_DURATION,
        "when a cached answer is updated, PreFilter, Filter, PreScore and Score do not run separately, and are not \
         observed; the same applies to pods of a DaemonSet that pass on the node that they name. The durations of Filter and Score include the loops over plugins and nodes",
    ),
    row(&GOROUTINES, "counts bindings in flight as `binding`; there are no goroutines"),
    row(&INFLIGHT_EVENTS, ""),
    row(&PENDING_PODS, ""),
    row(&PERMIT_WAIT_DURATION, ""),
    row(&SCHEDULED_AFTER_FLUSH, ""),
    row(&SCHEDULING_ATTEMPTS, ""),
    row(&SLI_DURATION, ""),
    row(&PREEMPTION_ATTEMPTS, ""),
    row(
        &PREEMPTION_GOROUTINES_DURATION,
        "from the decision until the last victim is deleted; kube-scheduler always observes 0",
    ),
    row(&PREEMPTION_GOROUTINES, "`error` where a victim could not be deleted; kube-scheduler counts that as `success`"),
    row(&PREEMPTION_VICTIMS, ""),
    row(&QUEUE_INCOMING, ""),
    row(&RESOURCE_CLAIM_CREATES, ""),
    row(&SCHEDULE_ATTEMPTS, ""),
    row(&ALGORITHM_DURATION, ""),
    row(&ATTEMPT_DURATION, ""),
    row(&UNSCHEDULABLE_PODS, ""),
];

/// Metrics that kube-scheduler does not have.
pub(crate) static OWN: &[Row] = &[
    row(&CALL_DURATION, "with extenders"),
    row(&CACHE_LIMITS, "always"),
    row(&CACHE_SIZES, "always"),
    row(&SHADOW_DECISIONS, "with `--shadow`"),
    row(&WATCH_TO_BIND, "always"),
];

/// Returns the row of a metric of kube-scheduler, or `None` if it is not implemented.
pub fn row_of(name: &str) -> Option<&'static Row> {
    ROWS.iter().find(|row| row.family.name == name)
}

/// Returns the reason why a metric of kube-scheduler is absent.
pub fn absence(name: &str) -> Option<&'static str> {
    ABSENT.iter().find(|absent| absent.names.contains(&name)).map(|absent| absent.reason)
}
