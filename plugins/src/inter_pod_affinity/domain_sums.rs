//! Sums by topology domain.

use std::sync::Arc;

use schedc_core::cache::Base;
use schedc_core::change_log::ChangeLog;
use schedc_core::column::Index;
use schedc_core::incremental::{NeedsFullEvaluation, NodeChanges};
use schedc_core::intern::Symbol;
use schedc_core::model::NodeIndex;

use crate::indexes::{Domain, NodeCounts, Topology, TopologyKey};

/// A sum for every domain of one topology key.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct DomainSums {
    /// `None` for a key that was not registered when the pod was compiled.
    key: Option<TopologyKey>,
    /// The domain of every node.
    domains: Arc<Vec<Domain>>,
    sums: Vec<i64>,
    /// Number of counted pods.
    pods: i64,
    /// Changed domains that were not visited yet.
    changed: Vec<Domain>,
}

/// Counts of pods, and the weight of each pod in a sum.
#[derive(Clone, Copy)]
pub(super) struct WeightedCounts<'a> {
    pub(super) nodes: &'a NodeCounts,
    pub(super) log: &'a ChangeLog<(NodeIndex, i32)>,
    /// Contribution of each pod.
    pub(super) weight: i64,
}

impl DomainSums {
    /// Creates a sum of 0 for each domain of a key. `sums` is memory to reuse.
    pub(super) fn new(topology: &Topology, base: &Base, key: Symbol, sums: Vec<i64>) -> Self {
        if let Some(key) = topology.key(key) {
            return DomainSums { key: Some(key), ..DomainSums::of(topology, key, sums) };
        }
        // Only the terms of a hypothetical pod can have a key that is not registered.
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

    /// Returns the memory of the sums.
    pub(super) fn into_sums(self) -> Vec<i64> {
        self.sums
    }

    /// Counts all pods of a source.
    pub(super) fn count(&mut self, source: WeightedCounts<'_>) {
        for (node, pods) in source.nodes.iter() {
            self.add(node, pods.into(), source.weight);
        }
    }

    /// Adds pods on a node to the sum of the node's domain; a negative number removes pods. Pods on a node without a
    /// domain do not count.
    #[inline]
    pub(super) fn add(&mut self, node: NodeIndex, pods: i64, weight: i64) {
        self.add_at(self.domain(node), pods, weight);
    }

    /// Adds to a sum. Returns the sum before and after; `None` without a domain.
    #[inline]
    fn add_at(&mut self, domain: Domain, pods: i64, weight: i64) -> Option<(i64, i64)> {
        let sum = self.sums.get_mut(domain.get())?;
        let before = std::mem::replace(sum, sum.wrapping_add(pods.wrapping_mul(weight)));
        self.pods += pods;
        Some((before, *sum))
    }

    /// Returns the nodes of a node's domain, as mask words. `None` for a key that was not registered.
    pub(super) fn members<'t>(&self, topology: &'t Topology, node: NodeIndex) -> Option<&'t [(u32, u64)]> {
        Some(topology.nodes_by_domain(self.key?).of(self.domain(node)))
    }

    /// Returns the number of domains in `sums`.
    pub(super) fn len(&self) -> usize {
        self.sums.len()
    }

    /// Returns the sum of the domain with this number; 0 if there is no such domain.
    pub(super) fn sum(&self, domain: usize) -> i64 {
        self.sums.get(domain).copied().unwrap_or(0)
    }

    #[inline]
    pub(super) fn domain(&self, node: NodeIndex) -> Domain {
        self.domains.get(node.get()).copied().unwrap_or(Domain::NONE)
    }

    /// Returns the sum of a node's domain; `None` for a node without a domain.
    #[inline(always)]
    pub(super) fn at(&self, node: NodeIndex) -> Option<i64> {
        self.sums.get(self.domains.get(node.get())?.get()).copied()
    }

    /// Returns whether no pod was counted.
    pub(super) fn has_no_pods(&self) -> bool {
        self.pods == 0
    }

    /// Returns whether the domains of all nodes are unchanged.
    #[inline]
    pub(super) fn is_current(&self, topology: &Topology) -> bool {
        self.key.is_some_and(|key| Arc::ptr_eq(&self.domains, topology.domains(key)))
    }

    /// Applies the changes of pods and nodes; the result equals [`DomainSums::count`] of all sources. Each source has
    /// the position in its change log up to which it was counted. A domain counts as changed if `matters` returns true
    /// for the sums before and after. Fails if a log no longer has all changes, or if the key was not registered.
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
    fn change(&mut self, domain: Domain, pods: i64, weight: i64, matters: &impl Fn(i64, i64) -> bool) {
        if let Some((before, after)) = self.add_at(domain, pods, weight)
            && matters(before, after)
        {
            self.changed.push(domain);
        }
    }

    /// Visits the nodes of the domains that changed since the last call, as mask words. `visit` receives whether the
    /// domain's sum is positive, the number of the word, and the word.
    pub(super) fn drain_changed(&mut self, topology: &Topology, mut visit: impl FnMut(bool, usize, u64)) {
        let Some(key) = self.key.filter(|_| !self.changed.is_empty()) else { return };
        self.changed.sort_unstable();
        self.changed.dedup();
        let members = topology.nodes_by_domain(key);
        for domain in self.changed.drain(..) {
            let positive = self.sums.get(domain.get()).is_some_and(|sum| *sum > 0);
            members.of(domain).iter().for_each(|&(word, nodes)| visit(positive, word as usize, nodes));
        }
    }

    /// Returns whether there are changed domains that were not visited yet.
    pub(super) fn has_changed(&self) -> bool {
        !self.changed.is_empty()
    }

    /// Discards the list of changed domains.
    pub(super) fn clear_changed(&mut self) {
        self.changed.clear();
    }
}
