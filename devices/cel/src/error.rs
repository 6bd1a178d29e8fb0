//! Errors that users see.

use std::fmt;

use crate::syntax::SyntaxError;

/// Reason why an expression is no selector.
///
/// Displays as the text that kube-scheduler writes after `CEL compile error: `: the message with its place, then the
/// line of the expression, and a mark below. The wording of the message can differ.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CompileError {
    message: String,
    place: Option<Place>,
}

/// Place of an error in an expression.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Place {
    line: usize,
    column: usize,
    /// Text of the line.
    text: String,
}

impl CompileError {
    pub(crate) fn new(message: impl Into<String>) -> CompileError {
        CompileError { message: message.into(), place: None }
    }

    /// Creates an error at a place in an expression.
    pub(crate) fn at(text: &str, error: &SyntaxError) -> CompileError {
        if error.message.starts_with("program instantiation failed") {
            return CompileError::new(error.message.clone());
        }
        let offset = error.offset.min(text.len());
        let before = text.get(..offset).unwrap_or(text);
        let line = before.matches('\n').count() + 1;
        let start = before.rfind('\n').map_or(0, |newline| newline + 1);
        let column = before[start..].chars().count() + 1;
        let text = text[start..].lines().next().unwrap_or_default().to_owned();
        CompileError { message: error.message.clone(), place: Some(Place { line, column, text }) }
    }

    /// Returns the message without its place.
    pub fn message(&self) -> &str {
        &self.message
    }

    /// Returns the line and the column of the error in the expression, counted in characters from 1. `None` if the error
    /// concerns the whole expression.
    pub fn line_and_column(&self) -> Option<(usize, usize)> {
        self.place.as_ref().map(|place| (place.line, place.column))
    }
}

impl fmt::Display for CompileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let message = &self.message;
        let Some(Place { line, column, text }) = &self.place else { return f.write_str(message) };
        let mark = ".".repeat(column - 1);
        write!(f, "compilation failed: ERROR: <input>:{line}:{column}: {message}\n | {text}\n | {mark}^")
    }
}

impl std::error::Error for CompileError {}

/// Reason why a selector has no result for a device.
///
/// Displays as the text that kube-scheduler writes after `CEL runtime error: `; the wording can differ.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RuntimeError {
    message: String,
    exceeds_limit: bool,
}

impl RuntimeError {
    pub(crate) fn new(message: impl Into<String>, exceeds_limit: bool) -> RuntimeError {
        RuntimeError { message: message.into(), exceeds_limit }
    }

    /// Returns whether the evaluation ended because it exceeded its cost limit.
    pub fn exceeds_limit(&self) -> bool {
        self.exceeds_limit
    }
}

impl fmt::Display for RuntimeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for RuntimeError {}
