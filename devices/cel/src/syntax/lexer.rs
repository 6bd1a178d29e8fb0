//! Tokens of an expression.

use super::SyntaxError;

/// Kind of a token. Names, numbers and strings keep their text, which the parser interprets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Identifier,
    /// Field name between backquotes.
    EscapedIdentifier,
    Int,
    Uint,
    Double,
    String,
    Bytes,
    /// Operator, bracket or punctuation mark.
    Symbol,
    End,
}

/// Token with its place in the text.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Token<'t> {
    pub(crate) kind: Kind,
    pub(crate) text: &'t str,
    pub(crate) offset: usize,
}

const SYMBOLS: [&str; 24] = [
    "==", "!=", "<=", ">=", "&&", "||", "<", ">", "[", "]", "{", "}", "(", ")", ".", ",", "-", "!", "?", ":", "+", "*",
    "/", "%",
];

/// Splits an expression into tokens; the last one is [`Kind::End`].
pub(crate) fn tokens(text: &str) -> Result<Vec<Token<'_>>, SyntaxError> {
    let mut tokens = Vec::new();
    let mut offset = 0;
    loop {
        offset += blank_length(&text[offset..]);
        let rest = &text[offset..];
        let Some(first) = rest.chars().next() else {
            tokens.push(Token { kind: Kind::End, text: "", offset });
            return Ok(tokens);
        };
        let (kind, length) = token(rest, first)
            .ok_or_else(|| SyntaxError::new(offset, format!("Syntax error: token recognition error at: '{first}'")))?;
        tokens.push(Token { kind, text: &rest[..length], offset });
        offset += length;
    }
}

/// Returns the length of white space and comments at the start.
fn blank_length(text: &str) -> usize {
    let mut rest = text;
    loop {
        let trimmed = rest.trim_start_matches(['\t', ' ', '\r', '\n', '\u{c}']);
        rest = match trimmed.strip_prefix("//") {
            Some(comment) => comment.find('\n').map_or("", |end| &comment[end..]),
            None => return text.len() - trimmed.len(),
        };
    }
}

fn token(text: &str, first: char) -> Option<(Kind, usize)> {
    if let Some(length) = string(text) {
        return Some((Kind::String, length));
    }
    if matches!(first, 'b' | 'B')
        && let Some(length) = string(&text[1..])
    {
        return Some((Kind::Bytes, length + 1));
    }
    if first.is_ascii_alphabetic() || first == '_' {
        return Some((Kind::Identifier, run_length(text, |c| c.is_ascii_alphanumeric() || c == '_')));
    }
    if let Some(number) = number(text) {
        return Some(number);
    }
    if first == '`' {
        let length = run_length(&text[1..], |c| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '-' | '/' | ' '));
        return (length > 0 && text[1 + length..].starts_with('`')).then_some((Kind::EscapedIdentifier, length + 2));
    }
    SYMBOLS.iter().find(|symbol| text.starts_with(**symbol)).map(|symbol| (Kind::Symbol, symbol.len()))
}

/// Returns the length of the longest start of a text that has only `included` characters.
fn run_length(text: &str, included: impl Fn(char) -> bool) -> usize {
    text.find(|c| !included(c)).unwrap_or(text.len())
}

fn digits(text: &str) -> usize {
    run_length(text, |c| c.is_ascii_digit())
}

fn number(text: &str) -> Option<(Kind, usize)> {
    if let Some(hexadecimal) = text.strip_prefix("0x") {
        let length = run_length(hexadecimal, |c| c.is_ascii_hexdigit());
        if length > 0 {
            return Some(integer(text, 2 + length));
        }
    }
    let whole = digits(text);
    let mut length = whole;
    if text[length..].starts_with('.') {
        let fraction = digits(&text[length + 1..]);
        if fraction > 0 {
            length += 1 + fraction;
        }
    }
    if length == 0 {
        return None;
    }
    let exponent = exponent(&text[length..]);
    if length == whole && exponent == 0 { Some(integer(text, length)) } else { Some((Kind::Double, length + exponent)) }
}

fn integer(text: &str, length: usize) -> (Kind, usize) {
    if text[length..].starts_with(['u', 'U']) { (Kind::Uint, length + 1) } else { (Kind::Int, length) }
}

fn exponent(text: &str) -> usize {
    let Some(rest) = text.strip_prefix(['e', 'E']) else { return 0 };
    let sign = usize::from(rest.starts_with(['+', '-']));
    let digits = digits(&rest[sign..]);
    if digits == 0 { 0 } else { 1 + sign + digits }
}

/// Returns the length of a string literal at the start, with its prefix and quotes.
fn string(text: &str) -> Option<usize> {
    let raw = text.starts_with(['r', 'R']);
    let body = &text[usize::from(raw)..];
    let quote = ["\"\"\"", "'''", "\"", "'"].into_iter().find(|quote| body.starts_with(quote))?;
    // Three quotes begin a long string if there are three at its end. Otherwise, the first two are an empty string.
    let length = quoted(body, quote, raw).or_else(|| quoted(body, &quote[..1], raw))?;
    Some(usize::from(raw) + length)
}

fn quoted(text: &str, quote: &str, raw: bool) -> Option<usize> {
    let mut offset = quote.len();
    while let Some(c) = text[offset..].chars().next() {
        if text[offset..].starts_with(quote) {
            return Some(offset + quote.len());
        }
        if quote.len() == 1 && matches!(c, '\n' | '\r') {
            return None;
        }
        offset += c.len_utf8();
        if c == '\\' && !raw {
            offset += text[offset..].chars().next()?.len_utf8();
        }
    }
    None
}
