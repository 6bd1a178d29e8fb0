//! The required node affinity of the pod.

use std::fmt;

use k8s_openapi::api::core::v1::{NodeSelectorRequirement, NodeSelectorTerm};
use serde::Serialize;

use crate::remedies::change::Change;
use crate::remedies::fork::Fork;
use crate::remedies::situation::Situation;

/// Maximum number of expressions that are tried.
const MAX_EXPRESSIONS: usize = 16;

/// Removes an expression of the required node affinity, or the whole required node affinity.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct RemoveNodeAffinity {
    /// The expression as text. `None`: the whole required node affinity.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expression: Option<String>,
    /// Indices of the term and the expression.
    #[serde(skip)]
    at: Option<(usize, usize)>,
}

impl RemoveNodeAffinity {
    pub(in crate::remedies) fn candidates(fork: &mut Fork<'_>, situation: &Situation, add: &mut dyn FnMut(Self)) {
        if !situation.has("NodeAffinity") && !situation.is_pre_filtered("pod affinity terms conflict") {
            return;
        }
        let terms = required(fork);
        let expressions: Vec<Self> = terms
            .iter()
            .enumerate()
            .flat_map(|(at_term, term)| {
                expressions_of(term).enumerate().map(move |(at, expression)| (at_term, at, expression))
            })
            .map(|(term, at, expression)| RemoveNodeAffinity {
                expression: Some(text(expression)),
                at: Some((term, at)),
            })
            .take(MAX_EXPRESSIONS)
            .collect();
        let is_single = terms.len() == 1 && expressions.len() == 1;
        if !is_single && !terms.is_empty() {
            add(RemoveNodeAffinity { expression: None, at: None });
        }
        expressions.into_iter().for_each(add);
    }
}

/// Returns the terms of the pod's required node affinity.
pub(super) fn required(fork: &Fork<'_>) -> Vec<NodeSelectorTerm> {
    let affinity = fork.subject().spec.and_then(|spec| spec.affinity?.node_affinity);
    affinity
        .and_then(|affinity| affinity.required_during_scheduling_ignored_during_execution)
        .map(|selector| selector.node_selector_terms)
        .unwrap_or_default()
}

fn expressions_of(term: &NodeSelectorTerm) -> impl Iterator<Item = &NodeSelectorRequirement> {
    term.match_expressions.iter().flatten().chain(term.match_fields.iter().flatten())
}

fn text(expression: &NodeSelectorRequirement) -> String {
    let NodeSelectorRequirement { key, operator, values } = expression;
    match values.as_deref().unwrap_or_default() {
        [] => format!("{key} {operator}"),
        values => format!("{key} {operator} ({})", values.join(", ")),
    }
}

impl Change for RemoveNodeAffinity {
    fn apply(&self, fork: &mut Fork<'_>) -> bool {
        let mut pod = fork.subject();
        let affinity = pod.spec.as_mut().and_then(|spec| spec.affinity.as_mut()?.node_affinity.as_mut());
        let Some(affinity) = affinity else { return false };
        let required = &mut affinity.required_during_scheduling_ignored_during_execution;
        match self.at {
            None => *required = None,
            Some((at, expression)) => {
                let Some(terms) = required.as_mut().map(|selector| &mut selector.node_selector_terms) else {
                    return false;
                };
                let Some(term) = terms.get_mut(at) else { return false };
                let expressions = term.match_expressions.get_or_insert_default();
                match expression.checked_sub(expressions.len()) {
                    None => drop(expressions.remove(expression)),
                    Some(field) => {
                        let fields = term.match_fields.get_or_insert_default();
                        if field >= fields.len() {
                            return false;
                        }
                        fields.remove(field);
                    }
                }
                if expressions_of(term).next().is_none() {
                    // A term without expressions matches no node, so the removal of its last expression does not help
                    // if there are other terms. Without other terms, the required node affinity is removed.
                    if terms.len() > 1 {
                        return false;
                    }
                    *required = None;
                }
            }
        }
        fork.set(pod);
        true
    }

    fn disturbance(&self) -> u32 {
        if self.at.is_some() { 41 } else { 46 }
    }
}

impl fmt::Display for RemoveNodeAffinity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.expression {
            Some(expression) => write!(f, "remove `{expression}` from the required node affinity"),
            None => f.write_str("remove the required node affinity"),
        }
    }
}
