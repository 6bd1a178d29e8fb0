//! Tables of the effect of manifests.

use std::fmt::Write;

use super::count;
use crate::commands::output::{Columns, heading, wrapped};
use crate::precheck::{PendingPod, Precheck, Summary, WorkloadResult};
use crate::trial::Victim;

/// Maximum number of nodes that a row names.
const MAX_NODES: usize = 4;

/// Returns the waiting pods with reasons, the preempted pods, the workloads and, at the end where users see it, a
/// summary.
pub(crate) fn table(result: &Precheck) -> String {
    let parts = [
        waiting(&result.waiting),
        preempted(&result.preempted),
        workloads(&result.workloads),
        Some(summary(&result.summary)),
    ];
    parts.into_iter().flatten().collect::<Vec<_>>().join("\n")
}

fn waiting(pods: &[PendingPod]) -> Option<String> {
    if pods.is_empty() {
        return None;
    }
    let mut groups: Vec<(&str, Vec<&str>)> = Vec::new();
    for PendingPod { pod, rejection, .. } in pods {
        let message = rejection.message.as_str();
        match groups.iter_mut().find(|(known, _)| *known == message) {
            Some((_, pods)) => pods.push(pod),
            None => groups.push((message, vec![pod])),
        }
    }
    let mut text = heading("Waiting") + "\n";
    for (message, pods) in groups {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "  {}: {message}", count(pods.len(), "pod"));
        text += &wrapped(pods, 4);
    }
    Some(text)
}

fn preempted(pods: &[Victim]) -> Option<String> {
    if pods.is_empty() {
        return None;
    }
    let mut columns = Columns::new(["POD", "NODE", "BY"]);
    for Victim { pod, node, by } in pods {
        columns.row(vec![pod, node, by]);
    }
    Some(heading("Preempted") + "\n" + &columns.text())
}

fn workloads(workloads: &[WorkloadResult]) -> Option<String> {
    if workloads.is_empty() {
        return None;
    }
    let mut columns = Columns::new(["WORKLOAD", ">PODS", ">RUNNING", ">WAITING", "NODES"]);
    for WorkloadResult { workload, pods, running, waiting, nodes, .. } in workloads {
        let mut shown: Vec<String> =
            nodes.iter().take(MAX_NODES).map(|(node, pods)| format!("{node} {pods}x")).collect();
        if nodes.len() > MAX_NODES {
            shown.push(format!("and {} more", nodes.len() - MAX_NODES));
        }
        let numbers = [pods, running, waiting].map(ToString::to_string);
        columns.row([vec![workload.clone()], numbers.to_vec(), vec![shown.join(", ")]].concat());
    }
    Some(heading("Workloads") + "\n" + &columns.text())
}

fn summary(summary: &Summary) -> String {
    let Summary { pods, running, waiting, preempted, still_pending } = summary;
    let mut text = format!("{}: {running} run, {waiting} wait; {preempted} preempted\n", count(*pods, "pod"));
    if *still_pending > 0 {
        let _ = writeln!(text, "{} of the cluster still waiting", count(*still_pending, "pod"));
    }
    text
}
