//! Tables for users.

#[cfg(feature = "recordings")]
pub(crate) mod backtest;
#[cfg(feature = "bench")]
pub(crate) mod bench;
#[cfg(feature = "tools")]
pub(crate) mod capacity;
#[cfg(all(feature = "recordings", feature = "run"))]
pub(crate) mod closed_loop;
#[cfg(feature = "tools")]
mod comparison;
#[cfg(feature = "bench")]
pub(crate) mod cost;
#[cfg(feature = "tools")]
pub(crate) mod defragment;
#[cfg(feature = "tools")]
pub(crate) mod diff;
#[cfg(feature = "tools")]
pub(crate) mod drain;
#[cfg(feature = "tools")]
pub(crate) mod explanation;
#[cfg(feature = "tools")]
pub(crate) mod precheck;
pub(crate) mod profiles;
#[cfg(feature = "tools")]
pub(crate) mod provision;
#[cfg(feature = "run")]
pub(crate) mod read_only;
#[cfg(feature = "tools")]
mod remedies;
#[cfg(all(feature = "recordings", feature = "run"))]
pub(crate) mod replay;
#[cfg(feature = "tools")]
pub(crate) mod simulation;
#[cfg(feature = "tools")]
mod utilisation;

#[cfg(feature = "tools")]
use indicatif::HumanCount;

/// Formats a count with its noun: `1 pod`, `7,165 pods`.
#[cfg(feature = "tools")]
fn count(n: usize, noun: &str) -> String {
    let plural = if n == 1 { "" } else { "s" };
    format!("{} {noun}{plural}", HumanCount(n as u64))
}

/// Returns the line that stands for `left_out` rows at the end of a list; empty if no row is left out.
#[cfg(feature = "tools")]
fn more(left_out: usize) -> String {
    match left_out {
        0 => String::new(),
        left_out => {
            format!("  ... and {} more; --all prints them all, and so does -o json\n", HumanCount(left_out as u64))
        }
    }
}
