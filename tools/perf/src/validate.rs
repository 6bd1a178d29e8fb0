//! Validation of placements by the rules of scheduling.
//!
//! A [`Validator`] receives the changes that a scheduler received, in the same order. When a pod is bound, it checks
//! whether the pod may run on the node, given the earlier state. It is written from the rules alone, and uses no code,
//! columns or indexes of plugins. It runs after a workload and takes no time during the run.
//!
//! It checks hard constraints only and ignores scores. It counts the holders of devices, but ignores counters and
//! capacities of devices, and extended resources that devices serve.

mod cluster;
mod devices;
mod node;
mod pod_affinity;
mod rule;
mod selectors;
mod spread;
mod storage;
#[cfg(test)]
mod tests;

use schedc_core::intern::{Interner, Symbol};
use schedc_core::map::Set;
use schedc_core::model::{Kind, Object, Pod, Uid};
use schedc_core::scheduler::Change;

pub use self::rule::{Rule, Violation};

use self::cluster::{Cluster, Placement};
use self::devices::Devices;
use self::pod_affinity::PodAffinityRules;
use self::spread::Spread;
use self::storage::Storage;

/// Pods and nodes as the scheduler received them, and the counts that the rules need.
pub struct Validator {
    is_checked: fn(&[&str], Rule) -> bool,
    plugins: Vec<&'static str>,
    cluster: Cluster,
    storage: Storage,
    devices: Devices,
    pod_affinity: PodAffinityRules,
    spread: Spread,
    pending: Set<Uid>,
    checked: u64,
    violations: Vec<Violation>,
}

impl Default for Validator {
    fn default() -> Self {
        Validator::of(Vec::new(), |_, _| true)
    }
}

impl Validator {
    /// Creates a validator with the rules that the plugins of a profile enforce, and the rules without a plugin.
    pub(crate) fn with_plugins(plugins: impl IntoIterator<Item = &'static str>) -> Self {
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
            devices: Devices::default(),
            pod_affinity: PodAffinityRules::default(),
            spread: Spread::default(),
            pending: Set::default(),
            checked: 0,
            violations: Vec::new(),
        }
    }

    /// Returns the number of checked placements.
    pub fn checked(&self) -> u64 {
        self.checked
    }

    /// Returns the violations.
    pub fn violations(&self) -> &[Violation] {
        &self.violations
    }

    /// Registers a pending pod, so that its binding counts as a placement. No effect if it is on a node.
    pub fn expect(&mut self, uid: &Uid) {
        if !self.cluster.pods.contains_key(uid) {
            self.pending.insert(uid.clone());
        }
    }

    /// Processes a change that the scheduler received; `names` resolves its symbols. The binding of a
    /// pending pod is checked. A pod that was created with a node is not checked itself, but is included when other
    /// pods are checked.
    pub fn observe(&mut self, change: &Change, names: &Interner) {
        match change {
            Change::Node(node) => {
                let placed = self.cluster.nodes.entry(node.name).or_default();
                let affects_counts = placed.node.as_ref().is_none_or(|old| {
                    old.labels != node.labels || old.taints != node.taints || old.unschedulable != node.unschedulable
                });
                placed.node = Some(node.clone());
                if affects_counts {
                    self.discard_counts();
                }
            }
            Change::NodeDeleted(name) => {
                if let Some(placed) = self.cluster.nodes.get_mut(name) {
                    placed.node = None;
                    self.discard_counts();
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
                    self.discard_counts();
                }
            }
            Change::Object(Object::DeviceClass(class)) => {
                self.cluster.device_classes.insert(class.name, class.clone());
            }
            Change::Object(object) => {
                self.storage.set(object);
                self.devices.set(object);
            }
            Change::ObjectDeleted(key) if key.kind == Kind::Namespace => {
                self.cluster.namespaces.remove(&key.name);
                self.discard_counts();
            }
            Change::ObjectDeleted(key) if key.kind == Kind::DeviceClass => {
                self.cluster.device_classes.remove(&key.name);
            }
            Change::ObjectDeleted(key) => {
                self.storage.remove(key);
                self.devices.remove(key);
            }
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
            self.add_violation(pod, names.resolve(node), Rule::NodeExists, what);
        }
        self.put(pod.clone(), node, names);
    }

    fn put(&mut self, pod: Pod, node: Symbol, names: &Interner) {
        self.cluster.nodes.entry(node).or_default().add(&pod);
        let placement = Placement { pod: &pod, node, cluster: &self.cluster, names };
        self.pod_affinity.count(placement, 1);
        self.spread.count(placement, 1);
        self.storage.add(&pod, node);
        self.cluster.pods.insert(pod.uid.clone(), (pod, node));
    }

    fn take(&mut self, uid: &Uid, names: &Interner) -> Option<Symbol> {
        let (pod, node) = self.cluster.pods.remove(uid)?;
        self.storage.remove_pod(&pod, node);
        let placement = Placement { pod: &pod, node, cluster: &self.cluster, names };
        self.spread.count(placement, -1);
        self.pod_affinity.count(placement, -1);
        self.cluster.nodes.entry(node).or_default().remove(&pod);
        Some(node)
    }

    /// Discards the counts; they are computed again when needed.
    fn discard_counts(&mut self) {
        self.pod_affinity = PodAffinityRules::default();
        self.spread = Spread::default();
    }

    fn check(&mut self, pod: &Pod, node: Symbol, names: &Interner) {
        let mut violations: Vec<(Rule, String)> = Vec::new();
        let placement = Placement { pod, node, cluster: &self.cluster, names };
        match self.cluster.nodes.get(&node) {
            Some(placed) if placed.node.is_some() => placed.check(placement, &mut violations),
            _ => violations.push((Rule::NodeExists, "the node does not exist".to_owned())),
        }
        self.pod_affinity.check(placement, &mut violations);
        self.spread.check(placement, &mut violations);
        self.devices.check(pod, node, names, &mut violations);
        self.storage.check(placement, &mut violations);
        for (rule, what) in violations {
            self.add_violation(pod, names.resolve(node), rule, what);
        }
    }

    fn add_violation(&mut self, pod: &Pod, node: &str, rule: Rule, description: String) {
        if (self.is_checked)(&self.plugins, rule) {
            let node = node.to_owned();
            self.violations.push(Violation { pod: format!("{}/{}", pod.namespace, pod.name), node, rule, description });
        }
    }
}
