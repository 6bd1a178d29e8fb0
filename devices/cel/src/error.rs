//! Errors that users see.

use std::fmt;

use crate::syntax::SyntaxError;

/// Reason why an expression is no selector.
///
/// Displays as the text that kube-scheduler writes after `CEL compile error: `, in the same form: the message with its
/// place, then the line with a mark. The wording of messages can differ.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CompileError(String);

impl CompileError {
    pub(crate) fn new(message: impl Into<String>) -> CompileError {
        CompileError(message.into())
    }

    /// Creates an error at a place in an expression.
    pub(crate) fn at(text: &str, error: &SyntaxError) -> CompileError {
        if error.message.starts_with("program instantiation failed") {
            return CompileError(error.message.clone());
        }
        let offset = error.offset.min(text.len());
        let before = text.get(..offset).unwrap_or(text);
        let line = before.matches('\n').count() + 1;
        let start = before.rfind('\n').map_or(0, |newline| newline + 1);
        let column = before[start..].chars().count();
        let shown = text[start..].lines().next().unwrap_or_default();
        let message = &error.message;
        let mark = ".".repeat(column);
        CompileError(format!(
            "compilation failed: ERROR: <input>:{line}:{}: {message}\n | {shown}\n | {mark}^",
            column + 1
        ))
    }
}

impl fmt::Display for CompileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
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
