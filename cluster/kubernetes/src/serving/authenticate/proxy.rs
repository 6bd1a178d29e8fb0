//! Authentication by the headers of a request-header proxy.

use std::collections::BTreeMap;

use hyper::HeaderMap;
use hyper::header::HeaderValue;
use percent_encoding::percent_decode_str;
use rustls::pki_types::CertificateDer;

use super::{subject, verified};
use crate::serving::authorities::Proxies;
use crate::serving::user::User;

/// Returns the user that a request-header proxy names, or `None` without a certificate or without a user name.
pub(super) fn authenticate(
    proxies: &Proxies,
    headers: &HeaderMap,
    certificates: &[CertificateDer<'_>],
) -> Result<Option<User>, String> {
    let Some(certificate) = verified(&proxies.authority, certificates)? else { return Ok(None) };
    if !proxies.headers.names.is_empty() {
        let name = subject::common_name(certificate)?;
        if !proxies.headers.names.contains(&name) {
            return Err(format!("a proxy named {name:?} is not an allowed request-header proxy"));
        }
    }
    Ok(user_from_headers(proxies, headers))
}

fn user_from_headers(proxies: &Proxies, headers: &HeaderMap) -> Option<User> {
    let names = &proxies.headers;
    let all = |names: &[String]| {
        let values = names.iter().flat_map(|name| headers.get_all(name.trim())).map(text);
        values.filter(|value| !value.is_empty()).collect::<Vec<_>>()
    };
    // The first value that is not empty. Of a repeated header, only the first value is considered.
    let first = |names: &[String]| {
        let mut values = names.iter().filter_map(|name| headers.get(name.trim())).map(text);
        values.find(|value| !value.is_empty())
    };
    let name = first(&names.user)?;
    let uid = first(&names.uid).unwrap_or_default();
    let mut extra = BTreeMap::<_, Vec<_>>::new();
    for prefix in &names.extra {
        let prefix = prefix.trim().to_ascii_lowercase();
        for (header, value) in headers {
            if let Some(key) = header.as_str().strip_prefix(&prefix) {
                let key = percent_decode_str(key).decode_utf8().map_or_else(|_| key.to_owned(), Into::into);
                extra.entry(key).or_default().push(text(value));
            }
        }
    }
    Some(User { name, uid, groups: all(&names.group), extra })
}

fn text(value: &HeaderValue) -> String {
    String::from_utf8_lossy(value.as_bytes()).into_owned()
}
