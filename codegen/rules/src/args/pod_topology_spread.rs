//! PodTopologySpread: default constraints only with defaulting type `List`, each once (kube-scheduler's
//! `ValidatePodTopologySpreadArgs`).

use super::{string_at, tables_at};
use crate::diagnostic::Diagnostic;
use crate::messages;
use crate::source::Span;
use crate::tree::{RawTable, RawValue};

const TYPE_WITH_CONSTRAINTS: &str = "List";

pub(super) fn check(args: &RawTable, diagnostics: &mut Vec<Diagnostic>) {
    if let Some(constraints) = args.get("default-constraints")
        && matches!(&constraints.value.value, RawValue::List(items) if !items.is_empty())
    {
        match string_at(args, "defaulting-type") {
            None if args.get("defaulting-type").is_none() => {
                diagnostics.push(messages::constraints_without_list(constraints.key.span, None));
            }
            Some(kind) if kind.value != TYPE_WITH_CONSTRAINTS => {
                diagnostics.push(messages::constraints_without_list(constraints.key.span, Some(&kind)));
            }
            _ => {}
        }
    }
    let mut seen: Vec<(String, String, Span)> = Vec::new();
    for (constraint, node) in tables_at(args, "default-constraints") {
        let texts = (string_at(constraint, "topology-key"), string_at(constraint, "when-unsatisfiable"));
        let (Some(key), Some(action)) = texts else { continue };
        match seen.iter().find(|other| (&other.0, &other.1) == (&key.value, &action.value)) {
            Some(first) => {
                diagnostics.push(messages::constraint_repeated(node.span, first.2, &key.value, &action.value))
            }
            None => seen.push((key.value, action.value, node.span)),
        }
    }
}
