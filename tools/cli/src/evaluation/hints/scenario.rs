//! Hint scenarios as they are written.

use schedc_objects::UnknownField;
use serde::Deserialize;
use serde_json::Value;

use super::super::scenario::{self, InvalidScenario, UnknownKeys, unique};

/// A cluster, a pod that was rejected, and a change.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct HintScenario {
    /// What its result is told by.
    pub id: String,
    /// The profile, by the name of its file or by its scheduler name.
    pub profile: Option<String>,
    /// The cluster before the change, without the pod and the object that changes.
    #[serde(default, deserialize_with = "unique::list")]
    pub objects: Vec<Value>,
    /// The pod.
    #[serde(deserialize_with = "unique::value")]
    pub pod: Value,
    /// The plugins that rejected it.
    #[serde(default)]
    pub plugins: Vec<String>,
    /// The plugins that it waits for.
    #[serde(default)]
    pub pending: Vec<String>,
    /// The change.
    pub event: Change,
    /// The change happens while the pod is tried.
    #[serde(default, rename = "inFlight")]
    pub in_flight: bool,
    /// The change happens when the pod need not wait any longer for its next attempt.
    #[serde(default, rename = "backoffDone")]
    pub backoff_done: bool,
    /// What hints are asked about, whatever the change is.
    pub direct: Option<Direct>,
    /// Keys that a scenario does not have.
    #[serde(flatten)]
    pub unknown: UnknownKeys,
}

/// What happens to an object.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct Change {
    /// The object before. `None`: it comes.
    #[serde(default, deserialize_with = "unique::option")]
    pub old: Option<Value>,
    /// The object after. `None`: it goes.
    #[serde(default, deserialize_with = "unique::option")]
    pub new: Option<Value>,
    /// Keys that a change does not have.
    #[serde(flatten)]
    pub unknown: UnknownKeys,
}

/// An event by name.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct Direct {
    /// Such as `AssignedPod`.
    pub resource: String,
    /// Such as `Delete`.
    pub action: String,
    /// Keys that an event does not have.
    #[serde(flatten)]
    pub unknown: UnknownKeys,
}

impl HintScenario {
    /// `topic` is for readers, as `resource` of the event is.
    pub(in super::super) const KEYS: &'static [&'static str] = &[
        "id",
        "profile",
        "objects",
        "pod",
        "plugins",
        "pending",
        "event",
        "inFlight",
        "backoffDone",
        "direct",
        "topic",
    ];

    /// Reads a line of JSON, without space around it: a scenario, or an object with a scenario and what somebody expects of
    /// it, which is not looked at.
    ///
    /// # Errors
    /// It is not JSON, or not a scenario.
    pub fn read(line: &[u8]) -> Result<Self, InvalidScenario> {
        scenario::read(line)
    }

    /// Keys that are not known, here and below.
    pub(super) fn unknown_fields(&self) -> Vec<UnknownField> {
        let own = scenario::unknown_fields("", &self.unknown, HintScenario::KEYS);
        let of_event = scenario::unknown_fields("event", &self.event.unknown, &["old", "new", "resource"]);
        let direct = self.direct.iter();
        let of_direct =
            direct.flat_map(|direct| scenario::unknown_fields("direct", &direct.unknown, &["resource", "action"]));
        own.chain(of_event).chain(of_direct).collect()
    }
}
