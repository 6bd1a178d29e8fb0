//! Bringing the counts of hard constraints, and Filter's verdicts, up to date.

use schedc_core::incremental::{FilterUpdate, NodeChanges};
use schedc_core::node_mask::NodeMask;
use schedc_core::plugin::View;

use super::{DomainCounts, PodTopologySpreadPod, SkewScratch, SpreadCounts};
use crate::indexes::{Domain, DomainNodes};
use crate::pod_topology_spread::PodTopologySpread;
use crate::pod_topology_spread::constraints::{Constraint, NodeInclusion, domains, has_all_keys, merge_changes};

/// Takes in what happened to pods since the state was made or brought up to date, and edits the verdicts on the nodes of
/// domains that closed or opened. False: it takes a new count to know, and the state is of no use any more.
pub(in super::super) fn update(
    pod: &PodTopologySpreadPod,
    constraints: &[Constraint],
    cycle: &mut SpreadCounts,
    view: View<'_, PodTopologySpread>,
    verdicts: &mut FilterUpdate<'_>,
    scratch: &mut SkewScratch,
) -> bool {
    let (topology, selected, _) = view.indexes;
    let Some(counted) = &mut cycle.constraints else { return false };
    let mut has_changes = false;
    for (counted, constraint) in counted.iter().zip(constraints) {
        if counted.version != topology.version(constraint.key) {
            return false;
        }
        has_changes |= counted.seen != constraint.position(selected);
    }
    let included = NodeInclusion::new(constraints, &pod.inclusion);
    let everywhere = included.includes_all_nodes();
    if verdicts.changed.node_objects && !everywhere && !same_nodes_count(counted, &included, verdicts.changed, view) {
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
            counted.open(topology.nodes_by_domain(constraint.key), masks.pop().unwrap_or_default());
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

/// Whether the nodes that count are the same, though nodes changed themselves. Their domains did not.
fn same_nodes_count(
    counted: &[DomainCounts],
    included: &NodeInclusion<'_>,
    changed: NodeChanges<'_>,
    view: View<'_, PodTopologySpread>,
) -> bool {
    let has_all_keys = |node| counted.iter().all(|counted| counted.domain(node) != Domain::NONE);
    changed.nodes.iter().filter(|node| has_all_keys(**node)).all(|&node| {
        let now = included.evaluate(view.row(node));
        counted.iter().zip(now).all(|(counted, (_, counts))| counted.nodes.contains(node) == counts)
    })
}

impl DomainCounts {
    /// Fills in which nodes are of domains that take another pod.
    fn open(&mut self, members: &DomainNodes, mut open: NodeMask) {
        open.clear();
        open.resize(self.of_node.len());
        for (domain, _) in self.counts.iter().enumerate().filter(|(_, count)| Self::takes(**count, self.limit)) {
            for &(word, bits) in members.of(Domain::new(domain)) {
                open.words_mut()[word as usize] |= bits;
            }
        }
        self.open = open;
    }

    /// Takes in how many pods came to domains and left them. Tells on which nodes this is another answer now: words of a
    /// mask, each with its number.
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
        changes.iter().for_each(|change| self.reopen(change.0, members, flips));
        if self.limit != old {
            for domain in 0..self.counts.len() {
                let count = self.counts[domain];
                if Self::takes(count, old) != Self::takes(count, self.limit) {
                    self.reopen(Domain::new(domain), members, flips);
                }
            }
        }
    }

    /// Opens or closes a domain if its count says so.
    fn reopen(&mut self, domain: Domain, members: &DomainNodes, flips: &mut Vec<(u32, u64)>) {
        let members = members.of(domain);
        let Some(&(word, bits)) = members.first() else { return };
        let is_open = self.open.words()[word as usize] & bits != 0;
        if is_open != Self::takes(self.counts[domain.get()], self.limit) {
            for &(word, bits) in members {
                self.open.words_mut()[word as usize] ^= bits;
                flips.push((word, bits));
            }
        }
    }
}
