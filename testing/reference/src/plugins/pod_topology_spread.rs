//! PodTopologySpread: spreads matching pods over topology domains.

use std::collections::{BTreeMap, BTreeSet};

use schedc_core::intern::Symbol;
use schedc_core::model::{
    ControllerRef, InclusionPolicy, LabelSelector, Node, Object, TopologySpreadConstraint, UnsatisfiableAction,
    Workload, WorkloadKind,
};

use crate::args::Defaulting;
use crate::matching::{label, matches_node_affinity, selects, tolerates_node};
use crate::plugin::{Cycle, Plugin, PreFilter, Rejection};

pub(super) struct PodTopologySpread;

const HOSTNAME: &str = "kubernetes.io/hostname";
const ZONE: &str = "topology.kubernetes.io/zone";

/// A constraint of a pod or a profile.
struct Constraint {
    max_skew: i64,
    /// The topology key. `None`: no node has a label with this key.
    key: Option<Symbol>,
    is_hostname: bool,
    min_domains: i64,
    selector: Option<LabelSelector>,
    honor_affinity: bool,
    honor_taints: bool,
}

impl Plugin for PodTopologySpread {
    fn name(&self) -> &'static str {
        "PodTopologySpread"
    }

    fn pre_filter(&self, cx: &Cycle<'_>) -> PreFilter {
        match constraints(cx, UnsatisfiableAction::DoNotSchedule) {
            Err(error) => {
                let context = "get constraints from pod: obtaining pod's hard topology spread constraints";
                PreFilter::Reject(Rejection::error(format!("{context}: {error}")))
            }
            Ok(constraints) if constraints.is_empty() => PreFilter::Skip,
            Ok(_) => PreFilter::Ready,
        }
    }

    fn filter(&self, cx: &Cycle<'_>, node: &Node) -> Result<(), Rejection> {
        let constraints = constraints(cx, UnsatisfiableAction::DoNotSchedule).map_err(Rejection::error)?;
        for constraint in &constraints {
            let Some(domain) = constraint.domain(node) else {
                let text = "node(s) didn't match pod topology spread constraints (missing required label)";
                return Err(Rejection::unresolvable(text));
            };
            let mut counts = BTreeMap::<Symbol, i64>::new();
            let counted = |other: &&Node| has_all_topology_keys(&constraints, other) && constraint.includes(cx, other);
            for other in cx.cluster.nodes.values().map(|other| &**other).filter(counted) {
                if let Some(domain) = constraint.domain(other) {
                    *counts.entry(domain).or_default() += constraint.count(cx, other);
                }
            }
            let minimum = match counts.len() as i64 {
                domains if domains < constraint.min_domains => 0,
                _ => counts.values().copied().min().unwrap_or(i32::MAX.into()),
            };
            let self_match = constraint.selector.as_ref().is_some_and(|s| selects(s, &cx.pod.spec.labels, cx.names));
            let count_here = counts.get(&domain).copied().unwrap_or(0);
            if count_here + i64::from(self_match) - minimum > constraint.max_skew {
                return Err(Rejection::unschedulable("node(s) didn't match pod topology spread constraints"));
            }
        }
        Ok(())
    }

    fn pre_score(&self, cx: &Cycle<'_>, _: &[&Node]) -> Result<bool, String> {
        let constraints = constraints(cx, UnsatisfiableAction::ScheduleAnyway).map_err(|error| {
            format!("calculating preScoreState: obtaining pod's soft topology spread constraints: {error}")
        })?;
        Ok(!constraints.is_empty())
    }

    fn score(&self, cx: &Cycle<'_>, feasible: &[&Node], node: &Node) -> Result<i64, String> {
        let constraints = constraints(cx, UnsatisfiableAction::ScheduleAnyway)?;
        if is_ignored(cx, &constraints, node) {
            return Ok(0);
        }
        let participants: Vec<&Node> =
            feasible.iter().copied().filter(|other| !is_ignored(cx, &constraints, other)).collect();
        // With the system's default constraints, nodes without the label take part, too. Together, they form the domain
        // with the empty value.
        let domain_of = |constraint: &Constraint, node: &Node| constraint.domain(node).unwrap_or(Symbol::EMPTY);
        let mut score = 0.0;
        for constraint in &constraints {
            let Some(domain) = constraint.domain(node) else { continue };
            let (domains, count) = match constraint.is_hostname {
                true => (participants.len(), constraint.count(cx, node)),
                false => {
                    let domains: BTreeSet<Symbol> =
                        participants.iter().map(|other| domain_of(constraint, other)).collect();
                    let counted = |other: &&Node| {
                        domain_of(constraint, other) == domain
                            && !is_ignored(cx, &constraints, other)
                            && constraint.includes(cx, other)
                    };
                    let nodes = cx.cluster.nodes.values().map(|other| &**other).filter(counted);
                    (domains.len(), nodes.map(|other| constraint.count(cx, other)).sum())
                }
            };
            score += count as f64 * ((domains + 2) as f64).ln() + (constraint.max_skew - 1) as f64;
        }
        Ok(score.round() as i64)
    }

    fn normalize(&self, cx: &Cycle<'_>, feasible: &[&Node], raw: &[i64]) -> Vec<i64> {
        let constraints = constraints(cx, UnsatisfiableAction::ScheduleAnyway).unwrap_or_default();
        let ignored: Vec<bool> = feasible.iter().map(|node| is_ignored(cx, &constraints, node)).collect();
        let counted_scores = || raw.iter().zip(&ignored).filter(|(_, ignored)| !**ignored).map(|(score, _)| *score);
        let (lowest, highest) = (counted_scores().min().unwrap_or(0), counted_scores().max().unwrap_or(0));
        let invert = |(score, ignored): (&i64, &bool)| match (ignored, highest) {
            (true, _) => 0,
            (false, 0) => 100,
            (false, _) => 100 * (highest + lowest - score) / highest,
        };
        raw.iter().zip(&ignored).map(invert).collect()
    }
}

impl Constraint {
    fn domain(&self, node: &Node) -> Option<Symbol> {
        label(&node.labels, self.key?)
    }

    /// Returns whether the pods of a node count.
    fn includes(&self, cx: &Cycle<'_>, node: &Node) -> bool {
        (!self.honor_affinity || matches_node_affinity(&cx.pod.spec, node, cx.names))
            && (!self.honor_taints || tolerates_node(&cx.pod.spec, node))
    }

    /// Returns the number of matching pods on a node. As in kube-scheduler, pods that are being deleted count only if
    /// they are hypothetical. If the selector is empty, this holds for all pods.
    fn count(&self, cx: &Cycle<'_>, node: &Node) -> i64 {
        let Some(selector) = &self.selector else { return 0 };
        let of_namespace = cx.pods_on(node).filter(|placed| placed.pod.spec.namespace == cx.pod.spec.namespace);
        let counted = of_namespace.filter(|placed| match placed.hypothetical {
            true => true,
            false => !placed.pod.deleting && !selector.requirements.is_empty(),
        });
        counted.filter(|placed| selects(selector, &placed.pod.spec.labels, cx.names)).count() as i64
    }

    fn of_pod(constraint: &TopologySpreadConstraint, cx: &Cycle<'_>) -> Result<Constraint, String> {
        Ok(Constraint {
            max_skew: constraint.max_skew.into(),
            key: Some(constraint.topology_key),
            is_hostname: cx.text(constraint.topology_key) == HOSTNAME,
            min_domains: constraint.min_domains.into(),
            selector: constraint.selector.clone().map_err(|error| error.to_string())?,
            honor_affinity: constraint.node_affinity_policy == InclusionPolicy::Honor,
            honor_taints: constraint.node_taints_policy == InclusionPolicy::Honor,
        })
    }
}

/// Returns the pod's constraints, or else the profile's defaults.
fn constraints(cx: &Cycle<'_>, action: UnsatisfiableAction) -> Result<Vec<Constraint>, String> {
    let own = &cx.pod.spec.spread;
    if !own.is_empty() {
        let selected = own.iter().filter(|constraint| constraint.when_unsatisfiable == action);
        return selected.map(|constraint| Constraint::of_pod(constraint, cx)).collect();
    }
    let selector = default_selector(cx);
    if selector.requirements.is_empty() {
        return Ok(Vec::new());
    }
    let soft = action == UnsatisfiableAction::ScheduleAnyway;
    let make = |key: &str, max_skew: i32| Constraint {
        max_skew: max_skew.into(),
        key: cx.names.get(key),
        is_hostname: key == HOSTNAME,
        min_domains: 1,
        selector: Some(selector.clone()),
        honor_affinity: true,
        honor_taints: false,
    };
    let args = &cx.args.pod_topology_spread;
    Ok(match args.defaulting_type {
        Defaulting::System if soft => vec![make(HOSTNAME, 3), make(ZONE, 5)],
        Defaulting::System => Vec::new(),
        Defaulting::List => args
            .default_constraints
            .iter()
            .filter(|constraint| (constraint.when_unsatisfiable == "ScheduleAnyway") == soft)
            .map(|constraint| Constraint {
                min_domains: constraint.min_domains,
                honor_affinity: constraint.node_affinity_policy == "Honor",
                honor_taints: constraint.node_taints_policy == "Honor",
                ..make(&constraint.topology_key, constraint.max_skew)
            })
            .collect(),
    })
}

/// Returns whether a node has the labels of all constraints.
fn has_all_topology_keys(constraints: &[Constraint], node: &Node) -> bool {
    constraints.iter().all(|constraint| constraint.domain(node).is_some())
}

/// Returns whether Score ignores a node because it lacks a label. With the system's default constraints, Score
/// ignores no node.
fn is_ignored(cx: &Cycle<'_>, constraints: &[Constraint], node: &Node) -> bool {
    let system = cx.pod.spec.spread.is_empty() && cx.args.pod_topology_spread.defaulting_type == Defaulting::System;
    !system && !has_all_topology_keys(constraints, node)
}

/// Returns the selector of the pod's Services and controller.
fn default_selector(cx: &Cycle<'_>) -> LabelSelector {
    let pod = &cx.pod.spec;
    let workloads = || {
        cx.cluster.objects.values().filter_map(|object| match object {
            Object::Workload(workload) if workload.namespace == pod.namespace => Some(&**workload),
            _ => None,
        })
    };
    let is_controller =
        |workload: &&Workload| pod.controller == Some(ControllerRef { kind: workload.kind, name: workload.name });
    let mut labels = BTreeMap::new();
    let set_all = |labels: &mut BTreeMap<_, _>, selector: &LabelSelector| {
        labels.extend(selector.requirements.iter().filter_map(|r| Some((r.key, *r.values.first()?))));
    };
    for service in workloads().filter(|workload| workload.kind == WorkloadKind::Service) {
        if let Some(selector) = service.selector.as_ref().filter(|s| selects(s, &pod.labels, cx.names)) {
            set_all(&mut labels, selector);
        }
    }
    let controller =
        workloads().find(is_controller).and_then(|workload| Some((workload.kind, workload.selector.as_ref()?)));
    if let Some((WorkloadKind::ReplicationController, selector)) = controller {
        set_all(&mut labels, selector);
    }
    let selector = LabelSelector::from_labels(&labels.into_iter().collect::<Vec<_>>());
    match controller {
        Some((WorkloadKind::ReplicaSet | WorkloadKind::StatefulSet, more)) => selector.and(more),
        _ => selector,
    }
}
