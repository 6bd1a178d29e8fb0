//! The report of `schedc backtest`.

use schedc_backtest::Backtest;
use schedc_backtest::report::{Metric, PluginEstimate, Point, ProfileResult, Source};
use schedc_report::{Bar, Bars, Column, Kind, Lines, Report as Page, Series, Table, Unit};

use crate::commands::tables::backtest::{display_name, estimate, is_different, metric_title, time};

/// Maximum number of lines in a chart.
pub(super) const MAX_LINES: usize = 8;

/// Returns the page of a back-test.
pub(crate) fn page(result: &Backtest) -> Page {
    let names: Vec<String> = result.profiles.iter().map(display_name).collect();
    let mut page = Page::new("Back-test", result.source.paths.join(", "));
    page.fact("Profiles", names.len());
    page.fact("Seeds", result.seeds.len());
    facts(&mut page, &result.source);
    page.view(results(&result.profiles, &names));
    for (metric, title, unit) in [
        ("timeToBind.p99", "Time to bind, 99th percentile", Unit::Seconds),
        ("nodes.couldBeEmpty", "Nodes that could be empty", Unit::Count),
        ("cost.usedNodes", "Cost of nodes with pods", Unit::Count),
    ] {
        if let Some(bars) = bars(&result.profiles, &names, metric, title, unit) {
            page.view(bars);
        }
    }
    let shown: Vec<(&ProfileResult, &String)> = result.profiles.iter().zip(&names).take(MAX_LINES).collect();
    let chart = |title: &str, description: &str, unit, value: &dyn Fn(&Point) -> Option<f64>| {
        let series = shown.iter().map(|(profile, name)| Series {
            name: (*name).clone(),
            values: profile.series.iter().map(value).collect(),
        });
        let x = shown.first().map(|(profile, _)| profile.series.iter().map(|point| point.at).collect());
        lines(title, description, unit, x.unwrap_or_default(), series.collect())
    };
    page.view(chart("Pods without a node", "Means over the seeds.", Unit::Count, &|point| Some(point.pending)));
    let resources = shown.first().and_then(|(profile, _)| profile.series.first()).map(|point| &point.resources[..]);
    for (at, resource) in resources.unwrap_or_default().iter().enumerate() {
        let name = &resource.resource;
        page.view(chart(
            &format!("Utilisation of {name}"),
            "Requests of the pods on nodes as a share of the allocatable amounts. Means over the seeds.",
            Unit::Percent,
            &|point| point.resources.get(at).map(|resource| percent(resource.utilisation)),
        ));
        page.view(chart(
            &format!("Usable free {name}"),
            "Share of the free amount that is on nodes where observed pods fit. Means over the seeds.",
            Unit::Percent,
            &|point| point.resources.get(at)?.usable.map(percent),
        ));
    }
    page.view(chart(
        "Nodes that could be empty",
        "Nodes without pods, and nodes whose pods fit on other nodes with pods. Means over the seeds.",
        Unit::Count,
        &|point| Some(point.empty_nodes + point.removable_nodes),
    ));
    page.view(influence(&result.profiles, &names));
    page.view(sample(&result.profiles, &names));
    if names.len() > MAX_LINES {
        page.notes.push(format!("Charts over time show the first {MAX_LINES} of {} profiles.", names.len()));
    }
    page.notes.push(result.method.clone());
    page.notes.extend(result.assumptions.iter().cloned());
    page
}

pub(super) fn facts(page: &mut Page, source: &Source) {
    page.fact("Duration", time(source.seconds));
    page.fact("Nodes at the start", source.nodes);
    page.fact("Pods with a node at the start", source.initial_pods);
    page.fact("Pods that arrive, or wait at the start", source.arriving_pods);
}

pub(super) fn percent(share: f64) -> f64 {
    share * 100.0
}

pub(super) fn lines(title: &str, description: &str, unit: Unit, x: Vec<f64>, series: Vec<Series>) -> Lines {
    Lines {
        title: title.to_owned(),
        description: description.to_owned(),
        x_label: "Time".to_owned(),
        x_unit: Unit::Seconds,
        x,
        unit,
        series,
        is_half: true,
    }
}

pub(super) fn results(profiles: &[ProfileResult], names: &[String]) -> Table {
    let profiles = profiles.iter().zip(names);
    let rows: Vec<(&Metric, &String)> =
        profiles.flat_map(|(profile, name)| profile.metrics.iter().map(move |metric| (metric, name))).collect();
    let texts = |of: &dyn Fn(&Metric) -> String| rows.iter().map(|(metric, _)| of(metric)).collect::<Vec<_>>();
    let numbers = |name: &str, of: &dyn Fn(&Metric) -> Option<f64>| {
        Column::numbers(name, Kind::Number(Unit::Count), rows.iter().map(|(metric, _)| of(metric))).hidden()
    };
    let difference = |metric: &Metric| match &metric.difference {
        Some(_) if is_different(metric) => "yes",
        Some(_) => "no",
        None => "",
    };
    Table::new(
        "Results",
        "Means over the seeds with 95 % confidence intervals. The details of a row have the numbers and the difference \
         from the first profile; a difference is significant if its interval excludes 0.",
        "There are no results.",
    )
    .with(Column::text("Metric", Kind::Text, texts(&|metric| metric_title(&metric.name).to_owned())))
    .with(Column::text("Of", Kind::Text, texts(&|metric| metric.of.clone().unwrap_or_default())))
    .with(Column::text("Profile", Kind::Text, rows.iter().map(|(_, name)| name.as_str())))
    .with(Column::text("Value", Kind::Text, texts(&|metric| estimate(metric.estimate, metric.unit))))
    .with(Column::text("Significant", Kind::Text, texts(&|metric| difference(metric).to_owned())))
    .with(numbers("Mean", &|metric| Some(metric.estimate.mean)))
    .with(numbers("Lower bound", &|metric| metric.estimate.low))
    .with(numbers("Upper bound", &|metric| metric.estimate.high))
    .with(numbers("Difference", &|metric| Some(metric.difference?.mean)))
    .with(numbers("Difference, lower bound", &|metric| metric.difference?.low))
    .with(numbers("Difference, upper bound", &|metric| metric.difference?.high))
}

/// Returns a chart of a metric, with a bar for each profile; `None` if fewer than two profiles have the metric.
fn bars(profiles: &[ProfileResult], names: &[String], metric: &str, title: &str, unit: Unit) -> Option<Bars> {
    let value = |profile: &ProfileResult| {
        let value = profile.metrics.iter().find(|value| value.name == metric && value.of.is_none())?;
        Some(value.estimate.mean)
    };
    let bars = profiles
        .iter()
        .zip(names)
        .filter_map(|(profile, name)| Some(Bar { label: name.clone(), values: vec![value(profile)?], query: None }));
    let bars: Vec<Bar> = bars.collect();
    (bars.len() > 1).then(|| Bars {
        title: title.to_owned(),
        description: "Means over the seeds.".to_owned(),
        label: "Profile".to_owned(),
        unit,
        series: vec!["mean".to_owned()],
        bars,
        empty: String::new(),
    })
}

/// Returns the numbers of sampled decisions: those from which the influence of scores is computed, and those that are
/// left out.
pub(super) fn sample(profiles: &[ProfileResult], names: &[String]) -> Table {
    let numbers = |name: &str, of: &dyn Fn(&ProfileResult) -> u64| {
        let values = profiles.iter().map(|profile| Some(of(profile) as f64));
        Column::numbers(name, Kind::Number(Unit::Count), values)
    };
    Table::new(
        "Decisions for the influence of scores",
        "Numbers of sampled decisions. The influence is computed from decisions between scored nodes; the others are \
         left out.",
        "No decision was sampled.",
    )
    .with(Column::text("Profile", Kind::Text, names.iter().map(String::as_str)))
    .with(numbers("Choice of nodes", &|profile| profile.explained))
    .with(numbers("No feasible node", &|profile| profile.left_out.no_node))
    .with(numbers("One feasible node", &|profile| profile.left_out.one_node))
    .with(numbers("Nominated node", &|profile| profile.left_out.nominated))
    .with(numbers("Failed attempt", &|profile| profile.left_out.failed))
}

pub(super) fn influence(profiles: &[ProfileResult], names: &[String]) -> Table {
    let profiles = profiles.iter().zip(names);
    let rows: Vec<(&PluginEstimate, &String)> =
        profiles.flat_map(|(profile, name)| profile.plugins.iter().map(move |plugin| (plugin, name))).collect();
    let shares = |name: &str, of: &dyn Fn(&PluginEstimate) -> f64| {
        let values = rows.iter().map(|(plugin, _)| Some(percent(of(plugin))));
        Column::numbers(name, Kind::Bar(100, Unit::Percent), values)
    };
    let bounds = |name: &str, of: &dyn Fn(&PluginEstimate) -> Option<f64>| {
        let values = rows.iter().map(|(plugin, _)| of(plugin).map(percent));
        Column::numbers(name, Kind::Number(Unit::Percent), values).hidden()
    };
    Table::new(
        "Influence of scores",
        "Decided: without the score, another node would be chosen. Outvoted: no node with the highest total has the \
         plugin's highest score. Indifferent: the score is equal on all feasible nodes, or the plugin skips the pod.",
        "No decision had a choice of nodes.",
    )
    .with(Column::text("Plugin", Kind::Text, rows.iter().map(|(plugin, _)| plugin.plugin.as_str())))
    .with(Column::text("Profile", Kind::Text, rows.iter().map(|(_, name)| name.as_str())))
    .with(Column::numbers(
        "Weight",
        Kind::Number(Unit::Count),
        rows.iter().map(|(plugin, _)| Some(plugin.weight as f64)),
    ))
    .with(shares("Decided", &|plugin| plugin.decided.mean))
    .with(shares("Outvoted", &|plugin| plugin.outvoted.mean))
    .with(shares("Indifferent", &|plugin| plugin.indifferent.mean))
    .with(bounds("Decided, lower bound", &|plugin| plugin.decided.low))
    .with(bounds("Decided, upper bound", &|plugin| plugin.decided.high))
}
