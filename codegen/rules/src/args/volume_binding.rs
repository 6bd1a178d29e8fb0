//! VolumeBinding: `shape` requires a feature gate that is off (kube-scheduler's `ValidateVolumeBindingArgs`).

use crate::diagnostic::Diagnostic;
use crate::messages;
use crate::tree::RawTable;

pub(super) fn check(args: &RawTable, diagnostics: &mut Vec<Diagnostic>) {
    if let Some(shape) = args.get("shape") {
        diagnostics.push(messages::shape_needs_feature_gate(shape.key.span));
    }
}
