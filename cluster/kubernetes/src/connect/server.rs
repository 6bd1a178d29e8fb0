//! Addresses of API servers.

use std::net::IpAddr;

use hyper::Uri;
use hyper::http::uri::Scheme;

use super::tls::Trust;
use super::user::User;
use super::{ConnectError, Target};

/// Returns the target for an address that is given without a kubeconfig.
pub(super) fn at(master: &str) -> Result<Target, ConnectError> {
    let server = parse(master, false).map_err(|why| wrong_master(master, &why))?;
    Ok(Target { server, trust: Trust::System, server_name: None, user: User::default() })
}

pub(super) fn wrong_master(master: &str, why: &str) -> ConnectError {
    ConnectError::new(format!("--master={}: {why}", redacted(master)))
}

/// Returns an address for messages, without user, password, query and fragment, which can be secrets.
pub(super) fn redacted(text: &str) -> String {
    let (scheme, rest) = text.find("://").map_or(("", text), |end| text.split_at(end + 3));
    let (head, tail) = rest.split_at(rest.find(['?', '#']).unwrap_or(rest.len()));
    let more = if tail.is_empty() { "" } else { "..." };
    match head.rsplit_once('@') {
        // The `?` or `#` may be part of a password.
        _ if tail.contains('@') => format!("{scheme}..."),
        Some((_, host)) => format!("{scheme}...@{host}{more}"),
        None => format!("{scheme}{head}{more}"),
    }
}

/// Parses a URL, or a host with an optional port. The scheme of a host is `https` if `tls` is true, otherwise `http`.
pub(super) fn parse(text: &str, tls: bool) -> Result<Uri, String> {
    const NOT: &str = "this is not an address such as `https://10.0.0.1:6443`";
    let with_scheme = match text.contains("://") {
        true => text.to_owned(),
        false => format!("{}://{text}", if tls { "https" } else { "http" }),
    };
    let uri: Uri = with_scheme.parse().map_err(|_| NOT.to_owned())?;
    match (uri.scheme_str(), uri.host()) {
        (Some("http" | "https"), Some(host)) if !host.is_empty() => {}
        (Some(scheme), Some(_)) if !matches!(scheme, "http" | "https") => {
            return Err(format!("the scheme of an API server is `http` or `https`, not `{scheme}`"));
        }
        _ => return Err(NOT.to_owned()),
    }
    let authority = uri.authority().map_or("", |authority| authority.as_str());
    if authority.contains('@') {
        let cure = "leave them out; `users` of a kubeconfig has `username` and `password`, tokens and certificates";
        return Err(format!("an address with a user or a password is not supported: {cure}"));
    }
    let port = authority.strip_prefix(uri.host().unwrap_or_default()).unwrap_or_default();
    if !port.is_empty() && !is_port(port) {
        return Err("the port after `:` is not a number from 1 to 65535".to_owned());
    }
    // `Uri` drops fragments.
    match (uri.query(), with_scheme.contains('#')) {
        (None, false) => Ok(uri),
        _ => Err("a query or a fragment (after `?` or `#`) has no meaning here; leave it out".to_owned()),
    }
}

/// Returns whether the text is a colon and a port.
fn is_port(text: &str) -> bool {
    let digits = text.strip_prefix(':').filter(|digits| digits.bytes().all(|byte| byte.is_ascii_digit()));
    digits.and_then(|digits| digits.parse().ok()).is_some_and(|port: u16| port > 0)
}

/// Returns whether the connection is encrypted.
pub(super) fn is_tls(server: &Uri) -> bool {
    server.scheme() == Some(&Scheme::HTTPS)
}

/// Returns whether the connection is confidential: by TLS, or on this machine.
pub(super) fn is_confidential(server: &Uri) -> bool {
    let host = server.host().unwrap_or_default().trim_matches(['[', ']']);
    is_tls(server) || host == "localhost" || host.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_with_and_without_a_scheme() {
        let check = |text: &str, tls: bool, expected: Result<&str, &str>| {
            let uri = parse(text, tls).map(|uri| uri.to_string());
            assert_eq!(uri.as_deref().map_err(String::as_str), expected, "{text}");
        };
        check("https://10.0.0.1:6443", false, Ok("https://10.0.0.1:6443/"));
        check("10.0.0.1:6443", true, Ok("https://10.0.0.1:6443/"));
        check("localhost:8080", false, Ok("http://localhost:8080/"));
        check("https://[fd00::1]:6443", false, Ok("https://[fd00::1]:6443/"));
        check("https://rancher.example/k8s/clusters/c-1", false, Ok("https://rancher.example/k8s/clusters/c-1"));
        check("https://a", false, Ok("https://a/"));
        check("", true, Err("this is not an address such as `https://10.0.0.1:6443`"));
        check("ftp://a", false, Err("the scheme of an API server is `http` or `https`, not `ftp`"));
    }

    #[test]
    fn ambiguous_addresses_are_errors() {
        let check = |texts: &[&str], expected: &str| {
            for text in texts {
                let why = parse(text, true).map(|uri| uri.to_string());
                assert!(why.as_ref().is_err_and(|why| why.starts_with(expected)), "{text}: {why:?}");
            }
        };
        let ports =
            ["https://127.0.0.1:99999", "https://127.0.0.1:65536", "127.0.0.1:0", "https://a:", "[::1]:x", "a:+443"];
        for text in ports {
            let why = parse(text, true).map(|uri| uri.to_string());
            assert!(why.is_err(), "{text}: {why:?}");
        }
        check(&ports[..4], "the port after `:` is not a number from 1 to 65535");
        check(&["https://me:secret@a", "https://me@a:6443", "me@a"], "an address with a user or a password");
        check(&["https://a?x=y", "https://a/b?", "https://a#b", "https://a/#"], "a query or a fragment");
    }

    #[test]
    fn messages_have_no_secrets() {
        for (text, expected) in [
            ("https://a:99999/b", "https://a:99999/b"),
            ("https://me:secret@a:6443", "https://...@a:6443"),
            ("https://me:sec/ret@a", "https://...@a"),
            ("me:secret@a", "...@a"),
            ("https://me:sec?ret@a", "https://..."),
            ("https://a/b?token=secret", "https://a/b..."),
            ("https://a#secret", "https://a..."),
        ] {
            assert_eq!(redacted(text), expected);
        }
        let error = at("https://me:secret@a").unwrap_err().to_string();
        assert!(error.starts_with("--master=https://...@a: an address with a user"), "{error}");
    }

    #[test]
    fn connections_by_tls_or_on_this_machine_are_confidential() {
        let is_confidential_url = |text: &str| is_confidential(&parse(text, false).unwrap());
        assert!(
            is_confidential_url("https://a")
                && is_confidential_url("http://127.0.0.1:1")
                && is_confidential_url("http://[::1]:1")
                && is_confidential_url("localhost")
        );
        assert!(!is_confidential_url("http://10.0.0.1"));
    }
}
