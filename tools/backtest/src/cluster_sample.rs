//! The state of a simulated cluster at one time: utilisation, fragmentation, empty nodes and prices.

use std::mem;

use schedc_bounds::price::parse_price;
use schedc_core::cache::Base;
use schedc_core::intern::Symbol;

use crate::first_fit::{FirstFit, fits};
use crate::numbers::rounded;
use crate::result::{ResourceSample, Sample};
use crate::totals::Sums;
use crate::workload::{MAX_SHAPES, Shape, Workload, amount};

/// A node with its amounts, in the order of the workload's resources.
struct Node {
    free: Vec<i64>,
    requested: Vec<i64>,
    allocatable: Vec<i64>,
    is_schedulable: bool,
    price: f64,
    /// Requests of the pods that may move to another node, unlike pods of a DaemonSet.
    pods: Vec<Vec<i64>>,
}

/// The search for removable nodes ends after this number of consecutive nodes whose pods do not fit elsewhere.
const MAX_CONSECUTIVE_FAILURES: u32 = 8;

/// A cluster at one time.
pub(crate) struct ClusterState<'a> {
    pub(crate) workload: &'a Workload,
    pub(crate) sums: &'a Sums,
    pub(crate) base: &'a Base,
    /// Returns whether the pod with this uid belongs to its node, and therefore cannot move.
    pub(crate) belongs_to_node: &'a dyn Fn(&str) -> bool,
}

/// Measures a cluster. `price_label` is the label with the price of a node for an hour, `at` the time in seconds since
/// the start.
pub(crate) fn sample(cluster: &ClusterState<'_>, price_label: Option<&str>, at: f64) -> Sample {
    let ClusterState { workload, sums, base, .. } = cluster;
    let label = price_label.and_then(|label| base.interner.get(label));
    let mut nodes = nodes(cluster, label);
    let amounts = sums.requested.iter().zip(&sums.allocatable);
    let resources = workload.resources.iter().zip(amounts).enumerate();
    let resources = resources.map(|(index, (name, (requested, allocatable)))| ResourceSample {
        resource: name.clone(),
        requested: *requested,
        allocatable: *allocatable,
        usable: usable(index, &nodes, &workload.shapes),
    });
    let resources = resources.collect();
    let removable_nodes = remove_nodes(&mut nodes);
    let needed = nodes.iter().filter(|node| !node.pods.is_empty()).map(|node| node.price).sum::<f64>();
    Sample {
        at,
        nodes: sums.nodes,
        empty_nodes: sums.empty_nodes,
        removable_nodes,
        pending: sums.pending,
        running: sums.running,
        price: price_label.map(|_| rounded(sums.price)),
        used_price: price_label.map(|_| rounded(sums.used_price)),
        needed_price: price_label.map(|_| rounded(needed)),
        resources,
    }
}

fn nodes(cluster: &ClusterState<'_>, price_label: Option<Symbol>) -> Vec<Node> {
    let ClusterState { workload, base, belongs_to_node, .. } = cluster;
    let mut nodes = Vec::with_capacity(base.count());
    for info in base.infos() {
        let Some(node) = &info.node else { continue };
        let amounts = |list, pods| -> Vec<i64> {
            workload.resources.iter().map(|name| amount(list, name, pods, &base.interner)).collect()
        };
        let allocatable = amounts(&node.allocatable, node.allowed_pods);
        let (mut requested, mut pods) = (vec![0_i64; allocatable.len()], Vec::new());
        for pod in &info.pods {
            let requests = amounts(&pod.usage.requests, 1);
            requested.iter_mut().zip(&requests).for_each(|(sum, amount)| *sum = sum.saturating_add(*amount));
            if !belongs_to_node(&pod.uid.0) {
                pods.push(requests);
            }
        }
        let free = allocatable.iter().zip(&requested).map(|(all, requested)| all.saturating_sub(*requested)).collect();
        let price = price_label.and_then(|label| info.label(label)).map(|price| base.interner.resolve(price));
        let price = price.and_then(|price| parse_price(price).ok()).unwrap_or(0.0);
        nodes.push(Node { free, requested, allocatable, is_schedulable: !node.unschedulable, price, pods });
    }
    nodes
}

/// Returns the usable share of the free amount of a resource. The free amount of a schedulable node is multiplied by
/// the share of pods that fit there, among the pods with the [`MAX_SHAPES`] most frequent requests of the resource.
/// `None` if nothing is free, or if no pod requests the resource.
fn usable(resource: usize, nodes: &[Node], shapes: &[Shape]) -> Option<f64> {
    let shapes: Vec<&Shape> = shapes.iter().filter(|shape| shape.requests[resource] > 0).take(MAX_SHAPES).collect();
    let pods: u64 = shapes.iter().map(|shape| shape.pods).sum();
    let free_on = |node: &Node| if node.is_schedulable { node.free[resource].max(0) as f64 } else { 0.0 };
    let free: f64 = nodes.iter().map(free_on).sum();
    if pods == 0 || free <= 0.0 {
        return None;
    }
    let mut usable = 0.0;
    for node in nodes.iter().filter(|node| free_on(node) > 0.0) {
        let fitting: u64 =
            shapes.iter().filter(|shape| fits(&shape.requests, &node.free)).map(|shape| shape.pods).sum();
        usable += free_on(node) * fitting as f64 / pods as f64;
    }
    Some(rounded(usable / free))
}

/// Empties nodes, the least used ones first: all pods of a node move to other nodes with pods, if they fit there.
/// Returns the number of emptied nodes. Only requests count. The number is a lower bound, because the search places
/// pods in one order and ends after [`MAX_CONSECUTIVE_FAILURES`].
fn remove_nodes(nodes: &mut [Node]) -> u64 {
    let used = |node: &Node| {
        let shares = node.requested.iter().zip(&node.allocatable).filter(|(_, all)| **all > 0);
        shares.map(|(requested, all)| *requested as f64 / *all as f64).fold(0.0, f64::max)
    };
    let mut order: Vec<usize> = (0..nodes.len()).filter(|at| !nodes[*at].pods.is_empty()).collect();
    order.sort_by(|a, b| used(&nodes[*a]).total_cmp(&used(&nodes[*b])).then(a.cmp(b)));
    // As targets of moves, the most used nodes are tried first.
    let targets: Vec<usize> = order.iter().rev().copied().collect();
    let mut search = FirstFit::new(targets.len(), nodes.first().map_or(0, |node| node.free.len()));
    let open_if_schedulable = |search: &mut FirstFit, place: usize, node: &Node| {
        if node.is_schedulable {
            search.open(place, &node.free);
        }
    };
    for (place, at) in targets.iter().enumerate() {
        open_if_schedulable(&mut search, place, &nodes[*at]);
    }
    let (mut removed, mut failures) = (0, 0);
    for (own_place, at) in targets.iter().copied().enumerate().rev() {
        if failures == MAX_CONSECUTIVE_FAILURES {
            break;
        }
        search.close(own_place);
        let mut pods = mem::take(&mut nodes[at].pods);
        pods.sort_by(|a, b| b.cmp(a));
        // For each pod, the place of its target node.
        let mut moves: Vec<usize> = Vec::with_capacity(pods.len());
        for requests in &pods {
            let Some(place) = search.find(requests) else { break };
            let target = &mut nodes[targets[place]];
            target.free.iter_mut().zip(requests).for_each(|(free, amount)| *free -= amount);
            open_if_schedulable(&mut search, place, target);
            moves.push(place);
        }
        if moves.len() == pods.len() {
            removed += 1;
            failures = 0;
            for (place, requests) in moves.into_iter().zip(pods) {
                nodes[targets[place]].pods.push(requests);
            }
        } else {
            failures += 1;
            for (place, requests) in moves.into_iter().zip(&pods) {
                let target = &mut nodes[targets[place]];
                target.free.iter_mut().zip(requests).for_each(|(free, amount)| *free += amount);
                open_if_schedulable(&mut search, place, target);
            }
            nodes[at].pods = pods;
            open_if_schedulable(&mut search, own_place, &nodes[at]);
        }
    }
    removed
}

#[cfg(test)]
mod tests {
    use super::*;

    fn node(free: i64, pods: &[i64]) -> Node {
        let requested: i64 = pods.iter().sum();
        Node {
            free: vec![free],
            requested: vec![requested],
            allocatable: vec![free + requested],
            is_schedulable: true,
            price: 1.0,
            pods: pods.iter().map(|requests| vec![*requests]).collect(),
        }
    }

    #[test]
    fn nodes_are_removable_if_their_pods_fit_on_others() {
        let count = |mut nodes: Vec<Node>| remove_nodes(&mut nodes);
        assert_eq!(count(vec![node(3, &[1]), node(3, &[1]), node(4, &[])]), 1);
        assert_eq!(count(vec![node(2, &[2]), node(1, &[3])]), 0, "no pod fits");
        assert_eq!(
            count(vec![node(1, &[1, 1, 1]), node(2, &[1, 1]), node(3, &[1])]),
            1,
            "the most used node takes one pod"
        );
        let mut cordoned = vec![node(3, &[1]), node(3, &[1])];
        cordoned.iter_mut().for_each(|node| node.is_schedulable = false);
        assert_eq!(count(cordoned), 0);
    }

    #[test]
    fn free_amounts_are_usable_where_pods_fit() {
        let shapes = [Shape { requests: vec![2], pods: 3 }, Shape { requests: vec![4], pods: 1 }];
        assert_eq!(usable(0, &[node(4, &[])], &shapes), Some(1.0));
        // All four pods fit on the node with 4 free, three of them on the node with 2 free, and none on the node with 1
        // free.
        assert_eq!(usable(0, &[node(4, &[]), node(2, &[2]), node(1, &[3])], &shapes), Some(rounded(5.5 / 7.0)));
        assert_eq!(usable(0, &[node(0, &[4])], &shapes), None);
        assert_eq!(usable(0, &[node(4, &[])], &[]), None);
    }
}
