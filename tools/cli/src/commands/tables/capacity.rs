//! Tables of a capacity.

use std::fmt::Write;

use super::count;
use crate::capacity::{Capacity, Fit, NextPod, PoolCapacity, WorkloadCapacity};
use crate::commands::output::{Columns, heading};

/// Maximum number of nodes in the table.
const MAX_NODES: usize = 20;

/// Returns tables of the pods by node and by pool. The number of pods that fit, and the reason why the next pod does
/// not, are at the end, where users see them.
pub(crate) fn table(result: &Capacity, pool_label: Option<&str>) -> String {
    let parts = [nodes(&result.fit), pools(&result.pools, pool_label), Some(summary(result))];
    parts.into_iter().flatten().collect::<Vec<_>>().join("\n")
}

fn nodes(fit: &Fit) -> Option<String> {
    if fit.nodes.is_empty() {
        return None;
    }
    let mut nodes: Vec<_> = fit.nodes.iter().collect();
    nodes.sort_by_key(|(_, pods)| std::cmp::Reverse(**pods));
    let mut columns = Columns::new(["NODE", ">PODS"]);
    for (node, pods) in nodes.iter().take(MAX_NODES) {
        columns.row(vec![(*node).clone(), pods.to_string()]);
    }
    let more = match nodes.len().saturating_sub(MAX_NODES) {
        0 => String::new(),
        more => format!("  ... and {more} more; -o json prints them all\n"),
    };
    Some(heading("More pods") + "\n" + &columns.text() + &more)
}

fn pools(pools: &[PoolCapacity], label: Option<&str>) -> Option<String> {
    if pools.is_empty() {
        return None;
    }
    let mut columns = Columns::new(["POOL", ">NODES", ">PODS", ">ALONE", "NEXT POD"]);
    for PoolCapacity { pool, nodes, pods, alone } in pools {
        let next = alone.next.as_ref().map_or("", |next| next.rejection.message.as_str());
        let pool = pool.as_deref().unwrap_or("(no label)");
        columns.row(vec![
            pool.to_owned(),
            nodes.to_string(),
            pods.to_string(),
            alone.pods.to_string(),
            next.to_owned(),
        ]);
    }
    let title = format!("Pools by {}", label.unwrap_or_default());
    Some(heading(title) + "\n" + &columns.text())
}

fn summary(result: &Capacity) -> String {
    let Capacity { workloads, fit, still_pending, .. } = result;
    let mut text = String::new();
    let fits = if fit.pods == 1 { "fits" } else { "fit" };
    let at_least = if fit.next.is_some() { "" } else { "at least " };
    // Writing to a string cannot fail.
    let _ = match &workloads[..] {
        [only] => writeln!(text, "{at_least}{} of {} {fits}", count(fit.pods, "more pod"), only.workload),
        _ => {
            let (pods, rounds) = (count(fit.pods, "more pod"), count(fit.rounds, "complete round"));
            let _ = writeln!(text, "{at_least}{pods} {fits}, {rounds} of the ratio:");
            let line = |WorkloadCapacity { workload, ratio, pods }: &WorkloadCapacity| {
                format!("  {} of {workload} ({ratio} in a round)\n", count(*pods, "pod"))
            };
            text.extend(workloads.iter().map(line));
            Ok(())
        }
    };
    match &fit.next {
        None => text += "  the maximum is reached; --max sets another one\n",
        Some(NextPod { workload, rejection, preempts }) => {
            let of_workload = if workloads.len() > 1 { format!(", of {workload},") } else { String::new() };
            let _ = match &preempts[..] {
                [] => writeln!(text, "the next pod{of_workload} waits:"),
                pods => {
                    let pods: Vec<&str> = pods.iter().map(|victim| victim.pod.as_str()).collect();
                    writeln!(text, "the next pod{of_workload} would preempt {}:", pods.join(", "))
                }
            };
            let _ = writeln!(text, "  {}", rejection.message);
        }
    }
    if *still_pending > 0 {
        let pods = count(*still_pending, "pod");
        let _ = writeln!(text, "{pods} of the cluster cannot be placed and do not count");
    }
    text
}
