//! String functions. Positions count code points.

use std::sync::Arc;

use super::{Declaration, formatting, int, list, strings_value, text};
use crate::eval::failure::{Failure, Output};
use crate::eval::value::{DataRef, Str, Value};
use crate::eval::work::Work;

pub(super) const DECLARATIONS: &[Declaration] = &[
    Declaration { name: "charAt", call: char_at, overloads: &["string_char_at_int: string.(int) -> string"] },
    Declaration {
        name: "indexOf",
        call: index_of,
        overloads: &[
            "string_index_of_string: string.(string) -> int",
            "string_index_of_string_int: string.(string, int) -> int",
        ],
    },
    Declaration {
        name: "lastIndexOf",
        call: last_index_of,
        overloads: &[
            "string_last_index_of_string: string.(string) -> int",
            "string_last_index_of_string_int: string.(string, int) -> int",
        ],
    },
    Declaration { name: "lowerAscii", call: lower_ascii, overloads: &["string_lower_ascii: string.() -> string"] },
    Declaration {
        name: "replace",
        call: replace,
        overloads: &[
            "string_replace_string_string: string.(string, string) -> string",
            "string_replace_string_string_int: string.(string, string, int) -> string",
        ],
    },
    Declaration {
        name: "split",
        call: split,
        overloads: &[
            "string_split_string: string.(string) -> list(string)",
            "string_split_string_int: string.(string, int) -> list(string)",
        ],
    },
    Declaration {
        name: "substring",
        call: substring,
        overloads: &[
            "string_substring_int: string.(int) -> string",
            "string_substring_int_int: string.(int, int) -> string",
        ],
    },
    Declaration { name: "trim", call: trim, overloads: &["string_trim: string.() -> string"] },
    Declaration { name: "upperAscii", call: upper_ascii, overloads: &["string_upper_ascii: string.() -> string"] },
    Declaration {
        name: "format",
        call: |work, arguments| formatting::format(work, text(&arguments[0])?, list(&arguments[1])?),
        overloads: &["string_format: string.(list(dyn)) -> string"],
    },
    Declaration { name: "strings.quote", call: quote, overloads: &["strings_quote: (string) -> string"] },
    Declaration {
        name: "join",
        call: join,
        overloads: &["list_join: list(string).() -> string", "list_join_string: list(string).(string) -> string"],
    },
];

fn out_of_range<'a, T>(index: i64) -> Result<T, Failure<'a>> {
    Err(Failure::text(format!("index out of range: {index}")))
}

/// Returns the byte offset of a code point, or the length for the position after the last one.
fn offset(text: &str, position: i64) -> Option<usize> {
    let position = usize::try_from(position).ok()?;
    if text.is_ascii() {
        return (position <= text.len()).then_some(position);
    }
    text.char_indices().map(|(offset, _)| offset).chain([text.len()]).nth(position)
}

/// Returns the number of code points before a byte offset.
fn position(text: &str, offset: usize) -> i64 {
    text[..offset].chars().count() as i64
}

/// Returns a part of a string. It shares memory with the string where possible.
fn part<'a>(whole: &Str<'a>, from: usize, to: usize) -> Value<'a> {
    Value::String(match whole {
        DataRef::Borrowed(text) => DataRef::Borrowed(&text[from..to]),
        DataRef::Shared(text) if from == 0 && to == text.len() => DataRef::Shared(Arc::clone(text)),
        DataRef::Shared(text) => DataRef::Shared(Arc::from(&text[from..to])),
    })
}

fn char_at<'a>(work: &mut Work, arguments: &[Value<'a>]) -> Output<'a> {
    let (whole, index) = (text(&arguments[0])?, int(&arguments[1])?);
    work.spend_bytes(whole.len())?;
    let Some(from) = offset(whole, index) else { return out_of_range(index) };
    let length = whole[from..].chars().next().map_or(0, char::len_utf8);
    Ok(part(whole, from, from + length))
}

/// Returns the first position of a part in a string, or -1.
pub(super) fn index_of<'a>(work: &mut Work, arguments: &[Value<'a>]) -> Output<'a> {
    let (whole, part) = (text(&arguments[0])?, text(&arguments[1])?);
    let from = arguments.get(2).map_or(Ok(0), int)?;
    work.spend_bytes(whole.len())?;
    if part.is_empty() {
        return Ok(Value::Int(from));
    }
    if from < 0 {
        return out_of_range(from);
    }
    let found = offset(whole, from).and_then(|from| whole[from..].find(&**part).map(|found| from + found));
    Ok(Value::Int(found.map_or(-1, |found| position(whole, found))))
}

/// Returns the last position of a part in a string, or -1.
pub(super) fn last_index_of<'a>(work: &mut Work, arguments: &[Value<'a>]) -> Output<'a> {
    let (whole, part) = (text(&arguments[0])?, text(&arguments[1])?);
    work.spend_bytes(whole.len())?;
    let length = whole.chars().count() as i64;
    let from = match arguments.get(2) {
        Some(from) if part.is_empty() => return Ok(Value::Int(int(from)?)),
        Some(from) => int(from)?,
        None if part.is_empty() => return Ok(Value::Int(length)),
        None if length == 0 => return Ok(Value::Int(-1)),
        None => length - 1,
    };
    if from < 0 {
        return out_of_range(from);
    }
    if from >= length {
        return Ok(Value::Int(-1));
    }
    // The part begins at `from` or before, so it ends at `end` or before.
    let end = offset(whole, from).map_or(whole.len(), |from| (from + part.len()).min(whole.len()));
    let found = whole.as_bytes()[..end].windows(part.len()).rposition(|window| window == part.as_bytes());
    Ok(Value::Int(found.map_or(-1, |found| position(whole, found))))
}

/// Changes the ASCII letters of a string. Returns the string itself if there are none to change.
fn with_case<'a>(work: &mut Work, value: &Value<'a>, is_changed: fn(&u8) -> bool, change: fn(&mut str)) -> Output<'a> {
    let whole = text(value)?;
    work.spend_bytes(whole.len())?;
    if !whole.as_bytes().iter().any(is_changed) {
        return Ok(value.clone());
    }
    let mut changed: Arc<str> = Arc::from(&**whole);
    if let Some(text) = Arc::get_mut(&mut changed) {
        change(text);
    }
    Ok(Value::String(DataRef::Shared(changed)))
}

fn lower_ascii<'a>(work: &mut Work, arguments: &[Value<'a>]) -> Output<'a> {
    with_case(work, &arguments[0], u8::is_ascii_uppercase, str::make_ascii_lowercase)
}

fn upper_ascii<'a>(work: &mut Work, arguments: &[Value<'a>]) -> Output<'a> {
    with_case(work, &arguments[0], u8::is_ascii_lowercase, str::make_ascii_uppercase)
}

fn replace<'a>(work: &mut Work, arguments: &[Value<'a>]) -> Output<'a> {
    let (whole, old, new) = (text(&arguments[0])?, text(&arguments[1])?, text(&arguments[2])?);
    let limit = arguments.get(3).map_or(Ok(-1), int)?;
    let limit = usize::try_from(limit).unwrap_or(usize::MAX);
    let count = whole.matches(&**old).take(limit).count();
    work.spend_bytes(whole.len().saturating_add(count.saturating_mul(new.len())))?;
    Ok(Value::string(whole.replacen(&**old, new, count)))
}

fn split<'a>(work: &mut Work, arguments: &[Value<'a>]) -> Output<'a> {
    let (whole, separator) = (text(&arguments[0])?, text(&arguments[1])?);
    let limit = arguments.get(2).map_or(Ok(-1), int)?;
    let limit = usize::try_from(limit).unwrap_or(usize::MAX);
    work.spend(whole.len() as u64)?;
    if limit == 0 {
        return Ok(strings_value([""; 0]));
    }
    if !separator.is_empty() {
        return Ok(strings_value(whole.splitn(limit, &**separator)));
    }
    // An empty separator separates all code points. If the limit is reached, the last part contains the rest.
    let mut parts = Vec::new();
    let mut rest: &str = whole;
    while let Some(first) = rest.chars().next() {
        let length = if parts.len() + 1 == limit { rest.len() } else { first.len_utf8() };
        let (part, after) = rest.split_at(length);
        parts.push(part);
        rest = after;
    }
    Ok(strings_value(parts))
}

fn substring<'a>(work: &mut Work, arguments: &[Value<'a>]) -> Output<'a> {
    let (whole, from) = (text(&arguments[0])?, int(&arguments[1])?);
    work.spend_bytes(whole.len())?;
    let to = match arguments.get(2) {
        Some(to) => {
            let to = int(to)?;
            if from > to {
                return Err(Failure::text(format!("invalid substring range. start: {from}, end: {to}")));
            }
            Some(to)
        }
        None => None,
    };
    let Some(start) = offset(whole, from) else { return out_of_range(from) };
    let end = match to {
        Some(to) => match offset(whole, to) {
            Some(end) => end,
            None => return out_of_range(to),
        },
        None => whole.len(),
    };
    Ok(part(whole, start, end))
}

fn trim<'a>(work: &mut Work, arguments: &[Value<'a>]) -> Output<'a> {
    let whole = text(&arguments[0])?;
    work.spend_bytes(whole.len())?;
    let from = whole.len() - whole.trim_start().len();
    Ok(part(whole, from, from + whole.trim().len()))
}

fn quote<'a>(work: &mut Work, arguments: &[Value<'a>]) -> Output<'a> {
    let whole = text(&arguments[0])?;
    work.spend_bytes(whole.len() * 2)?;
    Ok(Value::string(formatting::quoted(whole)))
}

fn join<'a>(work: &mut Work, arguments: &[Value<'a>]) -> Output<'a> {
    let list = list(&arguments[0])?;
    let separator: &str = match arguments.get(1) {
        Some(separator) => text(separator)?,
        None => "",
    };
    let mut joined = String::new();
    for (i, element) in list.iter().enumerate() {
        let Value::String(element) = element else { return Err(Failure::Static("join: invalid input")) };
        work.spend(1 + (element.len() + separator.len()) as u64 / 16)?;
        if i > 0 {
            joined.push_str(separator);
        }
        joined.push_str(element);
    }
    Ok(Value::string(joined))
}
