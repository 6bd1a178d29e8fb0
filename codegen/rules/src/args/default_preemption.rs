//! DefaultPreemption: at least one candidate must be evaluated (kube-scheduler's
//! `ValidateDefaultPreemptionArgs`).

use crate::diagnostic::Diagnostic;
use crate::messages;
use crate::source::Span;
use crate::tree::{RawTable, RawValue};

pub(super) fn check(args: &RawTable, diagnostics: &mut Vec<Diagnostic>) {
    let zero = |key: &str| -> Option<Span> {
        let node = &args.get(key)?.value;
        matches!(node.value, RawValue::Int(0)).then_some(node.span)
    };
    if let (Some(percentage), Some(absolute)) =
        (zero("min-candidate-nodes-percentage"), zero("min-candidate-nodes-absolute"))
    {
        diagnostics.push(messages::no_candidate_nodes(percentage, absolute));
    }
}
