//! State of the plugin: pods with a reserved node, and denied groups.

use std::collections::BTreeMap;
use std::time::Duration;

use schedc_core::map::Map;
use schedc_core::model::Uid;

use crate::group::GroupKey;

/// Result of Reserve, for Permit.
#[derive(Debug)]
pub(crate) struct Reservation {
    /// Number of pods of the group that need a node before this one can be bound.
    pub(crate) missing: usize,
    /// Time that the pod waits for them.
    pub(crate) permit_timeout: Duration,
    /// Pods of the group without a node.
    pub(crate) siblings: Vec<Uid>,
}

/// Pods between Reserve and the end of their binding, successful or not.
#[derive(Debug, Default)]
pub(crate) struct Reservations {
    groups: BTreeMap<GroupKey, BTreeMap<Uid, Reservation>>,
    group_of: Map<Uid, GroupKey>,
    /// Denied groups, with the end of the denial in nanoseconds.
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

    /// Removes a pod after its binding cycle. Returns its group, if the pod was recorded.
    pub(crate) fn remove(&mut self, pod: &Uid) -> Option<GroupKey> {
        let group = self.group_of.remove(pod)?;
        let pods = self.groups.get_mut(&group)?;
        pods.remove(pod)?;
        if pods.is_empty() {
            self.groups.remove(&group);
        }
        Some(group)
    }

    /// Returns the recorded pods of a group.
    pub(crate) fn pods(&self, group: GroupKey) -> impl Iterator<Item = &Uid> {
        self.groups.get(&group).into_iter().flat_map(BTreeMap::keys)
    }

    /// Returns all recorded pods of a pod's group, the pod included.
    pub(crate) fn pods_in_group_of(&self, pod: &Uid) -> impl Iterator<Item = &Uid> {
        self.group_of.get(pod).into_iter().flat_map(|group| self.pods(*group))
    }

    /// Denies a group until a time.
    pub(crate) fn deny(&mut self, group: GroupKey, now: i64, until: i64) {
        self.denied.retain(|_, until| *until > now);
        self.denied.insert(group, until);
    }

    pub(crate) fn is_denied(&self, group: GroupKey, now: i64) -> bool {
        self.denied.get(&group).is_some_and(|until| *until > now)
    }

    /// Ends the denial of a group.
    pub(crate) fn clear_denial(&mut self, group: GroupKey) {
        self.denied.remove(&group);
    }

    #[cfg(test)]
    pub(crate) fn is_empty(&self) -> bool {
        self.groups.is_empty() && self.group_of.is_empty()
    }
}
