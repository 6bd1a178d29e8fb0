//! NodeResourcesBalancedAllocation: prefers nodes where all resources are used to a similar degree.

use schedc_core::model::Node;

use super::node_resources_fit::{amount, is_scalar, used};
use crate::plugin::{Cycle, Plugin};

pub(super) struct NodeResourcesBalancedAllocation;

impl Plugin for NodeResourcesBalancedAllocation {
    fn name(&self) -> &'static str {
        "NodeResourcesBalancedAllocation"
    }

    fn pre_score(&self, cx: &Cycle<'_>, _: &[&Node]) -> Result<bool, String> {
        let resources = &cx.args.node_resources_balanced_allocation.resources;
        Ok(resources.iter().any(|resource| amount(cx, &cx.pod.spec.balance_requests, &resource.name) != 0))
    }

    fn score(&self, cx: &Cycle<'_>, _: &[&Node], node: &Node) -> Result<i64, String> {
        let (mut before, mut after) = (Vec::new(), Vec::new());
        for resource in &cx.args.node_resources_balanced_allocation.resources {
            let allocatable = amount(cx, &node.allocatable, &resource.name);
            let requested = amount(cx, &cx.pod.spec.balance_requests, &resource.name);
            if allocatable == 0 || is_scalar(&resource.name) && requested == 0 {
                continue;
            }
            let used = used(cx, node, &resource.name);
            before.push((used as f64 / allocatable as f64).min(1.0));
            after.push((used.wrapping_add(requested) as f64 / allocatable as f64).min(1.0));
        }
        Ok(50 + (50 + balance(&after) - balance(&before)) / 2)
    }
}

fn balance(used: &[f64]) -> i64 {
    let count = used.len() as f64;
    let deviation = match used {
        [] | [_] => 0.0,
        [one, other] => ((one - other) / 2.0).abs(),
        _ => {
            let mean = used.iter().sum::<f64>() / count;
            (used.iter().map(|part| (part - mean) * (part - mean)).sum::<f64>() / count).sqrt()
        }
    };
    ((1.0 - deviation) * 100.0) as i64
}
