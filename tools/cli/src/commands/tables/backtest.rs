//! Tables of back-tests.

use std::fmt::Write;

use indicatif::HumanCount;
use schedc_backtest::Backtest;
use schedc_backtest::report::{Estimate, Metric, MetricUnit, PluginEstimate, ProfileResult, Source};

use super::count;
use crate::commands::output::{Columns, heading};
use crate::timeline::Span;

/// Maximum number of profiles with a column each. If there are more profiles, each has a row, and only the first one has a
/// table of influence.
const MAX_PROFILE_COLUMNS: usize = 4;

/// Returns the estimates of all profiles side by side, the influence of plugins, and the assumptions.
pub(crate) fn table(result: &Backtest) -> String {
    let names: Vec<String> = result.profiles.iter().map(display_name).collect();
    let mut text = metrics(&result.profiles, &names);
    if result.seeds.len() > 1 {
        text += "Ranges are 95 % confidence intervals; * marks a value if the interval of its difference from the first profile excludes 0.\n";
    }
    let shown = if names.len() > MAX_PROFILE_COLUMNS { 1 } else { names.len() };
    for (profile, name) in result.profiles.iter().zip(&names).take(shown) {
        text += &influence(&format!("Influence of scores: {name}"), profile);
    }
    text += &assumptions(&result.assumptions);
    text += &format!("\n{}\n", wrapped_text(&result.method, ""));
    let runs = result.profiles.len() * result.seeds.len();
    let _ = writeln!(text, "\n{}; {} of {}", source(&result.source), result.runs.len(), count(runs, "simulation"));
    text
}

/// Returns the name of a profile with its parameters.
pub(crate) fn display_name(profile: &ProfileResult) -> String {
    let parameters = profile.parameters.iter().map(|it| format!(" {}={}", it.name, it.value));
    profile.name.clone() + &parameters.collect::<String>()
}

pub(super) fn source(source: &Source) -> String {
    let start = source.start.as_ref().map(|start| format!(" from {start}")).unwrap_or_default();
    format!(
        "{}: {}{start}, {}, {} at the start, {} that arrive or wait",
        source.paths.join(", "),
        time(source.seconds),
        count(source.nodes as usize, "node"),
        count(source.initial_pods as usize, "pod") + " with a node",
        HumanCount(source.arriving_pods)
    )
}

pub(super) fn metrics(profiles: &[ProfileResult], names: &[String]) -> String {
    let Some(first) = profiles.first() else { return String::new() };
    if profiles.len() > MAX_PROFILE_COLUMNS {
        return rows(profiles, names);
    }
    let titles: Vec<String> =
        ["METRIC".to_owned(), "OF".to_owned()].into_iter().chain(names.iter().map(|name| format!(">{name}"))).collect();
    let mut columns = Columns::new(titles.iter().map(String::as_str));
    for (id, metric) in ids(profiles, first) {
        let cell = |profile: &ProfileResult| find(profile, &id).map(cell).unwrap_or_default();
        let names = [metric_title(&metric.name).to_owned(), metric.of.clone().unwrap_or_default()];
        columns.row(names.into_iter().chain(profiles.iter().map(cell)).collect::<Vec<String>>());
    }
    heading("Results") + "\n" + &columns.text()
}

/// Metrics in the table with a row for each profile, and their titles.
const ROW_METRICS: &[(&str, &str)] = &[
    ("waiting", ">WAITING AT END"),
    ("timeToBind.p50", ">P50"),
    ("timeToBind.p99", ">P99"),
    ("preempted", ">PREEMPTED"),
    ("nodes.couldBeEmpty", ">NODES THAT COULD BE EMPTY"),
    ("cost.usedNodes", ">COST OF USED NODES"),
];

fn rows(profiles: &[ProfileResult], names: &[String]) -> String {
    let has = |name: &str| profiles.iter().any(|profile| find(profile, &(name.to_owned(), None)).is_some());
    let shown_metrics: Vec<&(&str, &str)> = ROW_METRICS.iter().filter(|(name, _)| has(name)).collect();
    let mut columns = Columns::new(["PROFILE"].into_iter().chain(shown_metrics.iter().map(|(_, title)| *title)));
    for (profile, name) in profiles.iter().zip(names) {
        let cell =
            |(metric, _): &&(&str, &str)| find(profile, &((*metric).to_owned(), None)).map(cell).unwrap_or_default();
        columns.row([name.clone()].into_iter().chain(shown_metrics.iter().map(cell)).collect::<Vec<String>>());
    }
    heading("Results; -o json has all metrics") + "\n" + &columns.text()
}

type Id = (String, Option<String>);

/// Returns all metrics once, in the order of the first profile that has them.
fn ids<'r>(profiles: &'r [ProfileResult], first: &'r ProfileResult) -> Vec<(Id, &'r Metric)> {
    let mut ids: Vec<(Id, &Metric)> = Vec::new();
    for metric in first.metrics.iter().chain(profiles.iter().flat_map(|profile| &profile.metrics)) {
        let id = (metric.name.clone(), metric.of.clone());
        if ids.iter().all(|(known, _)| *known != id) {
            ids.push((id, metric));
        }
    }
    ids
}

fn find<'r>(profile: &'r ProfileResult, (name, of): &Id) -> Option<&'r Metric> {
    profile.metrics.iter().find(|metric| metric.name == *name && metric.of == *of)
}

/// Returns the name of a metric for users.
pub(crate) fn metric_title(name: &str) -> &str {
    match name {
        "bound" => "pods bound",
        "waiting" => "pods waiting at the end",
        "timeToBind.p50" => "time to bind, p50",
        "timeToBind.p99" => "time to bind, p99",
        "pending.mean" => "pods waiting, mean",
        "pending.max" => "pods waiting, most",
        "preempted" => "pods preempted",
        "lost" => "pods lost",
        "attempts" => "attempts",
        "utilisation" => "utilisation",
        "usableFree" => "free and usable by the observed pods",
        "nodes.empty" => "nodes empty, mean",
        "nodes.couldBeEmpty" => "nodes that could be empty, mean",
        "cost.allNodes" => "cost of all nodes",
        "cost.usedNodes" => "cost of nodes with pods",
        "cost.neededNodes" => "cost of nodes that could not be empty",
        other => other,
    }
}

fn cell(metric: &Metric) -> String {
    estimate(metric.estimate, metric.unit) + if is_different(metric) { " *" } else { "" }
}

/// Formats a mean with its interval.
pub(crate) fn estimate(Estimate { mean, low, high, .. }: Estimate, unit: MetricUnit) -> String {
    let value = |value: f64| amount(value, unit);
    let range = match (low, high) {
        (Some(low), Some(high)) if value(low) != value(high) => format!(" [{}, {}]", value(low), value(high)),
        _ => String::new(),
    };
    value(mean) + &range
}

/// Returns whether a value differs from that of the first profile: the interval of the difference excludes 0.
pub(crate) fn is_different(metric: &Metric) -> bool {
    let Some(Estimate { low: Some(low), high: Some(high), .. }) = metric.difference else { return false };
    low > 0.0 || high < 0.0
}

fn amount(value: f64, unit: MetricUnit) -> String {
    match unit {
        MetricUnit::Count if value.abs() >= 1000.0 || value.fract() == 0.0 => format!("{value:.0}"),
        MetricUnit::Count => format!("{value:.1}"),
        MetricUnit::Seconds => time(value.max(0.0)),
        MetricUnit::Share => format!("{:.1} %", value * 100.0),
        MetricUnit::Price => format!("{value:.2}"),
    }
}

/// Formats a time in seconds as a duration.
pub(crate) fn time(seconds: f64) -> String {
    Span(((seconds * 1e3).round() as i64).saturating_mul(1_000_000)).to_string()
}

pub(super) fn influence(title: &str, profile: &ProfileResult) -> String {
    let ProfileResult { plugins, explained, left_out, .. } = profile;
    if plugins.is_empty() || (*explained == 0 && left_out.reasons().is_empty()) {
        return String::new();
    }
    let mut columns = Columns::new(["PLUGIN", ">WEIGHT", ">DECIDED", ">OUTVOTED", ">INDIFFERENT"]);
    for PluginEstimate { plugin, weight, decided, outvoted, indifferent } in plugins {
        let shares = [decided, outvoted, indifferent].map(|share| amount(share.mean, MetricUnit::Share));
        columns.row([plugin.clone(), weight.to_string()].into_iter().chain(shares).collect::<Vec<String>>());
    }
    let sample = wrapped_text(&sampled(profile), "");
    format!("\n{}\n{}{sample}\n", heading(title), columns.text())
}

/// Returns the number of decisions of the sample, and of those that are left out, by reason.
pub(crate) fn sampled(ProfileResult { explained, left_out, .. }: &ProfileResult) -> String {
    let reasons = left_out.reasons();
    let number: u64 = reasons.iter().map(|(_, number)| number).sum();
    let all = count((explained + number) as usize, "sampled decision");
    if reasons.is_empty() {
        return format!("{all}; each had a choice of scored nodes.");
    }
    let reasons: Vec<String> = reasons.iter().map(|(why, number)| format!("{why}: {}", HumanCount(*number))).collect();
    format!("{all}; {} left out ({}).", HumanCount(number), reasons.join(", "))
}

pub(super) fn assumptions(texts: &[String]) -> String {
    let texts: String = texts.iter().map(|text| format!("  - {}\n", wrapped_text(text, "    "))).collect();
    format!("\n{}\n{texts}", heading("Assumptions"))
}

/// Breaks a text into lines of at most 100 characters where possible. `indent` precedes all lines except the first.
fn wrapped_text(text: &str, indent: &str) -> String {
    let (mut lines, mut column) = (String::new(), 0);
    for word in text.split_whitespace() {
        if column > 0 && column + 1 + word.chars().count() > 100 {
            lines.push('\n');
            lines += indent;
            column = 0;
        } else if column > 0 {
            lines.push(' ');
            column += 1;
        }
        lines += word;
        column += word.chars().count();
    }
    lines
}
