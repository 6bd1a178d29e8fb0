//! Name of a node.

use schedc_core::column::Column;
use schedc_core::intern::{Interner, Symbol};
use schedc_core::model::Node;

/// A node's name.
#[derive(Clone, Debug, PartialEq)]
pub struct NodeIdentity {
    /// `metadata.name`; empty in a slot without a node.
    pub name: Symbol,
}

impl Default for NodeIdentity {
    fn default() -> Self {
        NodeIdentity { name: Symbol::EMPTY }
    }
}

impl Column for NodeIdentity {
    const READS_ONLY_NODE: bool = true;

    fn build(node: &Node, _: &Interner) -> Self {
        NodeIdentity { name: node.name }
    }
}
