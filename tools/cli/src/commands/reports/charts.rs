//! Charts of a simulation's history.

use schedc_report::{Column, HeatMap, Kind, Layer, Lines, Series, Table, Unit};

use crate::simulation::Summary;
use crate::simulation_history::{SimulationHistory, Sweep, share};
use crate::utilisation;

/// Maximum number of resources in charts and in the table of nodes.
const MAX_RESOURCES: usize = 8;
/// Maximum number of rows of a table.
pub(super) const MAX_ROWS: usize = 20_000;

/// The history of a simulation, prepared for charts.
pub(super) struct Charts<'a> {
    pub(super) history: &'a SimulationHistory,
    pub(super) sweep: Sweep,
    /// Resources in the order of their display: indices in the history.
    pub(super) resources: Vec<usize>,
    /// Nodes by name: indices in the history.
    nodes: Vec<usize>,
}

impl<'a> Charts<'a> {
    /// Prepares the history of a simulation.
    pub(super) fn new(history: &'a SimulationHistory, summary: &Summary) -> Self {
        // Without events, time passes only while pods wait for volumes or for backoff. An end of 0 then selects the number of
        // attempts as the axis.
        let end = if summary.events > 0 { summary.end } else { 0.0 };
        let mut resources: Vec<usize> = (0..history.resources.len()).collect();
        resources.sort_by_key(|at| &history.resources[*at]);
        resources.truncate(MAX_RESOURCES);
        let mut nodes: Vec<usize> = (0..history.nodes.len()).collect();
        nodes.sort_by_key(|at| &history.nodes[*at]);
        let moments = HeatMap::moments(nodes.len(), resources.len());
        Charts { history, sweep: history.sweep(end, moments), resources, nodes }
    }

    fn name(&self, resource: usize) -> &str {
        &self.history.resources[resource].1
    }

    /// Returns the numbers of pods over time.
    pub(super) fn pods(&self) -> Lines {
        let series = |name: &str, values: &[Option<f64>]| Series { name: name.to_owned(), values: values.to_vec() };
        self.lines(
            "Pods over time",
            "Pods that wait for a node, and pods on nodes.",
            Unit::Count,
            vec![series("pending", &self.sweep.pending), series("running", &self.sweep.running)],
        )
    }

    /// Returns the utilisation of all nodes together over time. `suffix` is part of the heading.
    pub(super) fn utilisation(&self, suffix: &str) -> Lines {
        let series = self.resources.iter().map(|&resource| Series {
            name: self.name(resource).to_owned(),
            values: self.sweep.shares[resource].clone(),
        });
        self.lines(
            &format!("Utilisation over time{suffix}"),
            "Requests of all pods on nodes as a share of what the nodes can allocate.",
            Unit::Percent,
            series.collect(),
        )
    }

    pub(super) fn lines(&self, title: &str, description: &str, unit: Unit, series: Vec<Series>) -> Lines {
        Lines {
            title: title.to_owned(),
            description: description.to_owned(),
            x_label: self.sweep.axis.label().to_owned(),
            x_unit: self.sweep.axis.unit(),
            x: self.sweep.x.clone(),
            unit,
            series,
            is_half: false,
        }
    }

    /// Returns the utilisation of each node.
    pub(super) fn heat_map(&self, suffix: &str) -> HeatMap {
        let layers = self.resources.iter().map(|&resource| {
            let shares = self.sweep.node_shares[resource].iter();
            let by_name = |shares: &Vec<Option<f64>>| self.nodes.iter().map(|node| shares[*node]).collect();
            Layer { name: self.name(resource).to_owned(), shares: shares.map(by_name).collect() }
        });
        HeatMap {
            title: format!("Utilisation per node{suffix}"),
            description: "A cell is a node. Its colour is the requested share of what the node can allocate."
                .to_owned(),
            nodes: self.nodes.iter().map(|node| self.history.nodes[*node].clone()).collect(),
            x_label: self.sweep.axis.label().to_owned(),
            x_unit: self.sweep.axis.unit(),
            x: self.sweep.moments.clone(),
            layers: layers.collect(),
            is_half: false,
        }
    }

    /// Returns the amounts of each node at the end.
    pub(super) fn node_table(&self) -> Table {
        let exists = |node: &&usize| !self.sweep.last[**node].is_empty();
        let nodes: Vec<usize> = self.nodes.iter().filter(exists).take(MAX_ROWS).copied().collect();
        let mut table = Table::new(
            "Nodes",
            "Requested shares at the end. The details of a row have the amounts.",
            "There are no nodes.",
        )
        .with(Column::text("Node", Kind::Node, nodes.iter().map(|node| self.history.nodes[*node].as_str())));
        for &resource in &self.resources {
            let name = self.name(resource);
            let kind = Kind::Number(unit(utilisation::unit(self.history.resources[resource].0, name)));
            let amounts =
                |node: &usize| self.sweep.last[*node].iter().find(|amount| amount.resource == resource).copied();
            let requested = nodes.iter().map(|node| amounts(node).map(|amount| amount.requested as f64));
            let allocatable = nodes.iter().map(|node| amounts(node).map(|amount| amount.allocatable as f64));
            let shares = nodes.iter().map(|node| share(&self.sweep.last[*node], resource));
            table = table
                .with(Column::numbers(name, Kind::Bar(100, Unit::Percent), shares))
                .with(Column::numbers(&format!("{name} requested"), kind, requested).hidden())
                .with(Column::numbers(&format!("{name} allocatable"), kind, allocatable).hidden());
        }
        table
    }

    /// Returns a note for each kind of data that tables or charts leave out.
    pub(super) fn notes(&self) -> Vec<String> {
        let mut notes = Vec::new();
        if self.history.resources.len() > MAX_RESOURCES {
            notes.push(format!("Charts show {MAX_RESOURCES} of {} resources.", self.history.resources.len()));
        }
        if self.nodes.len() > MAX_ROWS {
            notes.push(format!("The table of nodes shows {MAX_ROWS} rows. All nodes are in the heat map."));
        }
        let decisions = &self.history.decisions;
        if decisions.left_out > 0 {
            notes.push(format!(
                "The last {} attempts have no scores, because evaluations are limited. `schedc explain` has the scores \
                 of each pod.",
                decisions.left_out
            ));
        }
        if decisions.has_extenders {
            notes.push("Pods of profiles with extenders have no scores: extenders are called only once.".to_owned());
        }
        notes
    }
}

fn unit(unit: utilisation::Unit) -> Unit {
    match unit {
        utilisation::Unit::Millicores => Unit::Millicores,
        utilisation::Unit::Bytes => Unit::Bytes,
        utilisation::Unit::Count => Unit::Count,
    }
}
