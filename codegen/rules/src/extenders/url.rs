//! URL of an extender.

use crate::diagnostic::Diagnostic;
use crate::messages;
use crate::source::Spanned;

pub(super) const HTTP: &str = "http://";
pub(super) const HTTPS: &str = "https://";

/// Checks that a `url-prefix` consists of a scheme, a host, and optionally a port and a path.
pub(super) fn check(url: &Spanned<String>, diagnostics: &mut Vec<Diagnostic>) {
    let text = url.value.as_str();
    let Some(after_scheme) = text.strip_prefix(HTTP).or_else(|| text.strip_prefix(HTTPS)) else {
        // A host without a scheme is the most common mistake.
        let suggestion = (!text.contains("://") && fault(text).is_none()).then(|| format!("{HTTP}{text}"));
        diagnostics.push(messages::url_without_scheme(url, suggestion.as_deref()));
        return;
    };
    diagnostics.extend(fault(after_scheme).map(|fault| messages::bad_url(url, &fault)));
}

/// Returns the error, if any, in the part of a URL after the scheme.
fn fault(after_scheme: &str) -> Option<String> {
    let (authority, path) = after_scheme.split_at(after_scheme.find(['/', '?', '#']).unwrap_or(after_scheme.len()));
    if authority.contains('@') {
        return Some("a profile must not contain a name and a password".to_owned());
    }
    let (host, port) = match authority.rfind(':') {
        Some(colon) if !authority.ends_with(']') => (&authority[..colon], Some(&authority[colon + 1..])),
        _ => (authority, None),
    };
    if host.is_empty() {
        return Some("it has no host".to_owned());
    }
    if !is_host(host) {
        return Some(format!("`{host}` is not a host"));
    }
    if let Some(port) = port.filter(|port| port.parse::<u16>().map_or(true, |port| port == 0)) {
        return Some(format!("`{port}` is not a port"));
    }
    let stray = path.chars().find(|c| !is_path_character(*c));
    stray.map(|stray| format!("`{stray}` cannot be in its path"))
}

fn is_host(host: &str) -> bool {
    match host.strip_prefix('[').and_then(|host| host.strip_suffix(']')) {
        Some(address) => address.parse::<std::net::Ipv6Addr>().is_ok(),
        None => host.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_')),
    }
}

/// Returns whether a text is valid in the path of a URL.
pub(super) fn is_path(text: &str) -> bool {
    text.chars().all(is_path_character)
}

fn is_path_character(c: char) -> bool {
    c.is_ascii_alphanumeric() || "/-._~!$&'()*+,;=:@%".contains(c)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn urls_have_a_host_and_optionally_a_port_and_a_path() {
        for right in
            ["localhost", "a.b:80", "10.0.0.1:8888/x/", "[::1]:80/x", "[::1]", "a/%20", "gpu_share.kube-system"]
        {
            assert_eq!(fault(right), None, "{right}");
        }
        for (wrong, reason) in [
            ("", "it has no host"),
            (":80", "it has no host"),
            ("/filter", "it has no host"),
            ("a b", "`a b` is not a host"),
            ("::1", "`:` is not a host"),
            ("[::g]", "`[::g]` is not a host"),
            ("a:", "`` is not a port"),
            ("a:0", "`0` is not a port"),
            ("a:65536", "`65536` is not a port"),
            ("a:b", "`b` is not a port"),
            ("a?x", "`?` cannot be in its path"),
            ("a/b c", "` ` cannot be in its path"),
            ("u:p@a", "a profile must not contain a name and a password"),
        ] {
            assert_eq!(fault(wrong).as_deref(), Some(reason), "{wrong}");
        }
    }
}
