//! Updates of the counts of hard constraints, and of Filter's verdicts.

use schedc_core::incremental::{FilterUpdate, NodeChanges};
use schedc_core::node_mask::NodeMask;
use schedc_core::plugin::View;

use super::{DomainCounts, PodTopologySpreadPod, SkewScratch, SpreadCounts};
use crate::indexes::{Domain, DomainNodes};
use crate::pod_topology_spread::PodTopologySpread;
use crate::pod_topology_spread::constraints::{Constraint, NodeInclusion, domains, has_all_keys, merge_changes};

/// Applies the changes of pods since the last update, and updates the verdicts of nodes in domains that
/// became feasible or infeasible. Returns false if a full evaluation is needed; the state is invalid then.
pub(in super::super) fn update(
    pod: &PodTopologySpreadPod,
    cycle: &mut SpreadCounts,
    view: View<'_, PodTopologySpread>,
    verdicts: &mut FilterUpdate<'_>,
    scratch: &mut SkewScratch,
) -> bool {
    let Ok(constraints) = pod.hard.as_deref() else { return false };
    let (topology, selected, _) = view.indexes;
    let Some(counted) = &mut cycle.constraints else { return false };
    let mut has_changes = false;
    for (counted, constraint) in counted.iter().zip(constraints) {
        if counted.version != topology.version(constraint.key) {
            return false;
        }
        has_changes |= counted.seen != constraint.position(selected);
    }
    let included = NodeInclusion::new(constraints, &pod.inclusion, view);
    let everywhere = included.includes_all_nodes();
    if verdicts.changed.node_objects && !everywhere && !same_nodes_count(counted, &included, verdicts.changed) {
        return false;
    }
    if !has_changes {
        return true;
    }
    let domains = domains(constraints, &view);
    let SkewScratch { changes, flips, masks, .. } = scratch;
    flips.clear();
    if counted[0].open.words().is_empty() {
        for (counted, constraint) in counted.iter_mut().zip(constraints) {
            counted.compute_open(topology.nodes_by_domain(constraint.key), masks.pop().unwrap_or_default());
        }
    }
    for (counted, constraint) in counted.iter_mut().zip(constraints) {
        let Some(query) = constraint.counted() else { continue };
        let log = selected.log(query);
        let Some(entries) = log.since(counted.seen) else { return false };
        counted.seen = log.end();
        changes.clear();
        for &(node, by) in entries {
            if if everywhere { has_all_keys(&domains, node) } else { counted.nodes.contains(node) } {
                changes.push((counted.of_node[node.get()], by));
            }
        }
        merge_changes(changes);
        if !changes.is_empty() {
            counted.apply_changes(constraint, topology.nodes_by_domain(constraint.key), changes, flips);
        }
    }
    for &(word, bits) in &*flips {
        let passing = counted.iter().fold(bits, |passing, counted| passing & counted.open.words()[word as usize]);
        verdicts.set_word(word as usize, bits, passing);
    }
    true
}

/// Returns whether the same nodes count after changes of nodes that kept their domains.
fn same_nodes_count(counted: &[DomainCounts], included: &NodeInclusion<'_, '_>, changed: NodeChanges<'_>) -> bool {
    let has_all_keys = |node| counted.iter().all(|counted| counted.domain(node) != Domain::NONE);
    changed.nodes.iter().filter(|node| has_all_keys(**node)).all(|&node| {
        let now = included.evaluate(node);
        counted.iter().zip(now).all(|(counted, (_, counts))| counted.nodes.contains(node) == counts)
    })
}

impl DomainCounts {
    /// Computes the nodes of domains that can have another pod.
    fn compute_open(&mut self, members: &DomainNodes, mut open: NodeMask) {
        open.clear();
        open.resize(self.of_node.len());
        for (domain, _) in self.counts.iter().enumerate().filter(|(_, count)| Self::has_room(**count, self.limit)) {
            for &(word, bits) in members.of(Domain::new(domain)) {
                open.words_mut()[word as usize] |= bits;
            }
        }
        self.open = open;
    }

    /// Applies changes of the pods in domains. Adds the nodes with changed verdicts to `flips`, as mask words with
    /// their word numbers.
    fn apply_changes(
        &mut self,
        constraint: &Constraint,
        members: &DomainNodes,
        changes: &[(Domain, i32)],
        flips: &mut Vec<(u32, u64)>,
    ) {
        let lowest_known = changes.iter().fold(true, |known, &(domain, by)| self.shift(domain, by) && known);
        if !lowest_known {
            self.find_lowest();
        }
        let old = self.limit;
        self.set_limit(constraint);
        changes.iter().for_each(|change| self.update_open(change.0, members, flips));
        if self.limit != old {
            for domain in 0..self.counts.len() {
                let count = self.counts[domain];
                if Self::has_room(count, old) != Self::has_room(count, self.limit) {
                    self.update_open(Domain::new(domain), members, flips);
                }
            }
        }
    }

    /// Updates whether a domain can have another pod. If this changes, adds the domain's nodes to `flips`.
    fn update_open(&mut self, domain: Domain, members: &DomainNodes, flips: &mut Vec<(u32, u64)>) {
        let members = members.of(domain);
        let Some(&(word, bits)) = members.first() else { return };
        let is_open = self.open.words()[word as usize] & bits != 0;
        if is_open != Self::has_room(self.counts[domain.get()], self.limit) {
            for &(word, bits) in members {
                self.open.words_mut()[word as usize] ^= bits;
                flips.push((word, bits));
            }
        }
    }
}
