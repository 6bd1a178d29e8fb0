//! How far container images have spread.

use schedc_core::column::Index;
use schedc_core::intern::Symbol;
use schedc_core::map::Map;
use schedc_core::model::{Node, NodeIndex};

/// The number of nodes that have an image of a name.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ImageNodes {
    nodes: Map<Symbol, u32>,
}

impl ImageNodes {
    /// How many nodes have the image.
    pub fn count(&self, name: Symbol) -> u32 {
        self.nodes.get(&name).copied().unwrap_or(0)
    }
}

/// The names of a node's images, each once.
fn names(node: Option<&Node>) -> Vec<Symbol> {
    let mut names: Vec<_> = node.iter().flat_map(|node| &node.images).flat_map(|image| &image.names).copied().collect();
    names.sort_unstable();
    names.dedup();
    names
}

impl Index for ImageNodes {
    fn set_node(&mut self, _: NodeIndex, old: Option<&Node>, new: Option<&Node>) {
        for name in names(new) {
            *self.nodes.entry(name).or_default() += 1;
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
