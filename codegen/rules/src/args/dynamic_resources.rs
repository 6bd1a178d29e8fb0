//! DynamicResources: the minimum timeout of PreBind (kube-scheduler's `ValidateDynamicResourcesArgs`).

use super::string_at;
use crate::diagnostic::Diagnostic;
use crate::format::duration;
use crate::messages;
use crate::tree::RawTable;

const SECOND: f64 = 1e9;

pub(super) fn check(args: &RawTable, diagnostics: &mut Vec<Diagnostic>) {
    if let Some(timeout) = string_at(args, "binding-timeout")
        && duration(&timeout.value).is_some_and(|nanoseconds| nanoseconds < SECOND)
    {
        diagnostics.push(messages::short_binding_timeout(&timeout));
    }
}
