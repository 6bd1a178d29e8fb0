use std::collections::BTreeSet;

use super::family::MetricType;
use super::number::Number;
use super::*;

/// Recorded metrics of kube-scheduler 1.36.2.
const RECORDED: &str = include_str!("../../tests/recordings/metrics.tsv");

/// Documentation page.
const DOCS: &str = include_str!("../../../../docs/metrics.md");

/// Metrics of kube-scheduler without values in the recording.
const NOT_RECORDED: [&str; 6] = [
    "kubernetes_healthcheck",
    "kubernetes_healthchecks_total",
    "scheduler_dra_bindingconditions_allocations_total",
    "scheduler_dra_bindingconditions_wait_duration_seconds",
    "scheduler_permit_wait_duration_seconds",
    "scheduler_resourceclaim_creates_total",
];

fn metrics(disabled: &[&str]) -> Metrics {
    Metrics::new(MetricsSettings {
        profiles: vec!["default-scheduler"],
        host: "10.0.0.1:6443".into(),
        lease: Some("kube-scheduler".into()),
        health: Health::new(None),
        disabled: disabled.iter().map(|name| (*name).to_owned()).collect(),
    })
}

#[test]
fn every_metric_of_kube_scheduler_is_served_or_its_absence_explained() {
    let mut names = BTreeSet::new();
    for line in RECORDED.lines().skip(1) {
        let fields: Vec<_> = line.split('\t').collect();
        let [_, name, kind, labels, buckets] = fields[..] else { panic!("{line}") };
        names.insert(name);
        let Some(row) = table::row_of(name) else {
            assert!(table::absence(name).is_some_and(|reason| !reason.is_empty()), "{name}: neither here nor absent");
            continue;
        };
        assert_eq!(table::absence(name), None, "{name} is both");
        assert_eq!(row.family.kind.name(), kind, "{name}");
        assert_eq!(row.family.labels.join(","), labels, "{name}");
        let bounds = match row.family.kind {
            MetricType::Histogram(buckets) => [buckets.bounds(), vec![f64::INFINITY]].concat(),
            MetricType::Counter | MetricType::Gauge => Vec::new(),
        };
        let bounds: Vec<_> = bounds.into_iter().map(|bound| Number(bound).to_string()).collect();
        assert_eq!(bounds.join(","), buckets, "{name}");
        assert!(row.family.labels.is_sorted() && row.family.help.ends_with('.'), "{name}");
    }
    for row in table::ROWS {
        let name = row.family.name;
        assert_eq!(names.contains(name), !NOT_RECORDED.contains(&name), "{name}: wrong entry in NOT_RECORDED");
    }
    let absent: Vec<_> = table::ABSENT.iter().flat_map(|absent| absent.names).collect();
    assert!(absent.iter().all(|name| names.contains(**name)), "absent metrics are kube-scheduler's");
    assert_eq!(absent.len() + table::ROWS.len(), names.len() + NOT_RECORDED.len());
    assert!(table::OWN.iter().all(|row| !names.contains(row.family.name)), "own metrics are not kube-scheduler's");
}

/// `UPDATE_EXPECT=1` writes the page.
#[test]
fn the_documentation_matches_the_table() {
    let begin = "<!-- metrics: from cluster/kubernetes/src/metrics/table -->\n";
    let intro = DOCS.split_once(begin).map_or(DOCS, |(intro, _)| intro);
    let page = format!("{intro}{begin}{}", tables());
    if std::env::var_os("UPDATE_EXPECT").is_some() && page != DOCS {
        std::fs::write(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/metrics.md"), &page).unwrap();
        return;
    }
    assert!(page == DOCS, "docs/metrics.md is old: run this test with UPDATE_EXPECT=1");
}

fn tables() -> String {
    let mut text = table_of(table::ROWS, "differences");
    text += "\n## Metrics of schedc only\n";
    text += &table_of(table::OWN, "when");
    text += "\n## Metrics of kube-scheduler only\n";
    for absent in table::ABSENT {
        let names: Vec<_> = absent.names.iter().map(|name| format!("`{name}`")).collect();
        let mut reason = absent.reason.to_owned();
        reason[..1].make_ascii_uppercase();
        text += &format!("\n- {reason}. Missing: {}.\n", names.join(", "));
    }
    text
}

fn table_of(rows: &[table::Row], last: &str) -> String {
    let mut text = format!("\n| metric | type | labels | where | {last} |\n|---|---|---|---|---|\n");
    for row in rows {
        let (name, kind, labels) = (row.family.name, row.family.kind.name(), row.family.labels.join(", "));
        let endpoints: Vec<_> = row.endpoints.iter().map(|endpoint| format!("`{}`", endpoint.path())).collect();
        text += &format!("| `{name}` | {kind} | {labels} | {} | {} |\n", endpoints.join(", "), row.differs);
    }
    text
}

#[tokio::test(start_paused = true)]
async fn metrics_are_served_without_a_scheduler() {
    let metrics = metrics(&["process_open_fds"]);
    let text = metrics.render(Endpoint::Metrics).await;
    let has = |line: &str| assert!(text.lines().any(|known| known == line), "{line} is not in\n{text}");
    has("# HELP leader_election_master_status [ALPHA] 1 if this replica holds the lease, 0 if it does not.");
    has("leader_election_master_status{name=\"kube-scheduler\"} 0");
    has("disabled_metrics_total 1");
    has("scheduler_scheduling_algorithm_duration_seconds_bucket{le=\"16.384\"} 0");
    assert!(!text.contains("process_open_fds"), "it is disabled");
    metrics.0.settings.health.set_leading(true);
    assert!(
        metrics.render(Endpoint::Metrics).await.contains("leader_election_master_status{name=\"kube-scheduler\"} 1\n")
    );
    assert_eq!(metrics.render(Endpoint::Resources).await, "");
}

#[tokio::test]
async fn checks_of_health_are_counted() {
    let metrics = metrics(&[]);
    [true, true, false].iter().for_each(|is_ok| metrics.checked("leaderElection", "readyz", *is_ok));
    let text = metrics.render(Endpoint::Slis).await;
    let series: Vec<_> = text.lines().filter(|line| line.starts_with("kubernetes_")).collect();
    let expected = [
        r#"kubernetes_healthcheck{name="leaderElection",type="readyz"} 0"#,
        r#"kubernetes_healthchecks_total{name="leaderElection",status="error",type="readyz"} 1"#,
        r#"kubernetes_healthchecks_total{name="leaderElection",status="success",type="readyz"} 2"#,
    ];
    assert_eq!(series, expected);
}
