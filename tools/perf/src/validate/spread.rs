//! Topology spread constraints.

use std::collections::BTreeMap;

use schedc_core::intern::{Interner, Symbol};
use schedc_core::map::Map;
use schedc_core::model::{
    InclusionPolicy, Labels, Node, NodeSelector, Pod, PodSpec, Toleration, TopologySpreadConstraint,
    UnsatisfiableAction,
};

use super::cluster::{Cluster, Placement};
use super::rule::Rule;
use super::selectors::{node_affinity_matches, selects, tolerates_taints, value};

/// Counts of pods for the hard constraints that were checked. When a constraint is checked for the first time, all
/// nodes and pods are counted.
#[derive(Default)]
pub(super) struct Spread {
    domains: Map<SpreadConstraint, Domains>,
}

/// Everything that the count of a constraint depends on.
#[derive(Clone, PartialEq, Eq, Hash)]
struct SpreadConstraint {
    namespace: Symbol,
    constraint: TopologySpreadConstraint,
    /// Topology keys of all hard constraints of the pod. A node that lacks one of these labels is excluded.
    keys: Box<[Symbol]>,
    /// Node selector and required node affinity of the pod; `None` if nodes that do not match them are included.
    selects: Option<(Labels, Option<NodeSelector>)>,
    /// Tolerations of the pod; `None` if nodes with untolerated taints are included.
    tolerations: Option<Box<[Toleration]>>,
}

/// Domains and their pods.
#[derive(Default)]
struct Domains {
    pods: Map<Symbol, i64>,
    /// For each number of pods, the number of domains that have as many pods.
    by_count: BTreeMap<i64, u32>,
}

impl Domains {
    fn add(&mut self, domain: Symbol, by: i64) {
        // -1: the domain is new, and `by_count` does not have it yet.
        let count = self.pods.entry(domain).or_insert(-1);
        if let Some(domains) = self.by_count.get_mut(count) {
            *domains -= 1;
            if *domains == 0 {
                self.by_count.remove(count);
            }
        }
        *count = (*count).max(0) + by;
        *self.by_count.entry(*count).or_default() += 1;
    }

    fn least(&self) -> Option<i64> {
        self.by_count.first_key_value().map(|(count, _)| *count)
    }
}

impl SpreadConstraint {
    fn of<'a>(spec: &'a PodSpec) -> impl Iterator<Item = SpreadConstraint> + 'a {
        let hard = |constraint: &&TopologySpreadConstraint| {
            constraint.when_unsatisfiable == UnsatisfiableAction::DoNotSchedule
        };
        let keys: Box<[Symbol]> = spec.spread.iter().filter(hard).map(|constraint| constraint.topology_key).collect();
        spec.spread.iter().filter(hard).map(move |constraint| SpreadConstraint {
            namespace: spec.namespace,
            constraint: constraint.clone(),
            keys: keys.clone(),
            selects: (constraint.node_affinity_policy == InclusionPolicy::Honor)
                .then(|| (spec.node_selector.clone(), spec.required_node_affinity.get().cloned())),
            tolerations: (constraint.node_taints_policy == InclusionPolicy::Honor).then(|| spec.tolerations.clone()),
        })
    }

    fn counts_pod(&self, pod: &Pod) -> bool {
        pod.spec.namespace == self.namespace && !pod.deleting && self.selects(&pod.spec)
    }

    fn selects(&self, spec: &PodSpec) -> bool {
        matches!(&self.constraint.selector, Ok(Some(selector)) if selects(selector, &spec.labels))
    }

    /// Returns the domain of a node, if the constraint includes the node.
    fn domain(&self, node: &Node, names: &Interner) -> Option<Symbol> {
        let has_keys = self.keys.iter().all(|key| value(&node.labels, *key).is_some());
        let is_selected = self
            .selects
            .as_ref()
            .is_none_or(|(labels, terms)| node_affinity_matches(labels, terms.as_ref(), node, names));
        let tolerates_taints = self.tolerations.as_ref().is_none_or(|tolerations| tolerates_taints(node, tolerations));
        let domain = value(&node.labels, self.constraint.topology_key);
        domain.filter(|_| has_keys && is_selected && tolerates_taints)
    }
}

impl Spread {
    /// Counts a pod that was bound to a node (`by` is 1) or left it (-1).
    pub(super) fn count(&mut self, placement: Placement<'_>, by: i64) {
        let Placement { pod, node, cluster, names } = placement;
        let Some(node) = cluster.nodes.get(&node).and_then(|placed| placed.node.as_ref()) else { return };
        for (spread_constraint, domains) in &mut self.domains {
            if spread_constraint.counts_pod(pod)
                && let Some(domain) = spread_constraint.domain(node, names)
            {
                domains.add(domain, by);
            }
        }
    }

    /// Checks whether a pod may be bound to a node, given the existing pods.
    pub(super) fn check(&mut self, placement: Placement<'_>, violations: &mut Vec<(Rule, String)>) {
        let Placement { pod, node, cluster, names } = placement;
        for spread_constraint in SpreadConstraint::of(&pod.spec) {
            let self_match = i64::from(spread_constraint.selects(&pod.spec));
            let TopologySpreadConstraint { topology_key, max_skew, min_domains, .. } = spread_constraint.constraint;
            let domains = self
                .domains
                .entry(spread_constraint)
                .or_insert_with_key(|spread_constraint| count_all(spread_constraint, cluster, names));
            let key = names.resolve(topology_key);
            let Some(domain) = value(cluster.labels(node), topology_key) else {
                violations.push((Rule::PodTopologySpread, format!("the node has no label {key}")));
                continue;
            };
            let Some(mut least) = domains.least() else { continue };
            if i64::from(min_domains) > i64::try_from(domains.pods.len()).unwrap_or(i64::MAX) {
                least = 0;
            }
            let pods = domains.pods.get(&domain).copied().unwrap_or_default();
            if pods + self_match - least > i64::from(max_skew) {
                let domain = names.resolve(domain);
                let what = format!(
                    "{key}={domain} has {pods} pods, the minimum is {least}, and the maximum skew is {max_skew}"
                );
                violations.push((Rule::PodTopologySpread, what));
            }
        }
    }
}

fn count_all(spread_constraint: &SpreadConstraint, cluster: &Cluster, names: &Interner) -> Domains {
    let mut domains = Domains::default();
    let nodes = || cluster.nodes.values().filter_map(|placed| placed.node.as_ref());
    for domain in nodes().filter_map(|node| spread_constraint.domain(node, names)) {
        domains.add(domain, 0);
    }
    for (_, node) in cluster.pods.values().filter(|(pod, _)| spread_constraint.counts_pod(pod)) {
        let node = cluster.nodes.get(node).and_then(|placed| placed.node.as_ref());
        if let Some(domain) = node.and_then(|node| spread_constraint.domain(node, names)) {
            domains.add(domain, 1);
        }
    }
    domains
}
