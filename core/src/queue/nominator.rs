//! Which pods are nominated for which nodes: kube-scheduler's `nominator`.

use std::borrow::Cow;
use std::sync::Arc;

use crate::change_log::ChangeLog;
use crate::intern::Symbol;
use crate::map::Map;
use crate::model::{Pod, Uid};

/// Pods that room is made for, or kept for. What a pod's status says may be older than what is known here.
#[derive(Clone, Debug, Default)]
pub struct Nominator {
    by_node: Map<Symbol, Vec<Arc<Pod>>>,
    by_pod: Map<Uid, Symbol>,
    log: ChangeLog<Symbol>,
}

impl Nominator {
    /// Nominates a pod for a node, and for no other.
    pub fn nominate(&mut self, pod: Arc<Pod>, node: Symbol) {
        self.withdraw(&pod.uid);
        self.by_pod.insert(pod.uid.clone(), node);
        self.by_node.entry(node).or_default().push(pod);
        self.log.push(node);
    }

    /// Forgets a pod's nomination.
    #[inline]
    pub fn withdraw(&mut self, uid: &Uid) {
        if !self.is_empty() {
            self.withdraw_known(uid);
        }
    }

    fn withdraw_known(&mut self, uid: &Uid) {
        let Some(node) = self.by_pod.remove(uid) else { return };
        let Some(pods) = self.by_node.get_mut(&node) else { return };
        pods.retain(|pod| pod.uid != *uid);
        if pods.is_empty() {
            self.by_node.remove(&node);
        }
        self.log.push(node);
    }

    /// A pod comes into the queue: what its status says, counts.
    pub fn added(&mut self, pod: &Arc<Pod>) {
        match pod.nominated_node {
            Some(node) => self.nominate(pod.clone(), node),
            None => self.withdraw(&pod.uid),
        }
    }

    /// No plugin gates a pod any more. Its nomination, if it has none yet, is what its status says.
    pub fn ungated(&mut self, pod: &Arc<Pod>) {
        if self.node(&pod.uid).is_none() {
            self.added(pod);
        }
    }

    /// A pod in the queue changed. An update that knows of no nomination, neither before nor after, was sent before the
    /// nomination was written, which stays then.
    pub fn updated(&mut self, old: &Pod, new: &Arc<Pod>) {
        match (old.nominated_node, new.nominated_node, self.node(&old.uid)) {
            (None, None, Some(node)) => self.nominate(new.clone(), node),
            _ => self.added(new),
        }
    }

    /// Whether no pod is nominated.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.by_pod.is_empty()
    }
    /// The node that a pod is nominated for.
    #[inline]
    pub fn node(&self, uid: &Uid) -> Option<Symbol> {
        if self.is_empty() { None } else { self.known_node(uid) }
    }

    fn known_node(&self, uid: &Uid) -> Option<Symbol> {
        self.by_pod.get(uid).copied()
    }
    /// The pods that are nominated for a node, in the order in which they came.
    pub fn pods(&self, node: Symbol) -> &[Arc<Pod>] {
        self.by_node.get(&node).map(Vec::as_slice).unwrap_or_default()
    }
    /// Those of them that `pod` leaves room for: they are not weaker, and not the pod itself.
    pub fn before(&self, node: Symbol, pod: &Pod) -> Cow<'_, [Arc<Pod>]> {
        let pods = if self.by_node.is_empty() { &[] } else { self.pods(node) };
        let comes_before = |other: &&Arc<Pod>| other.spec.priority >= pod.spec.priority && other.uid != pod.uid;
        if pods.iter().all(|other| comes_before(&other)) {
            return Cow::Borrowed(pods);
        }
        Cow::Owned(pods.iter().filter(comes_before).cloned().collect())
    }
    /// The nodes whose nominated pods changed, an entry for each change.
    pub fn log(&self) -> &ChangeLog<Symbol> {
        &self.log
    }
    /// All nodes with nominated pods.
    pub fn iter(&self) -> impl Iterator<Item = (Symbol, &[Arc<Pod>])> {
        self.by_node.iter().map(|(node, pods)| (*node, pods.as_slice()))
    }
}
