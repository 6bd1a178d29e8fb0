//! Amounts of a simulated cluster, integrated over time.
//!
//! Before every change of a node or a pod, the amounts so far are multiplied by the seconds for which they lasted, and
//! added to the integrals. Therefore means over time are exact.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use k8s_openapi::api::core::v1::Node as ApiNode;
use schedc_bounds::price::parse_price;
use schedc_core::intern::Interner;
use schedc_objects::convert_node;

use crate::numbers::{rounded, seconds};
use crate::result::{OverTime, ResourceOverTime};
use crate::workload::amount;

/// Index of a pod in a simulation. A replacement is another instance of the same pod of the workload.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct InstanceId(pub(crate) u32);

/// Amounts of a cluster, and their integrals.
#[derive(Default)]
pub(crate) struct Totals {
    resources: Vec<String>,
    price_label: Option<String>,
    interner: Interner,
    nodes: BTreeMap<Arc<str>, NodeTotals>,
    now: Sums,
    integrals: Integrals,
    /// Time up to which the integrals are complete.
    at: i64,
    start: i64,
    max_pending: u64,
}

/// A node that exists, or has pods.
#[derive(Default)]
struct NodeTotals {
    /// `None`: pods refer to a node that does not exist.
    allocatable: Option<Vec<i64>>,
    price: f64,
    requested: Vec<i64>,
    pods: BTreeSet<InstanceId>,
    /// Number of the pods that are neither static nor of a DaemonSet.
    movable: u64,
}

/// Sums over all nodes that exist, and the number of pending pods.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Sums {
    pub(crate) allocatable: Vec<i64>,
    pub(crate) requested: Vec<i64>,
    pub(crate) nodes: u64,
    pub(crate) empty_nodes: u64,
    pub(crate) price: f64,
    pub(crate) used_price: f64,
    pub(crate) running: u64,
    pub(crate) pending: u64,
}

/// Amounts times seconds.
#[derive(Default)]
struct Integrals {
    allocatable: Vec<f64>,
    requested: Vec<f64>,
    nodes: f64,
    empty_nodes: f64,
    price: f64,
    used_price: f64,
    running: f64,
    pending: f64,
}

/// A pod on a node.
pub(crate) struct PodOnNode<'a> {
    pub(crate) id: InstanceId,
    pub(crate) node: &'a Arc<str>,
    pub(crate) requests: &'a [i64],
    pub(crate) belongs_to_node: bool,
}

impl Totals {
    /// Creates the totals of an empty cluster. `price_label` is the label with the price of a node for an hour.
    pub(crate) fn new(resources: &[String], price_label: Option<&str>, start: i64) -> Totals {
        let count = resources.len();
        Totals {
            resources: resources.to_vec(),
            price_label: price_label.map(str::to_owned),
            now: Sums { allocatable: vec![0; count], requested: vec![0; count], ..Sums::default() },
            integrals: Integrals { allocatable: vec![0.0; count], requested: vec![0.0; count], ..Integrals::default() },
            at: start,
            start,
            ..Totals::default()
        }
    }

    /// Returns the present amounts.
    pub(crate) fn now(&self) -> &Sums {
        &self.now
    }

    /// Adds the time until `now` to the integrals.
    pub(crate) fn advance(&mut self, now: i64) {
        if now <= self.at {
            return;
        }
        let time = seconds(now - self.at);
        self.at = now;
        let Totals { now, integrals, .. } = self;
        let add = |sums: &mut [f64], amounts: &[i64]| {
            sums.iter_mut().zip(amounts).for_each(|(sum, amount)| *sum += *amount as f64 * time);
        };
        add(&mut integrals.allocatable, &now.allocatable);
        add(&mut integrals.requested, &now.requested);
        integrals.nodes += now.nodes as f64 * time;
        integrals.empty_nodes += now.empty_nodes as f64 * time;
        integrals.price += now.price * time;
        integrals.used_price += now.used_price * time;
        integrals.running += now.running as f64 * time;
        integrals.pending += now.pending as f64 * time;
        self.max_pending = self.max_pending.max(now.pending);
    }

    /// Records that a node was created or changed.
    pub(crate) fn set_node(&mut self, now: i64, node: &ApiNode) {
        self.advance(now);
        let name: Arc<str> = node.metadata.name.as_deref().unwrap_or_default().into();
        let model = convert_node(node, &mut self.interner);
        let allocatable = self
            .resources
            .iter()
            .map(|resource| amount(&model.allocatable, resource, model.allowed_pods, &self.interner))
            .collect();
        let price = self.price_label.as_ref().and_then(|label| node.metadata.labels.as_ref()?.get(label));
        let price = price.and_then(|price| parse_price(price).ok()).unwrap_or(0.0);
        self.change(&name, |totals| {
            totals.allocatable = Some(allocatable);
            totals.price = price;
        });
    }

    /// Records that a node was removed.
    pub(crate) fn remove_node(&mut self, now: i64, name: &str) {
        self.advance(now);
        self.change(&Arc::from(name), |totals| totals.allocatable = None);
    }

    /// Records that a pod has a node.
    pub(crate) fn add_pod(&mut self, now: i64, pod: &PodOnNode<'_>) {
        self.advance(now);
        self.change(pod.node, |totals| {
            if totals.pods.insert(pod.id) {
                totals.requested.resize(pod.requests.len(), 0);
                let sums = totals.requested.iter_mut().zip(pod.requests);
                sums.for_each(|(sum, amount)| *sum = sum.saturating_add(*amount));
                totals.movable += u64::from(!pod.belongs_to_node);
            }
        });
    }

    /// Records that a pod left its node.
    pub(crate) fn remove_pod(&mut self, now: i64, pod: &PodOnNode<'_>) {
        self.advance(now);
        self.change(pod.node, |totals| {
            if totals.pods.remove(&pod.id) {
                let sums = totals.requested.iter_mut().zip(pod.requests);
                sums.for_each(|(sum, amount)| *sum = sum.saturating_sub(*amount));
                totals.movable -= u64::from(!pod.belongs_to_node);
            }
        });
    }

    /// Records that a pod began to wait for a node.
    pub(crate) fn begin_waiting(&mut self, now: i64) {
        self.advance(now);
        self.now.pending += 1;
    }

    /// Records that a pod has a node, or was deleted before it had one.
    pub(crate) fn end_waiting(&mut self, now: i64) {
        self.advance(now);
        self.now.pending = self.now.pending.saturating_sub(1);
    }

    /// Returns the pods on a node.
    pub(crate) fn pods_on(&self, node: &str) -> Vec<InstanceId> {
        self.nodes.get(node).map(|totals| totals.pods.iter().copied().collect()).unwrap_or_default()
    }

    /// Returns the means over the time until `end`.
    pub(crate) fn finish(&mut self, end: i64) -> OverTime {
        self.advance(end);
        let time = seconds(self.at - self.start);
        let mean = |integral: f64| if time > 0.0 { integral / time } else { 0.0 };
        let Integrals { allocatable, requested, nodes, empty_nodes, price, used_price, running, pending } =
            &self.integrals;
        let resources = self.resources.iter().zip(requested.iter().zip(allocatable));
        let has_prices = self.price_label.is_some();
        OverTime {
            seconds: time,
            nodes: rounded(mean(*nodes)),
            empty_nodes: rounded(mean(*empty_nodes)),
            running: rounded(mean(*running)),
            pending: rounded(mean(*pending)),
            max_pending: self.max_pending,
            price: has_prices.then(|| rounded(mean(*price))),
            used_price: has_prices.then(|| rounded(mean(*used_price))),
            resources: resources
                .map(|(resource, (requested, allocatable))| ResourceOverTime {
                    resource: resource.clone(),
                    requested: rounded(mean(*requested)),
                    allocatable: rounded(mean(*allocatable)),
                })
                .collect(),
        }
    }

    /// Changes a node, and the sums.
    fn change(&mut self, name: &Arc<str>, change: impl FnOnce(&mut NodeTotals)) {
        let mut node = self.nodes.remove(name).unwrap_or_default();
        self.now.put(&node, false);
        change(&mut node);
        self.now.put(&node, true);
        if node.allocatable.is_some() || !node.pods.is_empty() {
            self.nodes.insert(name.clone(), node);
        }
    }
}

impl Sums {
    /// Adds or subtracts a node, if it exists.
    fn put(&mut self, node: &NodeTotals, adds: bool) {
        let Some(allocatable) = &node.allocatable else { return };
        let sign = if adds { 1 } else { -1 };
        let add = |sums: &mut [i64], amounts: &[i64]| {
            let sums = sums.iter_mut().zip(amounts);
            sums.for_each(|(sum, amount)| *sum = sum.saturating_add(amount.saturating_mul(sign)));
        };
        let count = |sum: &mut u64, number: u64| {
            *sum = if adds { sum.saturating_add(number) } else { sum.saturating_sub(number) };
        };
        add(&mut self.allocatable, allocatable);
        add(&mut self.requested, &node.requested);
        count(&mut self.nodes, 1);
        count(&mut self.running, node.pods.len() as u64);
        self.price += node.price * sign as f64;
        match node.movable {
            0 => count(&mut self.empty_nodes, 1),
            _ => self.used_price += node.price * sign as f64,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: i64 = 1_000_000_000;

    fn node(cpu: &str, price: &str) -> ApiNode {
        let node = serde_json::json!({
            "metadata": {"name": "n", "labels": {"price": price}},
            "status": {"allocatable": {"cpu": cpu, "pods": "10"}},
        });
        serde_json::from_value(node).expect("a node")
    }

    fn totals() -> Totals {
        Totals::new(&["cpu".to_owned(), "pods".to_owned()], Some("price"), 100 * SECOND)
    }

    #[test]
    fn utilisation_is_weighted_by_time() {
        let mut totals = totals();
        totals.set_node(100 * SECOND, &node("4", "0.5"));
        let name: Arc<str> = "n".into();
        let pod = PodOnNode { id: InstanceId(0), node: &name, requests: &[2000, 1], belongs_to_node: false };
        // The pod runs for 1 of 10 seconds.
        totals.add_pod(102 * SECOND, &pod);
        totals.remove_pod(103 * SECOND, &pod);
        let result = totals.finish(110 * SECOND);
        assert_eq!((result.seconds, result.nodes, result.empty_nodes), (10.0, 1.0, 0.9));
        assert_eq!((result.resources[0].requested, result.resources[0].allocatable), (200.0, 4000.0));
        assert_eq!((result.price, result.used_price), (Some(0.5), Some(0.05)));
    }

    #[test]
    fn pods_of_a_node_that_does_not_exist_use_nothing() {
        let mut totals = totals();
        let name: Arc<str> = "n".into();
        let pod = PodOnNode { id: InstanceId(7), node: &name, requests: &[2000, 1], belongs_to_node: true };
        totals.add_pod(100 * SECOND, &pod);
        assert_eq!((totals.now().running, totals.now().requested[0]), (0, 0));
        totals.set_node(105 * SECOND, &node("4", "x"));
        assert_eq!((totals.now().running, totals.now().requested[0], totals.now().empty_nodes), (1, 2000, 1));
        totals.remove_node(110 * SECOND, "n");
        assert_eq!(totals.pods_on("n"), [InstanceId(7)]);
        totals.remove_pod(110 * SECOND, &pod);
        assert_eq!(*totals.now(), Sums { allocatable: vec![0, 0], requested: vec![0, 0], ..Sums::default() });
    }

    #[test]
    fn pods_that_wait_for_no_time_do_not_count() {
        let mut totals = totals();
        totals.begin_waiting(100 * SECOND);
        totals.begin_waiting(100 * SECOND);
        totals.end_waiting(100 * SECOND);
        totals.end_waiting(104 * SECOND);
        let result = totals.finish(108 * SECOND);
        assert_eq!((result.pending, result.max_pending), (0.5, 1));
    }
}
