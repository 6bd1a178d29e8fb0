//! Scheduling gates.

use std::fmt;

use serde::Serialize;

use crate::remedies::change::Change;
use crate::remedies::fork::Fork;
use crate::remedies::situation::Situation;

/// Removes all scheduling gates of the pod.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct RemoveGates {
    /// The gates.
    pub gates: Vec<String>,
}

impl RemoveGates {
    pub(in crate::remedies) fn candidates(fork: &mut Fork<'_>, situation: &Situation, add: &mut dyn FnMut(Self)) {
        let spec = fork.subject().spec.unwrap_or_default();
        let gates: Vec<String> = spec.scheduling_gates.into_iter().flatten().map(|gate| gate.name).collect();
        if situation.gate.is_some() && !gates.is_empty() {
            add(RemoveGates { gates });
        }
    }
}

impl Change for RemoveGates {
    fn apply(&self, fork: &mut Fork<'_>) -> bool {
        let mut pod = fork.subject();
        let removed = pod.spec.as_mut().and_then(|spec| spec.scheduling_gates.take());
        fork.set(pod);
        removed.is_some()
    }

    fn disturbance(&self) -> u32 {
        10
    }
}

impl fmt::Display for RemoveGates {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let gates = if self.gates.len() == 1 { "gate" } else { "gates" };
        write!(f, "remove the scheduling {gates} {}", self.gates.join(", "))
    }
}
