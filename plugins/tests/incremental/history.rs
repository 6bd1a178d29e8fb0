//! Histories: changes of a cluster, and pods that are scheduled in between. Each step is valid after any
//! other steps, so removing steps yields a history again. Histories are written as scenarios, which
//! `schedc evaluate` also accepts.

use std::fmt;

use serde_json::{Value, json};

/// One step.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Step {
    /// Adds or updates an object.
    Set {
        /// The kind of change, for the table of coverage.
        change: String,
        /// The object.
        manifest: Value,
    },
    /// Deletes an object.
    Delete {
        /// The kind of change.
        change: String,
        /// Kind, namespace and name.
        reference: Value,
    },
    /// Schedules a pod.
    Schedule {
        /// The pod.
        pod: Value,
        /// Whether the pod is then placed on the selected node.
        is_placed: bool,
    },
}

/// A history and its profile.
#[derive(Clone, Debug)]
pub(crate) struct History {
    pub(crate) seed: u64,
    /// Index of the profile.
    pub(crate) profile: usize,
    pub(crate) steps: Vec<Step>,
}

impl Step {
    /// Returns the kind of change.
    pub(crate) fn change(&self) -> &str {
        match self {
            Step::Set { change, .. } | Step::Delete { change, .. } => change,
            Step::Schedule { .. } => "",
        }
    }
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            // The step is `create` for updates too: `update` would not add a missing pod.
            Step::Set { manifest, .. } => write!(f, "{}", json!({"create": manifest})),
            Step::Delete { reference, .. } => write!(f, "{}", json!({"delete": reference})),
            Step::Schedule { pod, .. } => write!(f, "{}", json!({"schedule": pod})),
        }
    }
}

/// Returns the scenario as one line. Pods that are not placed are deleted immediately.
pub(crate) fn scenario(history: &History, profile: &str) -> String {
    let mut steps = Vec::new();
    for step in &history.steps {
        steps.push(step.to_string());
        if let Step::Schedule { pod, is_placed: false } = step {
            let metadata = &pod["metadata"];
            let reference = json!({"kind": "Pod", "namespace": metadata["namespace"], "name": metadata["name"]});
            steps.push(json!({"delete": reference}).to_string());
        }
    }
    let id = format!("seed {}", history.seed);
    format!("{{\"id\": {id:?}, \"profile\": {profile:?}, \"steps\": [\n{}\n]}}", steps.join(",\n"))
}
