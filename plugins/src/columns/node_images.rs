//! Container images of a node.

use schedc_core::column::Column;
use schedc_core::intern::{Interner, Symbol};
use schedc_core::model::Node;

/// Images by name: kube-scheduler's `NodeInfo.ImageStates`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct NodeImages {
    /// Image names with their sizes in bytes, sorted by symbol, each name once.
    sizes: Box<[(Symbol, i64)]>,
}

impl NodeImages {
    /// Returns the size of an image in bytes, if the node has the image.
    #[inline(always)]
    pub fn size(&self, name: Symbol) -> Option<i64> {
        let at = self.sizes.binary_search_by_key(&name, |image| image.0).ok()?;
        Some(self.sizes[at].1)
    }
}

impl Column for NodeImages {
    const READS_ONLY_NODE: bool = true;

    fn build(node: &Node, _: &Interner) -> Self {
        let mut sizes: Vec<_> =
            node.images.iter().flat_map(|image| image.names.iter().map(|&name| (name, image.size))).collect();
        // The sort is stable: of two images with the same name, the first one counts.
        sizes.sort_by_key(|image| image.0);
        sizes.dedup_by_key(|image| image.0);
        NodeImages { sizes: sizes.into() }
    }
}
