//! Numbers for places.

use std::sync::Arc;

use schedc_core::cache::Base;
use schedc_core::column::Index;
use schedc_core::intern::Symbol;
use schedc_core::model::NodeIndex;

use crate::indexes::{Domain, Topology, TopologyKey};

/// A number for every place, that is every value of one topology key.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Places {
    /// The place of every node.
    domains: Arc<Vec<Domain>>,
    sums: Vec<i64>,
    /// How many places have a number other than 0.
    occupied: u32,
}

impl Places {
    /// 0 everywhere. `sums` is for its room.
    pub(super) fn new(topology: &Topology, base: &Base, key: Symbol, sums: Vec<i64>) -> Self {
        if let Some(key) = topology.key(key) {
            return Places::of(topology, key, sums);
        }
        // A key that was not asked for when the pod was compiled: only a pod that came with its nomination has it.
        let mut topology = Topology::default();
        let key = topology.register(key);
        for (index, info) in base.infos().iter().enumerate() {
            topology.set_node(NodeIndex(index as u32), None, info.node.as_deref());
        }
        Places::of(&topology, key, sums)
    }

    fn of(topology: &Topology, key: TopologyKey, mut sums: Vec<i64>) -> Self {
        sums.clear();
        sums.resize(topology.domain_count(key), 0);
        Places { domains: topology.domains(key).clone(), sums, occupied: 0 }
    }

    /// Its room.
    pub(super) fn into_sums(self) -> Vec<i64> {
        self.sums
    }

    /// Adds to the number of a node's place. False if the node is in none.
    #[inline]
    pub(super) fn add(&mut self, node: NodeIndex, amount: i64) -> bool {
        let Some(sum) = self.domains.get(node.get()).and_then(|domain| self.sums.get_mut(domain.get())) else {
            return false;
        };
        let before = std::mem::replace(sum, sum.wrapping_add(amount));
        self.occupied += u32::from(*sum != 0);
        self.occupied -= u32::from(before != 0);
        true
    }

    /// The number of a node's place, `None` if it is in none.
    #[inline(always)]
    pub(super) fn at(&self, node: NodeIndex) -> Option<i64> {
        self.sums.get(self.domains.get(node.get())?.get()).copied()
    }

    /// Whether all numbers are 0.
    pub(super) fn is_void(&self) -> bool {
        self.occupied == 0
    }
}
