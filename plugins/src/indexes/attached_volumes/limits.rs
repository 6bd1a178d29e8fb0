//! Each driver's limits and counts, dense over nodes.

use schedc_core::intern::Symbol;
use schedc_core::map::Map;
use schedc_core::model::{CsiNode, NodeIndex};
use schedc_core::node_mask::NodeMask;

/// No limit: more than there are volumes.
const NONE: i64 = i64::MAX;

/// For so many volumes at most, the nodes without room are known. Few pods bring more.
const MAX_TRACKED: usize = 4;

/// One driver on all nodes.
#[derive(Debug, Default)]
pub struct DriverNodes {
    /// By slot; nodes beyond the end have no volume.
    attached: Vec<i64>,
    /// By slot; nodes beyond the end have no limit.
    limits: Vec<i64>,
    /// The nodes without room for one more volume, for two more, and so on.
    full_nodes: [NodeMask; MAX_TRACKED],
    /// How often one of them came to be so, or ceased to.
    changes: u64,
}

impl DriverNodes {
    /// How many of its volumes are attached to a node.
    pub fn attached(&self, node: NodeIndex) -> i64 {
        self.attached.get(node.get()).copied().unwrap_or(0)
    }

    /// How many may be. `None`: any number.
    pub fn limit(&self, node: NodeIndex) -> Option<i64> {
        self.limits.get(node.get()).copied().filter(|&limit| limit != NONE)
    }

    /// Adds the nodes where there is no room for so many more, at least one, to a set that has room for all nodes.
    pub fn add_full_nodes(&self, more: i64, nodes: &mut NodeMask) {
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

    /// A number that grows whenever [`DriverNodes::add_full_nodes`] may say something else for so many volumes. `None`:
    /// that is not counted.
    pub fn full_nodes_epoch(&self, more: i64) -> Option<u64> {
        (more as usize <= MAX_TRACKED).then_some(self.changes)
    }

    fn change_attached(&mut self, node: NodeIndex, by: i64) {
        *slot(&mut self.attached, node, 0) += by;
        self.update_full_nodes(node);
    }

    fn set_limit(&mut self, node: NodeIndex, limit: i64) {
        *slot(&mut self.limits, node, NONE) = limit;
        self.update_full_nodes(node);
    }

    fn update_full_nodes(&mut self, node: NodeIndex) {
        let room = self.limit(node).map_or(NONE, |limit| limit - self.attached(node));
        for (full, more) in self.full_nodes.iter_mut().zip(1..) {
            if (room < more) == full.contains(node) {
                continue;
            }
            self.changes += 1;
            if room < more { full.extend([node]) } else { full.remove(node) }
        }
    }
}

/// All drivers, by name.
#[derive(Debug, Default)]
pub(super) struct Limits {
    drivers: Map<Symbol, DriverNodes>,
    /// Number of nodes where drivers have limits, those of each driver.
    count: usize,
}

impl Limits {
    /// Whether there is one.
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

    /// A node's CSINode came, changed, or went.
    pub(super) fn replace(&mut self, node: NodeIndex, old: Option<&CsiNode>, new: Option<&CsiNode>) {
        for (driver, limit) in old.iter().flat_map(|old| &old.drivers) {
            self.count -= usize::from(limit.is_some());
            self.drivers.entry(*driver).or_default().set_limit(node, NONE);
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

/// A node's place in a list that grows as needed.
fn slot(list: &mut Vec<i64>, node: NodeIndex, default: i64) -> &mut i64 {
    if list.len() <= node.get() {
        list.resize(node.get() + 1, default);
    }
    &mut list[node.get()]
}
