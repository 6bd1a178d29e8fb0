//! Definitions of the implemented metrics.

use crate::metrics::family::{
    Buckets, Family,
    Stability::{Alpha, Beta, None, Stable},
};

/// From 1 ms to 16 s.
const MILLISECONDS: Buckets = Buckets::Exponential { start: 0.001, factor: 2.0, count: 15 };
/// From 0.1 ms to 0.2 s.
const TENTHS: Buckets = Buckets::Exponential { start: 0.0001, factor: 2.0, count: 12 };
/// From 50 us to 1 s.
const MICROSECONDS: Buckets =
    Buckets::Explicit(&[0.00005, 0.0001, 0.00015, 0.0002, 0.0003, 0.0005, 0.001, 0.002, 0.005, 0.01, 0.1, 1.0]);
/// From 10 ms to 90 minutes.
const LONG: Buckets = Buckets::Exponential { start: 0.01, factor: 2.0, count: 20 };
const REQUEST_SECONDS: Buckets =
    Buckets::Explicit(&[0.005, 0.025, 0.1, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 15.0, 30.0, 60.0]);
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

/// Defines metrics: kind, name, labels, buckets of histograms, stability, and help text.
macro_rules! families {
    ($($(#[$doc:meta])* $visibility:vis $family:ident: $kind:ident($($property:expr),+) = $help:literal;)*) => {
        $($(#[$doc])* $visibility static $family: Family = Family::$kind($($property,)+ $help);)*
    };
}

families! {
    /// Number of metrics that `--disabled-metrics` names.
    pub(crate) DISABLED_METRICS: counter("disabled_metrics_total", &[], Beta) = "Metrics that a flag disables.";
    /// Hidden metrics; always 0.
    pub(crate) HIDDEN_METRICS: counter("hidden_metrics_total", &[], Beta) = "Metrics that are hidden.";
    pub(crate) REGISTERED_METRICS: counter(
        "registered_metrics_total",
        &["deprecated_version", "stability_level"],
        Beta
    ) = "Registered metrics, by stability level.";
    pub(crate) BUILD_INFO: gauge(
        "kubernetes_build_info",
        &[
            "build_date", "compiler", "git_commit", "git_tree_state", "git_version",
            "go_version", "major", "minor", "platform"
        ],
        Alpha
    ) = "Always 1; its labels describe the build.";
    pub(crate) VERSION_INFO: gauge("version_info", &["binary", "component", "emulation", "min_compat"], Alpha) =
        "Always 1; its labels contain the version of the binary, and the Kubernetes version that it emulates.";
    /// Last results of the checks of `/healthz`, `/livez` and `/readyz`.
    pub(crate) HEALTHCHECK: gauge("kubernetes_healthcheck", &["name", "type"], Stable) =
        "1 if the last run of the check succeeded, else 0.";
    pub(crate) HEALTHCHECKS: counter("kubernetes_healthchecks_total", &["name", "status", "type"], Stable) =
        "Number of runs of each check, by result.";
    pub(crate) POD_RESOURCE_REQUEST: gauge(
        "kube_pod_resource_request",
        &["namespace", "node", "pod", "priority", "resource", "scheduler", "unit"],
        Stable
    ) = "Amount of each resource that a pod requests, as the scheduler counts it.";
    /// Whether this replica leads.
    pub LEADER_ELECTION: gauge("leader_election_master_status", &["name"], Alpha) =
        "1 if this replica holds the lease, 0 if it does not.";

    pub(crate) PROCESS_CPU: counter("process_cpu_seconds_total", &[], None) =
        "Processor time of the process, user and system.";
    /// Soft limit of file descriptors.
    pub(crate) PROCESS_MAX_FDS: gauge("process_max_fds", &[], None) = "Maximum number of open file descriptors.";
    /// Received bytes of all interfaces.
    pub(crate) PROCESS_RECEIVED: counter("process_network_receive_bytes_total", &[], None) =
        "Bytes received over the network.";
    /// Transmitted bytes of all interfaces.
    pub(crate) PROCESS_TRANSMITTED: counter("process_network_transmit_bytes_total", &[], None) =
        "Bytes sent over the network.";
    /// Open file descriptors, sockets included.
    pub(crate) PROCESS_OPEN_FDS: gauge("process_open_fds", &[], None) = "Number of open file descriptors.";
    /// Resident memory: `VmRSS`.
    pub(crate) PROCESS_RESIDENT: gauge("process_resident_memory_bytes", &[], None) = "Resident memory in bytes.";
    pub(crate) PROCESS_START: gauge("process_start_time_seconds", &[], Alpha) =
        "Start time of the process, in seconds since 1970.";
    /// Virtual memory: `VmSize`.
    pub(crate) PROCESS_VIRTUAL: gauge("process_virtual_memory_bytes", &[], None) = "Virtual memory in bytes.";
    /// Soft limit of virtual memory.
    pub(crate) PROCESS_VIRTUAL_MAX: gauge("process_virtual_memory_max_bytes", &[], None) =
        "Maximum virtual memory in bytes.";

    /// Waiting time for the rate limit of `--kube-api-qps`.
    pub(crate) RATE_LIMITER_DURATION: histogram(
        "rest_client_rate_limiter_duration_seconds",
        &["host", "verb"],
        REQUEST_SECONDS,
        Alpha
    ) = "Time that requests waited for the client rate limit.";
    pub(crate) REQUEST_DURATION: histogram(
        "rest_client_request_duration_seconds",
        &["host", "verb"],
        REQUEST_SECONDS,
        Alpha
    ) = "Duration of requests to the API server.";
    pub(crate) REQUEST_SIZE: histogram("rest_client_request_size_bytes", &["host", "verb"], REQUEST_BYTES, Alpha) =
        "Size of request bodies to the API server.";
    pub(crate) REQUESTS: counter("rest_client_requests_total", &["code", "host", "method"], Alpha) =
        "Requests to the API server, by status code.";
    pub(crate) RESPONSE_SIZE: histogram("rest_client_response_size_bytes", &["host", "verb"], REQUEST_BYTES, Alpha) =
        "Size of response bodies from the API server.";

    /// Label values: `nodes`, `pods` and `assumed_pods`.
    pub(crate) CACHE_SIZE: gauge("scheduler_cache_size", &["type"], Alpha) =
        "Number of nodes, of pods with a node, and of assumed pods among them.";
    pub(crate) BINDING_CONDITIONS_ALLOCATIONS: counter(
        "scheduler_dra_bindingconditions_allocations_total",
        &["driver", "profile", "status"],
        Alpha
    ) = "Allocated devices with binding conditions for which PreBind waited, by result of the wait.";
    pub(crate) BINDING_CONDITIONS_WAIT_DURATION: histogram(
        "scheduler_dra_bindingconditions_wait_duration_seconds",
        &["driver", "profile", "status"],
        Buckets::Exponential { start: 0.1, factor: 2.0, count: 14 },
        Alpha
    ) = "Time that PreBind waited for binding conditions, once for each device of the pod.";
    pub(crate) EVENT_HANDLING_DURATION: histogram(
        "scheduler_event_handling_duration_seconds",
        &["event"],
        TENTHS,
        Alpha
    ) = "Duration of handling a cluster event.";
    pub(crate) EXTENSION_POINT_DURATION: histogram(
        "scheduler_framework_extension_point_duration_seconds",
        &["extension_point", "profile", "status"],
        TENTHS,
        Stable
    ) = "Duration of all plugins of an extension point together.";
    pub(crate) GOROUTINES: gauge("scheduler_goroutines", &["operation"], Beta) =
        "Number of concurrent operations, such as bindings.";
    pub(crate) INFLIGHT_EVENTS: gauge("scheduler_inflight_events", &["event"], Alpha) =
        "Number of stored events for pods in flight, by event; the event PodPopped counts the pods in flight.";
    pub(crate) PENDING_PODS: gauge("scheduler_pending_pods", &["queue"], Stable) =
        "Pods without a node: active pods are ready, backoff pods wait after a failure, unschedulable pods wait for \
         an event, gated pods are held before the first attempt.";
    pub(crate) PERMIT_WAIT_DURATION: histogram(
        "scheduler_permit_wait_duration_seconds",
        &["result"],
        MILLISECONDS,
        Beta
    ) = "Time that pods waited in Permit, by result.";
    pub(crate) SCHEDULED_AFTER_FLUSH: counter("scheduler_pod_scheduled_after_flush_total", &[], Alpha) =
        "Pods that were bound after a flush of the unschedulable pods: a queueing hint may have missed an event.";
    pub(crate) SCHEDULING_ATTEMPTS: histogram(
        "scheduler_pod_scheduling_attempts",
        &[],
        Buckets::Exponential { start: 1.0, factor: 2.0, count: 5 },
        Stable
    ) = "Number of attempts until a pod was bound.";
    pub(crate) SLI_DURATION: histogram("scheduler_pod_scheduling_sli_duration_seconds", &["attempts"], LONG, Beta) =
        "Time from the first enqueue of a pod until it was bound, over all attempts.";
    pub(crate) PREEMPTION_ATTEMPTS: counter("scheduler_preemption_attempts_total", &[], Stable) =
        "Number of preemption attempts.";
    pub(crate) PREEMPTION_GOROUTINES_DURATION: histogram(
        "scheduler_preemption_goroutines_duration_seconds",
        &["result"],
        LONG,
        Alpha
    ) = "Duration of deleting the victims of a preemptor.";
    pub(crate) PREEMPTION_GOROUTINES: counter("scheduler_preemption_goroutines_execution_total", &["result"], Alpha) =
        "Number of times that the victims of a preemptor were deleted.";
    pub(crate) PREEMPTION_VICTIMS: histogram(
        "scheduler_preemption_victims",
        &[],
        Buckets::Exponential { start: 1.0, factor: 2.0, count: 7 },
        Stable
    ) = "Number of victims of a preemptor.";
    pub(crate) QUEUE_INCOMING: counter("scheduler_queue_incoming_pods_total", &["event", "queue"], Stable) =
        "Pods added to each scheduling queue, by event.";
    pub(crate) RESOURCE_CLAIM_CREATES: counter("scheduler_resourceclaim_creates_total", &["status"], Alpha) =
        "Requests to create a resource claim for extended resources, by result.";
    pub(crate) SCHEDULE_ATTEMPTS: counter("scheduler_schedule_attempts_total", &["profile", "result"], Stable) =
        "Attempts to schedule a pod, by result: scheduled, unschedulable if no node is feasible, \
         error if the attempt failed.";
    pub(crate) ALGORITHM_DURATION: histogram(
        "scheduler_scheduling_algorithm_duration_seconds",
        &[],
        MILLISECONDS,
        Alpha
    ) = "Duration of the scheduling decision.";
    pub(crate) ATTEMPT_DURATION: histogram(
        "scheduler_scheduling_attempt_duration_seconds",
        &["profile", "result"],
        MILLISECONDS,
        Stable
    ) = "Duration of attempts, from the decision to the end of the binding.";
    pub(crate) UNSCHEDULABLE_PODS: gauge("scheduler_unschedulable_pods", &["plugin", "profile"], Beta) =
        "Pods that a plugin rejected and that were not retried since. A pod counts for every plugin that rejected it.";
    /// Sizes of caches. kube-scheduler has no such metric.
    pub(crate) CACHE_SIZES: gauge("scheduler_internal_cache_size", &["cache"], None) =
        "Number of entries of each internal cache, or its size in bytes.";
    /// Limits of caches. kube-scheduler has no such metric.
    pub(crate) CACHE_LIMITS: gauge("scheduler_internal_cache_limit", &["cache"], None) =
        "Size at which an internal cache evicts or refuses entries.";
    /// Reaction time to new pods. kube-scheduler has no such metric.
    pub(crate) WATCH_TO_BIND: histogram("scheduler_watch_to_bind_duration_seconds", &[], MICROSECONDS, None) =
        "Time from reading the watch event of a new pod to its binding request, for pods bound at the first attempt.";
    /// Decisions in shadow mode, by agreement. kube-scheduler has no such metric.
    pub(crate) SHADOW_DECISIONS: counter("scheduler_shadow_decisions_total", &["profile", "result"], None) =
        "Decisions of kube-scheduler that were compared, by profile and result.";
}
