//! Lower bounds of the price: the new nodes must have the resources that the cluster lacks.

use schedc_core::column::NodeInfo;
use schedc_core::intern::Interner;
use schedc_objects::{convert_node, convert_pod};

use super::Shape;
use crate::enforced::EnforcedResources;
use crate::resource_amounts::{Amounts, add, amounts};
use crate::trial::Trial;
use crate::workloads::NewPod;

/// The missing amount of each resource, and the amounts that a node of each shape has.
pub(super) struct Bound {
    /// For each resource, the amount by which the requests of all pods exceed the free amounts of all nodes.
    missing: Vec<i128>,
    /// The price of each shape, and its resources in the order of `missing`.
    shapes: Vec<(u64, Vec<i128>)>,
}

impl Bound {
    pub(super) fn new(trial: &mut Trial, pods: &[NewPod], shapes: &[Shape], enforced: EnforcedResources) -> Self {
        let mut interner = Interner::default();
        let mut needed = Amounts::new();
        for NewPod { pod, .. } in pods {
            let pod = convert_pod(pod, &mut interner);
            add(&mut needed, &amounts(&pod.usage.requests, 1, &interner));
        }
        needed.retain(|resource, _| enforced.contains(resource));
        let base = trial.base();
        let mut free = Amounts::new();
        for info in base.infos() {
            let NodeInfo { node: Some(node), pods } = info else { continue };
            let mut used = Amounts::new();
            pods.iter().for_each(|pod| add(&mut used, &amounts(&pod.usage.requests, 1, &base.interner)));
            let allowed = i128::from(node.allowed_pods);
            let mut left = amounts(&node.allocatable, allowed, &base.interner);
            for (resource, amount) in &mut left {
                *amount = (*amount - used.get(resource).copied().unwrap_or(0)).max(0);
            }
            add(&mut free, &left);
        }
        let of_shapes: Vec<(u64, Amounts)> = shapes
            .iter()
            .map(|Shape { node, price, .. }| {
                let node = convert_node(node, &mut interner);
                let allowed = i128::from(node.allowed_pods);
                (*price, amounts(&node.allocatable, allowed, &interner))
            })
            .collect();
        let amount_of = |amounts: &Amounts, resource: &String| amounts.get(resource).copied().unwrap_or(0);
        let missing = needed.iter().map(|(resource, amount)| (amount - amount_of(&free, resource)).max(0)).collect();
        let shapes = of_shapes
            .iter()
            .map(|(price, amounts)| (*price, needed.keys().map(|resource| amount_of(amounts, resource)).collect()))
            .collect();
        Bound { missing, shapes }
    }

    /// Returns a lower bound of the price of the nodes that are necessary in addition to `counts`, so that no resource is
    /// missing. Only shapes from `first` on are added. Returns `None` if no number of nodes suffices.
    pub(super) fn remaining_price(&self, counts: &[usize], first: usize) -> Option<u64> {
        let mut highest = 0;
        for (at, missing) in self.missing.iter().enumerate() {
            let added: i128 = self.shapes.iter().zip(counts).map(|((_, has), count)| has[at] * *count as i128).sum();
            let missing = (missing - added).max(0);
            if missing == 0 {
                continue;
            }
            let prices = self.shapes[first..].iter().filter(|(_, has)| has[at] > 0);
            // Fractions of nodes are counted, so the result is a lower bound.
            let lowest = prices.map(|(price, has)| missing.saturating_mul(i128::from(*price)) / has[at]).min()?;
            highest = highest.max(u64::try_from(lowest).unwrap_or(u64::MAX));
        }
        Some(highest)
    }

    /// Returns whether a resource is missing with these nodes.
    pub(super) fn is_short(&self, counts: &[usize]) -> bool {
        self.missing.iter().enumerate().any(|(at, missing)| {
            let added: i128 = self.shapes.iter().zip(counts).map(|((_, has), count)| has[at] * *count as i128).sum();
            added < *missing
        })
    }
}
