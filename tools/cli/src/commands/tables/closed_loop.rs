//! Tables of closed-loop replays.

use std::fmt::Write;

use indicatif::HumanCount;
use schedc_backtest::aggregate;
use schedc_backtest::report::{ClosedLoop, ProfileResult};
use schedc_backtest::result::{PodCounts, PodOutcome, PodState, TimeToBind};

use super::backtest::{assumptions, influence, metrics, source, time};
use super::{count, more};
use crate::commands::output::{Columns, heading};

/// Maximum number of pods in the table, unless every pod is shown.
const MAX_PODS: usize = 40;

/// Returns the result of one simulation. `all` shows every pod.
pub(crate) fn table(report: &ClosedLoop, all: bool) -> String {
    let (result, run) = (&report.result, values(report));
    let mut text = pods(&report.pods, all);
    text += &time_to_bind(&result.time_to_bind);
    text += &counts(&result.pods);
    text += &metrics(std::slice::from_ref(&run), &["RESULT".to_owned()]);
    text += &influence("Influence of scores", &run);
    text += &assumptions(&report.assumptions);
    let _ = writeln!(text, "\n{}, {}", source(&report.source), count(result.attempts as usize, "attempt"));
    text
}

/// Returns the values of one simulation.
pub(crate) fn values(report: &ClosedLoop) -> ProfileResult {
    let id =
        aggregate::ProfileId { name: report.profiles.join(", "), parameters: Vec::new(), fingerprint: String::new() };
    aggregate::profile(id, report.source.seconds, &[(report.seed, &report.result)])
}

fn pods(pods: &[PodOutcome], all: bool) -> String {
    let is_notable =
        |pod: &&PodOutcome| !matches!(pod.state, PodState::Running | PodState::Ended) || pod.bound.is_none();
    let notable: Vec<&PodOutcome> = pods.iter().filter(|pod| all || is_notable(pod)).collect();
    if notable.is_empty() {
        return String::new();
    }
    let mut columns = Columns::new(["POD", ">PRIORITY", "CREATED", "BOUND", "NODE", "RECORDED NODE", "STATE", "ENDED"]);
    let shown = if all { notable.len() } else { notable.len().min(MAX_PODS) };
    for pod in &notable[..shown] {
        let state = match pod.state {
            PodState::Waiting => "waiting",
            PodState::Running => "running",
            PodState::Ended => "ended",
            PodState::Preempted => "preempted",
            PodState::Evicted => "evicted",
        };
        columns.row(vec![
            pod.pod.clone(),
            pod.priority.to_string(),
            time(pod.created),
            pod.bound.map(time).unwrap_or_default(),
            pod.node.clone().unwrap_or_default(),
            pod.recorded_node.clone().unwrap_or_default(),
            state.to_owned(),
            pod.ended.map(time).unwrap_or_default(),
        ]);
    }
    let title = if all { "Pods" } else { "Pods that did not run to their end" };
    heading(title) + "\n" + &columns.text() + &more(notable.len() - shown) + "\n"
}

fn time_to_bind(waits: &[TimeToBind]) -> String {
    if waits.is_empty() {
        return String::new();
    }
    let mut columns = Columns::new([">PRIORITY", ">PODS", ">BOUND", ">P50", ">P99", ">MAX"]);
    for wait in waits {
        let priority = wait.priority.map_or_else(|| "all".to_owned(), |priority| priority.to_string());
        let (pods, bound) = (HumanCount(wait.pods).to_string(), HumanCount(wait.bound).to_string());
        columns.row(vec![priority, pods, bound, time(wait.p50), time(wait.p99), time(wait.max)]);
    }
    heading("Time to bind") + "\n" + &columns.text() + "\n"
}

fn counts(pods: &PodCounts) -> String {
    format!(
        "{} arrived without a node, {} with one; {} bound ({} on another node than recorded), {} waiting at the end, \
         {} deleted before they had a node; \
         {} preempted, {} evicted, {} of them replaced and {} lost\n\n",
        count(pods.arrived as usize, "pod"),
        pods.with_node,
        pods.bound,
        pods.moved,
        pods.waiting,
        pods.deleted_waiting,
        pods.preempted,
        pods.evicted,
        pods.replacements,
        pods.lost
    )
}
