//! Number of nodes with each container image.

use schedc_core::column::Index;
use schedc_core::intern::Symbol;
use schedc_core::map::Map;
use schedc_core::model::{Node, NodeIndex};

/// The number of nodes that have an image, by image name.
#[derive(Clone, Debug, Default)]
pub struct ImageNodes {
    nodes: Map<Symbol, u32>,
    epoch: u64,
}

impl ImageNodes {
    /// Returns the number of nodes with the image.
    pub fn count(&self, name: Symbol) -> u32 {
        self.nodes.get(&name).copied().unwrap_or(0)
    }

    /// Returns a number that grows when a node gets an image that no node had before.
    #[inline]
    pub fn epoch(&self) -> u64 {
        self.epoch
    }
}

/// Returns the names of a node's images, each once.
fn names(node: Option<&Node>) -> Vec<Symbol> {
    let mut names: Vec<_> = node.iter().flat_map(|node| &node.images).flat_map(|image| &image.names).copied().collect();
    names.sort_unstable();
    names.dedup();
    names
}

impl Index for ImageNodes {
    fn set_node(&mut self, _: NodeIndex, old: Option<&Node>, new: Option<&Node>) {
        if old.zip(new).is_some_and(|(old, new)| old.images == new.images) {
            return;
        }
        for name in names(new) {
            let count = self.nodes.entry(name).or_default();
            self.epoch += u64::from(*count == 0);
            *count += 1;
        }
        for name in names(old) {
            if let Some(count) = self.nodes.get_mut(&name) {
                *count -= 1;
                if *count == 0 {
                    self.nodes.remove(&name);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use schedc_core::intern::Interner;
    use schedc_objects::testing::node;

    use super::*;

    proptest! {
        #[test]
        fn removed_nodes_leave_no_trace(
            history in prop::collection::vec((0..3_usize, prop::option::of(prop::collection::vec(0..4, 0..4))), 0..20),
        ) {
            let mut interner = Interner::default();
            let mut updated = ImageNodes::default();
            let mut nodes: [Option<Node>; 3] = [None, None, None];
            for (slot, images) in history {
                let new = images.map(|images| {
                    let images: Vec<_> = images.iter().map(|image| format!("{{names: [i{image}, 'all:1']}}")).collect();
                    node(&format!("status: {{images: [{}]}}", images.join(", ")), &mut interner)
                });
                let old = std::mem::replace(&mut nodes[slot], new);
                updated.set_node(NodeIndex(slot as u32), old.as_ref(), nodes[slot].as_ref());
                let mut rebuilt = ImageNodes::default();
                for (slot, node) in nodes.iter().enumerate() {
                    rebuilt.set_node(NodeIndex(slot as u32), None, node.as_ref());
                }
                prop_assert_eq!(&updated.nodes, &rebuilt.nodes);
            }
        }
    }
}
