//! Tables of a plan of moves.

use std::fmt::Write;

use super::count;
use crate::commands::output::{Columns, heading, wrapped};
use crate::defragment::{Action, Emptying, Fragmentation, GpuChange, Plan, Room};
use crate::drain::BlockedNode;

/// Maximum number of blocked nodes in the table.
const MAX_BLOCKED: usize = 20;

/// Returns the actions, the obstacles, the GPUs and, at the end where users see it, a summary.
pub(crate) fn table(plan: &Plan) -> String {
    let parts = [
        actions(plan),
        plan.emptying.as_ref().and_then(blocked),
        plan.room.as_ref().and_then(waiting),
        plan.gpus.as_ref().map(gpus),
        plan.emptying.as_ref().map(|emptying| emptied(emptying, plan.evictions)),
        plan.room.as_ref().map(|room| made_room(room, plan.evictions)),
    ];
    parts.into_iter().flatten().collect::<Vec<_>>().join("\n")
}

fn actions(plan: &Plan) -> Option<String> {
    if plan.actions.is_empty() {
        return None;
    }
    let mut text = heading("Plan") + "\n";
    // The cordons of a plan that empties nodes are one list.
    let is_cordon = |action: &&Action| matches!(action, Action::Cordon { .. });
    let cordons = if plan.emptying.is_some() { plan.actions.iter().take_while(is_cordon).count() } else { 0 };
    if cordons > 0 {
        let nodes = plan.actions[..cordons].iter().filter_map(|action| match action {
            Action::Cordon { node } => Some(node.as_str()),
            _ => None,
        });
        text += &format!("  cordon {}\n", wrapped(nodes, 4).trim());
    }
    let mut columns = Columns::new([">STEP", "ACTION", "NODE", "POD", "RUNS ON", "BUDGET"]);
    for (i, action) in plan.actions[cordons..].iter().enumerate() {
        let (verb, node, pod, target, budget) = match action {
            Action::Cordon { node } => ("cordon", node.as_str(), "", String::new(), String::new()),
            Action::Uncordon { node } => ("uncordon", node.as_str(), "", String::new(), String::new()),
            Action::Create { pod, node } => ("create", "", pod.as_str(), node.clone(), String::new()),
            Action::Evict { node, pod, replacement, budget } => {
                let target = replacement.as_ref().map_or("(not created again)", |replacement| &replacement.node);
                let budget = budget.as_ref().map(|used| format!("{} allows {}", used.budget, used.allowed));
                ("evict", node.as_str(), pod.as_str(), target.to_owned(), budget.unwrap_or_default())
            }
        };
        columns.row(vec![(i + 1).to_string(), verb.to_owned(), node.to_owned(), pod.to_owned(), target, budget]);
    }
    text += &columns.text();
    Some(text)
}

fn blocked(emptying: &Emptying) -> Option<String> {
    if emptying.blocked.is_empty() {
        return None;
    }
    let mut text = heading("Cannot be emptied") + "\n";
    for BlockedNode { node, obstacles } in emptying.blocked.iter().take(MAX_BLOCKED) {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "  {node}");
        for obstacle in obstacles {
            let _ = writeln!(text, "    {} {}", obstacle.pod, obstacle.reason);
        }
    }
    match emptying.blocked.len().saturating_sub(MAX_BLOCKED) {
        0 => {}
        more => _ = writeln!(text, "  ... and {more} more; -o json prints them all"),
    }
    Some(text)
}

fn waiting(room: &Room) -> Option<String> {
    if room.waiting.is_empty() {
        return None;
    }
    let mut text = heading("Without room") + "\n";
    for pod in &room.waiting {
        let _ = writeln!(text, "  {}\n    {}", pod.pod, pod.rejection.message);
    }
    Some(text)
}

fn gpus(change: &GpuChange) -> String {
    let GpuChange { resources, tasks, coverage, before, after } = change;
    let mut columns = Columns::new(["", ">FREE", ">FRAGMENTED", ">SHARE", ">NO REQUEST", ">CANNOT RUN"]);
    for (name, fragmentation) in [("before", before), ("after", after)] {
        let Fragmentation { free, fragmented, no_request, cannot_run } = fragmentation;
        let share = if *free > 0.0 { 100.0 * fragmented / free } else { 0.0 };
        columns.row(vec![
            name.to_owned(),
            format!("{free:.0}"),
            format!("{fragmented:.1}"),
            format!("{share:.0} %"),
            format!("{no_request:.1}"),
            format!("{cannot_run:.1}"),
        ]);
    }
    let title = heading(format!("GPU fragmentation ({})", resources.join(", ")));
    let percent = 100.0 * coverage;
    let kinds = if *tasks == 1 { "kind" } else { "kinds" };
    format!("{title}\n{}  for {tasks} {kinds} of pods, {percent:.0} % of all\n", columns.text())
}

fn emptied(emptying: &Emptying, evictions: usize) -> String {
    let Emptying { emptied, already_empty, at_most, optimal, tried, .. } = emptying;
    let mut text = format!("{} emptied with {}", count(emptied.len(), "node"), count(evictions, "eviction"));
    let _ = writeln!(text, "; already empty: {}", count(already_empty.len(), "node"));
    let sets = count(*tried, "set");
    let _ = match optimal {
        true => writeln!(
            text,
            "the plan is optimal among plans that move only pods of emptied nodes, in one of the tried orders ({sets} of nodes tried)"
        ),
        false => writeln!(text, "no plan leaves more than {at_most} nodes empty; {sets} of nodes tried"),
    };
    text
}

fn made_room(room: &Room, evictions: usize) -> String {
    let Room { placed, waiting, tried } = room;
    let of = count(placed + waiting.len(), "pod");
    let sets = count(*tried, "set");
    format!("{placed} of {of} run, after {}; {sets} of evictions tried\n", count(evictions, "eviction"))
}
