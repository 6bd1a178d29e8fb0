//! NodeResourcesFit: requires free resources, and prefers nodes with more or less of them.

use schedc_core::model::{Node, Resources};
use schedc_core::status::Code;

use crate::args::{Point, StrategyType};
use crate::plugin::{Cycle, Plugin, Rejection};

pub(super) struct NodeResourcesFit;

impl Plugin for NodeResourcesFit {
    fn name(&self) -> &'static str {
        "NodeResourcesFit"
    }

    fn filter(&self, cx: &Cycle<'_>, node: &Node) -> Result<(), Rejection> {
        let mut reasons = Vec::new();
        let mut exceeds_allocatable = false;
        if cx.pods_on(node).count() as i64 + 1 > node.allowed_pods {
            reasons.push("Too many pods".to_owned());
        }
        let requested = &cx.pod.spec.requests;
        let scalars = requested.scalars.iter().map(|&(name, _)| cx.text(name)).filter(|name| !is_ignored(cx, name));
        for name in ["cpu", "memory", "ephemeral-storage"].into_iter().chain(scalars) {
            let (requested, allocatable, used) =
                (amount(cx, requested, name), amount(cx, &node.allocatable, name), used(cx, node, name));
            if requested > 0 && requested > allocatable.wrapping_sub(used) {
                reasons.push(format!("Insufficient {name}"));
                exceeds_allocatable |= requested > allocatable;
            }
        }
        let code = if exceeds_allocatable { Code::UnschedulableAndUnresolvable } else { Code::Unschedulable };
        if reasons.is_empty() { Ok(()) } else { Err(Rejection { code, reasons }) }
    }

    fn score(&self, cx: &Cycle<'_>, _: &[&Node], node: &Node) -> Result<i64, String> {
        let strategy = &cx.args.node_resources_fit.scoring_strategy;
        let (mut sum, mut weights) = (0_i64, 0_i64);
        for resource in &strategy.resources {
            let before = match resource.name.as_str() {
                "cpu" => sum_of(cx.pods_on(node).map(|placed| placed.pod.usage.non_zero.milli_cpu)),
                "memory" => sum_of(cx.pods_on(node).map(|placed| placed.pod.usage.non_zero.memory)),
                name => used(cx, node, name),
            };
            let requested = amount(cx, &cx.pod.spec.fit_score_requests, &resource.name);
            let allocatable = amount(cx, &node.allocatable, &resource.name);
            if allocatable == 0 || is_scalar(&resource.name) && requested == 0 {
                continue;
            }
            let after = before.wrapping_add(requested);
            let score = match strategy.r#type {
                StrategyType::LeastAllocated if after > allocatable => 0,
                StrategyType::LeastAllocated => allocatable.wrapping_sub(after).wrapping_mul(100) / allocatable,
                StrategyType::MostAllocated => after.min(allocatable).wrapping_mul(100) / allocatable,
                StrategyType::RequestedToCapacityRatio => {
                    let percent = if after > allocatable { 100 } else { after.wrapping_mul(100) / allocatable };
                    interpolate(&strategy.requested_to_capacity_ratio.shape, percent)
                }
            };
            if strategy.r#type != StrategyType::RequestedToCapacityRatio || score > 0 {
                sum = sum.wrapping_add(score.wrapping_mul(resource.weight));
                weights += resource.weight;
            }
        }
        Ok(match strategy.r#type {
            _ if weights == 0 => 0,
            StrategyType::RequestedToCapacityRatio => (sum as f64 / weights as f64).round() as i64,
            _ => sum / weights,
        })
    }
}

pub(super) fn is_scalar(name: &str) -> bool {
    !["cpu", "memory", "ephemeral-storage"].contains(&name)
}

/// Returns the amount of a resource.
pub(super) fn amount(cx: &Cycle<'_>, resources: &Resources, name: &str) -> i64 {
    match name {
        "cpu" => resources.milli_cpu,
        "memory" => resources.memory,
        "ephemeral-storage" => resources.ephemeral_storage,
        _ => resources.scalars.iter().find(|(scalar, _)| cx.text(*scalar) == name).map_or(0, |(_, amount)| *amount),
    }
}

fn sum_of(amounts: impl Iterator<Item = i64>) -> i64 {
    amounts.fold(0, i64::wrapping_add)
}

/// Returns how much of a resource the pods of a node use in total.
pub(super) fn used(cx: &Cycle<'_>, node: &Node, name: &str) -> i64 {
    sum_of(cx.pods_on(node).map(|placed| amount(cx, &placed.pod.usage.requests, name)))
}

/// Returns whether the arguments ignore a resource. Only extended resources can be ignored.
fn is_ignored(cx: &Cycle<'_>, name: &str) -> bool {
    let args = &cx.args.node_resources_fit;
    let Some((group, rest)) = name.split_once('/') else { return false };
    let is_extended = !rest.is_empty() && !name.contains("kubernetes.io/") && !name.starts_with("requests.");
    is_extended
        && (args.ignored_resources.iter().any(|ignored| ignored == name)
            || args.ignored_resource_groups.iter().any(|ignored| ignored == group))
}

/// Returns the value of a piecewise linear function, scaled from 0..=10 to 0..=100.
fn interpolate(shape: &[Point], at: i64) -> i64 {
    let Some(next) = shape.iter().position(|point| at <= point.utilization) else {
        return shape.last().map_or(0, |point| point.score * 10);
    };
    let point = &shape[next];
    match next.checked_sub(1).map(|before| &shape[before]) {
        None => point.score * 10,
        Some(before) => {
            let (rise, run) = (10 * (point.score - before.score), point.utilization - before.utilization);
            10 * before.score + rise * (at - before.utilization) / run
        }
    }
}
