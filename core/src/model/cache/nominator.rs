//! Nominated pods by node: kube-scheduler's `nominator`.

use std::borrow::Cow;
use std::sync::Arc;

use crate::model::change_log::ChangeLog;
use crate::model::intern::Symbol;
use crate::model::map::{IndexedMap, Map};
use crate::model::{Pod, Uid};

/// Pods with a nominated node. A nomination in a pod's status may be older than the one here.
#[derive(Clone, Debug, Default)]
pub struct Nominator {
    by_node: IndexedMap<Symbol, Vec<Arc<Pod>>>,
    by_pod: Map<Uid, Symbol>,
    log: ChangeLog<Symbol>,
}

impl Nominator {
    /// Nominates a pod for this node, and for no other one.
    pub fn nominate(&mut self, pod: Arc<Pod>, node: Symbol) {
        self.withdraw(&pod.uid);
        self.by_pod.insert(pod.uid.clone(), node);
        self.by_node.entry(node).or_default().push(pod);
        self.log.push(node);
    }

    /// Removes a pod's nomination.
    #[inline]
    pub(crate) fn withdraw(&mut self, uid: &Uid) {
        if !self.is_empty() {
            self.withdraw_known(uid);
        }
    }

    fn withdraw_known(&mut self, uid: &Uid) {
        let Some(node) = self.by_pod.remove(uid) else { return };
        let Some(pods) = self.by_node.get_mut(&node) else { return };
        pods.retain(|pod| pod.uid != *uid);
        if pods.is_empty() {
            self.by_node.swap_remove(&node);
        }
        self.log.push(node);
    }

    /// Sets the nomination of a pod that enters the queue to the one in its status.
    pub fn added(&mut self, pod: &Arc<Pod>) {
        match pod.nominated_node {
            Some(node) => self.nominate(pod.clone(), node),
            None => self.withdraw(&pod.uid),
        }
    }

    /// Sets the nomination of a pod that is no longer gated to the one in its status, unless it has a nomination.
    pub(crate) fn ungated(&mut self, pod: &Arc<Pod>) {
        if self.node(&pod.uid).is_none() {
            self.added(pod);
        }
    }

    /// Updates the nomination of a pod that changed in the queue. If neither the old nor the new status has a
    /// nomination, an existing one stays, because the update may precede the write of the nomination.
    pub fn updated(&mut self, old: &Pod, new: &Arc<Pod>) {
        match (old.nominated_node, new.nominated_node, self.node(&old.uid)) {
            (None, None, Some(node)) => self.nominate(new.clone(), node),
            _ => self.added(new),
        }
    }

    /// Returns whether no pod is nominated.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.by_pod.is_empty()
    }
    /// Returns the nominated node of a pod.
    #[inline]
    pub fn node(&self, uid: &Uid) -> Option<Symbol> {
        if self.is_empty() { None } else { self.known_node(uid) }
    }

    fn known_node(&self, uid: &Uid) -> Option<Symbol> {
        self.by_pod.get(uid).copied()
    }
    /// Returns the pods nominated for a node, in order of arrival.
    pub fn pods(&self, node: Symbol) -> &[Arc<Pod>] {
        self.by_node.get(&node).map(Vec::as_slice).unwrap_or_default()
    }
    /// Returns the pods nominated for a node that have at least the priority of `pod`, without the pod itself.
    pub fn before(&self, node: Symbol, pod: &Pod) -> Cow<'_, [Arc<Pod>]> {
        let pods = if self.by_node.is_empty() { &[] } else { self.pods(node) };
        let comes_before = |other: &&Arc<Pod>| other.spec.priority >= pod.spec.priority && other.uid != pod.uid;
        if pods.iter().all(|other| comes_before(&other)) {
            return Cow::Borrowed(pods);
        }
        Cow::Owned(pods.iter().filter(comes_before).cloned().collect())
    }
    /// Returns the log of nodes whose nominated pods changed, one entry for each change.
    pub fn log(&self) -> &ChangeLog<Symbol> {
        &self.log
    }
    /// Returns the number of nodes with nominated pods.
    pub(super) fn n_nodes(&self) -> usize {
        self.by_node.len()
    }
    /// Returns the node at a position, with its nominated pods.
    pub(super) fn node_at(&self, position: usize) -> Option<(&Symbol, &Vec<Arc<Pod>>)> {
        self.by_node.get_index(position)
    }
    /// Returns all nodes that have nominated pods, each with these pods.
    pub fn iter(&self) -> impl Iterator<Item = (Symbol, &[Arc<Pod>])> {
        self.by_node.iter().map(|(node, pods)| (*node, pods.as_slice()))
    }
}
