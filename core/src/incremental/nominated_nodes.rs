//! The nominated pods that a kept answer heeds.

use crate::cache::Base;
use crate::intern::Symbol;
use crate::model::{NodeIndex, Pod};
use crate::node_mask::NodeMask;
use crate::node_set::NodeSet;
use crate::queue::Nominator;

/// The nodes where pods are nominated that the pods of an answer leave room for: not weaker ones. What that means for the
/// answer has to be found out again only where it changed.
#[derive(Clone, Debug, Default)]
pub struct NominatedNodes {
    /// How far the nominator's log was read. None: never.
    read: Option<u64>,
    priority: i32,
    /// The node that the pod of the last answer is nominated for itself: it does not stand in its own way there.
    own: Option<Symbol>,
    /// The nodes with such pods, at the last update.
    nodes: NodeMask,
    count: usize,
}

impl NominatedNodes {
    /// Nodes with nominated pods that come before the pod of the last update.
    pub fn nodes(&self) -> &NodeMask {
        &self.nodes
    }

    /// Whether there is no such node.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Whether such a pod is nominated for a node.
    #[inline]
    pub fn contains(&self, node: NodeIndex) -> bool {
        self.nodes.contains(node)
    }

    /// Adapts to the nominations of now, as they concern `pod`. `touched` holds the nodes that came, changed or went since,
    /// and takes those whose nominations did: the answer about any other node is what it was, as far as they matter.
    pub fn update(&mut self, pod: &Pod, nominator: &Nominator, base: &Base, touched: &mut NodeSet) {
        let read = nominator.log().end();
        let own = if nominator.is_empty() { None } else { nominator.node(&pod.uid) };
        let owned = [self.own, own].into_iter().flatten();
        if self.read == Some(read)
            && self.priority == pod.spec.priority
            && (self.own, own) == (None, None)
            && touched.is_empty()
        {
            return;
        }
        let changed = self.read.filter(|_| self.priority == pod.spec.priority);
        let changed = changed.and_then(|read| nominator.log().since(read));
        self.nodes.resize(base.infos().len());
        match changed {
            Some(changed) => {
                // Even if it is one node, the pods may be two.
                changed.copied().chain(owned).filter_map(|name| base.node(name)).for_each(|node| touched.insert(node));
            }
            None => {
                touched.insert_all(&self.nodes);
                nominator.iter().filter_map(|(name, _)| base.node(name)).for_each(|node| touched.insert(node));
            }
        }
        (self.read, self.priority, self.own) = (Some(read), pod.spec.priority, own);
        for node in touched.iter() {
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
