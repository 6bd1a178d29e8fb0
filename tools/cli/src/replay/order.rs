//! The search for an order of changes in which a profile agrees with a recorded decision.
//!
//! A scheduler decides with the changes that its watches have received, and with its own earlier decisions, which it
//! knows before the API server does. The state before a recorded decision may therefore have changes that the scheduler
//! had not received. It may also lack decisions of the scheduler that were written later. States that differ in this
//! way are the neighbouring states of the decision. The search evaluates the pod in these states, nearest first.

use std::collections::{BTreeMap, BTreeSet};

use schedc_core::cache::Base;
use schedc_core::explain::Explanation;
use schedc_kubernetes::shadow::Finding;
use schedc_kubernetes::shadow::finding::{compare_message, for_bound_pod};
use schedc_recording::Reference;
use schedc_recording::entry::{Entry, Line};
use serde::Serialize;

use super::journal::{Journal, NamedChange, Origin, Origins, RecordedChange, Replacement, Version};
use super::reservations::claim_write;
use super::state::RecordedState;
use super::window::{SPAN, Window};
use crate::cluster::Routes;

/// Maximum number of changes before a decision, and maximum number of changes after it.
const MAX_CHANGES: usize = 256;
/// Maximum number of neighbouring states of a decision.
const MAX_STATES: usize = 800;

/// The order in which a profile agrees. The decision precedes or follows these changes, and all others are as recorded.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Order {
    /// Changes that were recorded before the decision. The profile agrees if it decides before them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub agrees_before: Vec<NamedChange>,
    /// Changes that were recorded after the decision. The profile agrees if it decides after them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub agrees_after: Vec<NamedChange>,
}

impl Order {
    /// Returns the changes with their relation to the decision.
    pub(crate) fn sides(&self) -> impl Iterator<Item = (&'static str, &[NamedChange])> {
        let sides = [("before", &*self.agrees_before), ("after", &*self.agrees_after)];
        sides.into_iter().filter(|(_, changes)| !changes.is_empty())
    }
}

/// A recorded decision.
pub(super) struct Decision {
    /// Time in milliseconds since 1970.
    pub(super) at: i64,
    /// Whether its line has a resource version.
    pub(super) has_version: bool,
    pub(super) namespace: String,
    pub(super) name: String,
    pub(super) scheduler: String,
    pub(super) result: DecisionResult,
}

/// The result of a recorded decision.
pub(super) enum DecisionResult {
    /// The pod was bound to this node.
    Bound(String),
    /// The pod was reported as unschedulable, with this message.
    Rejected(String),
}

impl Decision {
    /// Compares the decision with an answer. Returns the difference, if any.
    pub(super) fn compare(&self, explanation: &Explanation, base: &Base) -> Option<Finding> {
        match &self.result {
            DecisionResult::Bound(node) => for_bound_pod(explanation, base, node),
            DecisionResult::Rejected(message) => compare_message(explanation, base, message),
        }
    }

    /// Returns whether a change is one of the pod itself.
    fn is_of_pod(&self, change: &RecordedChange) -> bool {
        let Reference { kind, namespace, name } = &change.replacement.key;
        kind == "Pod" && *namespace == self.namespace && *name == self.name
    }

    /// Returns whether the scheduler may know a change before it is written.
    fn is_known_early(&self, change: &RecordedChange) -> bool {
        match &change.origin {
            Origin::Binding(scheduler) | Origin::Rejection(scheduler) => *scheduler == self.scheduler,
            // A scheduler allocates claims and binds volumes for a pod that it has assumed, so it knows these changes
            // early.
            Origin::Other => {
                let kind = change.replacement.key.kind.as_str();
                ["ResourceClaim", "PersistentVolumeClaim", "PersistentVolume"].contains(&kind)
            }
        }
    }
}

/// The changes around a decision.
pub(super) struct Neighbours {
    /// Changes before the decision, oldest first, and then those after it.
    changes: Vec<RecordedChange>,
    /// Number of changes before the decision.
    past: usize,
    /// Writes of claims for the pod: the scheduler decided before them.
    own_claims: Moved,
}

impl Neighbours {
    pub(super) fn of(decision: &Decision, journal: &Journal, window: &Window, state: &mut RecordedState<'_>) -> Self {
        let mut changes = journal.since(decision.at - SPAN, MAX_CHANGES);
        let past = changes.len();
        let next = next_changes(window, state);
        changes.extend(next.into_iter().filter(|change| !decision.is_of_pod(change)));
        let is_own = |change: &RecordedChange| {
            let claim = change.replacement.after.as_ref().and_then(|text| serde_json::from_str(text).ok());
            claim.as_ref().and_then(claim_write).is_some_and(|write| {
                let mut pods = write.created_for.iter().chain(&write.reserved_for);
                pods.any(|(namespace, name)| *namespace == decision.namespace && *name == decision.name)
            })
        };
        let own_claims = (0..past).filter(|at| is_own(&changes[*at])).collect();
        Neighbours { changes, past, own_claims }
    }
}

/// Indices of changes that are moved to the other side of the decision.
type Moved = BTreeSet<usize>;

/// The search for the order of a decision.
pub(super) struct Search<'s, 'a> {
    pub(super) state: &'s mut RecordedState<'a>,
    pub(super) routes: &'s Routes,
    pub(super) profile: usize,
    pub(super) decision: &'s Decision,
    pub(super) neighbours: Neighbours,
    /// Number of evaluations that the replay may still use.
    pub(super) budget: &'s mut usize,
}

impl Search<'_, '_> {
    /// Returns the order in which the profile agrees; `None` if the search finds none.
    pub(super) fn find(mut self) -> Option<Order> {
        let candidates = self.candidates();
        let minimal = candidates.into_iter().find(|moved| self.agrees(moved)).map(|moved| self.minimal(moved));
        self.state.use_versions(&BTreeMap::new(), self.routes);
        let moved = minimal.map(|moved| if moved.is_empty() { self.neighbours.own_claims.clone() } else { moved })?;
        let named = |is_past: bool| {
            let of_side = moved.iter().filter(|at| (**at < self.neighbours.past) == is_past);
            of_side.map(|at| self.neighbours.changes[*at].named()).collect()
        };
        Some(Order { agrees_before: named(true), agrees_after: named(false) })
    }

    /// Returns the neighbouring states, nearest first.
    fn candidates(&self) -> Vec<Moved> {
        let past: Vec<usize> =
            (0..self.neighbours.past).rev().filter(|at| !self.neighbours.own_claims.contains(at)).collect();
        let next: Vec<usize> = (self.neighbours.past..self.neighbours.changes.len()).collect();
        let is_early = |at: &usize| self.decision.is_known_early(&self.neighbours.changes[*at]);
        let (own_past, observed): (Vec<usize>, Vec<usize>) = past.iter().partition(|at| is_early(at));
        let own_next: Vec<usize> = next.iter().copied().filter(is_early).collect();
        let mut by_kind: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
        for at in &observed {
            by_kind.entry(&self.neighbours.changes[*at].replacement.key.kind).or_default().push(*at);
        }
        let mut candidates = Candidates::default();
        if !self.neighbours.own_claims.is_empty() {
            candidates.add([]);
        }
        for count in 1..=MAX_CHANGES {
            candidates.add_first(&past, count);
            candidates.add_first(&observed, count);
            candidates.add_first(&own_next, count);
            // Lines with versions are sorted by version: the scheduler had not received the changes after the decision.
            if !self.decision.has_version {
                candidates.add_first(&next, count);
            }
            for own in [&own_next, &own_past] {
                own.get(count - 1).into_iter().for_each(|at| candidates.add([*at]));
            }
            by_kind.values().for_each(|of_kind| candidates.add_first(of_kind, count));
        }
        // Two causes at once: slow watches, and another order of the scheduler's own decisions.
        for sum in 2..=MAX_CHANGES {
            for first in 1..sum {
                let Some(observed) = observed.get(..first) else { break };
                let (observed, second) = (observed.iter().copied(), sum - first);
                let others = own_next.get(..second).map(<[usize]>::to_vec);
                let single = [&own_next, &own_past].map(|own| own.get(second - 1).map(|at| vec![*at]));
                for own in others.into_iter().chain(single.into_iter().flatten()) {
                    candidates.add(observed.clone().chain(own));
                }
            }
        }
        candidates.ordered
    }

    /// Returns the moved changes without those whose order does not matter.
    fn minimal(&mut self, mut moved: Moved) -> Moved {
        let mut nearest: Vec<usize> = moved.iter().copied().collect();
        nearest.sort_by_key(|at| at.abs_diff(self.neighbours.past));
        for at in nearest {
            moved.remove(&at);
            let is_enough = (!moved.is_empty() || !self.neighbours.own_claims.is_empty()) && self.agrees(&moved);
            if !is_enough {
                moved.insert(at);
            }
        }
        moved
    }

    /// Returns whether the profile agrees if these changes are moved.
    fn agrees(&mut self, moved: &Moved) -> bool {
        if *self.budget == 0 {
            return false;
        }
        *self.budget -= 1;
        let versions = self.versions(moved);
        self.state.use_versions(&versions, self.routes);
        let Decision { namespace, name, .. } = self.decision;
        let explanation = self.state.explain(self.profile, namespace, name);
        explanation.is_some_and(|explanation| self.decision.compare(&explanation, self.state.base()).is_none())
    }

    /// Returns the versions that the objects of moved changes have in the neighbouring state.
    fn versions(&self, moved: &Moved) -> BTreeMap<Reference, Version> {
        let changed = || moved.iter().chain(&self.neighbours.own_claims);
        let keys: BTreeSet<&Reference> = changed().map(|at| &self.neighbours.changes[*at].replacement.key).collect();
        let mut versions = BTreeMap::new();
        for (at, RecordedChange { replacement, .. }) in self.neighbours.changes.iter().enumerate() {
            let Replacement { key, before, after } = replacement;
            if !keys.contains(key) {
                continue;
            }
            let version = versions.entry(key.clone()).or_insert_with(|| before.clone());
            let is_past = at < self.neighbours.past;
            if is_past != moved.contains(&at) && !self.neighbours.own_claims.contains(&at) {
                version.clone_from(after);
            }
        }
        versions
    }
}

/// States to evaluate, without repetitions.
#[derive(Default)]
struct Candidates {
    ordered: Vec<Moved>,
    known: BTreeSet<Moved>,
}

impl Candidates {
    fn add(&mut self, moved: impl IntoIterator<Item = usize>) {
        if self.ordered.len() < MAX_STATES {
            let moved: Moved = moved.into_iter().collect();
            if self.known.insert(moved.clone()) {
                self.ordered.push(moved);
            }
        }
    }

    fn add_first(&mut self, changes: &[usize], count: usize) {
        if let Some(first) = changes.get(..count) {
            self.add(first.iter().copied());
        }
    }
}

/// Returns the changes of the lines that wait in the window, at most [`MAX_CHANGES`].
fn next_changes(window: &Window, state: &mut RecordedState<'_>) -> Vec<RecordedChange> {
    let mut origins = Origins::default();
    let mut versions: BTreeMap<Reference, Version> = BTreeMap::new();
    let mut changes = Vec::new();
    for (place, Line { at, entry, .. }) in window.lines() {
        let origin = origins.of(entry);
        let (key, after): (_, Version) = match entry {
            Entry::Set(object) => match state.key(object) {
                Some(key) => (key, Some(object.to_string().into())),
                None => continue,
            },
            Entry::Delete(key) => (key.clone(), None),
            _ => continue,
        };
        let version = versions.entry(key.clone()).or_insert_with(|| state.recorded(&key));
        if *version != after {
            let before = std::mem::replace(version, after.clone());
            let replacement = Replacement { key, before, after };
            changes.push(RecordedChange { place: place.clone(), at: *at, replacement, origin });
        }
        if changes.len() == MAX_CHANGES {
            break;
        }
    }
    changes
}
