//! Forks: what is done is taken down, and undone in reverse order.

use std::sync::Arc;

use super::{Reservation, Snapshot};
use crate::cache::PodState;
use crate::intern::Symbol;
use crate::model::{Node, Object, ObjectKey, Pod, Uid};
use crate::profile::Profile;

/// Something that was done.
pub(super) enum UndoEntry<P: Profile> {
    /// A node came, changed or went.
    Node {
        name: Symbol,
        /// As it was.
        old: Option<Arc<Node>>,
    },
    /// Another object did.
    Object {
        key: ObjectKey,
        /// As it was.
        old: Option<Object>,
    },
    /// A pod came to a node.
    PodAdded(Uid),
    /// A pod left its node.
    PodRemoved {
        pod: Arc<Pod>,
        node: Symbol,
        state: PodState,
        /// The node's pods before that, in their order.
        on_node: Vec<Arc<Pod>>,
        /// It is kept until nobody can want the pod back.
        reserved: Option<Reservation<P>>,
    },
}

impl<P: Profile> Snapshot<P> {
    /// From here on, what is done can be taken back: `Fork`. Forks may be forked.
    pub fn fork(&mut self) {
        self.forks.push(self.done.len());
    }

    /// What was done since the last fork is part of the fork before it, or final if there is none: `Commit`. Without a fork,
    /// nothing happens.
    pub fn commit(&mut self) {
        if self.forks.pop().is_some() && self.forks.is_empty() {
            for change in std::mem::take(&mut self.done) {
                self.settle(change);
            }
        }
    }

    /// What was done since the last fork was never done: `Revert`. Without a fork, nothing happens.
    pub fn revert(&mut self) {
        let Some(begin) = self.forks.pop() else { return };
        while self.done.len() > begin {
            if let Some(change) = self.done.pop() {
                self.undo(change);
            }
        }
    }

    /// How many forks are open.
    pub fn forks(&self) -> usize {
        self.forks.len()
    }

    /// Takes down what was done, if it may be undone.
    pub(super) fn note(&mut self, change: UndoEntry<P>) {
        match self.forks.is_empty() {
            true => self.settle(change),
            false => self.done.push(change),
        }
    }

    /// Nobody will undo it.
    fn settle(&mut self, change: UndoEntry<P>) {
        if let UndoEntry::PodRemoved { reserved: Some(Reservation { placement, reserved }), .. } = change {
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
                if let Some(Reservation { placement, reserved }) = self.reserved.remove(&uid) {
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
