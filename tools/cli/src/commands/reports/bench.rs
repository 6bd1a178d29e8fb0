//! The report of `schedc bench`.

use schedc_perf::Report;
use schedc_report::{Bar, Bars, Column, Kind, Report as Page, Table, Unit};

/// Returns the page of measured workloads. `subtitle` names their file.
pub(crate) fn page(workloads: &[Report], subtitle: String) -> Page {
    let mut page = Page::new("Benchmark", subtitle);
    page.fact("Workloads", workloads.len());
    page.notes.push(
        "Throughput is the number of pods that are bound per second of real time; this time includes the work of the \
         in-memory cluster. Latency is measured from popping a pod until it is assumed and reserved on a node, or until \
         it is rejected."
            .to_owned(),
    );
    let bars = |title: &str, description: &str, unit, series: &[&str], values: &dyn Fn(&Report) -> Vec<f64>| Bars {
        title: title.to_owned(),
        description: description.to_owned(),
        label: "Workload".to_owned(),
        unit,
        series: series.iter().map(|name| (*name).to_owned()).collect(),
        bars: workloads
            .iter()
            .map(|report| Bar { label: report.name.clone(), values: values(report), query: None })
            .collect(),
        empty: "No workload was measured.".to_owned(),
    };
    page.view(bars(
        "Throughput",
        "Per second; more is better.",
        Unit::Count,
        &["pods bound", "decisions"],
        &|report| vec![report.pods_per_s, report.decisions_per_s],
    ));
    page.view(bars(
        "Latency of decisions",
        "Less is better.",
        Unit::Microseconds,
        &["p50", "p90", "p99", "p99.9"],
        &|report| {
            let latency = report.latency_us;
            vec![latency.p50, latency.p90, latency.p99, latency.p999]
        },
    ));
    page.view(table(workloads));
    page
}

fn table(workloads: &[Report]) -> Table {
    let column = |name: &str, unit, value: &dyn Fn(&Report) -> Option<f64>| {
        Column::numbers(name, Kind::Number(unit), workloads.iter().map(value))
    };
    let (count, time) = (Unit::Count, Unit::Microseconds);
    Table::new("Workloads", "All measurements.", "No workload was measured.")
        .with(Column::text("Workload", Kind::Text, workloads.iter().map(|report| report.name.as_str())))
        .with(column("Pods/s", count, &|report| Some(report.pods_per_s.round())))
        .with(column("Decisions/s", count, &|report| Some(report.decisions_per_s.round())))
        .with(column("p50", time, &|report| Some(report.latency_us.p50)))
        .with(column("p90", time, &|report| Some(report.latency_us.p90)))
        .with(column("p99", time, &|report| Some(report.latency_us.p99)))
        .with(column("p99.9", time, &|report| Some(report.latency_us.p999)))
        .with(column("Maximum", time, &|report| Some(report.latency_us.max)))
        .with(column("Allocations per decision", count, &|report| report.allocations_per_decision))
        .with(column("Peak memory", Unit::Bytes, &|report| report.peak_rss_mb.map(|mb| mb * 1_048_576.0)))
}
