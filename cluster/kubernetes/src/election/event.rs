//! Events of leader election. They use API version `v1`, as in client-go, unlike the scheduler's other events.

use k8s_openapi::jiff::Timestamp;
use k8s_openapi::jiff::fmt::temporal::DateTimePrinter;
use serde_json::{Value, json};

use super::Lease;

/// Returns an event about a lease, in the namespace of the lease. `what` is `became leader` or `stopped leading`;
/// `component` is the scheduler name of the first profile.
pub(crate) fn leader_event(lease: &Lease, identity: &str, what: &str, component: &str, now: Timestamp) -> Value {
    let metadata = &lease.to_json()["metadata"];
    let name = metadata["name"].as_str().unwrap_or_default();
    let time = DateTimePrinter::new().precision(Some(0)).timestamp_to_string(&now);
    json!({
        "apiVersion": "v1",
        "kind": "Event",
        "metadata": { "name": format!("{name}.{:x}", now.as_nanosecond()), "namespace": metadata["namespace"] },
        "involvedObject": {
            "apiVersion": "coordination.k8s.io/v1",
            "kind": "Lease",
            "namespace": metadata["namespace"],
            "name": name,
            "uid": metadata["uid"],
            "resourceVersion": metadata["resourceVersion"],
        },
        "reason": "LeaderElection",
        "message": format!("{identity} {what}"),
        "source": { "component": component },
        "firstTimestamp": time,
        "lastTimestamp": time,
        "count": 1,
        "type": "Normal",
        "reportingComponent": component,
    })
}
