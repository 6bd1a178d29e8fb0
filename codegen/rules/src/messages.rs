//! Messages about the form of values, arguments, extenders and weights: one function for each error. `schedc-codegen`
//! has the other messages about profiles.
//!
//! A title is a lower-case phrase that is complete by itself, because `cargo::error=` shows only the title
//! and the help. It states the error; label, note and help explain the solution.

mod args;
mod extenders;
mod text;
mod weights;

pub use args::*;
pub use extenders::*;
pub use text::*;
pub use weights::*;

use crate::diagnostic::Diagnostic;
use crate::source::Span;
use crate::suggest::closest;

/// Returns `a`, `b` and `c`, each in backquotes; the word "none" without names.
pub fn quoted<'a>(names: impl IntoIterator<Item = &'a str>) -> String {
    joined(names, "and")
}

/// Returns `a`, `b` or `c`, each in backquotes; the word "none" without names.
pub fn alternatives<'a>(names: impl IntoIterator<Item = &'a str>) -> String {
    joined(names, "or")
}

fn joined<'a>(names: impl IntoIterator<Item = &'a str>, word: &str) -> String {
    let names: Vec<String> = names.into_iter().map(|name| format!("`{name}`")).collect();
    match names.split_last() {
        None => "none".to_owned(),
        Some((only, [])) => only.clone(),
        Some((last, others)) => format!("{} {word} {last}", others.join(", ")),
    }
}

/// Adds "did you mean" if a candidate is close to `name`. The suggested edit replaces `written`, with quotes if `quote`.
pub fn did_you_mean<'c>(
    diagnostic: Diagnostic,
    name: &str,
    candidates: impl IntoIterator<Item = &'c str>,
    written: Span,
    quote: bool,
) -> Diagnostic {
    match closest(name, candidates) {
        None => diagnostic,
        Some(suggestion) => {
            let replacement = if quote { format!("\"{suggestion}\"") } else { suggestion.to_owned() };
            diagnostic.suggest(format!("did you mean `{suggestion}`?"), written, replacement)
        }
    }
}
