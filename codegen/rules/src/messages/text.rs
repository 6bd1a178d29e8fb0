//! TOML syntax and the form of values.

use super::{did_you_mean, quoted};
use crate::diagnostic::Diagnostic;
use crate::source::{Files, Span, Spanned};

/// Reports a syntax error with the TOML reader's message, or with a clearer one.
pub fn syntax(files: &Files, span: Span, message: &str) -> Diagnostic {
    let word = files.snippet(span);
    let bare_word = word.starts_with(|c: char| c.is_ascii_alphabetic())
        && word.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.' | '/'));
    if bare_word && ["invalid float", "invalid boolean", "string values"].iter().any(|start| message.starts_with(start))
    {
        return Diagnostic::at(span, format!("a string is written in quotes, `{word}` is not"), "not a value").suggest(
            "put it in quotes",
            span,
            format!("\"{word}\""),
        );
    }
    if word.is_empty() && message.starts_with("string values") {
        return Diagnostic::at(span, "a value is missing", "after the `=`");
    }
    if message == "duplicate key" {
        return Diagnostic::at(span, format!("`{word}` is written twice"), "a table has each key once");
    }
    let (title, expected) = match message.split_once(", expected ") {
        Some((title, expected)) => (title, format!("expected {expected}")),
        None => (message, String::new()),
    };
    Diagnostic::at(span, title, expected)
}

/// Adds a note about unclosed brackets to a syntax error. Of all errors that an unclosed bracket causes, only the first
/// one is reported.
pub fn possibly_unclosed(syntax: Diagnostic) -> Diagnostic {
    if syntax.title.starts_with("unclosed") {
        return syntax;
    }
    syntax.note("perhaps a bracket before this location is not closed")
}

/// Reports a configuration of kube-scheduler in place of a profile. `configuration` is the kind of kube-scheduler's
/// configuration in the file at `path`.
pub fn configuration_as_profile(configuration: &Spanned<String>, path: &str) -> Diagnostic {
    let title = format!("{path} is a {} of kube-scheduler, not a profile", configuration.value);
    Diagnostic::at(configuration.span, title, "profiles are TOML")
        .help(format!("`schedc import {path}` prints the same configuration as a profile"))
}

/// Reports an unknown key. `owner` contains the key: "a profile", "`plugins.filter`".
pub fn unknown_key(key: &Spanned<String>, owner: &str, known: &[&str]) -> Diagnostic {
    let diagnostic = Diagnostic::at(key.span, format!("unknown key `{}`", key.value), format!("not a key of {owner}"))
        .note(format!("{owner} has {}", quoted(known.iter().copied())));
    did_you_mean(diagnostic, &key.value, known.iter().copied(), key.span, false)
}

/// Reports a value of the wrong kind. `subject` is the value's description, `expected` and `kind` are kinds of values:
/// "an integer".
pub fn wrong_kind(span: Span, subject: &str, expected: &str, kind: &str) -> Diagnostic {
    Diagnostic::at(span, format!("{subject} must be {expected}, not {kind}"), format!("expected {expected}"))
}

pub fn missing_key(span: Span, owner: &str, key: &str) -> Diagnostic {
    Diagnostic::at(span, format!("{owner} needs `{key}`"), format!("`{key}` is missing"))
}

/// Reports an unknown extension point. Extension points are keys in a profile, and strings (`in_quotes`) in a catalog.
pub fn unknown_point(key: &Spanned<String>, in_quotes: bool, known: &[&str]) -> Diagnostic {
    let diagnostic =
        Diagnostic::at(key.span, format!("unknown extension point `{}`", key.value), "no plugin can run here")
            .note(format!("extension points are {}", quoted(known.iter().copied())));
    did_you_mean(diagnostic, &key.value, known.iter().copied(), key.span, in_quotes)
}
