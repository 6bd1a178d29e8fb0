//! Leases of `coordination.k8s.io/v1`.

use k8s_openapi::jiff::Timestamp;
use k8s_openapi::jiff::fmt::temporal::DateTimePrinter;
use serde_json::{Value, json};

/// A lease: what it says, and whatever else belongs to it.
#[derive(Clone, Debug, PartialEq)]
pub struct Lease {
    object: Value,
    record: LeaderElectionRecord,
}

/// What a lease says: client-go's `LeaderElectionRecord`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeaderElectionRecord {
    /// Who holds it; empty: nobody.
    pub holder: Box<str>,
    /// For how many seconds after it was renewed.
    pub seconds: u32,
    /// Since when, by the holder's calendar.
    pub acquired: Timestamp,
    /// When it was renewed, by the holder's calendar.
    pub renewed: Timestamp,
    /// How often it went from one to another.
    pub transitions: u32,
}

impl Lease {
    /// A new one.
    pub fn new(namespace: &str, name: &str, record: LeaderElectionRecord) -> Self {
        let object = json!({
            "apiVersion": "coordination.k8s.io/v1",
            "kind": "Lease",
            "metadata": { "name": name, "namespace": namespace },
        });
        Lease { object, record: record.clone() }.with(record)
    }

    /// As the API server has it. What is missing or odd is as good as empty.
    pub fn from_json(mut object: Value) -> Self {
        if let Some(metadata) = object["metadata"].as_object_mut() {
            // Whoever does not send it leaves it as it is.
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

    /// As the API server takes it.
    pub fn to_json(&self) -> &Value {
        &self.object
    }

    /// What it says.
    pub fn record(&self) -> &LeaderElectionRecord {
        &self.record
    }

    /// The same lease, which says this and nothing else.
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

/// A time as Kubernetes' `metav1.MicroTime` is written.
fn micro(time: Timestamp) -> String {
    DateTimePrinter::new().precision(Some(6)).timestamp_to_string(&time)
}
