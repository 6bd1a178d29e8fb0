//! A node with its pods.

use std::sync::Arc;

use super::growth;
use super::intern::Symbol;
use super::{LabelsExt, Node, Pod};

/// A node with its pods: kube-scheduler's `NodeInfo`, for plugins that read whole objects.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct NodeInfo {
    /// The node; `None` in a slot without one.
    pub node: Option<Arc<Node>>,
    /// The pods on the node. Removing a pod moves the last one into the gap, as in kube-scheduler.
    pub pods: Vec<Arc<Pod>>,
}

impl NodeInfo {
    /// Returns the value of one of the node's labels.
    #[inline]
    pub fn label(&self, key: Symbol) -> Option<Symbol> {
        self.node.as_ref()?.labels.value(key)
    }
    /// Adds a pod to the node.
    #[inline]
    pub fn add_pod(&mut self, pod: Arc<Pod>) {
        self.pods.push(pod);
    }
    /// Reserves memory for another pod. Called outside of decisions, which then need not allocate memory.
    #[inline]
    pub(crate) fn reserve_pod(&mut self) {
        let len = self.pods.len() + 1;
        growth::reserve(&mut self.pods, len);
    }
    /// Removes a pod from the node, and returns it; `None` if it was not there.
    pub fn remove_pod(&mut self, pod: &Pod) -> Option<Arc<Pod>> {
        // Usually, the list has `pod` itself, which is found by its address alone. It is often a recent one, so the
        // search begins at the end.
        let same_address = self.pods.iter().rposition(|p| std::ptr::eq(&**p, pod));
        let at = same_address.or_else(|| self.pods.iter().position(|p| p.uid == pod.uid))?;
        Some(self.pods.swap_remove(at))
    }
}
