//! NodeDeclaredFeatures: requires that the node declares the features that the pod uses.

use schedc_core::model::Node;

use crate::plugin::{Cycle, Plugin, PreFilter, Rejection};

pub(super) struct NodeDeclaredFeatures;

impl Plugin for NodeDeclaredFeatures {
    fn name(&self) -> &'static str {
        "NodeDeclaredFeatures"
    }
    fn pre_filter(&self, cx: &Cycle<'_>) -> PreFilter {
        if cx.pod.spec.required_features.is_empty() { PreFilter::Skip } else { PreFilter::Ready }
    }
    fn filter(&self, cx: &Cycle<'_>, node: &Node) -> Result<(), Rejection> {
        match cx.pod.spec.required_features.iter().all(|feature| node.declared_features.contains(feature)) {
            true => Ok(()),
            false => Err(Rejection::unresolvable("node(s) didn't match Pod's required features")),
        }
    }
}
