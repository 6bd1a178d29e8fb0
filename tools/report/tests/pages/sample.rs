//! A report with all views.

use schedc_report::{
    Bar, Bars, Candidate, Column, Decision, HeatMap, Kind, Layer, Lines, PluginScore, Report, Series, Table, Unit,
};

/// Names that must stay text.
pub(crate) const HOSTILE: [&str; 4] = [
    "<img src=x onerror=\"document.documentElement.dataset.ran=1\">",
    "</script><script>document.documentElement.dataset.ran=1</script>",
    "\u{2028}<!--<script>",
    "=HYPERLINK(\"http://example.com\")",
];

const PLUGINS: [&str; 6] =
    ["TaintToleration", "NodeAffinity", "PodTopologySpread", "InterPodAffinity", "NodeResourcesFit", "ImageLocality"];

/// Returns a number below `below`, without an obvious pattern over the seeds.
fn scattered(seed: usize, below: usize) -> usize {
    let mixed = (seed as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    ((mixed ^ (mixed >> 29)).wrapping_mul(0xbf58_476d_1ce4_e5b9) >> 33) as usize % below.max(1)
}

/// Returns a report of a cluster of this size. The first pods have hostile names.
pub(crate) fn sample(nodes: usize, pods: usize) -> Report {
    let mut report = Report::new("Simulation of 3 files", "profile default, seed 0, one hour of virtual time");
    report.fact("Pods", pods);
    report.fact("Nodes", nodes);
    report.notes.push("Bindings and deletions take no time.".to_owned());
    let steps = if nodes == 0 { 0 } else { 240 };
    let line = |name: &str, seed: usize| Series {
        name: name.to_owned(),
        values: (0..steps).map(|step| Some((scattered(step + seed, 50) + step) as f64)).collect(),
    };
    report.view(Lines {
        title: "Pods over time".to_owned(),
        description: "Pods with and without a node.".to_owned(),
        x_label: "Time".to_owned(),
        x_unit: Unit::Seconds,
        x: (0..steps).map(|step| step as f64 * 15.0).collect(),
        unit: Unit::Count,
        series: vec![line("pending", 1), line("running", 9)],
        is_half: false,
    });
    let names: Vec<String> = (0..nodes).map(|node| format!("node-{node:05}")).collect();
    let layers = ["cpu", "memory", "pods", "example.com/gpu"];
    let moments = HeatMap::moments(nodes, layers.len());
    let shares = |layer: usize, moment: usize| {
        (0..nodes).map(|node| Some(scattered(node * 7 + layer, 110) as f64 * moment as f64 / moments as f64)).collect()
    };
    report.view(HeatMap {
        title: "Utilisation per node".to_owned(),
        description: "Requested share of the allocatable amount.".to_owned(),
        nodes: names.clone(),
        x_label: "Time".to_owned(),
        x_unit: Unit::Seconds,
        x: (0..moments).map(|moment| moment as f64 * 60.0).collect(),
        layers: layers
            .iter()
            .enumerate()
            .map(|(layer, name)| Layer {
                name: (*name).to_owned(),
                shares: (0..moments).map(|moment| shares(layer, moment + 1)).collect(),
            })
            .collect(),
        is_half: false,
    });
    let reason =
        |label: &str, pods: f64| Bar { label: label.to_owned(), values: vec![pods], query: Some(label.to_owned()) };
    report.view(Bars {
        title: "Reasons of pending pods".to_owned(),
        description: "Pods with at least one node that is rejected for this reason.".to_owned(),
        label: "Reason".to_owned(),
        unit: Unit::Count,
        series: vec!["pods".to_owned()],
        bars: if pods == 0 { Vec::new() } else { vec![reason("Insufficient cpu", 12.0), reason(HOSTILE[0], 3.0)] },
        empty: "No pod is pending.".to_owned(),
    });
    let pod_name = |pod: usize| match HOSTILE.get(pod) {
        Some(name) => (*name).to_owned(),
        None => format!("shop/web-{pod}"),
    };
    let node_of = |pod: usize| names.get(pod % nodes.max(1)).cloned().unwrap_or_default();
    let mut table = Table::new("Pods", "Where each pod went, and why.", "No pods.")
        .with(Column::text("Pod", Kind::Pod, (0..pods).map(pod_name)))
        .with(Column::text("Node", Kind::Node, (0..pods).map(node_of)))
        .with(Column::text("State", Kind::Text, (0..pods).map(|_| "placed")))
        .with(Column::numbers(
            "Waited",
            Kind::Number(Unit::Seconds),
            (0..pods).map(|pod| Some(scattered(pod, 9000) as f64 / 10.0)),
        ))
        .with(Column::numbers("Attempts", Kind::Number(Unit::Count), (0..pods).map(|_| Some(1.0))))
        .with(Column::text("Reason", Kind::Text, (0..pods).map(|_| HOSTILE[0])).hidden());
    let scores = |seed: usize| {
        let score = |(at, plugin): (usize, &&str)| PluginScore {
            plugin: (*plugin).to_owned(),
            weight: 1 + at as i64 % 3,
            normalized: scattered(seed * 31 + at, 101) as i64,
        };
        PLUGINS.iter().enumerate().map(score).collect()
    };
    table.decisions = (0..pods)
        .map(|pod| {
            let candidates = ["chosen", "best other node"].iter().enumerate().map(|(other, role)| Candidate {
                role: (*role).to_owned(),
                node: node_of(pod + other),
                scores: scores(2 * pod + other),
            });
            Some(Decision { feasible: nodes, best: 1 + pod % 3, candidates: candidates.collect() })
        })
        .collect();
    report.view(table);
    let mut table =
        Table::new("Nodes", "Requested shares at the end.", "No nodes.").with(Column::text("Node", Kind::Node, names));
    for (layer, name) in layers.iter().enumerate() {
        let shares = (0..nodes).map(|node| Some(scattered(node * 7 + layer, 11000) as f64 / 100.0));
        let amounts = (0..nodes).map(|node| Some((scattered(node * 7 + layer, 64) * 1000) as f64));
        table = table
            .with(Column::numbers(name, Kind::Bar(100, Unit::Percent), shares))
            .with(Column::numbers(&format!("{name} requested"), Kind::Number(Unit::Millicores), amounts).hidden());
    }
    report.view(table);
    report
}
