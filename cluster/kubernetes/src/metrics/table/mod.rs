//! Every metric of kube-scheduler 1.36.2, and what is ours for it.

mod absent;
mod names;

pub use absent::{ABSENT, Absent};
pub use names::*;

use super::family::Family;
use crate::metrics::extenders::CALL_DURATION;
use crate::shadow::counts::DECISIONS;

/// Where a metric is read.
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
    /// Its path.
    pub const fn path(self) -> &'static str {
        match self {
            Endpoint::Metrics => "/metrics",
            Endpoint::Resources => "/metrics/resources",
            Endpoint::Slis => "/metrics/slis",
        }
    }
}

/// A metric that we have.
#[derive(Clone, Copy, Debug)]
pub struct Row {
    /// The metric.
    pub family: &'static Family,
    /// Where it is read.
    pub endpoints: &'static [Endpoint],
    /// Where it means something else than in kube-scheduler, or when it is there. Empty: nothing is to be said.
    pub differs: &'static str,
}

const fn row(family: &'static Family, differs: &'static str) -> Row {
    Row { family, endpoints: &[Endpoint::Metrics], differs }
}

/// All that we have under kube-scheduler's names.
pub static ROWS: &[Row] = &[
    row(&DISABLED_METRICS, ""),
    row(&HIDDEN_METRICS, "always 0: no metric is hidden"),
    row(&REGISTERED_METRICS, "what is in this table"),
    row(
        &BUILD_INFO,
        "of schedc: `git_version` is its version, `compiler` is rustc, and what a binary does not know of its making is empty",
    ),
    row(&VERSION_INFO, "`component` is schedc; `emulation` is the version of Kubernetes whose decisions it makes"),
    Row { family: &HEALTHCHECK, endpoints: &[Endpoint::Slis], differs: "" },
    Row { family: &HEALTHCHECKS, endpoints: &[Endpoint::Slis], differs: "" },
    Row {
        family: &POD_RESOURCE_REQUEST,
        endpoints: &[Endpoint::Resources],
        differs: "pods that other schedulers have not placed yet are left out, since they are not kept in memory; \
                  `priority` is 0 where a pod says nothing",
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
    row(
        &RATE_LIMITER_DURATION,
        "there is a series only where `--kube-api-qps` sets a limit: without one, nothing waits",
    ),
    row(&REQUEST_DURATION, "of a watch, until its first bytes are there"),
    row(&REQUEST_SIZE, ""),
    row(&REQUESTS, ""),
    row(&RESPONSE_SIZE, "watches are left out: they have no end"),
    row(&CACHE_SIZE, ""),
    row(&EVENT_HANDLING_DURATION, "a change that is several events is one observation, under the first of them"),
    row(
        &EXTENSION_POINT_DURATION,
        "an answer that is kept for pods alike is brought up to date: then PreFilter, Filter, PreScore and Score are not \
         run as such, and nothing is observed of them. Filter and Score are observed together with what belongs to them",
    ),
    row(&GOROUTINES, "there are none: bindings that are under way, as `binding`"),
    row(&INFLIGHT_EVENTS, ""),
    row(&PENDING_PODS, ""),
    row(&PERMIT_WAIT_DURATION, ""),
    row(&SCHEDULED_AFTER_FLUSH, ""),
    row(&SCHEDULING_ATTEMPTS, ""),
    row(&SLI_DURATION, ""),
    row(&PREEMPTION_ATTEMPTS, ""),
    row(
        &PREEMPTION_GOROUTINES_DURATION,
        "from the decision until the last victim is deleted; kube-scheduler observes nothing but 0 there",
    ),
    row(&PREEMPTION_GOROUTINES, "`error` where a victim could not be deleted; kube-scheduler counts that as `success`"),
    row(&PREEMPTION_VICTIMS, ""),
    row(&QUEUE_INCOMING, ""),
    row(&SCHEDULE_ATTEMPTS, ""),
    row(&ALGORITHM_DURATION, ""),
    row(&ATTEMPT_DURATION, ""),
    row(&UNSCHEDULABLE_PODS, ""),
];

/// Metrics that kube-scheduler has not.
pub static OWN: &[Row] = &[row(&CALL_DURATION, "with extenders"), row(&DECISIONS, "with `--shadow`")];

/// The metric of a name, if we have it.
pub fn row_of(name: &str) -> Option<&'static Row> {
    ROWS.iter().find(|row| row.family.name == name)
}

/// Why we do not have a metric of kube-scheduler's.
pub fn absence(name: &str) -> Option<&'static str> {
    ABSENT.iter().find(|absent| absent.names.contains(&name)).map(|absent| absent.reason)
}
