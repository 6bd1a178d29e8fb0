//! The format of hint scenarios.

use schedc_objects::UnknownField;
use serde::Deserialize;
use serde_json::Value;

use super::super::scenario::{self, InvalidScenario, UnknownKeys, unique};

/// A cluster, a rejected pod, and a change.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct HintScenario {
    /// ID of the result.
    pub id: String,
    /// The profile, by its file name or its scheduler name.
    pub profile: Option<String>,
    /// The cluster before the change, without the pod and the changed object.
    #[serde(default, deserialize_with = "unique::list")]
    pub objects: Vec<Value>,
    /// The pod.
    #[serde(deserialize_with = "unique::value")]
    pub pod: Value,
    /// The plugins that rejected the pod.
    #[serde(default)]
    pub plugins: Vec<String>,
    /// The plugins that returned `Pending` for the pod.
    #[serde(default)]
    pub pending: Vec<String>,
    /// The change.
    pub event: Change,
    /// Whether the change happens while the pod is in flight.
    #[serde(default, rename = "inFlight")]
    pub in_flight: bool,
    /// Whether the pod's backoff is over at the time of the change.
    #[serde(default, rename = "backoffDone")]
    pub backoff_done: bool,
    /// An event that replaces the events of the change.
    pub direct: Option<Direct>,
    /// Unknown keys.
    #[serde(flatten)]
    pub unknown: UnknownKeys,
}

/// A change of an object.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct Change {
    /// The object before; `None` if it is added.
    #[serde(default, deserialize_with = "unique::option")]
    pub old: Option<Value>,
    /// The object after; `None` if it is deleted.
    #[serde(default, deserialize_with = "unique::option")]
    pub new: Option<Value>,
    /// Unknown keys.
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
    /// Unknown keys.
    #[serde(flatten)]
    pub unknown: UnknownKeys,
}

impl HintScenario {
    /// The known keys. `topic` is only for readers of the scenario, like `resource` of `event`.
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

    /// Parses a trimmed line of JSON: a scenario, or an object with a scenario and an expected result, which is
    /// ignored.
    ///
    /// # Errors
    /// Returns an error if the line is not JSON or not a scenario.
    pub fn read(line: &[u8]) -> Result<Self, InvalidScenario> {
        scenario::read(line)
    }

    /// Returns the unknown keys of the scenario, of `event` and of `direct`.
    pub(super) fn unknown_fields(&self) -> Vec<UnknownField> {
        let of_scenario = scenario::unknown_fields("", &self.unknown, HintScenario::KEYS);
        let of_event = scenario::unknown_fields("event", &self.event.unknown, &["old", "new", "resource"]);
        let direct = self.direct.iter();
        let of_direct =
            direct.flat_map(|direct| scenario::unknown_fields("direct", &direct.unknown, &["resource", "action"]));
        of_scenario.chain(of_event).chain(of_direct).collect()
    }
}
