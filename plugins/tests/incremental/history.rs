//! Histories: what happens in a cluster, and which pods are decided meanwhile. Each step means something whatever comes before
//! it, so that a history from which steps are taken out is a history. They are written as scenarios, which
//! `schedc evaluate` answers, too.

use std::fmt;

use serde_json::{Value, json};

/// One thing that happens.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Step {
    /// An object comes or changes.
    Set {
        /// What kind of change it is, for the table.
        change: String,
        /// The object.
        manifest: Value,
    },
    /// An object goes.
    Delete {
        /// What kind of change it is.
        change: String,
        /// Kind, namespace and name.
        reference: Value,
    },
    /// It is decided where a pod goes. Whether it then goes there.
    Schedule {
        /// The pod.
        pod: Value,
        /// Whether it goes where it is decided, or stays away.
        goes: bool,
    },
}

/// A history and its profile.
#[derive(Clone, Debug)]
pub(crate) struct History {
    pub(crate) seed: u64,
    /// The profile, by its place.
    pub(crate) profile: usize,
    pub(crate) steps: Vec<Step>,
}

impl Step {
    /// What kind of change it is.
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
            // An update of what is not there creates it, unless it is a pod.
            Step::Set { manifest, .. } => write!(f, "{}", json!({"create": manifest})),
            Step::Delete { reference, .. } => write!(f, "{}", json!({"delete": reference})),
            Step::Schedule { pod, .. } => write!(f, "{}", json!({"schedule": pod})),
        }
    }
}

/// A scenario of one line. Pods that stay away are deleted at once.
pub(crate) fn scenario(history: &History, profile: &str) -> String {
    let mut steps = Vec::new();
    for step in &history.steps {
        steps.push(step.to_string());
        if let Step::Schedule { pod, goes: false } = step {
            let metadata = &pod["metadata"];
            let reference = json!({"kind": "Pod", "namespace": metadata["namespace"], "name": metadata["name"]});
            steps.push(json!({"delete": reference}).to_string());
        }
    }
    let id = format!("seed {}", history.seed);
    format!("{{\"id\": {id:?}, \"profile\": {profile:?}, \"steps\": [\n{}\n]}}", steps.join(",\n"))
}
