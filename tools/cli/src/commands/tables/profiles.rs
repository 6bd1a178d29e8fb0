//! Tables of the compiled-in profiles.

use std::fmt::Write;

use serde_json::Value;

use crate::commands::output::{heading, wrapped};
use crate::commands::profiles::profile::Profile;

/// Returns the list of profiles.
pub(crate) fn table(profiles: &[Profile]) -> String {
    profiles.iter().map(profile).collect::<Vec<_>>().join("\n")
}

fn profile(profile: &Profile) -> String {
    let nodes = match profile.percentage_of_nodes_to_score {
        0 => "as many nodes as kube-scheduler's adaptive percentage allows".to_owned(),
        100 => "all nodes".to_owned(),
        percentage => format!("{percentage} % of the nodes"),
    };
    let mut text = heading(profile.name) + "\n";
    // Writing to a string cannot fail.
    let _ = writeln!(text, "  from {}", profile.source);
    let _ = writeln!(text, "  serves pods of scheduler {}", profile.scheduler_name);
    let _ = writeln!(text, "  considers {nodes}");
    let (initial, max) = (profile.pod_initial_backoff_seconds, profile.pod_max_backoff_seconds);
    let _ = writeln!(text, "  backs off for {initial} s to {max} s");
    let limits = profile.budget.limits();
    if !limits.is_empty() {
        let _ = writeln!(text, "  cost limits: {}", limits.join(", "));
    }
    for point in profile.points.0 {
        const WIDTH: usize = 16;
        let plugins: Vec<String> = point
            .plugins
            .iter()
            .map(|(plugin, weight)| match weight {
                Some(weight) => format!("{plugin} x{weight}"),
                None => (*plugin).to_owned(),
            })
            .collect();
        let plugins = wrapped(plugins.iter().map(String::as_str), WIDTH);
        let _ = write!(text, "  {:14}{}", point.point, plugins.trim_start());
    }
    for extender in &profile.extenders {
        let _ = writeln!(text, "  {:14}{}", "extender", self::extender(extender));
    }
    text
}

/// Formats an extender: its URL, calls and pods.
fn extender(extender: &Value) -> String {
    const VERBS: [&str; 5] = ["filter", "prioritize", "preempt", "bind", "unreserve"];
    let called = VERBS.into_iter().filter(|verb| extender.get(format!("{verb}-verb")).is_some());
    let called = called.map(|verb| match &extender["weight"] {
        Value::Number(weight) if verb == "prioritize" => format!("{verb} x{weight}"),
        _ => verb.to_owned(),
    });
    let mut text = format!("{}: {}", extender["url-prefix"].as_str().unwrap_or_default(), listed(called));
    let resources = extender["managed-resources"].as_array().into_iter().flatten();
    let resources: Vec<&str> = resources.filter_map(|resource| resource["name"].as_str()).collect();
    if !resources.is_empty() {
        text.push_str(&format!(", for {}", resources.join(", ")));
    }
    if extender["ignorable"] == true {
        text.push_str(", ignorable");
    }
    text
}

fn listed(verbs: impl Iterator<Item = String>) -> String {
    let verbs: Vec<String> = verbs.collect();
    if verbs.is_empty() { "nothing".to_owned() } else { verbs.join(", ") }
}
