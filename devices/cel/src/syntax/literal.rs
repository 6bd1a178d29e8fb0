//! Values of literals: numbers, and strings with escape sequences.

use super::ast::Literal;
use super::lexer::Kind;

/// Returns the value of a number. `negative`: a minus sign precedes it.
pub(crate) fn number(kind: Kind, text: &str, negative: bool) -> Result<Literal, &'static str> {
    let sign = if negative { "-" } else { "" };
    match kind {
        Kind::Int => {
            let value = match text.strip_prefix("0x") {
                Some(digits) => i64::from_str_radix(&format!("{sign}{digits}"), 16),
                None => format!("{sign}{text}").parse(),
            };
            value.map(Literal::Int).map_err(|_| "invalid int literal")
        }
        Kind::Uint => {
            let text = text.trim_end_matches(['u', 'U']);
            let value = match text.strip_prefix("0x") {
                Some(digits) => u64::from_str_radix(digits, 16),
                None => text.parse(),
            };
            value.map(Literal::Uint).map_err(|_| "invalid uint literal")
        }
        _ => match format!("{sign}{text}").parse::<f64>() {
            Ok(value) if value.is_finite() => Ok(Literal::Double(value)),
            _ => Err("invalid double literal"),
        },
    }
}

/// Returns the value of a string literal, given with its quotes.
pub(crate) fn string(text: &str) -> Result<String, &'static str> {
    let (raw, body) = body(text);
    let body = body.replace("\r\n", "\n").replace('\r', "\n");
    if raw || !body.contains('\\') {
        return Ok(body);
    }
    let mut value = String::with_capacity(body.len());
    let mut rest = body.as_str();
    while let Some(at) = rest.find('\\') {
        value.push_str(&rest[..at]);
        let (escape, length) = escape(&rest[at + 1..], false)?;
        value.push(char::from_u32(escape).ok_or("invalid unicode code point")?);
        rest = &rest[at + 1 + length..];
    }
    value.push_str(rest);
    Ok(value)
}

/// Returns the value of a bytes literal, given with its prefix and quotes. Octal and hexadecimal escapes are bytes.
pub(crate) fn bytes(text: &str) -> Result<Vec<u8>, &'static str> {
    let (raw, body) = body(&text[1..]);
    let body = body.replace("\r\n", "\n").replace('\r', "\n");
    let mut value = Vec::with_capacity(body.len());
    let mut rest = body.as_str();
    while let Some(at) = rest.find('\\').filter(|_| !raw) {
        value.extend_from_slice(&rest.as_bytes()[..at]);
        let (escape, length) = escape(&rest[at + 1..], true)?;
        value.push(u8::try_from(escape).map_err(|_| "unable to unescape string")?);
        rest = &rest[at + 1 + length..];
    }
    value.extend_from_slice(rest.as_bytes());
    Ok(value)
}

/// Returns whether a string literal is raw, and the text between its quotes.
fn body(text: &str) -> (bool, &str) {
    let raw = text.starts_with(['r', 'R']);
    let text = &text[usize::from(raw)..];
    let quotes = if text.len() >= 6 && (text.starts_with("\"\"\"") || text.starts_with("'''")) { 3 } else { 1 };
    (raw, &text[quotes..text.len() - quotes])
}

/// Returns the code point of the escape sequence after a backslash, and the length of the sequence.
fn escape(text: &str, bytes: bool) -> Result<(u32, usize), &'static str> {
    let first = *text.as_bytes().first().ok_or("unable to unescape string, found '\\' as last character")?;
    let simple = |value: char| Ok((value.into(), 1));
    match first {
        b'a' => simple('\u{7}'),
        b'b' => simple('\u{8}'),
        b'f' => simple('\u{c}'),
        b'n' => simple('\n'),
        b'r' => simple('\r'),
        b't' => simple('\t'),
        b'v' => simple('\u{b}'),
        b'\\' | b'\'' | b'"' | b'`' | b'?' => simple(first.into()),
        b'x' | b'X' => digits(text, 1, 2, 16),
        b'u' if !bytes => digits(text, 1, 4, 16),
        b'U' if !bytes => digits(text, 1, 8, 16),
        b'0'..=b'3' => digits(text, 0, 3, 8),
        _ => Err("unable to unescape string"),
    }
}

fn digits(text: &str, from: usize, count: usize, radix: u32) -> Result<(u32, usize), &'static str> {
    let digits = text.get(from..from + count).ok_or("unable to unescape string")?;
    if !digits.chars().all(|c| c.is_digit(radix)) {
        return Err("unable to unescape string");
    }
    let value = u32::from_str_radix(digits, radix).map_err(|_| "unable to unescape string")?;
    Ok((value, from + count))
}
