//! Weights of plugins and extenders.

use crate::diagnostic::Diagnostic;
use crate::source::Span;

/// Reports weights whose sum is too large. `weights` are the weights in the profile with their owners, the largest
/// first; `start` is the start of the profile.
pub fn weights_overflow(weights: &[(Span, String)], start: Span) -> Diagnostic {
    let title = "the weighted sum of scores could overflow";
    let diagnostic = match weights.split_first() {
        None => Diagnostic::at(start, title, ""),
        Some(((span, owner), others)) => others
            .iter()
            .fold(Diagnostic::at(*span, title, format!("weight of {owner}")), |diagnostic, (span, owner)| {
                diagnostic.secondary(*span, format!("weight of {owner}"))
            }),
    };
    diagnostic
        .note("100 times the sum of all weights must fit a signed 64-bit integer")
        .help("only the proportions of weights matter: use smaller ones")
}
