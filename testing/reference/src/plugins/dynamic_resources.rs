//! DynamicResources: rejects pods with resource claims; not implemented further.

use crate::plugin::{Cycle, Plugin, PreFilter, Rejection};

pub(super) struct DynamicResources;

impl Plugin for DynamicResources {
    fn name(&self) -> &'static str {
        "DynamicResources"
    }
    fn pre_filter(&self, cx: &Cycle<'_>) -> PreFilter {
        match cx.pod.spec.resource_claims.is_empty() {
            true => PreFilter::Skip,
            false => PreFilter::Reject(Rejection::unresolvable("resource claims are not supported yet")),
        }
    }
}
