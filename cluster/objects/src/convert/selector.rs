//! Conversion of the node selectors of node affinity.

use std::sync::Arc;

use k8s_openapi::api::core::v1 as api;
use schedc_core::intern::Interner;
use schedc_core::model::{NodeSelector, PreferredTerm, RequirementText, TermText};

pub(super) fn required(affinity: &api::NodeAffinity, interner: &mut Interner) -> Option<NodeSelector> {
    let required = affinity.required_during_scheduling_ignored_during_execution.as_ref()?;
    let terms: Vec<_> = required.node_selector_terms.iter().map(term_text).collect();
    Some(NodeSelector::parse_lenient(&terms, interner))
}

/// Returns the error of required terms that cannot be parsed.
pub(super) fn broken(affinity: &api::NodeAffinity, interner: &mut Interner) -> Option<Arc<str>> {
    let required = affinity.required_during_scheduling_ignored_during_execution.as_ref()?;
    let terms: Vec<_> = required.node_selector_terms.iter().map(term_text).collect();
    NodeSelector::parse(&terms, interner).err().map(Arc::from)
}

pub(super) fn preferred(affinity: &api::NodeAffinity, interner: &mut Interner) -> Box<[PreferredTerm]> {
    let preferred = affinity.preferred_during_scheduling_ignored_during_execution.iter().flatten();
    let terms: Vec<_> = preferred.map(|term| (term.weight, term_text(&term.preference))).collect();
    PreferredTerm::parse_all(&terms, interner)
}

/// Converts a term to the form that the model's parser takes.
pub(crate) fn term_text(term: &api::NodeSelectorTerm) -> TermText<'_> {
    TermText {
        match_expressions: term.match_expressions.iter().flatten().map(requirement_text).collect(),
        match_fields: term.match_fields.iter().flatten().map(requirement_text).collect(),
    }
}

fn requirement_text(requirement: &api::NodeSelectorRequirement) -> RequirementText<'_> {
    let values = requirement.values.as_ref();
    RequirementText {
        key: &requirement.key,
        operator: &requirement.operator,
        values: values.map(|values| values.iter().map(String::as_str).collect()),
    }
}
