//! `string.format`: clauses `%s`, `%d`, `%f`, `%e`, `%b`, `%x`, `%X` and `%o`.

use super::conversions::to_string;
use super::numbers::go_exponent;
use crate::check::types::Type;
use crate::eval::failure::{Failure, Output};
use crate::eval::value::{List, Value};
use crate::eval::work::Work;

/// Number of digits after the decimal point for a clause without precision.
const DEFAULT_PRECISION: usize = 6;
const MAX_PRECISION: usize = 1_000;
/// Work of writing a value, in addition to its length.
const WORK_PER_VALUE: u64 = 8;

/// Part of a format string.
pub(crate) enum Piece<'t> {
    Text(&'t str),
    Clause { verb: char, precision: usize },
}

/// Splits a format string.
pub(crate) fn pieces(format: &str) -> Result<Vec<Piece<'_>>, String> {
    let mut pieces = Vec::new();
    let mut rest = format;
    while let Some(at) = rest.find('%') {
        pieces.push(Piece::Text(&rest[..at]));
        rest = &rest[at + 1..];
        if let Some(after) = rest.strip_prefix('%') {
            pieces.push(Piece::Text("%"));
            rest = after;
            continue;
        }
        let mut precision = DEFAULT_PRECISION;
        if let Some(after) = rest.strip_prefix('.') {
            let digits =
                after.find(|c: char| !c.is_ascii_digit()).ok_or("could not find end of precision specifier")?;
            precision = after[..digits]
                .parse()
                .ok()
                .filter(|precision| *precision <= MAX_PRECISION)
                .ok_or("error while converting precision to integer")?;
            rest = &after[digits..];
        }
        let verb = rest.chars().next().ok_or("unexpected end of string")?;
        if !"sdfebxXo".contains(verb) {
            return Err(format!("could not parse formatting clause: unrecognized formatting clause \"{verb}\""));
        }
        pieces.push(Piece::Clause { verb, precision });
        rest = &rest[1..];
    }
    pieces.push(Piece::Text(rest));
    Ok(pieces)
}

/// Checks a format string against the types of its arguments.
pub(crate) fn check(format: &str, types: &[&Type]) -> Result<(), String> {
    let mut index = 0;
    for piece in pieces(format)? {
        let Piece::Clause { verb, .. } = piece else { continue };
        let ty = *types.get(index).ok_or_else(|| format!("index {index} out of range"))?;
        let is_supported = ty.is_dyn_or_error()
            || match verb {
                'd' => matches!(ty, Type::Int | Type::Uint),
                'f' | 'e' => matches!(ty, Type::Double | Type::String),
                'b' => matches!(ty, Type::Int | Type::Uint | Type::Bool),
                'x' | 'X' => matches!(ty, Type::Int | Type::Uint | Type::String | Type::Bytes),
                'o' => matches!(ty, Type::Int | Type::Uint),
                _ => !matches!(ty, Type::Object(_) | Type::Opaque(_)),
            };
        if !is_supported {
            return Err(format!("error during formatting: '%{verb}' does not support {ty}"));
        }
        index += 1;
    }
    if types.len() > index {
        return Err(format!("too many arguments supplied to string.format (expected {index}, got {})", types.len()));
    }
    Ok(())
}

/// Replaces the clauses of a format string by the arguments.
pub(super) fn format<'a>(work: &mut Work, format: &str, arguments: &List<'a>) -> Output<'a> {
    work.spend_bytes(format.len())?;
    let mut formatted = String::new();
    let mut index = 0;
    for piece in pieces(format).map_err(Failure::text)? {
        match piece {
            Piece::Text(text) => formatted.push_str(text),
            Piece::Clause { verb, precision } => {
                let argument =
                    arguments.get(index).ok_or_else(|| Failure::text(format!("index {index} out of range")))?;
                let text = clause(work, verb, precision, argument)?;
                work.spend_bytes(text.len())?;
                formatted.push_str(&text);
                index += 1;
            }
        }
    }
    Ok(Value::string(formatted))
}

fn unsupported<'a, T>(verb: char, value: &Value<'a>) -> Result<T, Failure<'a>> {
    Err(Failure::text(format!("error during formatting: '%{verb}' does not support {}", value.type_name())))
}

fn clause<'a>(work: &mut Work, verb: char, precision: usize, value: &Value<'a>) -> Result<String, Failure<'a>> {
    Ok(match (verb, value) {
        ('s', value) => general(work, value)?,
        ('d', Value::Int(value)) => value.to_string(),
        ('d', Value::Uint(value)) => value.to_string(),
        ('f' | 'e', Value::Double(value)) => floating(verb, precision, *value),
        ('f' | 'e', Value::String(text)) => match &**text {
            "NaN" => floating(verb, precision, f64::NAN),
            "Infinity" => floating(verb, precision, f64::INFINITY),
            "-Infinity" => floating(verb, precision, f64::NEG_INFINITY),
            _ => return unsupported(verb, value),
        },
        ('b', Value::Bool(value)) => u8::from(*value).to_string(),
        ('x' | 'X', Value::String(text)) => hexadecimal(work, verb, text.as_bytes())?,
        ('x' | 'X', Value::Bytes(bytes)) => hexadecimal(work, verb, bytes)?,
        ('b' | 'x' | 'X' | 'o', Value::Int(value)) => {
            let sign = if *value < 0 { "-" } else { "" };
            format!("{sign}{}", radix(verb, value.unsigned_abs()))
        }
        ('b' | 'x' | 'X' | 'o', Value::Uint(value)) => radix(verb, *value),
        _ => return unsupported(verb, value),
    })
}

fn radix(verb: char, value: u64) -> String {
    match verb {
        'b' => format!("{value:b}"),
        'x' => format!("{value:x}"),
        'X' => format!("{value:X}"),
        _ => format!("{value:o}"),
    }
}

fn hexadecimal<'a>(work: &mut Work, verb: char, bytes: &[u8]) -> Result<String, Failure<'a>> {
    work.spend(bytes.len() as u64)?;
    Ok(bytes.iter().map(|byte| if verb == 'x' { format!("{byte:02x}") } else { format!("{byte:02X}") }).collect())
}

/// Writes a number as the locale `en_US` does: groups of three digits, and powers of ten with superscripts.
fn floating(verb: char, precision: usize, value: f64) -> String {
    if value.is_nan() {
        return "NaN".to_owned();
    }
    if value.is_infinite() {
        return if value > 0.0 { "∞" } else { "-∞" }.to_owned();
    }
    if verb == 'e' {
        let text = go_exponent(&format!("{value:.precision$e}"));
        let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "+00"));
        let digits = ['⁰', '¹', '²', '³', '⁴', '⁵', '⁶', '⁷', '⁸', '⁹'];
        let exponent: String = exponent
            .chars()
            .filter(|c| *c != '+')
            .map(|c| c.to_digit(10).map_or('⁻', |digit| digits[digit as usize]))
            .collect();
        return format!("{mantissa}\u{202f}×\u{202f}10{exponent}");
    }
    let text = format!("{value:.precision$}");
    let (whole, fraction) = text.split_at(text.find('.').unwrap_or(text.len()));
    let (sign, digits) = whole.strip_prefix('-').map_or(("", whole), |digits| ("-", digits));
    let mut grouped = String::from(sign);
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i) % 3 == 0 {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped + fraction
}

/// Returns the text of any value: strings in lists and maps are quoted, and entries of maps are sorted.
fn general<'a>(work: &mut Work, value: &Value<'a>) -> Result<String, Failure<'a>> {
    work.spend(WORK_PER_VALUE)?;
    match value {
        Value::Null => Ok("null".to_owned()),
        Value::List(list) => {
            let mut parts = Vec::new();
            for element in list.iter() {
                parts.push(nested(work, element)?);
            }
            Ok(format!("[{}]", parts.join(", ")))
        }
        Value::Map(_) | Value::Domains(_) | Value::Domain(_) => {
            let mut parts = Vec::new();
            for (key, value) in super::equality::entries(work, value)? {
                parts.push((nested(work, &key)?, nested(work, &value)?));
            }
            parts.sort();
            let parts: Vec<String> = parts.into_iter().map(|(key, value)| format!("{key}:{value}")).collect();
            Ok(format!("{{{}}}", parts.join(", ")))
        }
        Value::Bool(_)
        | Value::Int(_)
        | Value::Uint(_)
        | Value::Double(_)
        | Value::String(_)
        | Value::Bytes(_)
        | Value::Timestamp(_)
        | Value::Duration(_)
        | Value::Type(_) => match to_string(work, value)? {
            Value::String(text) => Ok(text.to_string()),
            _ => unsupported('s', value),
        },
        _ => unsupported('s', value),
    }
}

fn nested<'a>(work: &mut Work, value: &Value<'a>) -> Result<String, Failure<'a>> {
    let text = general(work, value)?;
    work.spend_bytes(text.len())?;
    Ok(match value {
        Value::String(_) => quoted(&text),
        Value::Bytes(_) => format!("b{}", quoted(&text)),
        Value::Double(number) if !number.is_finite() => quoted(&text),
        _ => text,
    })
}

/// Returns a text in double quotes, with escape sequences.
pub(super) fn quoted(text: &str) -> String {
    let mut quoted = String::with_capacity(text.len() + 2);
    quoted.push('"');
    for c in text.chars() {
        let escape = match c {
            '\u{7}' => "\\a",
            '\u{8}' => "\\b",
            '\u{c}' => "\\f",
            '\n' => "\\n",
            '\r' => "\\r",
            '\t' => "\\t",
            '\u{b}' => "\\v",
            '\\' => "\\\\",
            '"' => "\\\"",
            c => {
                quoted.push(c);
                continue;
            }
        };
        quoted.push_str(escape);
    }
    quoted.push('"');
    quoted
}
