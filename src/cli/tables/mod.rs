//! Results as people read them.

pub(crate) mod explanation;
pub(crate) mod profiles;
pub(crate) mod simulation;

use indicatif::HumanCount;

/// A count with its noun: `1 pod`, `7,165 pods`.
fn count(n: usize, noun: &str) -> String {
    let plural = if n == 1 { "" } else { "s" };
    format!("{} {noun}{plural}", HumanCount(n as u64))
}
