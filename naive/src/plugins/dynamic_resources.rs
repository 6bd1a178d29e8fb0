//! Pods with resource claims go nowhere yet. All others are equal.

use crate::plugin::{Cycle, No, Plugin, PreFilter};

pub(super) struct DynamicResources;

impl Plugin for DynamicResources {
    fn name(&self) -> &'static str {
        "DynamicResources"
    }
    fn pre_filter(&self, cx: &Cycle<'_>) -> PreFilter {
        match cx.pod.spec.resource_claims.is_empty() {
            true => PreFilter::Skip,
            false => PreFilter::No(No::never("resource claims are not supported yet")),
        }
    }
}
