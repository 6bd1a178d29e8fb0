//! Result of `schedc bench --wire`.

use serde::Serialize;

use crate::commands::failure::Failure;
use crate::commands::output::Columns;

/// Maximum CPU time of an idle scheduler that receives heartbeats, in percent of a core.
const HEARTBEAT_CPU_GOAL: f64 = 0.1;

/// Measurements of a scheduler at a fake API server.
#[derive(Serialize)]
pub(super) struct WireReport {
    /// Number of nodes.
    pub(super) nodes: usize,
    /// Results by arrival rate.
    pub(super) loads: Vec<Load>,
    /// CPU time without any change, in percent of a core.
    pub(super) idle_cpu_percent: Option<f64>,
    /// CPU time while kubelets report unchanged statuses, in percent of a core.
    pub(super) heartbeat_cpu_percent: Option<f64>,
    /// Start of a scheduler in a cluster that already has pending pods.
    pub(super) start: Start,
    /// Size of the program in MB.
    pub(super) program_mb: Option<f64>,
}

/// Result for pods that arrive at a constant rate.
#[derive(Serialize)]
pub(super) struct Load {
    pub(super) pods_per_s: u32,
    pub(super) pods: usize,
    pub(super) latency_us: Latency,
    pub(super) cpu_us_per_pod: Option<f64>,
    pub(super) resident_mb: Option<f64>,
}

/// Percentiles of the time from the watch event to the binding request, in microseconds. Each is the upper bound of a
/// histogram bucket, or `None` if it is above all bounds.
#[derive(Serialize)]
pub(super) struct Latency {
    pub(super) p50: Option<f64>,
    pub(super) p99: Option<f64>,
}

/// Result of a start.
#[derive(Serialize)]
pub(super) struct Start {
    pub(super) nodes: usize,
    pub(super) pods: usize,
    pub(super) first_binding_ms: f64,
    pub(super) resident_mb: Option<f64>,
}

/// Returns the goal at an arrival rate: the maximum of the 99th percentile, in microseconds.
fn latency_goal(pods_per_s: u32) -> f64 {
    if pods_per_s <= 20 { 150.0 } else { 1000.0 }
}

impl WireReport {
    /// Returns an error if a goal is exceeded or was not measured.
    pub(super) fn check(&self) -> Result<(), Failure> {
        let mut problems = Vec::new();
        let mut verify = |what: String, value: Option<f64>, goal: f64, unit: &str| match value {
            Some(value) if value <= goal => {}
            Some(value) => problems.push(format!("{what} is {value:.2} {unit}, the goal is at most {goal} {unit}")),
            None => problems.push(format!("{what} was not measured, or exceeds all bounds")),
        };
        for load in &self.loads {
            let what = format!("p99 of the time from watch event to binding, at {} pods per second,", load.pods_per_s);
            verify(what, load.latency_us.p99, latency_goal(load.pods_per_s), "µs");
        }
        let what = "CPU time of an idle scheduler with heartbeats".to_owned();
        verify(what, self.heartbeat_cpu_percent, HEARTBEAT_CPU_GOAL, "% of a core");
        if problems.is_empty() { Ok(()) } else { Err(Failure::new(problems.join("\n"))) }
    }
}

/// Returns the table for users.
pub(super) fn table(report: &WireReport) -> String {
    let text = |value: Option<f64>, unit: &str, digits: usize| {
        value.map_or_else(|| "-".to_owned(), |value| format!("{value:.digits$} {unit}"))
    };
    let bound = |value| text(value, "µs", 0);
    let mut columns = Columns::new(["MEASUREMENT", ">VALUE", ">GOAL"]);
    let mut row = |what: String, value: String, goal: String| columns.row(vec![what, value, goal]);
    for Load { pods_per_s: rate, latency_us, cpu_us_per_pod, resident_mb, .. } in &report.loads {
        let what = format!("watch event to binding, {rate} pods per second");
        row(format!("{what}, p50 at most"), bound(latency_us.p50), String::new());
        row(format!("{what}, p99 at most"), bound(latency_us.p99), bound(Some(latency_goal(*rate))));
        row(format!("CPU time per pod, {rate} pods per second"), text(*cpu_us_per_pod, "µs", 0), String::new());
        row(format!("resident memory, {rate} pods per second"), text(*resident_mb, "MB", 1), String::new());
    }
    let percent = |value| text(value, "%", 3);
    row("CPU time, idle".to_owned(), percent(report.idle_cpu_percent), String::new());
    let goal = percent(Some(HEARTBEAT_CPU_GOAL));
    row("CPU time, idle with heartbeats".to_owned(), percent(report.heartbeat_cpu_percent), goal);
    let Start { nodes, pods, first_binding_ms, resident_mb } = &report.start;
    let with = format!("{nodes} nodes and {pods} pods");
    row(format!("start to first binding, {with}"), text(Some(*first_binding_ms), "ms", 0), String::new());
    row(format!("resident memory, {with}"), text(*resident_mb, "MB", 1), String::new());
    row("size of the program".to_owned(), text(report.program_mb, "MB", 1), String::new());
    format!("{}Measured with {} nodes.\n", columns.text(), report.nodes)
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::*;

    fn report(p99: Option<f64>, heartbeats: Option<f64>) -> WireReport {
        let load = |pods_per_s| Load {
            pods_per_s,
            pods: 200,
            latency_us: Latency { p50: Some(100.0), p99 },
            cpu_us_per_pod: Some(266.4),
            resident_mb: None,
        };
        WireReport {
            nodes: 1000,
            loads: vec![load(20), load(500)],
            idle_cpu_percent: Some(0.0),
            heartbeat_cpu_percent: heartbeats,
            start: Start { nodes: 100, pods: 1000, first_binding_ms: 50.3, resident_mb: Some(16.5) },
            program_mb: Some(7.5),
        }
    }

    #[test]
    fn a_check_names_each_exceeded_or_unmeasured_goal() {
        assert!(report(Some(150.0), Some(0.1)).check().is_ok());
        let failures = [report(Some(300.0), Some(0.191)), report(None, None)].map(|report| report.check());
        let messages = failures.map(|failure| match failure {
            Err(Failure::Message(message)) => message,
            _ => panic!("goals are exceeded"),
        });
        expect![[r#"
            p99 of the time from watch event to binding, at 20 pods per second, is 300.00 µs, the goal is at most 150 µs
            CPU time of an idle scheduler with heartbeats is 0.19 % of a core, the goal is at most 0.1 % of a core
            p99 of the time from watch event to binding, at 20 pods per second, was not measured, or exceeds all bounds
            p99 of the time from watch event to binding, at 500 pods per second, was not measured, or exceeds all bounds
            CPU time of an idle scheduler with heartbeats was not measured, or exceeds all bounds"#]]
        .assert_eq(&messages.join("\n"));
    }

    #[test]
    fn the_table_has_values_and_goals() {
        expect![[r#"
              MEASUREMENT                                                 VALUE     GOAL
              watch event to binding, 20 pods per second, p50 at most    100 µs
              watch event to binding, 20 pods per second, p99 at most    300 µs   150 µs
              CPU time per pod, 20 pods per second                       266 µs
              resident memory, 20 pods per second                             -
              watch event to binding, 500 pods per second, p50 at most   100 µs
              watch event to binding, 500 pods per second, p99 at most   300 µs  1000 µs
              CPU time per pod, 500 pods per second                      266 µs
              resident memory, 500 pods per second                            -
              CPU time, idle                                            0.000 %
              CPU time, idle with heartbeats                            0.191 %  0.100 %
              start to first binding, 100 nodes and 1000 pods             50 ms
              resident memory, 100 nodes and 1000 pods                  16.5 MB
              size of the program                                        7.5 MB
            Measured with 1000 nodes.
        "#]]
        .assert_eq(&table(&report(Some(300.0), Some(0.191))));
    }
}
