//! The nominated pods that a cached answer takes into account.

use crate::model::cache::Base;
use crate::model::cache::Nominator;
use crate::model::intern::Symbol;
use crate::model::node_mask::NodeMask;
use crate::model::node_set::NodeSet;
use crate::model::{NodeIndex, Pod};

/// The nodes with nominated pods that have at least the priority of the answer's pods. The effect on the answer is
/// computed again only where nominations changed.
#[derive(Clone, Debug, Default)]
pub struct NominatedNodes {
    /// Position in the nominator's log. `None`: not read yet.
    read: Option<u64>,
    priority: i32,
    /// The nominated node of the last update's pod. The pod's own nomination does not count there.
    own: Option<Symbol>,
    /// The nodes with nominated pods that precede the pod of the last update.
    nodes: NodeMask,
    count: usize,
}

impl NominatedNodes {
    /// Returns the nodes with nominated pods that precede the pod of the last update.
    pub fn nodes(&self) -> &NodeMask {
        &self.nodes
    }

    /// Returns whether [`NominatedNodes::nodes`] is empty.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Returns whether [`NominatedNodes::nodes`] contains a node.
    #[inline]
    pub fn contains(&self, node: NodeIndex) -> bool {
        self.nodes.contains(node)
    }

    /// Updates the nodes to the current nominations that count for `pod`. `affected` has the nodes that were added,
    /// changed or removed since the last update, and receives those whose nominations changed. For all other nodes, the
    /// effect of nominations is unchanged.
    pub fn update(&mut self, pod: &Pod, nominator: &Nominator, base: &Base, affected: &mut NodeSet) {
        let read = nominator.log().end();
        let own = if nominator.is_empty() { None } else { nominator.node(&pod.uid) };
        let owned = [self.own, own].into_iter().flatten();
        if self.read == Some(read)
            && self.priority == pod.spec.priority
            && (self.own, own) == (None, None)
            && affected.is_empty()
        {
            return;
        }
        let changed = self.read.filter(|_| self.priority == pod.spec.priority);
        let changed = changed.and_then(|read| nominator.log().since(read));
        self.nodes.resize(base.infos().len());
        match changed {
            Some(changed) => {
                // The nominated nodes of the previous and of this pod: even if they are equal, the pods may differ.
                changed.copied().chain(owned).filter_map(|name| base.node(name)).for_each(|node| affected.insert(node));
            }
            None => {
                affected.insert_all(&self.nodes);
                nominator.iter().filter_map(|(name, _)| base.node(name)).for_each(|node| affected.insert(node));
            }
        }
        (self.read, self.priority, self.own) = (Some(read), pod.spec.priority, own);
        for node in affected.iter() {
            let name = base.infos()[node.get()].node.as_ref().map(|node| node.name);
            self.count -= usize::from(self.nodes.contains(node));
            if name.is_some_and(|name| !nominator.before(name, pod).is_empty()) {
                self.nodes.insert(node);
                self.count += 1;
            } else {
                self.nodes.remove(node);
            }
        }
    }
}
