//! Bringing the counts of hard constraints, and Filter's verdicts, up to date.

use schedc_core::incremental::{NodeChanges, FilterUpdate};
use schedc_core::node_mask::NodeMask;
use schedc_core::plugin::View;

use super::{DomainCounts, PodTopologySpreadPod, Room, SpreadCounts};
use crate::indexes::{Domain, Members};
use crate::pod_topology_spread::PodTopologySpread;
use crate::pod_topology_spread::constraints::{Constraint, Included, add_up, domains, has_all_keys};

/// Takes in what happened to pods since the state was made or brought up to date, and edits the verdicts on the nodes of
/// domains that closed or opened. False: it takes a new count to know, and the state is of no use any more.
pub(in super::super) fn follow(
    pod: &PodTopologySpreadPod,
    constraints: &[Constraint],
    cycle: &mut SpreadCounts,
    view: View<'_, PodTopologySpread>,
    verdicts: &mut FilterUpdate<'_>,
    room: &mut Room,
) -> bool {
    let (topology, selected, _) = view.indexes;
    let Some(counted) = &mut cycle.constraints else { return false };
    let mut news = false;
    for (counted, constraint) in counted.iter().zip(constraints) {
        if counted.version != topology.version(constraint.key) {
            return false;
        }
        news |= counted.seen != constraint.position(selected);
    }
    let included = Included::new(constraints, &pod.inclusion);
    let everywhere = included.is_everywhere();
    if verdicts.changed.node_objects && !everywhere && !same_nodes_count(counted, &included, verdicts.changed, view) {
        return false;
    }
    if !news {
        return true;
    }
    let domains = domains(constraints, &view);
    let Room { changes, flips, masks, .. } = room;
    flips.clear();
    if counted[0].open.words().is_empty() {
        for (counted, constraint) in counted.iter_mut().zip(constraints) {
            counted.open(topology.members(constraint.key), masks.pop().unwrap_or_default());
        }
    }
    for (counted, constraint) in counted.iter_mut().zip(constraints) {
        let Some(question) = constraint.counted() else { continue };
        let log = selected.log(question);
        let Some(entries) = log.since(counted.seen) else { return false };
        counted.seen = log.end();
        changes.clear();
        for &(node, by) in entries {
            if if everywhere { has_all_keys(&domains, node) } else { counted.nodes.contains(node) } {
                changes.push((counted.of_node[node.get()], by));
            }
        }
        add_up(changes);
        if !changes.is_empty() {
            counted.follow(constraint, topology.members(constraint.key), changes, flips);
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
    included: &Included<'_>,
    changed: NodeChanges<'_>,
    view: View<'_, PodTopologySpread>,
) -> bool {
    let has_all_keys = |node| counted.iter().all(|counted| counted.domain(node) != Domain::NONE);
    changed.nodes.iter().filter(|node| has_all_keys(**node)).all(|&node| {
        let now = included.on(view.row(node));
        counted.iter().zip(now).all(|(counted, (_, counts))| counted.nodes.contains(node) == counts)
    })
}

impl DomainCounts {
    /// Fills in which nodes are of domains that take another pod.
    fn open(&mut self, members: &Members, mut open: NodeMask) {
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
    fn follow(
        &mut self,
        constraint: &Constraint,
        members: &Members,
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
    fn reopen(&mut self, domain: Domain, members: &Members, flips: &mut Vec<(u32, u64)>) {
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
