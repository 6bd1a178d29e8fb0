//! Tables of a plan to empty nodes.

use std::fmt::Write;

use super::count;
use crate::commands::output::{Columns, heading};
use crate::drain::{BlockedNode, DrainPlan, Step};

/// Returns the steps, the nodes that cannot be emptied with reasons and, at the end where users see it, a summary.
pub(crate) fn table(plan: &DrainPlan, nodes: &[String]) -> String {
    let parts = [steps(plan, nodes), blocked(&plan.blocked), Some(summary(plan, nodes.len()))];
    parts.into_iter().flatten().collect::<Vec<_>>().join("\n")
}

fn steps(plan: &DrainPlan, nodes: &[String]) -> Option<String> {
    if plan.emptied.is_empty() {
        return None;
    }
    let mut text = heading("Plan") + "\n" + &format!("  cordon {}\n", nodes.join(", "));
    if plan.steps.is_empty() {
        return Some(text);
    }
    let mut columns = Columns::new([">STEP", "NODE", "EVICT", "RUNS ON", "BUDGET"]);
    for (i, Step { node, evict, replacement, budget }) in plan.steps.iter().enumerate() {
        let target = replacement.as_ref().map_or("(not created again)", |replacement| &replacement.node);
        let budget = budget.as_ref().map(|used| format!("{} allows {}", used.budget, used.allowed)).unwrap_or_default();
        columns.row(vec![(i + 1).to_string(), node.clone(), evict.clone(), target.to_owned(), budget]);
    }
    text += &columns.text();
    Some(text)
}

fn blocked(nodes: &[BlockedNode]) -> Option<String> {
    if nodes.is_empty() {
        return None;
    }
    let mut text = heading("Cannot be emptied") + "\n";
    for BlockedNode { node, obstacles } in nodes {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "  {node}");
        for obstacle in obstacles {
            let _ = writeln!(text, "    {} {}", obstacle.pod, obstacle.reason);
        }
    }
    Some(text)
}

fn summary(plan: &DrainPlan, nodes: usize) -> String {
    let DrainPlan { emptied, steps, blocked, orders, all_orders } = plan;
    let order = if emptied.is_empty() { String::new() } else { format!(", in this order: {}", emptied.join(", ")) };
    let mut text = format!("{} of {} can be emptied", emptied.len(), count(nodes, "node"));
    let _ = writeln!(text, "{order}; {}", count(steps.len(), "eviction"));
    if !blocked.is_empty() {
        let share = if *all_orders { "all" } else { "not all" };
        let _ = writeln!(text, "tried {} of the nodes: {share}", count(*orders, "order"));
    }
    text
}
