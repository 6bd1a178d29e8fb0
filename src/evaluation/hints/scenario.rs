//! Hint scenarios as they are written.

use serde::Deserialize;
use serde_json::Value;

use super::super::scenario::{NotAScenario, problem, unique};

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
}

/// An event by name.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct Direct {
    /// Such as `AssignedPod`.
    pub resource: String,
    /// Such as `Delete`.
    pub action: String,
}

impl HintScenario {
    /// Reads a line of JSON, without space around it: a scenario, or an object with a scenario and what somebody expects of
    /// it, which is not looked at.
    ///
    /// # Errors
    /// It is not JSON, or not a scenario.
    pub fn read(line: &[u8]) -> Result<Self, NotAScenario> {
        #[derive(Deserialize)]
        struct Line {
            scenario: Option<HintScenario>,
        }
        if !line.starts_with(b"{") {
            return Err(NotAScenario::not_an_object());
        }
        let line_with: Line = serde_json::from_slice(line).map_err(|error| problem(&error))?;
        match line_with.scenario {
            Some(scenario) => Ok(scenario),
            None => serde_json::from_slice(line).map_err(|error| problem(&error)),
        }
    }
}
