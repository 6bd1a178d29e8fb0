//! Topology spread constraints of the pod.

use std::fmt;

use serde::Serialize;

use crate::remedies::change::Change;
use crate::remedies::fork::Fork;
use crate::remedies::situation::Situation;

/// Highest increase of `maxSkew` that is tried.
const MAX_INCREASE: i64 = 1000;

/// Relaxes a spread constraint.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct RelaxSpread {
    /// The topology key.
    pub topology_key: String,
    /// `maxSkew`.
    pub from: i32,
    /// The smallest sufficient `maxSkew`. `None`: the constraint becomes `whenUnsatisfiable: ScheduleAnyway`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub to: Option<i32>,
    /// Index of the constraint.
    #[serde(skip)]
    at: usize,
}

impl RelaxSpread {
    pub(in crate::remedies) fn candidates(fork: &mut Fork<'_>, situation: &Situation, add: &mut dyn FnMut(Self)) {
        if !situation.has("PodTopologySpread") {
            return;
        }
        let constraints = fork.subject().spec.and_then(|spec| spec.topology_spread_constraints).unwrap_or_default();
        for (at, constraint) in constraints.into_iter().enumerate() {
            if constraint.when_unsatisfiable != "ScheduleAnyway" {
                let from = constraint.max_skew;
                let anyway = RelaxSpread { topology_key: constraint.topology_key, from, to: None, at };
                let mut wider = anyway.clone();
                wider.to = Some(from);
                wider.set_strength(MAX_INCREASE);
                add(wider);
                add(anyway);
            }
        }
    }
}

impl Change for RelaxSpread {
    fn apply(&self, fork: &mut Fork<'_>) -> bool {
        let mut pod = fork.subject();
        let constraints = pod.spec.as_mut().and_then(|spec| spec.topology_spread_constraints.as_mut());
        let Some(constraint) = constraints.and_then(|constraints| constraints.get_mut(self.at)) else { return false };
        match self.to {
            Some(to) => constraint.max_skew = to,
            None => {
                constraint.when_unsatisfiable = "ScheduleAnyway".to_owned();
                // The API server accepts `minDomains` only for constraints that reject nodes.
                constraint.min_domains = None;
            }
        }
        fork.set(pod);
        true
    }

    fn disturbance(&self) -> u32 {
        match self.to {
            Some(to) => 27 + to.saturating_sub(self.from).unsigned_abs().min(20),
            None => 34,
        }
    }

    fn strengths(&self) -> i64 {
        if self.to.is_some() { MAX_INCREASE } else { 1 }
    }

    fn set_strength(&mut self, strength: i64) {
        if let Some(to) = &mut self.to {
            *to = self.from.saturating_add(i32::try_from(strength).unwrap_or(i32::MAX));
        }
    }
}

impl fmt::Display for RelaxSpread {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let RelaxSpread { topology_key, from, to, .. } = self;
        match to {
            Some(to) => write!(f, "raise maxSkew of the spread constraint on {topology_key} from {from} to {to}"),
            None => write!(f, "set whenUnsatisfiable: ScheduleAnyway in the spread constraint on {topology_key}"),
        }
    }
}
