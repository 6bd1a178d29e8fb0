//! The metrics that we have.

use crate::metrics::family::{
    Buckets, Family,
    Stability::{Alpha, Beta, None, Stable},
};

/// From a millisecond to 16 seconds.
const MILLISECONDS: Buckets = Buckets::Exponential { start: 0.001, factor: 2.0, count: 15 };
/// From a tenth of a millisecond to a fifth of a second.
const TENTHS: Buckets = Buckets::Exponential { start: 0.0001, factor: 2.0, count: 12 };
/// From 10 milliseconds to an hour and a half.
const LONG: Buckets = Buckets::Exponential { start: 0.01, factor: 2.0, count: 20 };
/// How long requests take.
const REQUEST_SECONDS: Buckets =
    Buckets::Explicit(&[0.005, 0.025, 0.1, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 15.0, 30.0, 60.0]);
/// How large they are.
const REQUEST_BYTES: Buckets = Buckets::Explicit(&[
    64.0,
    256.0,
    512.0,
    1024.0,
    4096.0,
    16384.0,
    65536.0,
    262_144.0,
    1_048_576.0,
    4_194_304.0,
    16_777_216.0,
]);

/// `--disabled-metrics`.
pub static DISABLED_METRICS: Family =
    Family::counter("disabled_metrics_total", &[], Beta, "Metrics that are left out because a flag says so.");
/// None.
pub static HIDDEN_METRICS: Family = Family::counter("hidden_metrics_total", &[], Beta, "Metrics that are hidden.");
/// All.
pub static REGISTERED_METRICS: Family = Family::counter(
    "registered_metrics_total",
    &["deprecated_version", "stability_level"],
    Beta,
    "Metrics that there are, by what is promised of them.",
);
/// What runs.
pub static BUILD_INFO: Family = Family::gauge(
    "kubernetes_build_info",
    &[
        "build_date",
        "compiler",
        "git_commit",
        "git_tree_state",
        "git_version",
        "go_version",
        "major",
        "minor",
        "platform",
    ],
    Alpha,
    "Always 1; its labels say what was built, from what, and for what.",
);
/// Which Kubernetes that is.
pub static VERSION_INFO: Family = Family::gauge(
    "version_info",
    &["binary", "component", "emulation", "min_compat"],
    Alpha,
    "Always 1; its labels say which version runs, and as which version of Kubernetes it behaves.",
);
/// Checks of `/healthz`, `/livez` and `/readyz`, as they ended last.
pub static HEALTHCHECK: Family = Family::gauge(
    "kubernetes_healthcheck",
    &["name", "type"],
    Stable,
    "1 if the check succeeded when it was asked for last, else 0.",
);
/// The same, counted.
pub static HEALTHCHECKS: Family = Family::counter(
    "kubernetes_healthchecks_total",
    &["name", "status", "type"],
    Stable,
    "How often each check was asked for, by its answer.",
);
/// What pods ask for.
pub static POD_RESOURCE_REQUEST: Family = Family::gauge(
    "kube_pod_resource_request",
    &["namespace", "node", "pod", "priority", "resource", "scheduler", "unit"],
    Stable,
    "How much of each resource a pod asks for, as scheduling counts it.",
);
/// Whether we lead.
pub static LEADER_ELECTION: Family = Family::gauge(
    "leader_election_master_status",
    &["name"],
    Alpha,
    "1 if this replica holds the lease, 0 if it does not.",
);

/// User and system.
pub static PROCESS_CPU: Family =
    Family::counter("process_cpu_seconds_total", &[], None, "Processor time of the process, user and system.");
/// The soft limit.
pub static PROCESS_MAX_FDS: Family =
    Family::gauge("process_max_fds", &[], None, "How many file descriptors may be open.");
/// Of all addresses.
pub static PROCESS_RECEIVED: Family =
    Family::counter("process_network_receive_bytes_total", &[], None, "Bytes that came over the network.");
/// The same.
pub static PROCESS_TRANSMITTED: Family =
    Family::counter("process_network_transmit_bytes_total", &[], None, "Bytes that went over the network.");
/// Sockets among them.
pub static PROCESS_OPEN_FDS: Family =
    Family::gauge("process_open_fds", &[], None, "How many file descriptors are open.");
/// `VmRSS`.
pub static PROCESS_RESIDENT: Family =
    Family::gauge("process_resident_memory_bytes", &[], None, "Memory that is resident.");
/// By the calendar.
pub static PROCESS_START: Family =
    Family::gauge("process_start_time_seconds", &[], Alpha, "When the process began, in seconds since 1970.");
/// `VmSize`.
pub static PROCESS_VIRTUAL: Family =
    Family::gauge("process_virtual_memory_bytes", &[], None, "Addresses that are in use.");
/// The soft limit.
pub static PROCESS_VIRTUAL_MAX: Family =
    Family::gauge("process_virtual_memory_max_bytes", &[], None, "Addresses that may be in use.");

/// `--kube-api-qps`.
pub static RATE_LIMITER_DURATION: Family = Family::histogram(
    "rest_client_rate_limiter_duration_seconds",
    &["host", "verb"],
    REQUEST_SECONDS,
    Alpha,
    "How long requests waited for their turn.",
);
/// Until the answer is here.
pub static REQUEST_DURATION: Family = Family::histogram(
    "rest_client_request_duration_seconds",
    &["host", "verb"],
    REQUEST_SECONDS,
    Alpha,
    "How long requests to the API server took.",
);
/// Bodies.
pub static REQUEST_SIZE: Family = Family::histogram(
    "rest_client_request_size_bytes",
    &["host", "verb"],
    REQUEST_BYTES,
    Alpha,
    "How large bodies were that went to the API server.",
);
/// All of them.
pub static REQUESTS: Family = Family::counter(
    "rest_client_requests_total",
    &["code", "host", "method"],
    Alpha,
    "Requests to the API server, by what it answered.",
);
/// Bodies.
pub static RESPONSE_SIZE: Family = Family::histogram(
    "rest_client_response_size_bytes",
    &["host", "verb"],
    REQUEST_BYTES,
    Alpha,
    "How large bodies were that came from the API server.",
);

/// `nodes`, `pods` and `assumed_pods`.
pub static CACHE_SIZE: Family = Family::gauge(
    "scheduler_cache_size",
    &["type"],
    Alpha,
    "How many nodes are known, how many pods that have a node, and how many of those are not seen bound yet.",
);
/// Informers.
pub static EVENT_HANDLING_DURATION: Family = Family::histogram(
    "scheduler_event_handling_duration_seconds",
    &["event"],
    TENTHS,
    Alpha,
    "How long it took to take in what changed in the cluster.",
);
/// All plugins of a point.
pub static EXTENSION_POINT_DURATION: Family = Family::histogram(
    "scheduler_framework_extension_point_duration_seconds",
    &["extension_point", "profile", "status"],
    TENTHS,
    Stable,
    "How long all plugins of an extension point took together.",
);
/// What is done beside scheduling.
pub static GOROUTINES: Family = Family::gauge(
    "scheduler_goroutines",
    &["operation"],
    Beta,
    "What is done beside deciding, such as binding: how much of it is under way.",
);
/// For pods in flight.
pub static INFLIGHT_EVENTS: Family = Family::gauge(
    "scheduler_inflight_events",
    &["event"],
    Alpha,
    "Events that are kept for pods that are being tried, and these pods themselves.",
);
/// Places of the queue.
pub static PENDING_PODS: Family = Family::gauge(
    "scheduler_pending_pods",
    &["queue"],
    Stable,
    "Pods without a node: active can be tried, backoff wait after a failure, unschedulable wait for an event, gated are held \
     before any attempt.",
);
/// In Permit.
pub static PERMIT_WAIT_DURATION: Family = Family::histogram(
    "scheduler_permit_wait_duration_seconds",
    &["result"],
    MILLISECONDS,
    Beta,
    "How long pods waited in Permit, by how that ended.",
);
/// Pods that no event woke.
pub static SCHEDULED_AFTER_FLUSH: Family = Family::counter(
    "scheduler_pod_scheduled_after_flush_total",
    &[],
    Alpha,
    "Pods that were bound after they had been tried only because they waited for long: a queueing hint may have missed \
     something.",
);
/// Of pods that were bound.
pub static SCHEDULING_ATTEMPTS: Family = Family::histogram(
    "scheduler_pod_scheduling_attempts",
    &[],
    Buckets::Exponential { start: 1.0, factor: 2.0, count: 5 },
    Stable,
    "How many attempts it took to bind a pod.",
);
/// From the queue to bound.
pub static SLI_DURATION: Family = Family::histogram(
    "scheduler_pod_scheduling_sli_duration_seconds",
    &["attempts"],
    LONG,
    Beta,
    "How long it took from when a pod could be tried first until it was bound, over all attempts.",
);
/// PostFilter.
pub static PREEMPTION_ATTEMPTS: Family =
    Family::counter("scheduler_preemption_attempts_total", &[], Stable, "How often victims were looked for.");
/// Making room.
pub static PREEMPTION_GOROUTINES_DURATION: Family = Family::histogram(
    "scheduler_preemption_goroutines_duration_seconds",
    &["result"],
    LONG,
    Alpha,
    "How long it took to delete the victims for a pod.",
);
/// The same, counted.
pub static PREEMPTION_GOROUTINES: Family = Family::counter(
    "scheduler_preemption_goroutines_execution_total",
    &["result"],
    Alpha,
    "How often victims were deleted for a pod.",
);
/// For one pod.
pub static PREEMPTION_VICTIMS: Family = Family::histogram(
    "scheduler_preemption_victims",
    &[],
    Buckets::Exponential { start: 1.0, factor: 2.0, count: 7 },
    Stable,
    "How many victims were chosen for a pod.",
);
/// Places of the queue.
pub static QUEUE_INCOMING: Family = Family::counter(
    "scheduler_queue_incoming_pods_total",
    &["event", "queue"],
    Stable,
    "How often pods came to each place of the scheduling queue, by why.",
);
/// Attempts.
pub static SCHEDULE_ATTEMPTS: Family = Family::counter(
    "scheduler_schedule_attempts_total",
    &["profile", "result"],
    Stable,
    "Attempts to schedule a pod, by how they ended: scheduled, unschedulable because the pod fits nowhere, error because \
     something broke.",
);
/// The decision alone.
pub static ALGORITHM_DURATION: Family = Family::histogram(
    "scheduler_scheduling_algorithm_duration_seconds",
    &[],
    MILLISECONDS,
    Alpha,
    "How long it took to decide where a pod goes.",
);
/// With the binding.
pub static ATTEMPT_DURATION: Family = Family::histogram(
    "scheduler_scheduling_attempt_duration_seconds",
    &["profile", "result"],
    MILLISECONDS,
    Stable,
    "How long attempts took, from the decision to the end of the binding.",
);
/// By rejector.
pub static UNSCHEDULABLE_PODS: Family = Family::gauge(
    "scheduler_unschedulable_pods",
    &["plugin", "profile"],
    Beta,
    "Pods that a plugin rejected, and that were not tried again since. A pod counts for every plugin that rejected it.",
);
