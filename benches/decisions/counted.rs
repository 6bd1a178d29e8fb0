//! The program under callgrind: it writes down what was counted whenever a phase ends.

use std::hint::black_box;
use std::process::Command;

use super::churn::{Phase, PhaseEnd};

/// Set for the program that is counted.
const VARIABLE: &str = "SCHEDC_DECISIONS_COUNTED";

/// Whether this is that program.
pub(crate) fn is_counted() -> bool {
    std::env::var_os(VARIABLE).is_some()
}

/// Runs turns twice as often as given, and counts the second half.
pub(crate) fn run(turns: usize, mut turn: impl FnMut(&mut PhaseEnd<'_>)) {
    for _ in 0..turns {
        turn(&mut |_| ());
    }
    steady(turns, &mut turn);
}

/// Callgrind counts while this runs.
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
        });
    }
}

/// Each one's call is the end of a phase.
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
    ends! { other created decision binding completed bound deleted heartbeat }
}

/// Instructions of each phase of a scenario in all counted turns. None where there is no callgrind.
pub(crate) fn count(scenario: &str, nodes: usize) -> Result<Option<[u64; Phase::ALL.len()]>, String> {
    if Command::new("valgrind").arg("--version").output().is_err() {
        return Ok(None);
    }
    let program = std::env::current_exe().map_err(|error| format!("this program is not found: {error}"))?;
    let folder = std::env::temp_dir().join(format!("schedc-decisions-{}", std::process::id()));
    std::fs::create_dir_all(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let file = folder.join("callgrind.out");
    let output = Command::new("valgrind")
        .args(["--tool=callgrind", "--toggle-collect=decisions::counted::steady", "--combine-dumps=yes"])
        .args(Phase::ALL.map(|phase| format!("--dump-before=decisions::counted::ends::{}", phase.name())))
        .args(["--dump-instr=no", "--dump-line=no"])
        .arg(format!("--callgrind-out-file={}", file.display()))
        .arg(program)
        .args(["--scenario", scenario, "--nodes", &nodes.to_string()])
        .env(VARIABLE, "1")
        .output()
        .map_err(|error| format!("valgrind cannot be run: {error}"))?;
    let dumps = std::fs::read_to_string(&file);
    if std::env::var_os("SCHEDC_KEEP_CALLGRIND").is_none() {
        // What is left behind is in the temporary folder.
        let _ = std::fs::remove_dir_all(&folder);
    }
    if !output.status.success() {
        return Err(format!("valgrind failed:\n{}", String::from_utf8_lossy(&output.stderr)));
    }
    let dumps = dumps.map_err(|error| format!("{}: {error}", file.display()))?;
    let mut counts = [0; Phase::ALL.len()];
    let mut ended = None;
    for line in dumps.lines() {
        if let Some(trigger) = line.strip_prefix("desc: Trigger: ") {
            let name = trigger.rsplit("::").next().unwrap_or_default();
            ended = Phase::ALL.into_iter().find(|phase| phase.name() == name.trim_end_matches("()"));
        } else if let (Some(total), Some(phase)) = (line.strip_prefix("totals: "), ended) {
            counts[phase as usize] += total.trim().parse().unwrap_or(0);
        }
    }
    Ok(Some(counts))
}
