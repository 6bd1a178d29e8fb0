//! DynamicResources: rejects pods that name a resource claim. The clusters of the tests have no claims and no devices, so
//! the claim does not exist.

use schedc_core::model::ClaimSource;

use crate::plugin::{Cycle, Plugin, PreFilter, Rejection};

pub(super) struct DynamicResources;

impl Plugin for DynamicResources {
    fn name(&self) -> &'static str {
        "DynamicResources"
    }
    fn pre_filter(&self, cx: &Cycle<'_>) -> PreFilter {
        let named = cx.pod.spec.resource_claims.iter().find_map(|claim| match claim.source {
            ClaimSource::Named(name) => Some(cx.text(name)),
            _ => None,
        });
        let Some(name) = named else { return PreFilter::Skip };
        let namespace = cx.text(cx.pod.spec.namespace);
        PreFilter::Reject(Rejection::unresolvable(format!("could not find ResourceClaim \"{namespace}/{name}\"")))
    }
}
