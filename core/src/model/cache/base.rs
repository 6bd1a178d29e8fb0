//! Nodes in dense slots, with their pods and names.

use std::sync::Arc;

use super::resource_nodes::ResourceNodes;
use crate::model::intern::{Interner, Symbol};
use crate::model::map::Map;
use crate::model::node_info::NodeInfo;
use crate::model::node_mask::NodeMask;
use crate::model::originals::Originals;
use crate::model::{NodeIndex, Pod};

/// Nodes and names, the same for all profiles.
#[derive(Clone, Default)]
pub struct Base {
    /// The cluster's strings.
    pub interner: Interner,
    /// Objects as JSON, if extenders need them.
    pub originals: Originals,
    pub(super) infos: Vec<NodeInfo>,
    /// The name of the node in each slot. It shares memory with the interner and with decisions, which contain the name
    /// of their node.
    pub(super) names: Vec<Arc<str>>,
    pub(super) alive: NodeMask,
    pub(super) by_name: Map<Symbol, NodeIndex>,
    pub(super) free: Vec<NodeIndex>,
    pub(super) resource_nodes: ResourceNodes,
    pub(super) claimant: Option<Arc<Pod>>,
    pub(super) lowest_priority: LowestPriority,
}

/// The lowest priority of all pods that had a node so far.
#[derive(Clone, Copy, Debug)]
pub(super) struct LowestPriority(i32);

impl Default for LowestPriority {
    fn default() -> Self {
        LowestPriority(i32::MAX)
    }
}

impl LowestPriority {
    #[inline]
    pub(super) fn add_pod(&mut self, pod: &Pod) {
        self.0 = self.0.min(pod.spec.priority);
    }
}

impl Base {
    /// Returns all slots, with and without a node.
    #[inline]
    pub fn infos(&self) -> &[NodeInfo] {
        &self.infos
    }
    /// Returns the slots that have a node.
    #[inline]
    pub fn alive(&self) -> &NodeMask {
        &self.alive
    }
    /// Returns the node with this name.
    pub fn node(&self, name: Symbol) -> Option<NodeIndex> {
        self.by_name.get(&name).copied()
    }
    /// Returns the nodes that have an amount of this resource, in order. The resource is not cpu, memory or storage.
    /// `None`: unknown, because a pod with a negative amount was seen.
    pub fn nodes_with(&self, resource: Symbol) -> Option<&[NodeIndex]> {
        self.resource_nodes.of(resource)
    }
    /// Returns the number of nodes.
    #[inline]
    pub fn count(&self) -> usize {
        self.by_name.len()
    }
    /// Returns whether a pod with a node may have a priority below `priority`. `false` is certain. The answer can be
    /// `true` because of pods that no longer exist.
    pub fn may_have_pods_below(&self, priority: i32) -> bool {
        self.lowest_priority.0 < priority
    }
    /// Returns the pod of the current attempt, if it may use devices: if it has resource claims, or requests resources
    /// other than cpu, memory and storage. Plugins compile only the specification, which contains neither the pod's
    /// claims nor its uid.
    pub fn claimant(&self) -> Option<&Arc<Pod>> {
        self.claimant.as_ref()
    }
    /// Begins an attempt for a pod.
    #[inline]
    pub(crate) fn begin_attempt(&mut self, pod: &Arc<Pod>) {
        // The call is rare, because few pods can use devices.
        if self.claimant.is_some() || pod.spec.may_use_devices() {
            self.set_claimant(pod);
        }
    }
    #[cold]
    #[inline(never)]
    fn set_claimant(&mut self, pod: &Arc<Pod>) {
        self.claimant = pod.spec.may_use_devices().then(|| pod.clone());
    }
    /// Returns the name of a node; empty for a slot without one.
    pub fn name(&self, index: NodeIndex) -> &str {
        let name = self.infos.get(index.get()).and_then(|info| info.node.as_ref()).map(|node| node.name);
        self.interner.resolve(name.unwrap_or(Symbol::EMPTY))
    }
    /// Returns a shared copy of the name of a node; empty for a slot without one.
    #[inline]
    pub(crate) fn shared_name(&self, index: NodeIndex) -> Arc<str> {
        self.names.get(index.get()).cloned().unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{ClaimSource, PodResourceClaim, PodSpec};

    #[test]
    fn the_claimant_is_the_pod_of_the_current_attempt() {
        let pod = |resource_claims| {
            Arc::new(Pod { spec: Arc::new(PodSpec { resource_claims, ..PodSpec::default() }), ..Pod::default() })
        };
        let claim = PodResourceClaim { name: Symbol::EMPTY, source: ClaimSource::Named(Symbol::EMPTY) };
        let (with_claim, without) = (pod([claim].into()), pod([].into()));
        let mut base = Base::default();
        base.begin_attempt(&with_claim);
        assert!(base.claimant().is_some_and(|claimant| Arc::ptr_eq(claimant, &with_claim)));
        base.begin_attempt(&without);
        assert!(base.claimant().is_none());
    }
}
