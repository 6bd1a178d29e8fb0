//! Leases of `coordination.k8s.io/v1`.

use k8s_openapi::jiff::Timestamp;
use k8s_openapi::jiff::fmt::temporal::DateTimePrinter;
use serde_json::{Value, json};

/// Lease: its record and its other fields.
#[derive(Clone, Debug, PartialEq)]
pub struct Lease {
    object: Value,
    record: LeaderElectionRecord,
}

/// Election record in a lease: client-go's `LeaderElectionRecord`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeaderElectionRecord {
    /// Identity of the holder, or empty.
    pub holder: Box<str>,
    /// Lease duration in seconds, counted from the renewal.
    pub seconds: u32,
    /// Time of acquisition, by the holder's calendar.
    pub acquired: Timestamp,
    /// Time of renewal, by the holder's calendar.
    pub renewed: Timestamp,
    /// Number of changes of the holder.
    pub transitions: u32,
}

impl Lease {
    /// Creates a new lease.
    pub fn new(namespace: &str, name: &str, record: LeaderElectionRecord) -> Self {
        let object = json!({
            "apiVersion": "coordination.k8s.io/v1",
            "kind": "Lease",
            "metadata": { "name": name, "namespace": namespace },
        });
        Lease { object, record: record.clone() }.with(record)
    }

    /// Reads a lease. Missing or invalid fields become empty texts, 0, or the start of 1970.
    pub fn from_json(mut object: Value) -> Self {
        if let Some(metadata) = object["metadata"].as_object_mut() {
            // The API server keeps the field if it is not sent.
            metadata.remove("managedFields");
        }
        let spec = &object["spec"];
        let number = |name: &str| spec[name].as_u64().and_then(|number| u32::try_from(number).ok()).unwrap_or(0);
        let time = |name: &str| spec[name].as_str().and_then(|time| time.parse().ok()).unwrap_or(Timestamp::UNIX_EPOCH);
        let record = LeaderElectionRecord {
            holder: spec["holderIdentity"].as_str().unwrap_or_default().into(),
            seconds: number("leaseDurationSeconds"),
            acquired: time("acquireTime"),
            renewed: time("renewTime"),
            transitions: number("leaseTransitions"),
        };
        Lease { object, record }
    }

    /// Returns the lease in the form of the API.
    pub fn to_json(&self) -> &Value {
        &self.object
    }

    /// Returns the election record.
    pub fn record(&self) -> &LeaderElectionRecord {
        &self.record
    }

    /// Returns the lease with another record.
    pub fn with(&self, record: LeaderElectionRecord) -> Lease {
        let mut object = self.object.clone();
        object["spec"] = json!({
            "holderIdentity": record.holder,
            "leaseDurationSeconds": record.seconds,
            "acquireTime": micro(record.acquired),
            "renewTime": micro(record.renewed),
            "leaseTransitions": record.transitions,
        });
        Lease { object, record }
    }
}

/// Formats a time like Kubernetes' `metav1.MicroTime`.
fn micro(time: Timestamp) -> String {
    DateTimePrinter::new().precision(Some(6)).timestamp_to_string(&time)
}
