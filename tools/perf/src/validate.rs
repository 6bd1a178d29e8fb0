//! Placements, checked by the rules.
//!
//! A [`Validator`] sees what a scheduler was told, in that order, and looks at each pod when it comes to a node: whether
//! it may run there, by what was there before it. It is written from the rules alone, on its own bookkeeping: it shares
//! no kernel, column or index with the plugins. What it costs it costs after a run, not during one.
//!
//! It checks what must hold, not what would be better: scores do not matter. Devices are not looked at, nor claims that
//! have no volume.

mod node;
mod pod_affinity;
mod selectors;
mod spread;
mod storage;
#[cfg(test)]
mod tests;

use std::fmt;

use schedc_core::intern::{Interner, Symbol};
use schedc_core::map::{Map, Set};
use schedc_core::model::{Kind, Labels, Object, Pod, Uid};
use schedc_core::scheduler::Change;

use self::node::NodePods;
use self::pod_affinity::PodAffinityRules;
use self::spread::Spread;
use self::storage::Storage;

/// A rule of Kubernetes, by the plugin that stands for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Rule {
    /// The node is there, and no pod is bound to another one later.
    Known,
    /// The pod is not held by gates.
    SchedulingGates,
    /// The node takes pods.
    NodeUnschedulable,
    /// The pod tolerates the node's taints.
    TaintToleration,
    /// The node is one that the pod selects.
    NodeAffinity,
    /// No port of the node is taken twice.
    NodePorts,
    /// What the pods ask for is there, and the node takes so many.
    NodeResourcesFit,
    /// Volumes for one pod, or for one writer, are not used twice.
    VolumeRestrictions,
    /// No more volumes are attached than the node's drivers allow.
    NodeVolumeLimits,
    /// The pod's volumes can be reached from the node.
    VolumeBinding,
    /// The pod's volumes are in the node's zone.
    VolumeZone,
    /// No domain has more pods than it may have.
    PodTopologySpread,
    /// The pods that must be near are, and those that must not be are not.
    InterPodAffinity,
    /// The node has the features that the pod uses.
    NodeDeclaredFeatures,
}

impl Rule {
    /// The plugin that stands for it. `None`: every scheduler keeps it.
    pub fn plugin(self) -> Option<&'static str> {
        Some(match self {
            Rule::Known => return None,
            Rule::SchedulingGates => "SchedulingGates",
            Rule::NodeUnschedulable => "NodeUnschedulable",
            Rule::TaintToleration => "TaintToleration",
            Rule::NodeAffinity => "NodeAffinity",
            Rule::NodePorts => "NodePorts",
            Rule::NodeResourcesFit => "NodeResourcesFit",
            Rule::VolumeRestrictions => "VolumeRestrictions",
            Rule::NodeVolumeLimits => "NodeVolumeLimits",
            Rule::VolumeBinding => "VolumeBinding",
            Rule::VolumeZone => "VolumeZone",
            Rule::PodTopologySpread => "PodTopologySpread",
            Rule::InterPodAffinity => "InterPodAffinity",
            Rule::NodeDeclaredFeatures => "NodeDeclaredFeatures",
        })
    }
}

/// A placement that breaks a rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    /// The pod: `namespace/name`.
    pub pod: String,
    /// The node that it was bound to.
    pub node: String,
    /// The rule.
    pub rule: Rule,
    /// In words, what is the case.
    pub what: String,
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "pod {} on node {}: ", self.pod, self.node)?;
        match self.rule.plugin() {
            Some(plugin) => write!(f, "{plugin}: {}", self.what),
            None => f.write_str(&self.what),
        }
    }
}

impl std::error::Error for Violation {}

/// Pods and nodes as they were told of, and whatever must be counted to judge the next placement.
pub struct Validator {
    is_checked: fn(&[&str], Rule) -> bool,
    plugins: Vec<&'static str>,
    cluster: Cluster,
    storage: Storage,
    pod_affinity: PodAffinityRules,
    spread: Spread,
    pending: Set<Uid>,
    checked: u64,
    violations: Vec<Violation>,
}

/// What is where.
#[derive(Default)]
struct Cluster {
    nodes: Map<Symbol, NodePods>,
    /// Pods on nodes, and which.
    pods: Map<Uid, (Pod, Symbol)>,
    namespaces: Map<Symbol, Labels>,
}

impl Cluster {
    /// The labels of a namespace; none if it is unknown.
    fn namespace(&self, name: Symbol) -> &[(Symbol, Symbol)] {
        self.namespaces.get(&name).map_or(&[], |labels| labels)
    }

    /// The labels of a node; none if it is unknown.
    fn labels(&self, node: Symbol) -> &[(Symbol, Symbol)] {
        self.nodes.get(&node).and_then(|placed| placed.node.as_ref()).map_or(&[], |node| &node.labels)
    }
}

/// A pod that comes to a node.
#[derive(Clone, Copy)]
struct Placement<'a> {
    pod: &'a Pod,
    node: Symbol,
    cluster: &'a Cluster,
    names: &'a Interner,
}

impl Default for Validator {
    fn default() -> Self {
        Validator::of(Vec::new(), |_, _| true)
    }
}

impl Validator {
    /// Checks the rules that stand for these plugins: those of a profile.
    pub fn with_plugins(plugins: impl IntoIterator<Item = &'static str>) -> Self {
        Validator::of(plugins.into_iter().collect(), |plugins, rule| {
            rule.plugin().is_none_or(|plugin| plugins.contains(&plugin))
        })
    }

    fn of(plugins: Vec<&'static str>, is_checked: fn(&[&str], Rule) -> bool) -> Self {
        Validator {
            is_checked,
            plugins,
            cluster: Cluster::default(),
            storage: Storage::default(),
            pod_affinity: PodAffinityRules::default(),
            spread: Spread::default(),
            pending: Set::default(),
            checked: 0,
            violations: Vec::new(),
        }
    }

    /// How many placements were checked.
    pub fn checked(&self) -> u64 {
        self.checked
    }

    /// What broke a rule.
    pub fn violations(&self) -> &[Violation] {
        &self.violations
    }

    /// A pod waits for a node: when it comes to one, it was placed. Nothing is new if it is on a node.
    pub fn expect(&mut self, uid: &Uid) {
        if !self.cluster.pods.contains_key(uid) {
            self.pending.insert(uid.clone());
        }
    }

    /// Something was told to the scheduler, whose symbols `names` knows. A pod that comes to a node was placed if it was
    /// there before without one; a pod that was created on a node is not looked at, but counts.
    pub fn observe(&mut self, change: &Change, names: &Interner) {
        match change {
            Change::Node(node) => {
                let placed = self.cluster.nodes.entry(node.name).or_default();
                let is_other = placed.node.as_ref().is_none_or(|old| {
                    old.labels != node.labels || old.taints != node.taints || old.unschedulable != node.unschedulable
                });
                placed.node = Some(node.clone());
                if is_other {
                    self.forget();
                }
            }
            Change::NodeDeleted(name) => {
                if let Some(placed) = self.cluster.nodes.get_mut(name) {
                    placed.node = None;
                    self.forget();
                }
            }
            Change::Pod(pod) => self.observe_pod(pod, names),
            Change::PodDeleted(uid) => {
                self.pending.remove(uid);
                self.take(uid, names);
            }
            Change::Object(Object::Namespace(namespace)) => {
                let old = self.cluster.namespaces.insert(namespace.name, namespace.labels.clone());
                if old.unwrap_or_default() != namespace.labels {
                    self.forget();
                }
            }
            Change::Object(object) => self.storage.set(object),
            Change::ObjectDeleted(key) if key.kind == Kind::Namespace => {
                self.cluster.namespaces.remove(&key.name);
                self.forget();
            }
            Change::ObjectDeleted(key) => self.storage.remove(key),
        }
    }

    fn observe_pod(&mut self, pod: &Pod, names: &Interner) {
        let Some(node) = pod.spec.node_name else {
            self.pending.insert(pod.uid.clone());
            return;
        };
        let old = self.take(&pod.uid, names);
        if self.pending.remove(&pod.uid) {
            self.checked += 1;
            self.check(pod, node, names);
        } else if let Some(old) = old.filter(|old| *old != node) {
            let what = format!("it was on node {} before", names.resolve(old));
            self.add_violation(pod, node, Rule::Known, what, names);
        }
        self.put(pod.clone(), node, names);
    }

    fn put(&mut self, pod: Pod, node: Symbol, names: &Interner) {
        self.cluster.nodes.entry(node).or_default().add(&pod);
        self.pod_affinity.count(&pod, node, &self.cluster, 1);
        self.spread.count(&pod, node, &self.cluster, names, 1);
        self.storage.add(&pod, node);
        self.cluster.pods.insert(pod.uid.clone(), (pod, node));
    }

    fn take(&mut self, uid: &Uid, names: &Interner) -> Option<Symbol> {
        let (pod, node) = self.cluster.pods.remove(uid)?;
        self.storage.remove_pod(&pod, node);
        self.spread.count(&pod, node, &self.cluster, names, -1);
        self.pod_affinity.count(&pod, node, &self.cluster, -1);
        self.cluster.nodes.entry(node).or_default().remove(&pod);
        Some(node)
    }

    /// What was counted is counted again when it is needed.
    fn forget(&mut self) {
        self.pod_affinity = PodAffinityRules::default();
        self.spread = Spread::default();
    }

    fn check(&mut self, pod: &Pod, node: Symbol, names: &Interner) {
        let mut found: Vec<(Rule, String)> = Vec::new();
        match self.cluster.nodes.get(&node) {
            Some(placed) if placed.node.is_some() => placed.check(pod, names, &mut found),
            _ => found.push((Rule::Known, "there is no such node".to_owned())),
        }
        let placement = Placement { pod, node, cluster: &self.cluster, names };
        self.pod_affinity.check(placement, &mut found);
        self.spread.check(placement, &mut found);
        self.storage.check(pod, node, self.cluster.labels(node), names, &mut found);
        for (rule, what) in found {
            self.add_violation(pod, node, rule, what, names);
        }
    }

    fn add_violation(&mut self, pod: &Pod, node: Symbol, rule: Rule, what: String, names: &Interner) {
        if (self.is_checked)(&self.plugins, rule) {
            let node = names.resolve(node).to_owned();
            self.violations.push(Violation { pod: format!("{}/{}", pod.namespace, pod.name), node, rule, what });
        }
    }
}
