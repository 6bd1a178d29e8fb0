//! The report of closed-loop replays.

use schedc_backtest::report::{ClosedLoop, ProfileResult};
use schedc_backtest::result::{PodOutcome, PodState, ResourceSample, Sample};
use schedc_report::{Column, Kind, Report as Page, Series, Table, Unit};

use super::backtest::{MAX_LINES, facts, influence, lines, percent, results, sample};
use super::charts::MAX_ROWS;

/// Returns the page of a closed-loop replay. `metrics` are the values of the run.
pub(crate) fn page(report: &ClosedLoop, metrics: &ProfileResult) -> Page {
    let mut page = Page::new("Closed-loop replay", report.source.paths.join(", "));
    page.fact("Profiles", report.profiles.join(", "));
    page.fact("Seed", report.seed);
    facts(&mut page, &report.source);
    page.view(results(std::slice::from_ref(metrics), &[report.profiles.join(", ")]));
    let samples = &report.result.samples;
    let series = |name: &str, value: &dyn Fn(&Sample) -> Option<f64>| Series {
        name: name.to_owned(),
        values: samples.iter().map(value).collect(),
    };
    let chart = |title: &str, description: &str, unit, series| {
        lines(title, description, unit, samples.iter().map(|sample| sample.at).collect(), series)
    };
    page.view(chart(
        "Pods over time",
        "Pods that wait for a node, and pods on nodes.",
        Unit::Count,
        vec![
            series("pending", &|sample| Some(sample.pending as f64)),
            series("running", &|sample| Some(sample.running as f64)),
        ],
    ));
    let resources = samples.first().map_or(&[][..], |sample| &sample.resources[..]);
    let of_resources = |value: &dyn Fn(&ResourceSample) -> Option<f64>| -> Vec<Series> {
        let resource_series = |(at, resource): (usize, &ResourceSample)| {
            series(&resource.resource, &|sample| sample.resources.get(at).and_then(value))
        };
        resources.iter().enumerate().take(MAX_LINES).map(resource_series).collect()
    };
    page.view(chart(
        "Utilisation over time",
        "Requests of the pods on nodes as a share of what the nodes can allocate.",
        Unit::Percent,
        of_resources(&|resource| {
            (resource.allocatable > 0).then(|| percent(resource.requested as f64 / resource.allocatable as f64))
        }),
    ));
    page.view(chart(
        "Usable free amounts",
        "Share of the free amount that is on nodes where observed pods fit.",
        Unit::Percent,
        of_resources(&|resource| resource.usable.map(percent)),
    ));
    page.view(chart(
        "Nodes over time",
        "All nodes, those without pods, and further ones whose pods fit on other nodes with pods.",
        Unit::Count,
        vec![
            series("all", &|sample| Some(sample.nodes as f64)),
            series("empty", &|sample| Some(sample.empty_nodes as f64)),
            series("could be empty", &|sample| Some(sample.removable_nodes as f64)),
        ],
    ));
    let names = [report.profiles.join(", ")];
    page.view(influence(std::slice::from_ref(metrics), &names));
    page.view(sample(std::slice::from_ref(metrics), &names));
    page.view(pods(&report.pods));
    if resources.len() > MAX_LINES {
        page.notes.push(format!("Charts over time show the first {MAX_LINES} of {} resources.", resources.len()));
    }
    if report.pods.len() > MAX_ROWS {
        page.notes.push(format!("The table of pods has {MAX_ROWS} rows; -o json has all pods."));
    }
    page.notes.extend(report.assumptions.iter().cloned());
    page
}

fn pods(pods: &[PodOutcome]) -> Table {
    let pods = &pods[..pods.len().min(MAX_ROWS)];
    let state = |pod: &PodOutcome| match pod.state {
        PodState::Waiting => "waiting",
        PodState::Running => "running",
        PodState::Ended => "ended",
        PodState::Preempted => "preempted",
        PodState::Evicted => "evicted",
    };
    let text = |text: &Option<String>| text.clone().unwrap_or_default();
    let seconds = |name: &str, of: &dyn Fn(&PodOutcome) -> Option<f64>| {
        Column::numbers(name, Kind::Number(Unit::Seconds), pods.iter().map(of))
    };
    Table::new("Pods", "All pods in the order of their arrival, with times since the start.", "There are no pods.")
        .with(Column::text("Pod", Kind::Pod, pods.iter().map(|pod| pod.pod.as_str())))
        .with(Column::text("Node", Kind::Node, pods.iter().map(|pod| text(&pod.node))))
        .with(Column::text("Recorded node", Kind::Node, pods.iter().map(|pod| text(&pod.recorded_node))))
        .with(Column::text("State", Kind::Text, pods.iter().map(state)))
        .with(Column::numbers(
            "Priority",
            Kind::Number(Unit::Count),
            pods.iter().map(|pod| Some(f64::from(pod.priority))),
        ))
        .with(seconds("Created", &|pod| Some(pod.created)))
        .with(seconds("Waited", &|pod| Some(pod.bound? - pod.created)))
        .with(seconds("Ended", &|pod| pod.ended))
}
