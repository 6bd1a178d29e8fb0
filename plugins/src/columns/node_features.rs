//! Declared features of a node.

use schedc_core::column::Column;
use schedc_core::intern::{Interner, Symbol};
use schedc_core::model::Node;

/// A node's `status.declaredFeatures`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct NodeFeatures {
    /// Names of the features.
    pub declared: Box<[Symbol]>,
}

impl Column for NodeFeatures {
    const READS_ONLY_NODE: bool = true;

    fn build(node: &Node, _: &Interner) -> Self {
        NodeFeatures { declared: node.declared_features.clone() }
    }
}
