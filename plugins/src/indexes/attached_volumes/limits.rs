//! For each driver, the limits and the numbers of attached volumes, in arrays by node slot.

use schedc_core::intern::Symbol;
use schedc_core::map::Map;
use schedc_core::model::{CsiNode, NodeIndex};
use schedc_core::node_mask::NodeMask;

/// Value for a node without a limit: higher than any number of volumes.
const NO_LIMIT: i64 = i64::MAX;

/// Maximum number of additional volumes for which the set of full nodes is kept. Few pods request more volumes.
const MAX_TRACKED: usize = 4;

/// Limits and numbers of volumes of one driver on all nodes.
#[derive(Debug, Default)]
pub struct DriverNodes {
    /// By slot; nodes beyond the end have no volumes.
    attached: Vec<i64>,
    /// By slot; nodes beyond the end have no limit.
    limits: Vec<i64>,
    /// The nodes without capacity for one more volume, for two more, and so on.
    full_nodes: [NodeMask; MAX_TRACKED],
    /// Number of changes of `full_nodes`.
    changes: u64,
}

impl DriverNodes {
    /// Returns the number of the driver's volumes on a node.
    pub fn attached(&self, node: NodeIndex) -> i64 {
        self.attached.get(node.get()).copied().unwrap_or(0)
    }

    /// Returns the limit of a node, `None` without a limit.
    pub fn limit(&self, node: NodeIndex) -> Option<i64> {
        self.limits.get(node.get()).copied().filter(|&limit| limit != NO_LIMIT)
    }

    /// Adds the nodes without capacity for `more` additional volumes to `nodes`. `more` must be at least 1, and the
    /// mask must be large enough for all nodes.
    pub(crate) fn add_full_nodes(&self, more: i64, nodes: &mut NodeMask) {
        match self.full_nodes.get(more as usize - 1) {
            Some(full) => {
                for (word, full) in nodes.words_mut().iter_mut().zip(full.words()) {
                    *word |= full;
                }
            }
            None => {
                let attached = self.attached.iter().copied().chain(std::iter::repeat(0));
                let both = self.limits.iter().zip(attached).enumerate();
                let full = both.filter(|(_, (limit, attached))| attached + more > **limit);
                full.for_each(|(slot, _)| nodes.insert(NodeIndex(slot as u32)));
            }
        }
    }

    /// Returns a number that is incremented when the result of [`DriverNodes::add_full_nodes`] for `more` may
    /// change. Returns `None` if changes are not tracked for this `more`.
    pub(crate) fn full_nodes_epoch(&self, more: i64) -> Option<u64> {
        (more as usize <= MAX_TRACKED).then_some(self.changes)
    }

    fn change_attached(&mut self, node: NodeIndex, by: i64) {
        *slot(&mut self.attached, node, 0) += by;
        self.update_full_nodes(node);
    }

    fn set_limit(&mut self, node: NodeIndex, limit: i64) {
        *slot(&mut self.limits, node, NO_LIMIT) = limit;
        self.update_full_nodes(node);
    }

    fn update_full_nodes(&mut self, node: NodeIndex) {
        let free = self.limit(node).map_or(NO_LIMIT, |limit| limit - self.attached(node));
        for (full, more) in self.full_nodes.iter_mut().zip(1..) {
            if (free < more) == full.contains(node) {
                continue;
            }
            self.changes += 1;
            if free < more { full.extend([node]) } else { full.remove(node) }
        }
    }
}

/// The limits of all drivers.
#[derive(Debug, Default)]
pub(super) struct Limits {
    drivers: Map<Symbol, DriverNodes>,
    /// Number of limits over all drivers and nodes.
    count: usize,
}

impl Limits {
    /// Returns whether any limit exists.
    pub(super) fn any(&self) -> bool {
        self.count > 0
    }

    pub(super) fn driver(&self, driver: Symbol) -> Option<&DriverNodes> {
        self.drivers.get(&driver)
    }

    pub(super) fn attach(&mut self, driver: Symbol, node: NodeIndex) {
        self.drivers.entry(driver).or_default().change_attached(node, 1);
    }

    pub(super) fn detach(&mut self, driver: Symbol, node: NodeIndex) {
        self.drivers.entry(driver).or_default().change_attached(node, -1);
    }

    /// Replaces the CSINode of a node.
    pub(super) fn replace(&mut self, node: NodeIndex, old: Option<&CsiNode>, new: Option<&CsiNode>) {
        for (driver, limit) in old.iter().flat_map(|old| &old.drivers) {
            self.count -= usize::from(limit.is_some());
            self.drivers.entry(*driver).or_default().set_limit(node, NO_LIMIT);
        }
        for (driver, limit) in new.iter().flat_map(|new| &new.drivers) {
            if let Some(limit) = limit {
                self.count += 1;
                self.drivers.entry(*driver).or_default().set_limit(node, i64::from(*limit));
            }
        }
    }

    #[cfg(test)]
    pub(super) fn names(&self) -> impl Iterator<Item = Symbol> {
        self.drivers.keys().copied()
    }
}

/// Returns the entry of a node in a list that grows on demand.
fn slot(list: &mut Vec<i64>, node: NodeIndex, default: i64) -> &mut i64 {
    if list.len() <= node.get() {
        list.resize(node.get() + 1, default);
    }
    &mut list[node.get()]
}
