//! NodeResourcesFit: a shape if and only if the scoring strategy uses it (kube-scheduler's
//! `ValidateNodeResourcesFitArgs`).

use super::{string_at, table_at};
use crate::diagnostic::Diagnostic;
use crate::messages;
use crate::tree::RawTable;

const STRATEGY_WITH_SHAPE: &str = "RequestedToCapacityRatio";

pub(super) fn check(args: &RawTable, diagnostics: &mut Vec<Diagnostic>) {
    let Some((strategy, _)) = table_at(args, "scoring-strategy") else { return };
    let kind = string_at(strategy, "type");
    let ratio = strategy.get("requested-to-capacity-ratio");
    match (kind, ratio) {
        (Some(kind), None) if kind.value == STRATEGY_WITH_SHAPE => {
            diagnostics.push(messages::ratio_needs_shape(kind.span))
        }
        (Some(kind), Some(ratio)) if kind.value != STRATEGY_WITH_SHAPE => {
            diagnostics.push(messages::shape_without_ratio(ratio.key.span, Some(&kind)));
        }
        (None, Some(ratio)) if strategy.get("type").is_none() => {
            diagnostics.push(messages::shape_without_ratio(ratio.key.span, None));
        }
        _ => {}
    }
}
