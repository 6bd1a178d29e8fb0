//! The plugin's state: who has been promised a node, and which groups are not tried for a while.

use std::collections::BTreeMap;
use std::time::Duration;

use schedc_core::map::Map;
use schedc_core::model::Uid;

use crate::group::GroupKey;

/// What Reserve leaves for Permit.
#[derive(Debug)]
pub(crate) struct Reservation {
    /// How many pods of the group have yet to get a node before this one can be bound.
    pub(crate) missing: usize,
    /// How long it waits for them.
    pub(crate) patience: Duration,
    /// The pods of the group that have no node.
    pub(crate) siblings: Vec<Uid>,
}

/// From Reserve to the end of its binding, good or bad, a pod is in here.
#[derive(Debug, Default)]
pub(crate) struct Reservations {
    groups: BTreeMap<GroupKey, BTreeMap<Uid, Reservation>>,
    group_of: Map<Uid, GroupKey>,
    /// Groups that are not tried, and until when.
    denied: BTreeMap<GroupKey, i64>,
}

impl Reservations {
    pub(crate) fn insert(&mut self, pod: Uid, group: GroupKey, reservation: Reservation) {
        self.group_of.insert(pod.clone(), group);
        self.groups.entry(group).or_default().insert(pod, reservation);
    }

    pub(crate) fn get_mut(&mut self, pod: &Uid) -> Option<&mut Reservation> {
        self.groups.get_mut(self.group_of.get(pod)?)?.get_mut(pod)
    }

    /// A pod is bound, or is not. Returns its group, if it was here.
    pub(crate) fn remove(&mut self, pod: &Uid) -> Option<GroupKey> {
        let group = self.group_of.remove(pod)?;
        let pods = self.groups.get_mut(&group)?;
        pods.remove(pod)?;
        if pods.is_empty() {
            self.groups.remove(&group);
        }
        Some(group)
    }

    /// The pods of a group.
    pub(crate) fn pods(&self, group: GroupKey) -> impl Iterator<Item = &Uid> {
        self.groups.get(&group).into_iter().flat_map(BTreeMap::keys)
    }

    /// All pods of a pod's group, itself included.
    pub(crate) fn group_of(&self, pod: &Uid) -> impl Iterator<Item = &Uid> {
        self.group_of.get(pod).into_iter().flat_map(|group| self.pods(*group))
    }

    /// A group is not tried until then.
    pub(crate) fn deny(&mut self, group: GroupKey, now: i64, until: i64) {
        self.denied.retain(|_, until| *until > now);
        self.denied.insert(group, until);
    }

    pub(crate) fn is_denied(&self, group: GroupKey, now: i64) -> bool {
        self.denied.get(&group).is_some_and(|until| *until > now)
    }

    /// A group is tried again.
    pub(crate) fn clear_denial(&mut self, group: GroupKey) {
        self.denied.remove(&group);
    }

    #[cfg(test)]
    pub(crate) fn is_empty(&self) -> bool {
        self.groups.is_empty() && self.group_of.is_empty()
    }
}
