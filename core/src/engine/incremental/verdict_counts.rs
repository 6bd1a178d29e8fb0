//! Counted verdicts on nodes.

use crate::engine::verdict::Verdict;
use crate::model::NodeIndex;
use crate::model::map::Map;

/// Verdicts on some nodes. Equal verdicts are stored once and counted, so combining all verdicts takes time in
/// proportion to the number of different verdicts.
#[derive(Clone, Debug, Default)]
pub struct VerdictCounts {
    /// By slot: index of its verdict plus one; 0 without verdict.
    of_node: Vec<u32>,
    counted: Vec<CountedVerdict>,
    places: Map<Verdict, u32>,
    /// Free indices of `counted`.
    free: Vec<u32>,
    /// Index of the last verdict found, because the next one is probably equal.
    last: u32,
}

#[derive(Clone, Debug)]
struct CountedVerdict {
    verdict: Verdict,
    nodes: u32,
}

impl VerdictCounts {
    /// Resizes to this number of node slots.
    pub fn resize(&mut self, slots: usize) {
        if self.of_node.len() < slots {
            self.of_node.resize(slots, 0);
        }
    }

    /// Returns the verdict on a node; `None` if there is none.
    pub fn get(&self, node: NodeIndex) -> Option<&Verdict> {
        let place = self.of_node.get(node.get())?.checked_sub(1)?;
        Some(&self.counted[place as usize].verdict)
    }

    /// Replaces the verdict on a node.
    pub fn set(&mut self, node: NodeIndex, verdict: Option<&Verdict>) {
        let new = verdict.map_or(0, |verdict| self.place(verdict) + 1);
        self.replace(node, new);
    }

    /// Replaces the verdict on a node by that on another node.
    pub fn copy(&mut self, node: NodeIndex, other: NodeIndex) {
        self.replace(node, self.of_node[other.get()]);
    }

    fn replace(&mut self, node: NodeIndex, new: u32) {
        let old = std::mem::replace(&mut self.of_node[node.get()], new);
        if let Some(place) = new.checked_sub(1) {
            self.counted[place as usize].nodes += 1;
        }
        if let Some(place) = old.checked_sub(1) {
            let counted = &mut self.counted[place as usize];
            counted.nodes -= 1;
            if counted.nodes == 0 {
                self.places.remove(&counted.verdict);
                self.free.push(place);
            }
        }
    }

    /// Returns the index of a verdict, after adding it if it is new.
    fn place(&mut self, verdict: &Verdict) -> u32 {
        if self.counted.get(self.last as usize).is_some_and(|last| last.nodes > 0 && last.verdict == *verdict) {
            return self.last;
        }
        self.last = match self.places.get(verdict) {
            Some(&place) => place,
            None => {
                let counted = CountedVerdict { verdict: verdict.clone(), nodes: 0 };
                let place = match self.free.pop() {
                    Some(place) => {
                        self.counted[place as usize] = counted;
                        place
                    }
                    None => {
                        self.counted.push(counted);
                        self.counted.len() as u32 - 1
                    }
                };
                self.places.insert(verdict.clone(), place);
                place
            }
        };
        self.last
    }

    /// Returns the different verdicts, unordered, each with its number of nodes.
    pub fn verdicts(&self) -> impl Iterator<Item = (&Verdict, usize)> {
        let given = self.counted.iter().filter(|counted| counted.nodes > 0);
        given.map(|counted| (&counted.verdict, counted.nodes as usize))
    }

    /// Returns its approximate size in bytes, without texts, which are few.
    pub fn bytes(&self) -> usize {
        self.of_node.capacity() * size_of::<u32>() + self.counted.capacity() * 2 * size_of::<CountedVerdict>()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;
    use crate::plugin_api::status::{Code, ReasonList};

    proptest! {
        #[test]
        fn verdict_counts_follow_changes(
            history in prop::collection::vec((0u32..20, prop::option::of(0usize..4), prop::option::of(0u32..20)), 0..200),
        ) {
            let verdict = |n: usize| Verdict {
                code: [Code::Unschedulable, Code::Pending][n % 2],
                plugin: "Plugin",
                reasons: ReasonList::from_iter([format!("reason {}", n / 2).into()]),
            };
            let (mut counts, mut expected) = (VerdictCounts::default(), BTreeMap::new());
            counts.resize(20);
            for (node, id, other) in history {
                let id = match other {
                    Some(other) => {
                        counts.copy(NodeIndex(node), NodeIndex(other));
                        expected.get(&other).copied().flatten()
                    }
                    None => {
                        counts.set(NodeIndex(node), id.map(verdict).as_ref());
                        id
                    }
                };
                expected.insert(node, id);
            }
            for (&node, id) in &expected {
                prop_assert_eq!(counts.get(NodeIndex(node)).cloned(), id.map(verdict));
            }
            for n in 0..4 {
                let nodes = expected.values().filter(|id| **id == Some(n)).count();
                let counted = counts.verdicts().find(|(counted, _)| **counted == verdict(n)).map_or(0, |(_, nodes)| nodes);
                prop_assert_eq!(counted, nodes);
            }
        }
    }
}
