//! Numbers for places.

use std::sync::Arc;

use schedc_core::cache::Base;
use schedc_core::change_log::ChangeLog;
use schedc_core::column::Index;
use schedc_core::incremental::{NeedsFullEvaluation, NodeChanges};
use schedc_core::intern::Symbol;
use schedc_core::model::NodeIndex;

use crate::indexes::{Domain, NodeCounts, Topology, TopologyKey};

/// A number for every place, that is every value of one topology key.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct DomainSums {
    /// None for a key that was not asked for when the pod was compiled.
    key: Option<TopologyKey>,
    /// The place of every node.
    domains: Arc<Vec<Domain>>,
    sums: Vec<i64>,
    /// How many pods were counted.
    pods: i64,
    /// Places that changed and of which nobody was told yet.
    changed: Vec<Domain>,
}

/// Pods that count.
#[derive(Clone, Copy)]
pub(super) struct WeightedCounts<'a> {
    pub(super) nodes: &'a NodeCounts,
    pub(super) log: &'a ChangeLog<(NodeIndex, i32)>,
    /// What each adds.
    pub(super) weight: i64,
}

impl DomainSums {
    /// 0 everywhere. `sums` is for its room.
    pub(super) fn new(topology: &Topology, base: &Base, key: Symbol, sums: Vec<i64>) -> Self {
        if let Some(key) = topology.key(key) {
            return DomainSums { key: Some(key), ..DomainSums::of(topology, key, sums) };
        }
        // Only a pod has it that comes in thought and of whose terms nobody knew.
        let mut topology = Topology::default();
        let key = topology.register(key);
        for (index, info) in base.infos().iter().enumerate() {
            topology.set_node(NodeIndex(index as u32), None, info.node.as_deref());
        }
        DomainSums::of(&topology, key, sums)
    }

    fn of(topology: &Topology, key: TopologyKey, mut sums: Vec<i64>) -> Self {
        sums.clear();
        sums.resize(topology.domain_count(key), 0);
        DomainSums { key: None, domains: topology.domains(key).clone(), sums, pods: 0, changed: Vec::new() }
    }

    /// Its room.
    pub(super) fn into_sums(self) -> Vec<i64> {
        self.sums
    }

    /// Counts all pods of a source.
    pub(super) fn count(&mut self, source: WeightedCounts<'_>) {
        for (node, pods) in source.nodes.iter() {
            self.add(node, pods.into(), source.weight);
        }
    }

    /// Counts pods that come to a node, or, if their number is negative, leave it. If the node is in no place, they do not
    /// count.
    #[inline]
    pub(super) fn add(&mut self, node: NodeIndex, pods: i64, weight: i64) {
        self.add_at(self.domain(node), pods, weight);
    }

    /// Returns the number before and after.
    #[inline]
    fn add_at(&mut self, domain: Domain, pods: i64, weight: i64) -> Option<(i64, i64)> {
        let sum = self.sums.get_mut(domain.get())?;
        let before = std::mem::replace(sum, sum.wrapping_add(pods.wrapping_mul(weight)));
        self.pods += pods;
        Some((before, *sum))
    }

    /// Number of places that there is room for.
    pub(super) fn len(&self) -> usize {
        self.sums.len()
    }

    /// The number of a place; 0 for no place.
    pub(super) fn sum(&self, place: usize) -> i64 {
        self.sums.get(place).copied().unwrap_or(0)
    }

    #[inline]
    pub(super) fn domain(&self, node: NodeIndex) -> Domain {
        self.domains.get(node.get()).copied().unwrap_or(Domain::NONE)
    }

    /// The number of a node's place, `None` if it is in none.
    #[inline(always)]
    pub(super) fn at(&self, node: NodeIndex) -> Option<i64> {
        self.sums.get(self.domains.get(node.get())?.get()).copied()
    }

    /// Whether no pod was counted.
    pub(super) fn has_no_pods(&self) -> bool {
        self.pods == 0
    }

    /// Whether the nodes are where they were.
    #[inline]
    pub(super) fn is_current(&self, topology: &Topology) -> bool {
        self.key.is_some_and(|key| Arc::ptr_eq(&self.domains, topology.domains(key)))
    }

    /// Follows pods and nodes to what [`DomainSums::count`] of all sources would yield now. The sources come with the positions
    /// in their logs up to which they were counted. Places change if `matters` says so of the numbers before and after.
    pub(super) fn update<'a>(
        &mut self,
        sources: impl Iterator<Item = (u64, WeightedCounts<'a>)> + Clone,
        topology: &Topology,
        changed: NodeChanges<'_>,
        matters: impl Fn(i64, i64) -> bool,
    ) -> Result<(), NeedsFullEvaluation> {
        for (seen, source) in sources.clone() {
            for &(node, pods) in source.log.since(seen).ok_or(NeedsFullEvaluation)? {
                self.change(self.domain(node), pods.into(), source.weight, &matters);
            }
        }
        let key = self.key.ok_or(NeedsFullEvaluation)?;
        let domains = topology.domains(key);
        if !Arc::ptr_eq(&self.domains, domains) {
            self.sums.resize(topology.domain_count(key), 0);
            for &node in changed.nodes {
                let (old, new) = (self.domain(node), topology.domain(key, node));
                if old == new {
                    continue;
                }
                for (_, source) in sources.clone() {
                    let pods = i64::from(source.nodes.get(node));
                    self.change(old, -pods, source.weight, &matters);
                    self.change(new, pods, source.weight, &matters);
                }
            }
            self.domains = domains.clone();
        }
        Ok(())
    }

    #[inline]
    fn change(&mut self, place: Domain, pods: i64, weight: i64, matters: &impl Fn(i64, i64) -> bool) {
        if let Some((before, after)) = self.add_at(place, pods, weight)
            && matters(before, after)
        {
            self.changed.push(place);
        }
    }

    /// Tells of the nodes of places that changed since this was called last, by words of masks, and whether their number is
    /// positive.
    pub(super) fn drain_changed(&mut self, topology: &Topology, mut visit: impl FnMut(bool, usize, u64)) {
        let Some(key) = self.key.filter(|_| !self.changed.is_empty()) else { return };
        self.changed.sort_unstable();
        self.changed.dedup();
        let members = topology.nodes_by_domain(key);
        for place in self.changed.drain(..) {
            let positive = self.sums.get(place.get()).is_some_and(|sum| *sum > 0);
            members.of(place).iter().for_each(|&(word, nodes)| visit(positive, word as usize, nodes));
        }
    }

    /// Whether places changed of which nobody was told yet.
    pub(super) fn has_changed(&self) -> bool {
        !self.changed.is_empty()
    }

    /// Nobody needs to be told.
    pub(super) fn clear_changed(&mut self) {
        self.changed.clear();
    }
}
