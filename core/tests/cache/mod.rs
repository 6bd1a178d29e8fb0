//! The cache applies cluster changes; its derived state always equals a rebuild.

use std::collections::BTreeMap;
use std::sync::Arc;

use proptest::prelude::*;
use schedc_core::cache::{AssumeError, Base, Cache, PodState, State};
use schedc_core::column::{Column, Index, rebuild_entry};
use schedc_core::intern::{Interner, Symbol};
use schedc_core::model::{Node, NodeIndex, Object, Pod, PodSpec, PodUsage, Resources, Uid};

/// A column: allocatable and requested cpu of a node.
#[derive(Clone, Debug, Default, PartialEq)]
struct Cpu {
    allocatable: i64,
    requested: i64,
}
impl Column for Cpu {
    fn build(node: &Node, _: &Interner) -> Self {
        Cpu { allocatable: node.allocatable.milli_cpu, requested: 0 }
    }
    fn add_pod(&mut self, pod: &Pod) {
        self.requested += pod.usage.requests.milli_cpu;
    }
    fn remove_pod(&mut self, pod: &Pod) {
        self.requested -= pod.usage.requests.milli_cpu;
    }
}

/// An index: allocatable cpu of the cluster, and number of pods on its nodes.
#[derive(Debug, Default, PartialEq)]
struct Totals {
    allocatable: i64,
    pods: usize,
}
impl Index for Totals {
    fn set_node(&mut self, _: NodeIndex, old: Option<&Node>, new: Option<&Node>) {
        self.allocatable += new.map_or(0, |n| n.allocatable.milli_cpu) - old.map_or(0, |n| n.allocatable.milli_cpu);
    }
    fn add_pod(&mut self, _: NodeIndex, _: &Pod) {
        self.pods += 1;
    }
    fn remove_pod(&mut self, _: NodeIndex, _: &Pod) {
        self.pods -= 1;
    }
}

#[derive(Debug, Default, PartialEq)]
struct Derived {
    cpu: Vec<Cpu>,
    totals: Totals,
}
impl State for Derived {
    type Hypothetical<'a> = Cpu;
    fn set_node(&mut self, base: &Base, index: NodeIndex, old: Option<&Node>) -> bool {
        self.totals.set_node(index, old, base.infos()[index.get()].node.as_deref());
        rebuild_entry(&mut self.cpu, base, index)
    }
    fn add_pod(&mut self, index: NodeIndex, pod: &Pod) {
        self.cpu[index.get()].add_pod(pod);
        self.totals.add_pod(index, pod);
    }
    fn remove_pod(&mut self, index: NodeIndex, pod: &Pod) {
        self.cpu[index.get()].remove_pod(pod);
        self.totals.remove_pod(index, pod);
    }
    fn set_object(&mut self, _: Option<&Object>, _: Option<&Object>) {}
    fn hypothetical(&self, _: &Base, index: NodeIndex) -> Cpu {
        self.cpu[index.get()].clone()
    }
    fn hypothetical_add(node: &mut Cpu, pod: &Arc<Pod>) {
        node.add_pod(pod);
    }
    fn hypothetical_remove(node: &mut Cpu, pod: &Arc<Pod>) {
        node.remove_pod(pod);
    }
}

fn cpu(milli_cpu: i64) -> Resources {
    Resources { milli_cpu, ..Resources::default() }
}

fn node(name: Symbol, milli_cpu: i64) -> Node {
    Node { name, allocatable: cpu(milli_cpu), allowed_pods: 110, ..Node::default() }
}

fn pod(uid: u8, milli_cpu: i64) -> Arc<Pod> {
    let requests = cpu(milli_cpu);
    Arc::new(Pod {
        uid: Uid(uid.to_string().into()),
        name: format!("pod-{uid}").into(),
        spec: Arc::new(PodSpec { requests: requests.clone(), ..PodSpec::default() }),
        usage: Arc::new(PodUsage { requests, ..PodUsage::default() }),
        ..Pod::default()
    })
}

#[derive(Clone, Debug)]
enum Event {
    Node { name: u8, milli_cpu: i64 },
    NodeGone { name: u8 },
    Pod { uid: u8, node: u8, milli_cpu: i64 },
    PodGone { uid: u8 },
}

fn event() -> impl Strategy<Value = Event> {
    prop_oneof![
        (0..6u8, 1..9i64).prop_map(|(name, cpu)| Event::Node { name, milli_cpu: cpu * 1000 }),
        (0..6u8).prop_map(|name| Event::NodeGone { name }),
        (0..12u8, 0..7u8, 1..9i64).prop_map(|(uid, node, cpu)| Event::Pod { uid, node, milli_cpu: cpu * 100 }),
        (0..12u8).prop_map(|uid| Event::PodGone { uid }),
    ]
}

proptest! {
    /// Changes in any order: pods before their node, nodes before their pods, moving pods.
    #[test]
    fn incremental_state_equals_a_rebuild_and_a_reference(events in proptest::collection::vec(event(), 0..80)) {
        let mut cache = Cache::<Derived>::default();
        let (mut nodes, mut pods) = (BTreeMap::new(), BTreeMap::new());
        for event in events {
            let (before, seen) = (cache.state.cpu.clone(), cache.log.end());
            let mut name = |n: u8| cache.base.interner.intern(&format!("node-{n}"));
            match event {
                Event::Node { name: n, milli_cpu } => {
                    let name = name(n);
                    cache.set_node(node(name, milli_cpu));
                    nodes.insert(n, milli_cpu);
                }
                Event::NodeGone { name: n } => {
                    let name = name(n);
                    cache.remove_node(name);
                    nodes.remove(&n);
                }
                Event::Pod { uid, node, milli_cpu } => {
                    let name = name(node);
                    cache.add_pod(pod(uid, milli_cpu), name, PodState::Bound);
                    pods.insert(uid, (node, milli_cpu));
                }
                Event::PodGone { uid } => {
                    cache.remove_pod(&Uid(uid.to_string().into()));
                    pods.remove(&uid);
                }
            }
            prop_assert_eq!(&cache.state, &cache.rebuilt());
            let logged = logged(&cache, seen);
            for (slot, entry) in cache.state.cpu.iter().enumerate() {
                let changed = before.get(slot).unwrap_or(&Cpu::default()) != entry;
                prop_assert!(!changed || logged.iter().any(|&(on, _)| on == slot), "{slot} is not in {logged:?}");
            }
            prop_assert_eq!(cache.base.count(), nodes.len());
            prop_assert_eq!(cache.state.totals.allocatable, nodes.values().sum::<i64>());
            for (&n, &allocatable) in &nodes {
                let requested = pods.values().filter(|(on, _)| *on == n).map(|(_, cpu)| *cpu).sum();
                let name = cache.base.interner.intern(&format!("node-{n}"));
                let index = cache.base.node(name).expect("the node is there");
                prop_assert_eq!(&cache.state.cpu[index.get()], &Cpu { allocatable, requested });
            }
        }
    }
}

/// Returns the entries of the change log since a position: slots, and whether the nodes themselves changed.
fn logged(cache: &Cache<Derived>, since: u64) -> Vec<(usize, bool)> {
    let entries = cache.log.since(since).expect("the log is long enough");
    entries.map(|entry| (entry.slot().get(), entry.is_node_change())).collect()
}

#[test]
fn the_log_has_one_entry_for_each_change() {
    let mut cache = Cache::<Derived>::default();
    let (a, b) = (cache.base.interner.intern("a"), cache.base.interner.intern("b"));
    cache.set_node(node(a, 4000));
    cache.set_node(node(b, 4000));
    assert_eq!(logged(&cache, 0), [(0, true), (1, true)]);
    let mut seen = cache.log.end();
    let mut entries = |cache: &Cache<Derived>| logged(cache, std::mem::replace(&mut seen, cache.log.end()));
    cache.set_node(node(a, 4000));
    assert_eq!(entries(&cache), [], "the node is unchanged");
    cache.set_node(node(a, 5000));
    assert_eq!(entries(&cache), [(0, true)]);
    cache.add_pod(pod(1, 500), a, PodState::Bound);
    cache.add_pod(pod(1, 600), a, PodState::Bound);
    assert_eq!(entries(&cache), [(0, false); 2], "added, and changed");
    cache.add_pod(pod(1, 600), b, PodState::Bound);
    assert_eq!(entries(&cache), [(0, false), (1, false)], "it moved");
    cache.remove_node(b);
    cache.remove_pod(&Uid("1".into()));
    assert_eq!(entries(&cache), [(1, true)], "its node was removed before");
}

#[test]
fn a_pod_that_arrives_before_its_node_counts_when_the_node_arrives() {
    let mut cache = Cache::<Derived>::default();
    let name = cache.base.interner.intern("late");
    cache.add_pod(pod(1, 500), name, PodState::Bound);
    assert_eq!(cache.state.totals.pods, 0);
    let index = cache.set_node(node(name, 4000));
    assert_eq!(cache.state.cpu[index.get()].requested, 500);
    cache.remove_node(name);
    let index = cache.set_node(node(name, 8000));
    assert_eq!(cache.state.cpu[index.get()], Cpu { allocatable: 8000, requested: 500 });
}

#[test]
fn an_assumed_pod_counts_until_it_is_forgotten() {
    let mut cache = Cache::<Derived>::default();
    let name = cache.base.interner.intern("node");
    let index = cache.set_node(node(name, 4000));
    let pod = pod(1, 500);
    assert_eq!(cache.assume(pod.clone(), index), Ok(name));
    assert_eq!(cache.assume(pod.clone(), index), Err(AssumeError::HasNode));
    assert_eq!(cache.state.cpu[index.get()].requested, 500);
    cache.finish_binding(&pod.uid);
    assert_eq!(cache.pod(&pod.uid).map(|p| (p.1, p.2)), Some((name, PodState::BindingFinished)));
    assert!(cache.forget(&pod.uid));
    assert_eq!(cache.state.cpu[index.get()].requested, 0);
    cache.add_pod(pod.clone(), name, PodState::Bound);
    cache.finish_binding(&pod.uid);
    assert!(!cache.forget(&pod.uid), "the pod is bound in the cluster");
}

#[test]
fn a_pod_has_one_nomination_at_most() {
    let mut cache = Cache::<Derived>::default();
    let (a, b) = (cache.base.interner.intern("a"), cache.base.interner.intern("b"));
    let (ia, ib) = (cache.set_node(node(a, 1000)), cache.set_node(node(b, 1000)));
    let (nominated, other) = (pod(1, 100), pod(2, 100));
    cache.nominate(nominated.clone(), a);
    cache.nominate(nominated.clone(), b);
    let found: Vec<_> = cache.nominated_before(&other).map(|(node, pods)| (node, pods.len())).collect();
    assert_eq!(found, [(ib, 1)]);
    assert_eq!(cache.nominated_before(&nominated).count(), 0, "a pod's own nomination does not count");
    cache.withdraw_nomination(&nominated.uid);
    assert_eq!(cache.nominated_before(&other).count(), 0);
    assert_ne!(ia, ib);
}

/// A column: whether the node's disk is full.
#[derive(Clone, Debug, Default, PartialEq)]
struct DiskPressure(bool);
impl Column for DiskPressure {
    fn build(node: &Node, interner: &Interner) -> Self {
        let [pressure, yes] = ["DiskPressure", "True"].map(|word| interner.get(word));
        DiskPressure(node.conditions.iter().any(|condition| Some(condition.0) == pressure && Some(condition.1) == yes))
    }
}

/// State with the column [`DiskPressure`] alone.
#[derive(Default)]
struct Disks(Vec<DiskPressure>);
impl State for Disks {
    type Hypothetical<'a> = ();
    fn set_node(&mut self, base: &Base, index: NodeIndex, _: Option<&Node>) -> bool {
        rebuild_entry(&mut self.0, base, index)
    }
    fn add_pod(&mut self, _: NodeIndex, _: &Pod) {}
    fn remove_pod(&mut self, _: NodeIndex, _: &Pod) {}
    fn set_object(&mut self, _: Option<&Object>, _: Option<&Object>) {}
    fn hypothetical(&self, _: &Base, _: NodeIndex) {}
    fn hypothetical_add((): &mut (), _: &Arc<Pod>) {}
    fn hypothetical_remove((): &mut (), _: &Arc<Pod>) {}
}

#[test]
fn node_changes_are_logged_only_if_a_column_changes() {
    let mut cache = Cache::<Disks>::default();
    let [name, pressure, ready, yes, no] =
        ["n", "DiskPressure", "Ready", "True", "False"].map(|word| cache.base.interner.intern(word));
    let plain = node(name, 1);
    let full = Node { conditions: [(pressure, yes)].into(), ..plain.clone() };
    for (change, node, logged) in [
        ("a new node", plain.clone(), 1),
        ("nothing", plain.clone(), 0),
        ("annotations", Node { annotations: 1, ..plain.clone() }, 0),
        ("a condition that no column reads", Node { conditions: [(ready, no)].into(), ..plain.clone() }, 0),
        ("a condition that is read, unchanged", Node { conditions: [(pressure, no)].into(), ..plain.clone() }, 0),
        ("a condition that is read, changed", full.clone(), 1),
        ("annotations again", Node { annotations: 2, ..full }, 0),
        ("anything else, read or not", Node { unschedulable: true, ..plain }, 1),
    ] {
        let before = cache.log.end();
        let index = cache.set_node(node.clone());
        assert_eq!(cache.log.end() - before, logged, "{change}");
        assert_eq!(cache.base.infos()[index.get()].node.as_deref(), Some(&node), "{change}");
        assert_eq!(cache.rebuilt().0, cache.state.0, "{change}");
    }
}
