//! Parses text to a syntax tree in which all macros are expanded.

pub(crate) mod ast;
mod lexer;
mod literal;
pub(crate) mod macros;
mod nodes;
mod parser;

pub(crate) use parser::parse;

/// Mistake at a byte offset of the expression.
#[derive(Debug)]
pub(crate) struct SyntaxError {
    pub(crate) offset: usize,
    pub(crate) message: String,
}

impl SyntaxError {
    pub(crate) fn new(offset: usize, message: impl Into<String>) -> SyntaxError {
        SyntaxError { offset, message: message.into() }
    }
}
