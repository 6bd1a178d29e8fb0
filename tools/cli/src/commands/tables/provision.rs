//! Tables of the cheapest nodes.

use std::collections::BTreeMap;
use std::fmt::Write;

use super::count;
use crate::commands::output::{Columns, heading};
use crate::provision::{Provision, Shape, UNIT};

/// Returns the nodes, the pods by node, the waiting pods and, at the end where users see it, the price.
pub(crate) fn table(plan: &Provision, shapes: &[Shape]) -> String {
    let parts = [nodes(plan, shapes), placements(plan), waiting(plan), Some(summary(plan))];
    parts.into_iter().flatten().collect::<Vec<_>>().join("\n")
}

fn nodes(plan: &Provision, shapes: &[Shape]) -> Option<String> {
    if plan.nodes.is_empty() {
        return None;
    }
    let mut columns = Columns::new(["SHAPE", ">NODES", ">PRICE OF ONE", ">PRICE"]);
    for (name, count) in &plan.nodes {
        let price = shapes.iter().find(|shape| shape.node.metadata.name.as_ref() == Some(name)).map_or(0, |s| s.price);
        let one = price as f64 / UNIT as f64;
        columns.row(vec![name.clone(), count.to_string(), text(one), text(one * *count as f64)]);
    }
    Some(heading("New nodes") + "\n" + &columns.text())
}

fn placements(plan: &Provision) -> Option<String> {
    if plan.placements.is_empty() {
        return None;
    }
    let mut by_node: BTreeMap<&str, usize> = BTreeMap::new();
    plan.placements.iter().for_each(|placement| *by_node.entry(&placement.node).or_default() += 1);
    let mut columns = Columns::new(["NODE", ">PODS"]);
    by_node.iter().for_each(|(node, pods)| columns.row(vec![(*node).to_owned(), pods.to_string()]));
    Some(heading("Pods") + "\n" + &columns.text())
}

fn waiting(plan: &Provision) -> Option<String> {
    if plan.waiting.is_empty() {
        return None;
    }
    let mut text = heading("Waiting") + "\n";
    for pod in &plan.waiting {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "  {}\n    {}", pod.pod, pod.rejection.message);
    }
    Some(text)
}

fn summary(plan: &Provision) -> String {
    let Provision { sufficient, nodes, price, lower_bound, optimal, trials, cut, at_max_trials, .. } = plan;
    let nodes = count(nodes.values().sum(), "new node");
    let tried = count(*trials, "set");
    let limit = match (cut, at_max_trials) {
        (_, true) => ", the maximum of --max-trials",
        (true, false) => ", the limit of this search",
        (false, false) => "",
    };
    match (sufficient, optimal) {
        (false, _) if *cut => {
            format!("not all pods run with {nodes}; more may be enough ({tried} of nodes tried{limit})\n")
        }
        (false, _) => format!("not all pods run with {nodes}; {tried} of nodes tried\n"),
        (true, true) => format!("{nodes} for {}; no cheaper nodes are enough ({tried} of nodes tried)\n", text(*price)),
        (true, false) => format!(
            "{nodes} for {}; no nodes for less than {} are enough; cheaper sets down to that price were not all tried ({tried} of nodes tried{limit})\n",
            text(*price),
            text(*lower_bound)
        ),
    }
}

/// Returns a price without superfluous zeros.
fn text(price: f64) -> String {
    let text = format!("{price:.6}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}
