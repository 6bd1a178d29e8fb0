//! Forks: changes are recorded, and undone in reverse order.

use std::sync::Arc;

use super::{ReservedPlacement, Snapshot};
use crate::model::cache::PodState;
use crate::model::intern::Symbol;
use crate::model::{Node, Object, ObjectKey, Pod, Uid};
use crate::profile_api::profile::Profile;

/// A change that can be undone.
pub(super) enum UndoEntry<P: Profile> {
    /// A node was added, changed or removed.
    Node {
        name: Symbol,
        /// Its previous state.
        old: Option<Arc<Node>>,
    },
    /// Another object was added, changed or removed.
    Object {
        key: ObjectKey,
        /// Its previous state.
        old: Option<Object>,
    },
    /// A pod was added to a node.
    PodAdded(Uid),
    /// A pod was removed from its node.
    PodRemoved {
        pod: Arc<Pod>,
        node: Symbol,
        state: PodState,
        /// The node's pods before the removal, in their order.
        on_node: Vec<Arc<Pod>>,
        /// The reservation, kept until the removal can no longer be undone.
        reserved: Option<ReservedPlacement<P>>,
    },
}

impl<P: Profile> Snapshot<P> {
    /// Opens a fork: later changes can be reverted (`Fork`). Forks may be nested.
    pub fn fork(&mut self) {
        self.forks.push(self.undo_entries.len());
    }

    /// Adds the changes since the last fork to the fork before it, or makes them final if there is none (`Commit`).
    /// Without a fork, nothing happens.
    pub fn commit(&mut self) {
        if self.forks.pop().is_some() && self.forks.is_empty() {
            for change in std::mem::take(&mut self.undo_entries) {
                self.settle(change);
            }
        }
    }

    /// Undoes the changes since the last fork (`Revert`). Without a fork, nothing happens.
    pub fn revert(&mut self) {
        let Some(begin) = self.forks.pop() else { return };
        while self.undo_entries.len() > begin {
            if let Some(change) = self.undo_entries.pop() {
                self.undo(change);
            }
        }
    }

    /// Returns the number of open forks.
    pub fn forks(&self) -> usize {
        self.forks.len()
    }

    /// Records a change if a fork is open; otherwise finalises it.
    pub(super) fn note(&mut self, change: UndoEntry<P>) {
        match self.forks.is_empty() {
            true => self.settle(change),
            false => self.undo_entries.push(change),
        }
    }

    /// Finalises a change: the reservation of a removed pod is released.
    pub(super) fn settle(&mut self, change: UndoEntry<P>) {
        if let UndoEntry::PodRemoved { reserved: Some(ReservedPlacement { placement, reserved }), .. } = change {
            self.engine.plugins.unreserve(&placement, &reserved);
        }
    }

    fn undo(&mut self, change: UndoEntry<P>) {
        match change {
            UndoEntry::Node { old: Some(old), .. } => {
                self.cache.set_node(Arc::unwrap_or_clone(old));
            }
            UndoEntry::Node { name, old: None } => self.cache.remove_node(name),
            UndoEntry::Object { old: Some(old), .. } => self.cache.set_object(old),
            UndoEntry::Object { key, old: None } => self.cache.remove_object(&key),
            UndoEntry::PodAdded(uid) => {
                self.cache.remove_pod(&uid);
                if let Some(ReservedPlacement { placement, reserved }) = self.reserved.remove(&uid) {
                    self.engine.plugins.unreserve(&placement, &reserved);
                }
            }
            UndoEntry::PodRemoved { pod, node, state, on_node, reserved } => {
                let uid = pod.uid.clone();
                self.cache.add_pod(pod, node, state);
                self.cache.put_in_order(node, on_node);
                self.reserved.extend(reserved.map(|reserved| (uid, reserved)));
            }
        }
    }
}
