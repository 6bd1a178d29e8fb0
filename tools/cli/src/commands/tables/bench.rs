//! Table of measured workloads.

use indicatif::HumanCount;
use schedc_perf::Report;

use crate::commands::output::Columns;

/// Returns a table with a row per workload.
pub(crate) fn table(reports: &[Report]) -> String {
    let mut columns = Columns::new([
        "WORKLOAD",
        ">PODS/S",
        ">DECISIONS/S",
        ">P50 µs",
        ">P90 µs",
        ">P99 µs",
        ">P99.9 µs",
        ">MAX µs",
        ">ALLOCATIONS",
        ">PEAK MIB",
    ]);
    for report in reports {
        let latency = report.latency_us;
        let times = [latency.p50, latency.p90, latency.p99, latency.p999, latency.max];
        let mut row = vec![report.name.clone(), whole(report.pods_per_s), whole(report.decisions_per_s)];
        row.extend(times.map(time));
        row.push(report.allocations_per_decision.map_or_else(|| "-".to_owned(), |n| format!("{n:.2}")));
        row.push(report.peak_rss_mb.map_or_else(|| "-".to_owned(), whole));
        columns.row(row);
    }
    columns.text()
}

fn whole(number: f64) -> String {
    HumanCount(number.round() as u64).to_string()
}

/// Formats a time: with two decimals below 10, one below 100, and none above.
fn time(microseconds: f64) -> String {
    match microseconds {
        ..10.0 => format!("{microseconds:.2}"),
        ..100.0 => format!("{microseconds:.1}"),
        _ => whole(microseconds),
    }
}
