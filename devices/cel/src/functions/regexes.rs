//! Regular expressions, in the syntax of Go.

use std::sync::Arc;

use regex::{Regex, RegexBuilder};

use super::{Declaration, int, strings_value, text};
use crate::eval::failure::{Failure, Output};
use crate::eval::value::{DataRef, Str, Value};
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

/// Maximum size in bytes of a compiled expression, which bounds the time to compile it.
const MAX_SIZE: usize = 1 << 20;
/// Maximum number in a repetition such as `{2,3}`.
const MAX_REPETITION: u32 = 1_000;
/// Work of compiling an expression whose text is not constant.
const COMPILATION_WORK: u64 = 50_000;
/// Maximum number of compiled expressions that one evaluation keeps.
const MAX_CACHED: usize = 4;

/// Compiles an expression. The error is the reason why it is invalid.
pub(crate) fn compile(pattern: &str) -> Result<Regex, String> {
    RegexBuilder::new(&translate(pattern)?).size_limit(MAX_SIZE).dfa_size_limit(MAX_SIZE).build().map_err(|error| {
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
    work.spend(COMPILATION_WORK + pattern.len() as u64)?;
    let regex = compile(pattern)
        .map(Arc::new)
        .map_err(|reason| Failure::text(format!("error parsing regexp: {reason}: `{}`", &**pattern)))?;
    if work.regexes.len() < MAX_CACHED {
        work.regexes.push(((&**pattern).into(), Arc::clone(&regex)));
    }
    Ok(regex)
}

/// Returns whether an expression matches a part of a string.
pub(crate) fn matches<'a>(work: &mut Work, value: &Value<'a>, regex: &Regex) -> Output<'a> {
    let whole = text(value)?;
    work.spend_bytes(whole.len())?;
    Ok(Value::Bool(regex.is_match(whole)))
}

/// Returns the first match, or an empty string.
pub(crate) fn find<'a>(work: &mut Work, value: &Value<'a>, regex: &Regex) -> Output<'a> {
    let whole = text(value)?;
    work.spend_bytes(whole.len())?;
    Ok(match (regex.find(whole), whole) {
        (None, _) => Value::String(DataRef::Borrowed("")),
        (Some(found), Str::Borrowed(whole)) => Value::String(DataRef::Borrowed(&whole[found.range()])),
        (Some(found), Str::Shared(_)) => Value::string(found.as_str()),
    })
}

/// Returns all matches, but at most as many as the third argument states. A negative number is no limit.
pub(crate) fn find_all<'a>(work: &mut Work, arguments: &[Value<'a>], regex: &Regex) -> Output<'a> {
    let whole = text(&arguments[0])?;
    work.spend(whole.len() as u64)?;
    let limit = arguments.get(2).map_or(Ok(-1), int)?;
    let limit = usize::try_from(limit).unwrap_or(usize::MAX);
    Ok(strings_value(regex.find_iter(whole).take(limit).map(|found| found.as_str())))
}

/// Returns the expression in the syntax of the `regex` package. In Go, `\d`, `\s`, `\w` and `\b` are ASCII only,
/// classes have no operators, `\Q...\E` quotes text, and a repetition cannot be repeated.
fn translate(pattern: &str) -> Result<String, String> {
    let mut translated = String::with_capacity(pattern.len() + 16);
    let mut repeated = false;
    let mut characters = pattern.chars().peekable();
    let mut in_class = false;
    let mut class_start = false;
    while let Some(c) = characters.next() {
        let first_in_class = std::mem::take(&mut class_start);
        let was_repeated = std::mem::take(&mut repeated);
        match c {
            '*' | '+' | '?' | '{' if !in_class => {
                let count = if c == '{' { repetition(&characters)? } else { Some(0) };
                let Some(count) = count else {
                    translated.push_str("\\{");
                    continue;
                };
                if was_repeated {
                    return Err("invalid nested repetition operator".to_owned());
                }
                translated.push(c);
                translated.extend(characters.by_ref().take(count));
                translated.extend(characters.next_if_eq(&'?'));
                // After an opening parenthesis, a question mark is part of the group.
                repeated = !translated.ends_with("(?");
            }
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
    Ok(translated)
}

/// Returns the number of characters after a brace that complete a repetition such as `{2,3}`. `None`: the brace
/// stands for itself.
fn repetition(characters: &Characters<'_>) -> Result<Option<usize>, String> {
    let rest: String = characters.clone().take(16).collect();
    let Some(end) = rest.find('}') else { return Ok(None) };
    let (from, to) = rest[..end].split_once(',').unwrap_or((&rest[..end], ""));
    let is_number = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    if from.is_empty() || !is_number(from) || !is_number(to) {
        return Ok(None);
    }
    let is_too_large =
        |text: &str| !text.is_empty() && text.parse::<u32>().map_or(true, |count| count > MAX_REPETITION);
    if is_too_large(from) || is_too_large(to) {
        return Err("invalid repeat count".to_owned());
    }
    Ok(Some(end + 1))
}

type Characters<'t> = std::iter::Peekable<std::str::Chars<'t>>;

/// Translates literal text up to `\E`.
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
            // A single digit other than zero would refer to a group, which Go rejects.
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
    fn expressions_have_the_meaning_of_go() {
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
            ("(?:a)?b", "b", true),
            ("^a{2}$", "aa", true),
            ("a{x", "a{x", true),
            ("a{,2}", "a{,2}", true),
            ("a*?b+?c??", "b", true),
            ("(?P<n>a)(?<m>b)", "ab", true),
            (r"\pL", "é", true),
        ] {
            let regex = compile(pattern).unwrap_or_else(|error| panic!("{pattern}: {error}"));
            assert_eq!(regex.is_match(text), expected, "{pattern} on {text}");
        }
        for pattern in ["(", "[a", r"\1", "a**", "a{2}{3}", "a*??", "a{1001}", "(?=a)", &"(x{1000}){1000}".repeat(3)] {
            assert!(compile(pattern).is_err(), "{pattern}");
        }
    }
}
