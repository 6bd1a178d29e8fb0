//! Pods that wait for an event, in groups. The pods of a group have the same profile, the same rejectors and the same
//! gate.
//!
//! Whether an event concerns a group is computed once. Therefore, while no event concerns the gating plugin, 100,000
//! gated pods cost as much as one gated pod.

use super::Rejectors;
use super::entries::{Entries, Slot};
use crate::model::map::Map;

/// Reason why pods wait.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct ParkReason {
    pub(super) profile: u16,
    /// Rejectors of their last attempt.
    pub(super) rejectors: Rejectors,
    /// The PreEnqueue plugin that gates them.
    pub(super) gate: Option<&'static str>,
}

struct Group {
    reason: ParkReason,
    parked: Vec<Slot>,
}

/// All groups. There is one for each [`ParkReason`] that a pod ever had, even if no pod is in it now: few different
/// reasons occur.
#[derive(Default)]
pub(super) struct ParkedPods {
    groups: Vec<Group>,
    ids: Map<ParkReason, u32>,
    len: usize,
}

impl ParkedPods {
    /// Returns the group for a reason.
    pub(super) fn group(&mut self, reason: ParkReason) -> u32 {
        if let Some(&id) = self.ids.get(&reason) {
            return id;
        }
        let id = self.groups.len() as u32;
        self.groups.push(Group { reason: reason.clone(), parked: Vec::new() });
        self.ids.insert(reason, id);
        id
    }
    /// Returns the group with the profile and the rejectors of `group`, and with this gate or none.
    pub(super) fn gated_by(&mut self, group: u32, gate: Option<&'static str>) -> u32 {
        let reason = self.reason(group);
        if reason.gate == gate { group } else { self.group(ParkReason { gate, ..reason.clone() }) }
    }
    pub(super) fn reason(&self, group: u32) -> &ParkReason {
        &self.groups[group as usize].reason
    }
    pub(super) fn groups(&self) -> impl Iterator<Item = (&ParkReason, &[Slot])> {
        self.groups.iter().filter(|group| !group.parked.is_empty()).map(|group| (&group.reason, &group.parked[..]))
    }
    pub(super) fn slots(&self) -> impl Iterator<Item = Slot> {
        self.groups.iter().flat_map(|group| group.parked.iter().copied())
    }
    /// Returns the number of groups.
    pub(super) fn len_of_groups(&self) -> usize {
        self.groups.len()
    }
    pub(super) fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Adds a pod to its group.
    pub(super) fn insert(&mut self, entries: &mut Entries, slot: Slot) {
        let parked = &mut self.groups[entries[slot].group as usize].parked;
        entries[slot].at = parked.len() as u32;
        parked.push(slot);
        self.len += 1;
    }
    /// Removes a pod from its group.
    pub(super) fn remove(&mut self, entries: &mut Entries, slot: Slot) {
        let parked = &mut self.groups[entries[slot].group as usize].parked;
        let at = entries[slot].at as usize;
        parked.swap_remove(at);
        if let Some(&moved) = parked.get(at) {
            entries[moved].at = at as u32;
        }
        self.len -= 1;
    }
}
