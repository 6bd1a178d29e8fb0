//! Regular expressions, in the syntax of Go.

use std::sync::Arc;

use regex::{Regex, RegexBuilder};

use super::{Declaration, int, strings_value, text};
use crate::eval::failure::{Failure, Output};
use crate::eval::value::{Held, Str, Value};
use crate::eval::work::Work;

pub(super) const DECLARATIONS: &[Declaration] = &[
    Declaration {
        name: "matches",
        call: |work, arguments| {
            let regex = compiled(work, &arguments[1])?;
            matches(work, &arguments[0], &regex)
        },
        overloads: &["matches: (string, string) -> bool", "matches_string: string.(string) -> bool"],
    },
    Declaration {
        name: "find",
        call: |work, arguments| {
            let regex = compiled(work, &arguments[1])?;
            find(work, &arguments[0], &regex)
        },
        overloads: &["string_find_string: string.(string) -> string"],
    },
    Declaration {
        name: "findAll",
        call: |work, arguments| {
            let regex = compiled(work, &arguments[1])?;
            find_all(work, arguments, &regex)
        },
        overloads: &[
            "string_find_all_string: string.(string) -> list(string)",
            "string_find_all_string_int: string.(string, int) -> list(string)",
        ],
    },
];

/// Size of a compiled expression, which bounds the time to compile it.
const MAX_SIZE: usize = 1 << 20;
/// Work of compiling an expression whose text is no constant.
const COMPILATION: u64 = 50_000;
/// Compiled expressions that one evaluation keeps.
const CACHED: usize = 4;

/// Compiles an expression. The error is its reason.
pub(crate) fn compile(pattern: &str) -> Result<Regex, String> {
    RegexBuilder::new(&translate(pattern)).size_limit(MAX_SIZE).dfa_size_limit(MAX_SIZE).build().map_err(|error| {
        match error {
            regex::Error::CompiledTooBig(_) => "expression too large".to_owned(),
            error => error.to_string().lines().last().unwrap_or_default().trim_start_matches("error: ").to_owned(),
        }
    })
}

fn compiled<'a>(work: &mut Work, pattern: &Value<'a>) -> Result<Arc<Regex>, Failure<'a>> {
    let pattern = text(pattern)?;
    if let Some((_, regex)) = work.regexes.iter().find(|(known, _)| **known == **pattern) {
        return Ok(Arc::clone(regex));
    }
    work.spend(COMPILATION + pattern.len() as u64)?;
    let regex = compile(pattern)
        .map(Arc::new)
        .map_err(|reason| Failure::text(format!("error parsing regexp: {reason}: `{}`", &**pattern)))?;
    if work.regexes.len() < CACHED {
        work.regexes.push(((&**pattern).into(), Arc::clone(&regex)));
    }
    Ok(regex)
}

/// Whether an expression matches a part of a string.
pub(crate) fn matches<'a>(work: &mut Work, value: &Value<'a>, regex: &Regex) -> Output<'a> {
    let whole = text(value)?;
    work.spend_bytes(whole.len())?;
    Ok(Value::Bool(regex.is_match(whole)))
}

/// First match, or an empty string.
pub(crate) fn find<'a>(work: &mut Work, value: &Value<'a>, regex: &Regex) -> Output<'a> {
    let whole = text(value)?;
    work.spend_bytes(whole.len())?;
    Ok(match (regex.find(whole), whole) {
        (None, _) => Value::String(Held::Borrowed("")),
        (Some(found), Str::Borrowed(whole)) => Value::String(Held::Borrowed(&whole[found.range()])),
        (Some(found), Str::Shared(_)) => Value::string(found.as_str()),
    })
}

/// All matches, or as many as the third argument allows.
pub(crate) fn find_all<'a>(work: &mut Work, arguments: &[Value<'a>], regex: &Regex) -> Output<'a> {
    let whole = text(&arguments[0])?;
    work.spend(whole.len() as u64)?;
    let limit = arguments.get(2).map_or(Ok(-1), int)?;
    let limit = usize::try_from(limit).unwrap_or(usize::MAX);
    Ok(strings_value(regex.find_iter(whole).take(limit).map(|found| found.as_str())))
}

/// Expression in the syntax of the `regex` package: Go's `\d`, `\s`, `\w` and `\b` are ASCII only, its classes have no
/// operators, and it has `\Q...\E`.
fn translate(pattern: &str) -> String {
    let mut translated = String::with_capacity(pattern.len() + 16);
    let mut characters = pattern.chars().peekable();
    let mut in_class = false;
    let mut class_start = false;
    while let Some(c) = characters.next() {
        let first_in_class = std::mem::take(&mut class_start);
        match c {
            '\\' => {
                let Some(escaped) = characters.next() else {
                    translated.push('\\');
                    break;
                };
                if escaped == 'Q' && !in_class {
                    quote(&mut characters, &mut translated);
                } else {
                    escape(escaped, in_class, &mut characters, &mut translated);
                }
            }
            '[' if !in_class => {
                in_class = true;
                class_start = true;
                translated.push('[');
                if characters.next_if_eq(&'^').is_some() {
                    translated.push('^');
                }
            }
            // A named class, such as [:alpha:].
            '[' if characters.peek() == Some(&':') => {
                translated.push('[');
                for c in characters.by_ref() {
                    translated.push(c);
                    if c == ']' {
                        break;
                    }
                }
            }
            ']' if in_class && !first_in_class => {
                in_class = false;
                translated.push(']');
            }
            '[' | ']' | '&' | '~' if in_class => {
                translated.push('\\');
                translated.push(c);
            }
            '-' if in_class && (first_in_class || matches!(characters.peek(), Some('-' | ']'))) => {
                translated.push_str("\\-");
            }
            c => translated.push(c),
        }
    }
    translated
}

type Characters<'t> = std::iter::Peekable<std::str::Chars<'t>>;

/// Literal text up to `\E`.
fn quote(characters: &mut Characters<'_>, translated: &mut String) {
    while let Some(c) = characters.next() {
        if c == '\\' && characters.next_if_eq(&'E').is_some() {
            return;
        }
        translated.push_str(&regex::escape(c.encode_utf8(&mut [0; 4])));
    }
}

fn escape(escaped: char, in_class: bool, characters: &mut Characters<'_>, translated: &mut String) {
    let class = match escaped {
        'd' => "0-9",
        's' => r"\t\n\x0C\r ",
        'w' => "0-9A-Za-z_",
        'D' => "^0-9",
        'S' => r"^\t\n\x0C\r ",
        'W' => "^0-9A-Za-z_",
        'b' | 'B' if !in_class => {
            translated.push_str(if escaped == 'b' { r"(?-u:\b)" } else { r"(?-u:\B)" });
            return;
        }
        // An octal number.
        '0'..='7' => {
            let mut number = escaped.to_digit(8).unwrap_or(0);
            let mut digits = 1;
            while digits < 3
                && let Some(digit) = characters.peek().and_then(|c| c.to_digit(8))
            {
                characters.next();
                number = number * 8 + digit;
                digits += 1;
            }
            // Without leading zero and further digits, it would refer to a group, which Go refuses.
            if digits == 1 && escaped != '0' {
                translated.push('\\');
                translated.push(escaped);
            } else {
                translated.push_str(&format!("\\x{{{number:X}}}"));
            }
            return;
        }
        c if c.is_ascii_punctuation() && c != '_' => {
            translated.push_str(&format!("\\x{:02X}", u32::from(c)));
            return;
        }
        c => {
            translated.push('\\');
            translated.push(c);
            return;
        }
    };
    translated.push('[');
    translated.push_str(class);
    translated.push(']');
}

#[cfg(test)]
mod tests {
    use super::compile;

    #[test]
    fn expressions_mean_what_they_mean_in_go() {
        for (pattern, text, expected) in [
            ("^[AH]100$", "A100", true),
            (r"^\w+$", "é", false),
            (r"^\d$", "٣", false),
            (r"\bfoo\b", "a foo b", true),
            (r"\Bo", "foo", true),
            ("[[]", "[", true),
            ("[]a]", "]", true),
            ("[^]a]", "]", false),
            ("[a&&b]", "&", true),
            (r"[\d-x]+$", "5-x", true),
            ("[[:alpha:]]", "q", true),
            (r"^\Qa.b\E$", "a.b", true),
            (r"^\Qa.b\E$", "aXb", false),
            (r"\101", "A", true),
            (r"\x{41}", "A", true),
            (r"\.", "x", false),
            (r"\<", "<", true),
            ("(?i)abc", "ABC", true),
            ("(?P<n>a)(?<m>b)", "ab", true),
            (r"\pL", "é", true),
        ] {
            let regex = compile(pattern).unwrap_or_else(|error| panic!("{pattern}: {error}"));
            assert_eq!(regex.is_match(text), expected, "{pattern} on {text}");
        }
        for pattern in ["(", "[a", r"\1", "a**", "(?=a)", &"(x{1000}){1000}".repeat(3)] {
            assert!(compile(pattern).is_err(), "{pattern}");
        }
    }
}
