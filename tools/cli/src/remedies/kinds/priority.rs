//! The priority of the pod.

use std::fmt;
use std::sync::Arc;

use schedc_core::extension_points::{Candidate, PostFilterResult};
use schedc_core::model::PreemptionPolicy;
use schedc_objects::AnyObject;
use serde::Serialize;

use super::eviction::{is_movable, with_priority};
use crate::remedies::change::Change;
use crate::remedies::fork::Fork;
use crate::remedies::situation::Situation;

/// Maximum number of priorities that are tried, the lowest first.
const MAX_PRIORITIES: usize = 4;

/// Raises the priority of the pod, which then preempts other pods within their disruption budgets.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct RaisePriority {
    /// A priority class of the cluster.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub priority_class: Option<String>,
    /// The priority.
    pub priority: i32,
    /// The preempted pods: `namespace/name`.
    pub victims: Vec<String>,
}

impl RaisePriority {
    pub(in crate::remedies) fn candidates(fork: &mut Fork<'_>, _: &Situation, add: &mut dyn FnMut(Self)) {
        let pod = fork.pod();
        // A higher priority may be the first change of a pair, but is not tried after another change.
        if !fork.edits().is_empty()
            || pod.spec.preemption_policy == PreemptionPolicy::Never
            || fork.preempt(&pod).is_some()
        {
            return;
        }
        let Some(highest) = fork.preempt(&Arc::new(with_priority(&pod, i32::MAX))) else { return };
        for (priority, priority_class) in priorities(fork, pod.spec.priority, &highest).into_iter().take(MAX_PRIORITIES)
        {
            let preemption = fork.preempt(&Arc::new(with_priority(&pod, priority)));
            let are_movable = |result: &PostFilterResult| {
                result.nominated().is_some_and(|candidate| candidate.victims.iter().all(|pod| is_movable(pod, fork)))
            };
            if let Some(victims) = preemption.filter(are_movable).and_then(|result| victims(&result)) {
                return add(RaisePriority { priority_class, priority, victims });
            }
        }
    }
}

/// Returns priorities above `current`, the lowest first. They are the priorities of priority classes. If no class has
/// a priority above `current`, each candidate node whose victims violate no budget yields one priority: the highest
/// priority of its victims, plus 1.
fn priorities(fork: &Fork<'_>, current: i32, preemption: &PostFilterResult) -> Vec<(i32, Option<String>)> {
    let mut classes: Vec<(i32, Option<String>)> = fork
        .list("PriorityClass")
        .filter_map(|object| match object {
            AnyObject::PriorityClass(class) if class.preemption_policy.as_deref() != Some("Never") => {
                Some((class.value?, class.metadata.name.clone()))
            }
            _ => None,
        })
        // Higher values are reserved for the system.
        .filter(|(value, _)| *value > current && *value <= 1_000_000_000)
        .collect();
    if classes.is_empty() {
        let highest = |candidate: &Candidate| candidate.victims.iter().map(|pod| pod.spec.priority).max();
        let candidates = preemption.candidates.iter().filter(|candidate| candidate.violations == 0);
        let mut values: Vec<i32> = candidates.filter_map(highest).map(|value| value.saturating_add(1)).collect();
        values.sort_unstable();
        values.dedup();
        return values.into_iter().filter(|value| *value > current).map(|value| (value, None)).collect();
    }
    classes.sort_unstable();
    classes
}

/// Returns the victims of a preemption that respects all budgets; `None` if it violates one.
fn victims(preemption: &PostFilterResult) -> Option<Vec<String>> {
    let candidate = preemption.nominated().filter(|candidate| candidate.violations == 0)?;
    let mut victims: Vec<String> = candidate.victims.iter().map(|pod| pod.namespaced_name().to_string()).collect();
    victims.sort_unstable();
    Some(victims)
}

impl Change for RaisePriority {
    /// Raises the priority, and deletes the victims. Returns whether the scheduler would preempt exactly these victims.
    fn apply(&self, fork: &mut Fork<'_>) -> bool {
        let mut pod = fork.subject();
        let spec = pod.spec.get_or_insert_default();
        spec.priority = Some(self.priority);
        spec.priority_class_name.clone_from(&self.priority_class);
        fork.set(pod);
        let pod = fork.pod();
        let is_same = fork.preempt(&pod).and_then(|preemption| victims(&preemption)).as_ref() == Some(&self.victims);
        for (namespace, name) in self.victims.iter().filter_map(|victim| victim.split_once('/')) {
            fork.evict(namespace, name);
        }
        is_same
    }

    fn disturbance(&self) -> u32 {
        65 + u32::try_from(self.victims.len()).unwrap_or(u32::MAX).saturating_mul(5).min(100)
    }
}

impl fmt::Display for RaisePriority {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let RaisePriority { priority_class, priority, victims } = self;
        match priority_class {
            Some(class) => write!(f, "use priority class {class} ({priority})")?,
            None => write!(f, "raise the priority to {priority}")?,
        }
        write!(f, ", which preempts {}", victims.join(", "))
    }
}
