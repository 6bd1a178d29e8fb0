//! Required pod affinity and anti-affinity of the pod.

use std::fmt;

use k8s_openapi::api::core::v1::{Pod, PodAffinityTerm, WeightedPodAffinityTerm};
use serde::Serialize;

use crate::remedies::change::Change;
use crate::remedies::fork::Fork;
use crate::remedies::situation::Situation;

/// Makes a required term preferred.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct RelaxAffinityTerm {
    /// Whether it is a term of anti-affinity.
    pub anti: bool,
    /// The topology key.
    pub topology_key: String,
    /// Index of the term.
    #[serde(skip)]
    at: usize,
}

type Terms<'a> = (&'a mut Option<Vec<PodAffinityTerm>>, &'a mut Option<Vec<WeightedPodAffinityTerm>>);

/// Returns the required and the preferred terms.
fn terms(pod: &mut Pod, anti: bool) -> Option<Terms<'_>> {
    let affinity = pod.spec.as_mut()?.affinity.as_mut()?;
    if anti {
        let anti_affinity = affinity.pod_anti_affinity.as_mut()?;
        let required = &mut anti_affinity.required_during_scheduling_ignored_during_execution;
        return Some((required, &mut anti_affinity.preferred_during_scheduling_ignored_during_execution));
    }
    let pod_affinity = affinity.pod_affinity.as_mut()?;
    let required = &mut pod_affinity.required_during_scheduling_ignored_during_execution;
    Some((required, &mut pod_affinity.preferred_during_scheduling_ignored_during_execution))
}

impl RelaxAffinityTerm {
    pub(in crate::remedies) fn candidates(fork: &mut Fork<'_>, situation: &Situation, add: &mut dyn FnMut(Self)) {
        if !situation.has("InterPodAffinity") {
            return;
        }
        let mut pod = fork.subject();
        for anti in [true, false] {
            let Some((Some(required), _)) = terms(&mut pod, anti) else { continue };
            for (at, term) in required.iter().enumerate() {
                add(RelaxAffinityTerm { anti, topology_key: term.topology_key.clone(), at });
            }
        }
    }
}

impl Change for RelaxAffinityTerm {
    fn apply(&self, fork: &mut Fork<'_>) -> bool {
        let mut pod = fork.subject();
        let Some((Some(required), preferred)) = terms(&mut pod, self.anti) else { return false };
        if self.at >= required.len() {
            return false;
        }
        let pod_affinity_term = required.remove(self.at);
        preferred.get_or_insert_default().push(WeightedPodAffinityTerm { weight: 100, pod_affinity_term });
        fork.set(pod);
        true
    }

    fn disturbance(&self) -> u32 {
        if self.anti { 36 } else { 42 }
    }
}

impl fmt::Display for RelaxAffinityTerm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = if self.anti { "anti-affinity" } else { "affinity" };
        write!(f, "prefer the pod {kind} term on {} instead of requiring it", self.topology_key)
    }
}
