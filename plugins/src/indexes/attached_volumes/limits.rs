//! Each driver's limits and counts, dense over nodes.

use schedc_core::intern::Symbol;
use schedc_core::map::Map;
use schedc_core::model::{CsiNode, NodeIndex};

/// No limit: more than there are volumes.
const NONE: i64 = i64::MAX;

/// One driver on all nodes.
#[derive(Debug, Default)]
pub struct DriverNodes {
    /// By slot; nodes beyond the end have no volume.
    attached: Vec<i64>,
    /// By slot; nodes beyond the end have no limit.
    limits: Vec<i64>,
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

    /// The nodes where there is no room for so many more.
    pub fn nodes_without_room(&self, more: i64) -> impl Iterator<Item = NodeIndex> {
        let attached = self.attached.iter().copied().chain(std::iter::repeat(0));
        let both = self.limits.iter().zip(attached).enumerate();
        both.filter(move |(_, (limit, attached))| attached + more > **limit).map(|(slot, _)| NodeIndex(slot as u32))
    }
}

/// All drivers, by name.
#[derive(Debug, Default)]
pub(super) struct Limits(Map<Symbol, DriverNodes>);

impl Limits {
    pub(super) fn driver(&self, driver: Symbol) -> Option<&DriverNodes> {
        self.0.get(&driver)
    }

    pub(super) fn attach(&mut self, driver: Symbol, node: NodeIndex) {
        *slot(&mut self.0.entry(driver).or_default().attached, node, 0) += 1;
    }

    pub(super) fn detach(&mut self, driver: Symbol, node: NodeIndex) {
        *slot(&mut self.0.entry(driver).or_default().attached, node, 0) -= 1;
    }

    /// A node's CSINode came, changed, or went.
    pub(super) fn replace(&mut self, node: NodeIndex, old: Option<&CsiNode>, new: Option<&CsiNode>) {
        for (driver, _) in old.iter().flat_map(|old| &old.drivers) {
            *slot(&mut self.0.entry(*driver).or_default().limits, node, NONE) = NONE;
        }
        for (driver, limit) in new.iter().flat_map(|new| &new.drivers) {
            if let Some(limit) = limit {
                *slot(&mut self.0.entry(*driver).or_default().limits, node, NONE) = i64::from(*limit);
            }
        }
    }

    #[cfg(test)]
    pub(super) fn names(&self) -> impl Iterator<Item = Symbol> {
        self.0.keys().copied()
    }
}

/// A node's place in a list that grows as needed.
fn slot(list: &mut Vec<i64>, node: NodeIndex, default: i64) -> &mut i64 {
    if list.len() <= node.get() {
        list.resize(node.get() + 1, default);
    }
    &mut list[node.get()]
}
