//! The address of an API server.

use std::net::IpAddr;

use hyper::Uri;
use hyper::http::uri::Scheme;

use super::credentials::User;
use super::tls::Trust;
use super::{ConnectError, Target};

/// The server at an address of which nothing else is known.
pub(super) fn at(master: &str) -> Result<Target, ConnectError> {
    let server = parse(master, false).map_err(|why| ConnectError::new(format!("--master={master}: {why}")))?;
    Ok(Target { server, trust: Trust::System, server_name: None, user: User::default() })
}

/// Reads a URL, or a host with or without a port, which is asked by TLS if `tls`.
pub(super) fn parse(text: &str, tls: bool) -> Result<Uri, String> {
    const NOT: &str = "this is no address such as `https://10.0.0.1:6443`";
    let with_scheme = match text.contains("://") {
        true => text.to_owned(),
        false => format!("{}://{text}", if tls { "https" } else { "http" }),
    };
    let uri: Uri = with_scheme.parse().map_err(|_| NOT.to_owned())?;
    match (uri.scheme_str(), uri.host()) {
        (Some("http" | "https"), Some(host)) if !host.is_empty() => {}
        (Some(scheme), Some(_)) if !matches!(scheme, "http" | "https") => {
            return Err(format!("an API server is asked by `http` or `https`, not by `{scheme}`"));
        }
        _ => return Err(NOT.to_owned()),
    }
    // What follows a path is not part of what all paths begin with.
    match with_scheme.find(['?', '#']) {
        Some(end) => with_scheme[..end].parse().map_err(|_| NOT.to_owned()),
        None => Ok(uri),
    }
}

/// Whether what is sent there cannot be read on the way.
pub(super) fn is_tls(server: &Uri) -> bool {
    server.scheme() == Some(&Scheme::HTTPS)
}

/// Whether nobody else may learn what is sent there: by TLS, or on this machine.
pub(super) fn keeps_secrets(server: &Uri) -> bool {
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
        check("https://rancher.example/k8s/clusters/c-1?x=y", false, Ok("https://rancher.example/k8s/clusters/c-1"));
        check("", true, Err("this is no address such as `https://10.0.0.1:6443`"));
        check("ftp://a", false, Err("an API server is asked by `http` or `https`, not by `ftp`"));
    }

    #[test]
    fn where_nobody_listens() {
        let keeps = |text: &str| keeps_secrets(&parse(text, false).unwrap());
        assert!(keeps("https://a") && keeps("http://127.0.0.1:1") && keeps("http://[::1]:1") && keeps("localhost"));
        assert!(!keeps("http://10.0.0.1"));
    }
}
