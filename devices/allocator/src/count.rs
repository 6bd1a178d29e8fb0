//! Number of devices of a class on a node, for scores of the extended resource that they back.

use schedc_core::device_counts::DeviceCount;
use schedc_core::intern::{Interner, Symbol};
use schedc_core::model::Node;

use crate::inventory::Inventory;
use crate::view::{matches, visible};

impl Inventory {
    /// Returns the number of devices of a class that a node sees, and the number of those that claims hold. Unlike
    /// for an allocation, devices of obsolete slices and of incomplete pools count. Both numbers are 0 if the class does not
    /// exist, a selector fails on one of the devices, or a node selector cannot be evaluated.
    pub fn count(&mut self, class: Symbol, node: &Node, interner: &Interner) -> DeviceCount {
        let shape = self.evaluate_class(class, node.name, interner);
        shape.and_then(|shape| self.count_matching(shape, node, interner)).unwrap_or_default()
    }

    /// Counts the devices that meet the selectors of a shape. `None`: a selector or a node selector fails.
    fn count_matching(&self, shape: usize, node: &Node, interner: &Interner) -> Option<DeviceCount> {
        let mut count = DeviceCount::default();
        for slice in self.pools_of(node.name).flat_map(|pool| &pool.slices) {
            if !slice.slice.per_device_nodes && !matches(&slice.slice.nodes, node, interner).ok()? {
                continue;
            }
            for block in &slice.blocks {
                let visible = visible(block, node, interner).ok()?;
                let column = self.column(block, shape)?;
                if column.failing & visible != 0 {
                    return None;
                }
                let found = column.matching & visible;
                count.allocatable += i64::from(found.count_ones());
                count.used += i64::from((found & block.held).count_ones());
            }
        }
        Some(count)
    }
}
