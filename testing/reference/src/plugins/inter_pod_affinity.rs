//! InterPodAffinity: required and preferred affinity and anti-affinity of the pod and of existing pods, by topology
//! domain.

use std::collections::{BTreeMap, BTreeSet};

use schedc_core::intern::Symbol;
use schedc_core::model::{Node, Object, Pod, PodAffinityTerm};

use crate::matching::{label, optional_selector_matches, selects};
use crate::plugin::{Cycle, Plugin, PreFilter, Rejection};

pub(super) struct InterPodAffinity;

impl Plugin for InterPodAffinity {
    fn name(&self) -> &'static str {
        "InterPodAffinity"
    }

    fn pre_filter(&self, cx: &Cycle<'_>) -> PreFilter {
        let affinity = &cx.pod.spec.affinity;
        if let Some(broken) = &affinity.broken {
            return PreFilter::Reject(Rejection::unresolvable(format!("parsing pod: {broken}")));
        }
        let has_required_terms = !affinity.required.is_empty() || !affinity.anti_required.is_empty();
        if has_required_terms || !domains_with_anti_affinity(cx).is_empty() {
            PreFilter::Ready
        } else {
            PreFilter::Skip
        }
    }

    fn filter(&self, cx: &Cycle<'_>, node: &Node) -> Result<(), Rejection> {
        if !satisfies_affinity(cx, node) {
            return Err(Rejection::unresolvable("node(s) didn't match pod affinity rules"));
        }
        for term in &cx.pod.spec.affinity.anti_required {
            let violates = |(placed, other): (&_, &Node)| {
                are_in_same_domain(term, node, other) && term_of_pod_matches(cx, term, placed)
            };
            if cx.cluster.running().any(|(placed, other)| violates((&*placed.pod, other))) {
                return Err(Rejection::unschedulable("node(s) didn't match pod anti-affinity rules"));
            }
        }
        let places = domains_with_anti_affinity(cx);
        if node.labels.iter().any(|place| places.contains(place)) {
            return Err(Rejection::unschedulable("node(s) didn't satisfy existing pods anti-affinity rules"));
        }
        Ok(())
    }

    fn pre_score(&self, cx: &Cycle<'_>, _: &[&Node]) -> Result<bool, String> {
        if let Some(broken) = &cx.pod.spec.affinity.broken {
            return Err(format!("failed to parse pod: {broken}"));
        }
        Ok(!weights(cx).is_empty())
    }

    fn score(&self, cx: &Cycle<'_>, _: &[&Node], node: &Node) -> Result<i64, String> {
        let weights = weights(cx);
        Ok(node.labels.iter().filter_map(|place| weights.get(place)).sum())
    }

    fn normalize(&self, _: &Cycle<'_>, _: &[&Node], raw: &[i64]) -> Vec<i64> {
        let lowest = raw.iter().copied().min().unwrap_or(0);
        let range = raw.iter().copied().max().unwrap_or(0) - lowest;
        let scaled = |score: &i64| match range {
            0 => 0,
            _ => (100.0 * ((score - lowest) as f64 / range as f64)) as i64,
        };
        raw.iter().map(scaled).collect()
    }
}

/// Returns whether two nodes have the same value of a term's topology key.
fn are_in_same_domain(term: &PodAffinityTerm, one: &Node, other: &Node) -> bool {
    let value = label(&one.labels, term.topology_key);
    value.is_some() && value == label(&other.labels, term.topology_key)
}

/// Returns whether a term of the incoming pod matches another pod. As in kube-scheduler, a namespace selector that
/// matches an empty label set selects every namespace, regardless of its labels, even if the namespace does not exist.
/// Any other namespace selector selects the existing namespaces whose labels it matches.
fn term_of_pod_matches(cx: &Cycle<'_>, term: &PodAffinityTerm, other: &Pod) -> bool {
    let namespace = other.spec.namespace;
    let selected = term.namespace_selector.as_ref().is_some_and(|selector| {
        selects(selector, &[], cx.names)
            || namespace_labels(cx, namespace).is_some_and(|labels| selects(selector, labels, cx.names))
    });
    (selected || term.namespaces.contains(&namespace))
        && optional_selector_matches(term.selector.as_ref(), &other.spec.labels, cx.names)
}

/// Returns whether a term of an existing pod matches the incoming pod.
fn term_of_running_pod_matches(cx: &Cycle<'_>, term: &PodAffinityTerm) -> bool {
    let pod = &cx.pod.spec;
    let labels = namespace_labels(cx, pod.namespace).unwrap_or_default();
    let in_namespaces = term.namespaces.contains(&pod.namespace)
        || optional_selector_matches(term.namespace_selector.as_ref(), labels, cx.names);
    in_namespaces && optional_selector_matches(term.selector.as_ref(), &pod.labels, cx.names)
}

fn namespace_labels<'a>(cx: &Cycle<'a>, name: Symbol) -> Option<&'a [(Symbol, Symbol)]> {
    cx.cluster.objects.values().find_map(|object| match object {
        Object::Namespace(namespace) if namespace.name == name => Some(&*namespace.labels),
        _ => None,
    })
}

/// Returns whether a node satisfies the required affinity of the pod. For each required term, the node's domain of the
/// term's topology key must have a pod that matches all required terms, not only this one.
fn satisfies_affinity(cx: &Cycle<'_>, node: &Node) -> bool {
    let terms = &cx.pod.spec.affinity.required;
    if terms.iter().any(|term| label(&node.labels, term.topology_key).is_none()) {
        return false;
    }
    let matches_all_terms = |pod: &Pod| terms.iter().all(|term| term_of_pod_matches(cx, term, pod));
    let nodes_of_matches: Vec<&Node> =
        cx.cluster.running().filter(|(placed, _)| matches_all_terms(&placed.pod)).map(|(_, at)| at).collect();
    if terms.iter().all(|term| nodes_of_matches.iter().any(|other| are_in_same_domain(term, node, other))) {
        return true;
    }
    // The first pod of a group with affinity to itself may be placed on any node.
    let has_matching_pod =
        nodes_of_matches.iter().any(|at| terms.iter().any(|term| label(&at.labels, term.topology_key).is_some()));
    !has_matching_pod && matches_all_terms(cx.pod)
}

/// Returns the domains in which existing pods have anti-affinity to the pod, as labels of nodes.
fn domains_with_anti_affinity(cx: &Cycle<'_>) -> BTreeSet<(Symbol, Symbol)> {
    let mut places = BTreeSet::new();
    for (placed, at) in cx.cluster.running() {
        for term in placed.pod.spec.affinity.anti_required.iter().filter(|term| term_of_running_pod_matches(cx, term)) {
            places.extend(label(&at.labels, term.topology_key).map(|value| (term.topology_key, value)));
        }
    }
    places
}

/// Returns the score of each domain, from the affinity terms of the pod and of existing pods.
fn weights(cx: &Cycle<'_>) -> BTreeMap<(Symbol, Symbol), i64> {
    let args = &cx.args.inter_pod_affinity;
    let own = &cx.pod.spec.affinity;
    let mut weights = BTreeMap::new();
    if args.ignore_preferred_terms_of_existing_pods && own.preferred.is_empty() && own.anti_preferred.is_empty() {
        return weights;
    }
    for (placed, at) in cx.cluster.running() {
        let mut count = |term: &PodAffinityTerm, weight: i64| {
            if let Some(value) = label(&at.labels, term.topology_key) {
                *weights.entry((term.topology_key, value)).or_default() += weight;
            }
        };
        for (preferred, sign) in own.preferred.iter().map(|p| (p, 1)).chain(own.anti_preferred.iter().map(|p| (p, -1)))
        {
            if term_of_pod_matches(cx, &preferred.term, &placed.pod) {
                count(&preferred.term, sign * i64::from(preferred.weight));
            }
        }
        let theirs = &placed.pod.spec.affinity;
        if args.hard_pod_affinity_weight > 0 {
            for term in theirs.required.iter().filter(|term| term_of_running_pod_matches(cx, term)) {
                count(term, args.hard_pod_affinity_weight);
            }
        }
        for (preferred, sign) in
            theirs.preferred.iter().map(|p| (p, 1)).chain(theirs.anti_preferred.iter().map(|p| (p, -1)))
        {
            if term_of_running_pod_matches(cx, &preferred.term) {
                count(&preferred.term, sign * i64::from(preferred.weight));
            }
        }
    }
    weights
}
