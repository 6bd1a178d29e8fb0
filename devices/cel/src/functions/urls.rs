//! URLs.

use std::sync::Arc;

use super::{Declaration, mismatch, text};
use crate::eval::failure::{Failure, Output};
use crate::eval::list::List;
use crate::eval::map::{Entries, Map};
use crate::eval::value::Value;
use crate::eval::work::Work;

pub(super) const DECLARATIONS: &[Declaration] = &[
    Declaration { name: "url", call: url, overloads: &["string_to_url: (string) -> url"] },
    Declaration { name: "isURL", call: is_url, overloads: &["is_url_string: (string) -> bool"] },
    Declaration {
        name: "getScheme",
        call: |_, arguments| part(arguments, |url| url.scheme.clone()),
        overloads: &["url_get_scheme: url.() -> string"],
    },
    Declaration {
        name: "getHost",
        call: |_, arguments| part(arguments, |url| url.host.clone()),
        overloads: &["url_get_host: url.() -> string"],
    },
    Declaration {
        name: "getHostname",
        call: |_, arguments| part(arguments, |url| url.split_host().0.to_owned()),
        overloads: &["url_get_hostname: url.() -> string"],
    },
    Declaration {
        name: "getPort",
        call: |_, arguments| part(arguments, |url| url.split_host().1.to_owned()),
        overloads: &["url_get_port: url.() -> string"],
    },
    Declaration {
        name: "getEscapedPath",
        call: |_, arguments| part(arguments, |url| url.path.clone()),
        overloads: &["url_get_escaped_path: url.() -> string"],
    },
    Declaration {
        name: "getQuery",
        call: get_query,
        overloads: &["url_get_query: url.() -> map(string, list(string))"],
    },
];

/// Absolute URL, or absolute path.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Url {
    scheme: String,
    host: String,
    /// With its escapes.
    path: String,
    query: String,
    rest: String,
}

impl Url {
    /// Parses the URL of a request, as Go's `url.ParseRequestURI` does.
    pub(crate) fn parse_request(text: &str) -> Result<Url, String> {
        let error = |reason: &str| Err(format!("parse {text:?}: {reason}"));
        if text.is_empty() {
            return error("empty url");
        }
        if text.bytes().any(|byte| byte < b' ' || byte == 0x7f) {
            return error("net/url: invalid control character in URL");
        }
        let (text_before, fragment) = text.split_once('#').unwrap_or((text, ""));
        let (scheme, rest) = split_scheme(text_before);
        if scheme.is_none() && text_before.starts_with(':') {
            return error("missing protocol scheme");
        }
        let (rest, query) = rest.split_once('?').unwrap_or((rest, ""));
        if !rest.starts_with('/') {
            // A scheme without slash has an opaque part.
            return match scheme {
                Some(scheme) => Ok(Url {
                    scheme: scheme.to_ascii_lowercase(),
                    host: String::new(),
                    path: String::new(),
                    query: query.to_owned(),
                    rest: format!("{rest}#{fragment}"),
                }),
                None => error("invalid URI for request"),
            };
        }
        let (mut authority, mut path) = ("", rest);
        if scheme.is_some()
            && let Some(after) = rest.strip_prefix("//")
        {
            (authority, path) = after.split_at(after.find('/').unwrap_or(after.len()));
        }
        let (user, host) = authority.rsplit_once('@').unwrap_or(("", authority));
        if host.bytes().any(|byte| !byte.is_ascii_graphic() && byte.is_ascii() || b"<>\"\\^`{|}".contains(&byte)) {
            return error("invalid character in host name");
        }
        let port = match host.rfind(']') {
            Some(end) if host.starts_with('[') => &host[end + 1..],
            _ if host.contains(['[', ']']) => return error("missing ']' in host"),
            _ => host.find(':').map_or("", |colon| &host[colon..]),
        };
        let is_port = port.is_empty()
            || port.strip_prefix(':').is_some_and(|digits| digits.bytes().all(|byte| byte.is_ascii_digit()));
        if !is_port {
            return error(&format!("invalid port {port:?} after host"));
        }
        if unescape(path, false).is_none() || unescape(host, false).is_none() {
            return error("invalid URL escape");
        }
        Ok(Url {
            scheme: scheme.unwrap_or_default().to_ascii_lowercase(),
            host: host.to_owned(),
            path: path.replace(' ', "%20"),
            query: query.to_owned(),
            rest: format!("{user}#{fragment}"),
        })
    }

    /// Splits an address into host name, without brackets, and port.
    fn split_host(&self) -> (&str, &str) {
        if let Some(bracketed) = self.host.strip_prefix('[')
            && let Some((name, port)) = bracketed.split_once(']')
        {
            return (name, port.strip_prefix(':').unwrap_or(port));
        }
        self.host.rsplit_once(':').unwrap_or((&self.host, ""))
    }
}

/// Splits a text after its scheme, at the colon.
fn split_scheme(text: &str) -> (Option<&str>, &str) {
    match text.split_once(':') {
        Some((scheme, rest))
            if scheme.starts_with(|c: char| c.is_ascii_alphabetic())
                && scheme.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte)) =>
        {
            (Some(scheme), rest)
        }
        _ => (None, text),
    }
}

/// Decodes percent escapes. Returns `None` if one is malformed. Bytes that are not UTF-8 are replaced.
fn unescape(text: &str, plus_is_space: bool) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        rest = after;
        match first {
            b'%' => {
                let digits = std::str::from_utf8(rest.get(..2)?).ok()?;
                if !digits.bytes().all(|byte| byte.is_ascii_hexdigit()) {
                    return None;
                }
                bytes.push(u8::from_str_radix(digits, 16).ok()?);
                rest = &rest[2..];
            }
            b'+' if plus_is_space => bytes.push(b' '),
            other => bytes.push(*other),
        }
    }
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

fn url<'a>(work: &mut Work, arguments: &[Value<'a>]) -> Output<'a> {
    let text = text(&arguments[0])?;
    work.spend_bytes(text.len())?;
    match Url::parse_request(text) {
        Ok(url) => Ok(Value::Url(Arc::new(url))),
        Err(error) => Err(Failure::text(format!("URL parse error during conversion from string: {error}"))),
    }
}

fn is_url<'a>(work: &mut Work, arguments: &[Value<'a>]) -> Output<'a> {
    let text = text(&arguments[0])?;
    work.spend_bytes(text.len())?;
    Ok(Value::Bool(Url::parse_request(text).is_ok()))
}

fn part<'a>(arguments: &[Value<'a>], of: fn(&Url) -> String) -> Output<'a> {
    match &arguments[0] {
        Value::Url(url) => Ok(Value::string(of(url))),
        _ => mismatch(),
    }
}

fn get_query<'a>(work: &mut Work, arguments: &[Value<'a>]) -> Output<'a> {
    let Value::Url(url) = &arguments[0] else { return mismatch() };
    work.spend(url.query.len() as u64)?;
    let mut parameters: Vec<(String, Vec<Value<'a>>)> = Vec::new();
    for pair in url.query.split('&').filter(|pair| !pair.is_empty() && !pair.contains(';')) {
        let (key, value) = pair.split_once('=').unwrap_or((pair, ""));
        // Malformed parameters are left out.
        let (Some(key), Some(value)) = (unescape(key, true), unescape(value, true)) else { continue };
        work.spend(parameters.len() as u64)?;
        match parameters.iter_mut().find(|(known, _)| *known == key) {
            Some((_, values)) => values.push(Value::string(value)),
            None => parameters.push((key, vec![Value::string(value)])),
        }
    }
    let mut entries = Entries::default();
    for (key, values) in parameters {
        entries.insert(Value::string(key), Value::List(List::new(values)));
    }
    Ok(Value::Map(Map::new(entries)))
}
