//! NodeResourcesBalancedAllocation: the weight of a resource, if any, is 1 (kube-scheduler's
//! `ValidateNodeResourcesBalancedAllocationArgs`).

use super::{string_at, tables_at};
use crate::diagnostic::Diagnostic;
use crate::messages;
use crate::tree::{RawTable, RawValue};

pub(super) fn check(args: &RawTable, diagnostics: &mut Vec<Diagnostic>) {
    for (resource, _) in tables_at(args, "resources") {
        let Some(weight) = resource.get("weight") else { continue };
        if let RawValue::Int(value) = weight.value.value
            && value != 1
        {
            let name = string_at(resource, "name").map(|name| name.value).unwrap_or_default();
            diagnostics.push(messages::balanced_weight(weight.value.span, &name, value));
        }
    }
}
