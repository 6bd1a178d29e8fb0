//! URLs.

/// Absolute URL, or absolute path.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Url {
    pub(crate) scheme: String,
    pub(crate) host: String,
    /// Path with its percent escapes.
    pub(crate) path: String,
    pub(crate) query: String,
    /// The opaque part or the user, and the fragment, which only comparisons read.
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
        let (before_fragment, fragment) = text.split_once('#').unwrap_or((text, ""));
        let (scheme, rest) = split_scheme(before_fragment);
        if scheme.is_none() && before_fragment.starts_with(':') {
            return error("missing protocol scheme");
        }
        let (rest, query) = rest.split_once('?').unwrap_or((rest, ""));
        if !rest.starts_with('/') {
            // After a scheme without slash, the rest is opaque.
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

    /// Splits the host into its name, without brackets, and the port.
    pub(crate) fn split_host(&self) -> (&str, &str) {
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
pub(crate) fn unescape(text: &str, plus_is_space: bool) -> Option<String> {
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
