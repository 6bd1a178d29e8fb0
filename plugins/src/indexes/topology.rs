//! Topology domains: sets of nodes with the same value of a label.

use std::sync::{Arc, OnceLock};

use schedc_core::column::{CacheSize, Index};
use schedc_core::intern::Symbol;
use schedc_core::map::Map;
use schedc_core::model::{Labels, LabelsExt, Node, NodeIndex};

use super::registry::{Id, Registry};

/// Number of registered keys above which older ones are evicted.
const MAX_KEYS: usize = 128;

/// Id of a registered topology key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct TopologyKey(Id);

/// Number of a topology domain, the nodes with one value of a topology key. Numbers of removed domains are reused. The
/// empty value has a domain, too.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Domain(u32);

impl Domain {
    /// The domain of a node without the label, and of a slot without a node.
    pub const NONE: Domain = Domain(u32::MAX);

    /// Returns the domain with this number.
    #[inline(always)]
    pub fn new(number: usize) -> Domain {
        Domain(number as u32)
    }

    /// Returns the index for an array of `domain_count` entries. [`Domain::NONE`] is out of bounds.
    #[inline(always)]
    pub fn get(self) -> usize {
        self.0 as usize
    }
}

/// The domains of registered topology keys.
///
/// A plugin registers a key when a pod is compiled ([`Topology::register`]). The id is valid until
/// [`Topology::epoch`] changes, and is never reused for another key.
#[derive(Clone, Debug, Default)]
pub struct Topology {
    labels: Vec<Labels>,
    keys: Registry<Symbol, Domains>,
}

#[derive(Clone, Debug, Default)]
struct Domains {
    of_node: Arc<Vec<Domain>>,
    by_value: Map<Symbol, Domain>,
    /// For each domain, its value and its number of nodes.
    values: Vec<(Symbol, u32)>,
    free: Vec<Domain>,
    version: u64,
    /// Computed on demand.
    nodes_by_domain: OnceLock<DomainNodes>,
}

/// The nodes of each domain of a topology key.
#[derive(Clone, Debug, Default)]
pub struct DomainNodes {
    /// Start of each domain's words in `words`.
    starts: Box<[u32]>,
    /// The nonzero words of the node masks of all domains, with their word numbers.
    words: Box<[(u32, u64)]>,
}

impl DomainNodes {
    fn new(of_node: &[Domain], domains: usize) -> DomainNodes {
        let mut starts = vec![0; domains + 1];
        let mut last = vec![u32::MAX; domains];
        let each = || of_node.iter().enumerate().filter(|(_, domain)| **domain != Domain::NONE);
        for (node, domain) in each() {
            let word = (node / 64) as u32;
            if std::mem::replace(&mut last[domain.get()], word) != word {
                starts[domain.get() + 1] += 1;
            }
        }
        for at in 1..starts.len() {
            starts[at] += starts[at - 1];
        }
        let mut words = vec![(u32::MAX, 0); starts[domains] as usize];
        // Next free position for each domain.
        let mut at: Vec<u32> = starts[..domains].to_vec();
        for (node, domain) in each() {
            let word = (node / 64) as u32;
            let at = &mut at[domain.get()];
            if !matches!(words[*at as usize].0, known if known == word || known == u32::MAX) {
                *at += 1;
            }
            let entry = &mut words[*at as usize];
            *entry = (word, entry.1 | 1 << (node % 64));
        }
        DomainNodes { starts: starts.into(), words: words.into() }
    }

    /// Returns the nodes of a domain: the nonzero words of a mask with their word numbers, ascending.
    #[inline]
    pub fn of(&self, domain: Domain) -> &[(u32, u64)] {
        let start = |at: usize| self.starts.get(at).copied().unwrap_or(0) as usize;
        self.words.get(start(domain.get())..start(domain.get().wrapping_add(1))).unwrap_or_default()
    }
}

impl Domains {
    fn set(&mut self, node: usize, value: Option<Symbol>) {
        if self.of_node.len() <= node {
            self.changed();
            Arc::make_mut(&mut self.of_node).resize(node + 1, Domain::NONE);
        }
        let old = self.of_node[node];
        let old_value = self.values.get(old.get()).map(|value| value.0);
        if old_value == value {
            return;
        }
        self.changed();
        if old != Domain::NONE {
            self.leave(old);
        }
        Arc::make_mut(&mut self.of_node)[node] = value.map_or(Domain::NONE, |value| self.enter(value));
    }

    fn changed(&mut self) {
        self.version += 1;
        self.nodes_by_domain.take();
    }

    fn leave(&mut self, domain: Domain) {
        let (value, nodes) = &mut self.values[domain.get()];
        *nodes -= 1;
        if *nodes == 0 {
            self.by_value.remove(value);
            self.free.push(domain);
        }
    }

    fn enter(&mut self, value: Symbol) -> Domain {
        let domain = *self.by_value.entry(value).or_insert_with(|| {
            self.free.pop().unwrap_or_else(|| {
                self.values.push((value, 0));
                Domain(self.values.len() as u32 - 1)
            })
        });
        let entry = &mut self.values[domain.get()];
        *entry = (value, entry.1 + 1);
        domain
    }
}

impl Topology {
    /// Registers a topology key.
    pub fn register(&mut self, key: Symbol) -> TopologyKey {
        TopologyKey(self.keys.register(key, |_, _| {
            let mut domains = Domains::default();
            for (node, labels) in self.labels.iter().enumerate() {
                domains.set(node, labels.value(key));
            }
            domains
        }))
    }

    /// Returns a number that grows when ids returned by [`Topology::register`] become invalid.
    #[inline]
    pub fn epoch(&self) -> u64 {
        self.keys.epoch()
    }

    /// Returns the id of a topology key, if it is registered.
    pub fn key(&self, key: Symbol) -> Option<TopologyKey> {
        self.keys.find(&key).map(TopologyKey)
    }

    /// Returns the domain of each node slot. Cycle state may keep the list: later changes are made to a copy.
    pub fn domains(&self, key: TopologyKey) -> &Arc<Vec<Domain>> {
        &self.get(key).of_node
    }

    /// Returns a number that grows when a node is added to a domain of this key or removed from it, and when there are
    /// more node slots.
    #[inline]
    pub fn version(&self, key: TopologyKey) -> u64 {
        self.get(key).version
    }

    /// Returns the nodes of each domain.
    pub(crate) fn nodes_by_domain(&self, key: TopologyKey) -> &DomainNodes {
        let domains = self.get(key);
        domains.nodes_by_domain.get_or_init(|| DomainNodes::new(&domains.of_node, domains.values.len()))
    }

    /// Returns the domain of a node.
    #[inline]
    pub fn domain(&self, key: TopologyKey, node: NodeIndex) -> Domain {
        self.get(key).of_node.get(node.get()).copied().unwrap_or(Domain::NONE)
    }

    /// Returns the length of an array with one entry for each domain of this key. All domain numbers are lower.
    pub(crate) fn domain_count(&self, key: TopologyKey) -> usize {
        self.get(key).values.len()
    }

    /// Returns the label value of a domain.
    pub fn value(&self, key: TopologyKey, domain: Domain) -> Symbol {
        self.get(key).values.get(domain.get()).map_or(Symbol::EMPTY, |value| value.0)
    }

    /// Returns the domain of a label value, if a node has the value.
    pub fn find(&self, key: TopologyKey, value: Symbol) -> Option<Domain> {
        self.get(key).by_value.get(&value).copied()
    }

    fn get(&self, key: TopologyKey) -> &Domains {
        static EMPTY: std::sync::LazyLock<Domains> = std::sync::LazyLock::new(Domains::default);
        self.keys.get(key.0).map_or(&EMPTY, |(_, domains)| domains)
    }
}

impl Index for Topology {
    fn cache_sizes(&self) -> Vec<CacheSize> {
        vec![CacheSize::limited("topology_keys", self.keys.len(), MAX_KEYS)]
    }
    fn set_node(&mut self, index: NodeIndex, _: Option<&Node>, new: Option<&Node>) {
        self.keys.forget(MAX_KEYS);
        if self.labels.len() <= index.get() {
            self.labels.resize(index.get() + 1, Labels::default());
        }
        self.labels[index.get()] = new.map(|node| node.labels.clone()).unwrap_or_default();
        for (_, key, domains) in self.keys.iter_mut() {
            domains.set(index.get(), self.labels[index.get()].value(*key));
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use schedc_core::intern::Interner;
    use schedc_core::node_mask::nodes_of;
    use schedc_objects::testing::node;

    use super::*;

    /// Returns the value of each slot, read through domains.
    fn values(topology: &Topology, key: TopologyKey) -> Vec<Option<Symbol>> {
        let value = |&domain: &Domain| {
            let value = (domain != Domain::NONE).then(|| topology.value(key, domain))?;
            assert!(domain.get() < topology.domain_count(key));
            assert_eq!(topology.find(key, value), Some(domain));
            Some(value)
        };
        topology.domains(key).iter().map(value).collect()
    }

    /// Checks the nodes of all domains.
    fn check_members(topology: &Topology, key: TopologyKey) {
        let members = topology.nodes_by_domain(key);
        for domain in (0..topology.domain_count(key) as u32).map(Domain) {
            let words = members.of(domain);
            assert!(words.is_sorted_by(|a, b| a.0 < b.0) && words.iter().all(|word| word.1 != 0));
            let found: Vec<_> = words.iter().flat_map(|&(word, bits)| nodes_of(word as usize, bits)).collect();
            let of_node = topology.domains(key).iter().enumerate().filter(|(_, known)| **known == domain);
            let expected: Vec<_> = of_node.map(|(node, _)| NodeIndex(node as u32)).collect();
            assert_eq!(found, expected);
        }
        assert!(members.of(Domain::NONE).is_empty());
    }

    proptest! {
        #[test]
        fn domains_follow_nodes(
            history in prop::collection::vec((0..6u32, prop::option::of((0..4u32, 0..3u32))), 0..40),
            distance in prop::sample::select(vec![1, 40]),
        ) {
            let mut interner = Interner::default();
            let keys = [interner.intern("zone"), interner.intern("rack")];
            let mut updated = Topology::default();
            let ids = keys.map(|key| updated.register(key));
            let mut nodes: Vec<Option<Node>> = vec![None; 6];
            for (slot, change) in history {
                let old_version = updated.version(ids[0]);
                let new = change.map(|(zone, rack)| {
                    let zone = if zone == 3 { String::new() } else { format!("zone: 'z{zone}', ") };
                    let rack = if rack == 2 { "''".to_owned() } else { format!("r{rack}") };
                    node(&format!("metadata: {{name: n{slot}, labels: {{{zone}rack: {rack}}}}}"), &mut interner)
                });
                let old = std::mem::replace(&mut nodes[slot as usize], new);
                let before = updated.domains(ids[0]).clone();
                let copy = (*before).clone();
                updated.set_node(NodeIndex(slot * distance), old.as_ref(), nodes[slot as usize].as_ref());
                prop_assert_eq!(&*before, &copy, "a list kept by cycle state does not change");
                prop_assert!(**updated.domains(ids[0]) == copy || updated.version(ids[0]) > old_version);
                ids.iter().for_each(|id| check_members(&updated, *id));
            }
            let mut rebuilt = Topology::default();
            for (slot, node) in nodes.iter().enumerate() {
                rebuilt.set_node(NodeIndex(slot as u32 * distance), None, node.as_ref());
            }
            for (key, id) in keys.into_iter().zip(ids) {
                let expected: Vec<_> =
                    nodes.iter().map(|node| node.as_ref().and_then(|node| node.labels.value(key))).collect();
                let values = |topology, id| {
                    let mut found: Vec<_> = values(topology, id).into_iter().step_by(distance as usize).collect();
                    found.resize(6, None);
                    found
                };
                prop_assert_eq!(values(&updated, id), &*expected);
                let id = rebuilt.register(key);
                check_members(&rebuilt, id);
                prop_assert_eq!(values(&rebuilt, id), expected);
                let distinct: std::collections::BTreeSet<_> = nodes.iter().flatten().collect::<Vec<_>>().iter()
                    .filter_map(|node| node.labels.value(key)).collect();
                prop_assert!(rebuilt.domain_count(id) == distinct.len(), "numbers are dense");
            }
        }
    }

    #[test]
    fn domain_numbers_are_reused() {
        let mut interner = Interner::default();
        let key = interner.intern("zone");
        let mut topology = Topology::default();
        let id = topology.register(key);
        for zone in 0..10 {
            let node = node(&format!("metadata: {{name: a, labels: {{zone: z{zone}}}}}"), &mut interner);
            topology.set_node(NodeIndex(0), None, Some(&node));
        }
        assert_eq!(topology.domain_count(id), 1);
        assert_eq!(topology.register(key), id);
    }
}
