//! Functions of named formats of the Kubernetes API.

use super::{Declaration, mismatch, strings_value, text};
use crate::data::format::Format;
use crate::data::time::parse_timestamp;
use crate::data::url::Url;
use crate::eval::failure::Output;
use crate::eval::value::Value;
use crate::eval::work::Work;

macro_rules! formats {
    ($($call:ident $name:literal $title:literal $size:literal $check:expr;)*) => {
        static FORMATS: &[(&str, Format)] = &[$(
            ($name, Format { name: $title, regex_size: $size, check: $check }),
        )*];

        $(fn $call<'a>(_: &mut Work, _: &[Value<'a>]) -> Output<'a> {
            named($name)
        })*

        pub(super) const DECLARATIONS: &[Declaration] = &[
            $(Declaration {
                name: concat!("format.", $name),
                call: $call,
                overloads: &[concat!("format.", $name, ": () -> format")],
            },)*
            Declaration { name: "validate", call: validate, overloads: &[
                "format-validate: format.(string) -> optional(list(string))",
            ] },
            Declaration { name: "format.named", call: by_name, overloads: &[
                "format-named: (string) -> optional(format)",
            ] },
        ];
    };
}

formats! {
    dns1123_label "dns1123Label" "DNS1123Label" 30 |text| dns_label(text);
    dns1123_subdomain "dns1123Subdomain" "DNS1123Subdomain" 60 |text| dns_subdomain(text);
    dns1035_label "dns1035Label" "DNS1035Label" 30 |text| dns1035_label_check(text);
    qualified_name "qualifiedName" "QualifiedName" 60 |text| qualified(text);
    dns1123_label_prefix "dns1123LabelPrefix" "DNS1123LabelPrefix" 30 |text| dns_label(&without_dash(text));
    dns1123_subdomain_prefix "dns1123SubdomainPrefix" "DNS1123SubdomainPrefix" 60
        |text| dns_subdomain(&without_dash(text));
    dns1035_label_prefix "dns1035LabelPrefix" "DNS1035LabelPrefix" 30
        |text| dns1035_label_check(&without_dash(text));
    label_value "labelValue" "LabelValue" 40 |text| {
        if text.is_empty() { None } else { label(text) }
    };
    uri "uri" "URI" 1103 |text| Url::parse_request(text).err();
    uuid "uuid" "uuid" 70 |text| uuid_check(text);
    byte "byte" "byte" 84 |text| base64(text);
    date "date" "date" 71 |text| {
        let is_date = text.len() == 10 && parse_timestamp(&format!("{text}T00:00:00Z")).is_some();
        (!is_date).then(|| "invalid date".to_owned())
    };
    datetime "datetime" "datetime" 71 |text| {
        parse_timestamp(&text.to_ascii_uppercase()).is_none().then(|| "invalid datetime".to_owned())
    };
}

fn named<'a>(name: &str) -> Output<'a> {
    match FORMATS.iter().find(|(known, _)| *known == name) {
        Some((_, format)) => Ok(Value::Format(format)),
        None => mismatch(),
    }
}

fn by_name<'a>(_: &mut Work, arguments: &[Value<'a>]) -> Output<'a> {
    let name = text(&arguments[0])?;
    Ok(named(name).map_or(Value::Optional(None), Value::some))
}

fn validate<'a>(work: &mut Work, arguments: &[Value<'a>]) -> Output<'a> {
    let Value::Format(format) = arguments[0] else { return mismatch() };
    let text = text(&arguments[1])?;
    work.spend_bytes(text.len() * 16)?;
    Ok((format.check)(text).map_or(Value::Optional(None), |reason| Value::some(strings_value([reason]))))
}

/// Replaces a dash at the end of a name, because a prefix may end with one.
fn without_dash(text: &str) -> String {
    match text.strip_suffix('-') {
        Some(start) if !start.is_empty() => format!("{start}a"),
        _ => text.to_owned(),
    }
}

/// Returns whether the first and the last character of a text are `outer`, and all characters are `inner`.
fn is_word(text: &str, outer: fn(u8) -> bool, inner: fn(u8) -> bool) -> bool {
    let bytes = text.as_bytes();
    bytes.first().is_some_and(|byte| outer(*byte))
        && bytes.last().is_some_and(|byte| outer(*byte))
        && bytes.iter().all(|byte| inner(*byte))
}

fn is_lower_or_digit(byte: u8) -> bool {
    byte.is_ascii_lowercase() || byte.is_ascii_digit()
}

fn is_dns_label(text: &str) -> bool {
    is_word(text, is_lower_or_digit, |byte| is_lower_or_digit(byte) || byte == b'-')
}

fn too_long(length: usize) -> Option<String> {
    Some(format!("must be no more than {length} bytes"))
}

/// Returns the reason why a text is not a DNS label. The checks below return this reason for other formats.
fn dns_label(text: &str) -> Option<String> {
    match () {
        () if text.len() > 63 => too_long(63),
        () if !is_dns_label(text) => Some(
            "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and \
             end with an alphanumeric character"
                .to_owned(),
        ),
        () => None,
    }
}

fn dns_subdomain(text: &str) -> Option<String> {
    match () {
        () if text.len() > 253 => too_long(253),
        () if !text.split('.').all(is_dns_label) => Some(
            "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must \
             start and end with an alphanumeric character"
                .to_owned(),
        ),
        () => None,
    }
}

fn dns1035_label_check(text: &str) -> Option<String> {
    match () {
        () if text.len() > 63 => too_long(63),
        () if !is_dns_label(text) || text.starts_with(|c: char| c.is_ascii_digit()) => Some(
            "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic \
             character, and end with an alphanumeric character"
                .to_owned(),
        ),
        () => None,
    }
}

fn label(text: &str) -> Option<String> {
    let is_outer = |byte: u8| byte.is_ascii_alphanumeric();
    match () {
        () if text.len() > 63 => too_long(63),
        () if !is_word(text, is_outer, |byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.')) => {
            Some(
                "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an \
                 alphanumeric character"
                    .to_owned(),
            )
        }
        () => None,
    }
}

fn qualified(text: &str) -> Option<String> {
    match text.split('/').collect::<Vec<_>>()[..] {
        [name] => label(name),
        ["", _] => Some("prefix part must be non-empty".to_owned()),
        [prefix, name] => dns_subdomain(prefix).or_else(|| label(name)),
        _ => Some("a qualified name must be a name with an optional DNS subdomain prefix and '/'".to_owned()),
    }
}

fn uuid_check(text: &str) -> Option<String> {
    let mut rest = text;
    for (i, length) in [8, 4, 4, 4, 12].into_iter().enumerate() {
        if i > 0 {
            rest = rest.strip_prefix('-').unwrap_or(rest);
        }
        match rest.get(..length) {
            Some(digits) if digits.bytes().all(|byte| byte.is_ascii_hexdigit()) => rest = &rest[length..],
            _ => return Some("does not match the UUID format".to_owned()),
        }
    }
    (!rest.is_empty()).then(|| "does not match the UUID format".to_owned())
}

fn base64(text: &str) -> Option<String> {
    let digits = text.strip_suffix("==").or_else(|| text.strip_suffix('=')).unwrap_or(text);
    let is_digit = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/');
    let is_valid = !text.is_empty() && text.len().is_multiple_of(4) && digits.bytes().all(is_digit);
    (!is_valid).then(|| "invalid base64".to_owned())
}
