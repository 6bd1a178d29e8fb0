//! NodeAffinity: required and preferred node affinity of the pod and of the profile.

use schedc_core::intern::Symbol;
use schedc_core::model::Node;

use crate::args::{Condition, Term};
use crate::matching::{label_by_name, matches_node_affinity, term_matches};
use crate::plugin::{Cycle, Plugin, PreFilter, Rejection, percent_of_highest};

pub(super) struct NodeAffinity;

impl Plugin for NodeAffinity {
    fn name(&self) -> &'static str {
        "NodeAffinity"
    }

    fn pre_filter(&self, cx: &Cycle<'_>) -> PreFilter {
        let (pod, added) = (&cx.pod.spec, &cx.args.node_affinity.added_affinity.required);
        if added.is_none() && pod.node_selector.is_empty() && pod.required_node_affinity.get().is_none() {
            return PreFilter::Skip;
        }
        match named(cx) {
            None => PreFilter::Ready,
            Some(names) if names.is_empty() => {
                PreFilter::Reject(Rejection::unresolvable("pod affinity terms conflict"))
            }
            Some(names) => PreFilter::Only(names),
        }
    }

    fn filter(&self, cx: &Cycle<'_>, node: &Node) -> Result<(), Rejection> {
        let added = &cx.args.node_affinity.added_affinity.required;
        if added.as_ref().is_some_and(|terms| !terms.iter().any(|term| added_term_matches(term, cx, node))) {
            return Err(Rejection::unresolvable("node(s) didn't match scheduler-enforced node affinity"));
        }
        match matches_node_affinity(&cx.pod.spec, node, cx.names) {
            true => Ok(()),
            false => Err(Rejection::unresolvable("node(s) didn't match Pod's node affinity/selector")),
        }
    }

    fn pre_score(&self, cx: &Cycle<'_>, _: &[&Node]) -> Result<bool, String> {
        let preferred = &cx.pod.spec.preferred_node_affinity;
        if let Some(error) = preferred.iter().find_map(|preferred| preferred.term.as_ref().err()) {
            return Err(error.to_string());
        }
        Ok(!preferred.is_empty() || !cx.args.node_affinity.added_affinity.preferred.is_empty())
    }

    fn score(&self, cx: &Cycle<'_>, _: &[&Node], node: &Node) -> Result<i64, String> {
        let mut score = 0;
        for preferred in &cx.pod.spec.preferred_node_affinity {
            if preferred.term.as_ref().is_ok_and(|term| term_matches(term, node, cx.names)) {
                score += preferred.weight;
            }
        }
        for preferred in &cx.args.node_affinity.added_affinity.preferred {
            if added_term_matches(&preferred.preference, cx, node) {
                score += preferred.weight;
            }
        }
        Ok(score)
    }

    fn normalize(&self, _: &Cycle<'_>, _: &[&Node], raw: &[i64]) -> Vec<i64> {
        percent_of_highest(raw, false)
    }
}

/// Returns the node names that the required terms select, if every term selects by name.
fn named(cx: &Cycle<'_>) -> Option<Vec<Symbol>> {
    let terms = &cx.pod.spec.required_node_affinity.get()?.terms;
    if terms.is_empty() {
        return None;
    }
    let mut all = Vec::new();
    for term in terms.iter() {
        let names: Vec<Symbol> =
            term.match_fields.iter().filter(|field| !field.negated).map(|field| field.name).collect();
        let first = *names.first()?;
        // Two different names match no node.
        if names.iter().all(|name| *name == first) {
            all.push(first);
        }
    }
    Some(all)
}

fn added_term_matches(term: &Term, cx: &Cycle<'_>, node: &Node) -> bool {
    let is_empty = term.match_expressions.is_empty() && term.match_fields.is_empty();
    let of_labels = |condition: &Condition| {
        condition_matches(condition, label_by_name(&node.labels, &condition.key, cx.names).map(|value| cx.text(value)))
    };
    let of_fields = |condition: &Condition| condition_matches(condition, Some(cx.text(node.name)));
    !is_empty && term.match_expressions.iter().all(of_labels) && term.match_fields.iter().all(of_fields)
}

fn condition_matches(condition: &Condition, value: Option<&str>) -> bool {
    let listed = || value.is_some_and(|value| condition.values.iter().any(|listed| listed == value));
    let number = || value?.parse::<i64>().ok();
    let bound = || condition.values.first()?.parse::<i64>().ok();
    match condition.operator.as_str() {
        "In" => listed(),
        "NotIn" => !listed(),
        "Exists" => value.is_some(),
        "DoesNotExist" => value.is_none(),
        "Gt" => number().zip(bound()).is_some_and(|(number, bound)| number > bound),
        "Lt" => number().zip(bound()).is_some_and(|(number, bound)| number < bound),
        _ => false,
    }
}
