//! The profiles that are compiled in.

use std::fmt::Write;

use crate::cli::output::{heading, wrapped};
use crate::cli::profiles::Profile;

/// The list.
pub(crate) fn table(profiles: &[Profile]) -> String {
    profiles.iter().map(profile).collect::<Vec<_>>().join("\n")
}

fn profile(profile: &Profile) -> String {
    let nodes = match profile.percentage_of_nodes_to_score {
        0 => "as many nodes as kube-scheduler looks at by its adaptive rule".to_owned(),
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
        let _ = writeln!(text, "  may cost {}", limits.join(", "));
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
    text
}
