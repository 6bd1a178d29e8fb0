//! The program under callgrind, which dumps its counts at the end of each phase.

use std::collections::BTreeMap;
use std::hint::black_box;

use super::callgrind;
use super::churn::{Phase, PhaseEnd};

/// Runs twice the given number of turns, and counts the second half.
pub(crate) fn run(turns: usize, mut turn: impl FnMut(&mut PhaseEnd<'_>)) {
    for _ in 0..turns {
        turn(&mut |_| ());
    }
    steady(turns, &mut turn);
}

/// Runs the part that callgrind counts.
#[inline(never)]
fn steady(turns: usize, turn: &mut dyn FnMut(&mut PhaseEnd<'_>)) {
    for _ in 0..turns {
        turn(&mut |phase| match phase {
            Phase::Other => ends::other(),
            Phase::Created => ends::created(),
            Phase::Decision => ends::decision(),
            Phase::Binding => ends::binding(),
            Phase::Completed => ends::completed(),
            Phase::Bound => ends::bound(),
            Phase::Deleted => ends::deleted(),
            Phase::Heartbeat => ends::heartbeat(),
            Phase::Storm => ends::storm(),
            Phase::Retries => ends::retries(),
        });
    }
}

/// Functions whose calls mark the end of a phase.
mod ends {
    use super::black_box;

    macro_rules! ends {
        ($($name:ident)+) => { $(
            #[inline(never)]
            pub(super) fn $name() {
                black_box(stringify!($name));
            }
        )+ }
    }
    ends! { other created decision binding completed bound deleted heartbeat storm retries }
}

/// Returns the instructions of each phase of a scenario over all counted turns, or `None` without callgrind.
pub(crate) fn count(scenario: &str, nodes: usize) -> Result<Option<[u64; Phase::ALL.len()]>, String> {
    if !callgrind::is_installed() {
        return Ok(None);
    }
    let dumps = dumps(scenario, nodes, &[])?;
    let mut counts = [0; Phase::ALL.len()];
    for dump in dumps {
        if let Some(phase) = Phase::ALL.into_iter().find(|phase| phase.name() == dump.function) {
            counts[phase as usize] += dump.instructions;
        }
    }
    Ok(Some(counts))
}

fn dumps(scenario: &str, nodes: usize, options: &[&str]) -> Result<Vec<callgrind::Dump>, String> {
    let mut options: Vec<String> = options.iter().map(|&option| option.into()).collect();
    options.push("--toggle-collect=decisions::counted::steady".into());
    options.extend(Phase::ALL.map(|phase| format!("--dump-before=decisions::counted::ends::{}", phase.name())));
    callgrind::run(&options, &["--scenario", scenario, "--nodes", &nodes.to_string()])
}

/// Returns the instructions of all counted decisions by function, the largest first. Inlined functions are part of their
/// callers.
pub(crate) fn count_by_function(scenario: &str, nodes: usize) -> Result<Vec<(String, u64)>, String> {
    let mut by_function = BTreeMap::new();
    for dump in dumps(scenario, nodes, &["--compress-strings=no", "--compress-pos=no"])? {
        let is_decision = dump.function == Phase::Decision.name();
        for (function, instructions) in dump.by_function.into_iter().filter(|_| is_decision) {
            *by_function.entry(function).or_default() += instructions;
        }
    }
    let mut sorted = Vec::from_iter(by_function);
    sorted.sort_by_key(|(_, instructions)| std::cmp::Reverse(*instructions));
    Ok(sorted)
}
