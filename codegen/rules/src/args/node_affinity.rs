//! NodeAffinity: the added affinity is not empty, and its operators have the required number of values.
//!
//! There are two sources of rules: kube-scheduler's `ValidateNodeAffinityArgs`, which parses the terms like those of a
//! pod; and the API server's `ValidateNodeSelectorTerm`.

use super::{string_at, table_at, tables_at};
use crate::diagnostic::Diagnostic;
use crate::messages;
use crate::source::Span;
use crate::tree::{RawTable, RawValue};

/// The only node field for selectors.
const NAME_FIELD: &str = "metadata.name";

pub(super) fn check(args: &RawTable, diagnostics: &mut Vec<Diagnostic>) {
    let Some((affinity, node)) = table_at(args, "added-affinity") else { return };
    if affinity.get("required").is_none() && affinity.get("preferred").is_none() {
        diagnostics.push(messages::empty_added_affinity(node.span));
    }
    let required = tables_at(affinity, "required").map(|(term, _)| term);
    let preferred = tables_at(affinity, "preferred").filter_map(|(term, _)| Some(table_at(term, "preference")?.0));
    for term in required.chain(preferred) {
        for (requirement, node) in tables_at(term, "match-expressions") {
            label_requirement(requirement, node.span, diagnostics);
        }
        for (requirement, node) in tables_at(term, "match-fields") {
            field_requirement(requirement, node.span, diagnostics);
        }
    }
}

fn label_requirement(requirement: &RawTable, at: Span, diagnostics: &mut Vec<Diagnostic>) {
    let Some(operator) = string_at(requirement, "operator") else { return };
    let Some((values, values_at)) = values(requirement, at) else { return };
    match operator.value.as_str() {
        "In" | "NotIn" if values.is_empty() => {
            diagnostics.push(messages::operator_needs_values(values_at, &operator.value));
        }
        "Exists" | "DoesNotExist" if !values.is_empty() => {
            diagnostics.push(messages::operator_forbids_values(values_at, &operator));
        }
        "Gt" | "Lt" if !is_one_integer(&values) => {
            diagnostics.push(messages::operator_needs_one_integer(values_at, &operator.value));
        }
        _ => {}
    }
}

fn field_requirement(requirement: &RawTable, at: Span, diagnostics: &mut Vec<Diagnostic>) {
    if let Some(key) = string_at(requirement, "key").filter(|key| key.value != NAME_FIELD) {
        diagnostics.push(messages::unknown_node_field(&key));
    }
    let Some(operator) = string_at(requirement, "operator") else { return };
    if !["In", "NotIn"].contains(&operator.value.as_str()) {
        diagnostics.push(messages::field_operator(&operator));
    } else if let Some((values, values_at)) = values(requirement, at)
        && values.len() != 1
    {
        diagnostics.push(messages::field_needs_one_value(values_at, &operator.value));
    }
}

/// Returns the values and their location. Without values, the location is that of the requirement. `None`: the values
/// have the wrong shape.
fn values(requirement: &RawTable, at: Span) -> Option<(Vec<&str>, Span)> {
    let Some(field) = requirement.get("values") else { return Some((Vec::new(), at)) };
    let RawValue::List(items) = &field.value.value else { return None };
    let texts = items.iter().map(|item| match &item.value {
        RawValue::Str(text) => Some(text.as_str()),
        _ => None,
    });
    Some((texts.collect::<Option<_>>()?, field.value.span))
}

fn is_one_integer(values: &[&str]) -> bool {
    matches!(values, [text] if text.parse::<i64>().is_ok())
}
