//! The rows to show in the tables of a simulation.

use std::collections::HashSet;

use clap::Args;
use schedc_objects::{AnyObject, Objects};

use super::failure::Failure;
use super::pods::{check_namespace, check_nodes, namespace_of};
use crate::simulation::{Line, Report};
use crate::timeline::{Action, Timeline};

/// Options that select rows. JSON and YAML always contain all rows.
#[derive(Args)]
pub(crate) struct Rows {
    /// Show only pods of this namespace in the tables
    #[arg(short, long, value_name = "NAMESPACE")]
    namespace: Option<String>,

    /// Show only pods on this node in the tables; may be given several times
    #[arg(long, value_name = "NAME")]
    node: Vec<String>,
}

impl Rows {
    /// Checks that the nodes and the namespace are in the input.
    ///
    /// # Errors
    /// Returns the missing names, with similar ones.
    pub(crate) fn check(&self, objects: &Objects, timeline: &Timeline) -> Result<(), Failure> {
        let created = || {
            timeline.events.iter().filter_map(|event| match &event.action {
                Action::Create(object) => Some(object),
                _ => None,
            })
        };
        let created_later = created().filter(|object| matches!(object, AnyObject::Node(_))).map(AnyObject::name);
        let nodes = objects.nodes.iter().filter_map(|node| node.object.metadata.name.as_deref());
        check_nodes(&self.node, nodes.chain(created_later))?;
        let Some(namespace) = &self.namespace else { return Ok(()) };
        let created_later = created().filter(|object| matches!(object, AnyObject::Pod(_))).map(AnyObject::namespace);
        check_namespace(namespace, objects.pods.iter().map(|pod| namespace_of(&pod.object)).chain(created_later))
    }

    /// Returns the report with the selected rows, and a line that describes the selection. `None` if all rows are
    /// shown.
    pub(crate) fn apply(&self, report: &Report) -> Option<(Report, String)> {
        if self.namespace.is_none() && self.node.is_empty() {
            return None;
        }
        let mut shown = report.clone();
        let is_selected = |pod: &str, node: Option<&str>| {
            self.is_in_namespace(pod)
                && (self.node.is_empty() || node.is_some_and(|node| self.node.iter().any(|name| name == node)))
        };
        shown.placements.retain(|pod| is_selected(&pod.pod, Some(&pod.node)));
        shown.unschedulable.retain(|pod| is_selected(&pod.pod, pod.nominated_node.as_deref()));
        shown.deleted_unplaced.retain(|pod| is_selected(&pod.pod, None));
        shown.preempted.retain(|pod| is_selected(&pod.pod, Some(&pod.node)));
        shown.kept_by_budgets.retain(|pod| is_selected(&pod.kept.pod, Some(&pod.kept.node)));
        let pods: HashSet<String> = pods(&shown).map(str::to_owned).collect();
        shown.log.retain(|line| self.shows(line, &pods));
        let mut selection =
            self.namespace.iter().map(|namespace| format!(" of namespace {namespace}")).collect::<String>();
        if !self.node.is_empty() {
            selection += &format!(" on {}", self.node.join(" or "));
        }
        let (number, all) = (pods.len(), self::pods(report).count());
        Some((shown, format!("the tables show pods{selection}: {number} of {all}\n")))
    }

    fn is_in_namespace(&self, name: &str) -> bool {
        let namespace = name.split_once('/').map(|(namespace, _)| namespace);
        self.namespace.as_deref().is_none_or(|wanted| namespace == Some(wanted))
    }

    /// Returns whether a log line is shown. With `--node`, lines about these nodes and about `pods` are shown; otherwise,
    /// lines about objects of the namespace.
    fn shows(&self, line: &Line, pods: &HashSet<String>) -> bool {
        let (kind, name) = line.object.split_once(' ').unwrap_or_default();
        match (kind, &self.node[..]) {
            (_, []) => self.is_in_namespace(name),
            ("Node", nodes) => nodes.iter().any(|node| node == name),
            _ => pods.contains(name),
        }
    }
}

/// Returns the pods of all tables except those about budgets.
fn pods(report: &Report) -> impl Iterator<Item = &str> {
    let Report { placements, unschedulable, deleted_unplaced, preempted, .. } = report;
    let placed = placements.iter().map(|pod| &pod.pod);
    let without_node = unschedulable.iter().chain(deleted_unplaced).map(|pod| &pod.pod);
    placed.chain(without_node).chain(preempted.iter().map(|pod| &pod.pod)).map(String::as_str)
}
