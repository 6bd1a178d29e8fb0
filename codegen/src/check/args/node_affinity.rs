//! NodeAffinity: the added affinity adds something, and its operators have the values that they need
//! (kube-scheduler's `ValidateNodeAffinityArgs`, which parses the terms as it would those of a pod, and the API server's
//! `ValidateNodeSelectorTerm`).

use super::{list_at, string_at, table_at, tables_at};
use crate::diagnostic::Diagnostic;
use crate::messages;
use crate::source::{Span, Spanned};
use crate::tree::{RawNode, RawTable, RawValue};

/// The one field of a node that can be selected by.
const NAME_FIELD: &str = "metadata.name";

pub(super) fn check(args: &RawTable, found: &mut Vec<Diagnostic>) {
    let Some((affinity, node)) = table_at(args, "added-affinity") else { return };
    if affinity.get("required").is_none() && affinity.get("preferred").is_none() {
        found.push(messages::empty_added_affinity(node.span));
    }
    let required = tables_at(affinity, "required").map(|(term, _)| term);
    let preferred = tables_at(affinity, "preferred").filter_map(|(term, _)| Some(table_at(term, "preference")?.0));
    for term in required.chain(preferred) {
        for (requirement, node) in tables_at(term, "match-expressions") {
            label_requirement(requirement, node.span, found);
        }
        for (requirement, node) in tables_at(term, "match-fields") {
            field_requirement(requirement, node.span, found);
        }
    }
}

fn label_requirement(requirement: &RawTable, at: Span, found: &mut Vec<Diagnostic>) {
    let Some(operator) = string_at(requirement, "operator") else { return };
    let values = list_at(requirement, "values");
    let values_at = values_place(requirement, at);
    match operator.value.as_str() {
        "In" | "NotIn" if values.is_empty() => {
            found.push(messages::operator_needs_values(values_at, &operator.value));
        }
        "Exists" | "DoesNotExist" if !values.is_empty() => {
            found.push(messages::operator_forbids_values(values_at, &operator));
        }
        "Gt" | "Lt" if !is_one_integer(values) => {
            found.push(messages::operator_needs_one_integer(values_at, &operator.value));
        }
        _ => {}
    }
}

fn field_requirement(requirement: &RawTable, at: Span, found: &mut Vec<Diagnostic>) {
    if let Some(key) = string_at(requirement, "key").filter(|key| key.value != NAME_FIELD) {
        found.push(messages::unknown_node_field(&key));
    }
    let Some(operator) = string_at(requirement, "operator") else { return };
    match operator.value.as_str() {
        "In" | "NotIn" => one_name(requirement, &operator, at, found),
        _ => found.push(messages::field_operator(&operator)),
    }
}

fn one_name(requirement: &RawTable, operator: &Spanned<String>, at: Span, found: &mut Vec<Diagnostic>) {
    if list_at(requirement, "values").len() != 1 {
        found.push(messages::field_needs_one_value(values_place(requirement, at), &operator.value));
    }
}

fn values_place(requirement: &RawTable, otherwise: Span) -> Span {
    requirement.get("values").map_or(otherwise, |field| field.value.span)
}

fn is_one_integer(values: &[RawNode]) -> bool {
    match values {
        [RawNode { value: RawValue::Str(text), .. }] => text.parse::<i64>().is_ok(),
        _ => false,
    }
}
