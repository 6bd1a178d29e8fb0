//! Functions of URLs.

use std::sync::Arc;

use super::{Declaration, mismatch, text};
use crate::data::url::{Url, unescape};
use crate::eval::failure::{Failure, Output};
use crate::eval::value::{Entries, List, Map, Value};
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

fn part<'a>(arguments: &[Value<'a>], read: fn(&Url) -> String) -> Output<'a> {
    match &arguments[0] {
        Value::Url(url) => Ok(Value::string(read(url))),
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
