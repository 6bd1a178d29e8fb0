//! Every sentence that a user may read about a profile or a catalog, by family: one function, one error.
//!
//! A title is a lower-case phrase that can stand alone, since `cargo::error=` shows only it and the help. It says what is
//! wrong; label, note and help say how to put it right.

mod args;
mod catalogs;
mod cross_profile;
mod extenders;
mod plugins;
mod settings;
mod text;

pub(crate) use args::*;
pub(crate) use catalogs::*;
pub(crate) use cross_profile::*;
pub(crate) use extenders::*;
pub(crate) use plugins::*;
pub(crate) use settings::*;
pub(crate) use text::*;

use crate::diagnostic::Diagnostic;
use crate::source::Span;
use crate::suggest::closest;

/// `a`, `b` and `c`, each in backquotes.
fn quoted<'a>(names: impl IntoIterator<Item = &'a str>) -> String {
    joined(names, "and")
}

/// `a`, `b` or `c`, each in backquotes.
fn alternatives<'a>(names: impl IntoIterator<Item = &'a str>) -> String {
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

/// Adds "did you mean", if something was meant; `written` is replaced by it, quoted as TOML if `quote`.
fn did_you_mean<'c>(
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
