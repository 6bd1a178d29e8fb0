//! Who we are to an API server, and where that is written.

use std::path::PathBuf;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use hyper::header::HeaderValue;
use k8s_openapi::jiff::Timestamp;
use schedc_bounds::files;

use super::ConnectError;
use super::plugin::Plugin;

/// Something that is written somewhere.
pub(super) struct Source {
    /// What it is, and where it is said, for people.
    label: String,
    place: Origin,
}

enum Origin {
    Inline(Vec<u8>),
    File(PathBuf),
}

impl Source {
    pub(super) fn inline(contents: Vec<u8>, label: String) -> Self {
        Source { label, place: Origin::Inline(contents) }
    }

    pub(super) fn file(path: PathBuf, label: String) -> Self {
        Source { label, place: Origin::File(path) }
    }

    /// What is there now.
    pub(super) fn read(&self) -> Result<Vec<u8>, ConnectError> {
        match &self.place {
            Origin::Inline(contents) => Ok(contents.clone()),
            Origin::File(path) => files::read(path).map_err(|why| ConnectError::new(format!("{self}: {why}"))),
        }
    }

    pub(super) fn is_file(&self) -> bool {
        matches!(self.place, Origin::File(_))
    }
}

impl std::fmt::Display for Source {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match &self.place {
            Origin::Inline(_) => f.write_str(&self.label),
            Origin::File(path) => write!(f, "{} in {}", self.label, path.display()),
        }
    }
}

/// Who we are: what a kubeconfig says of a user.
#[derive(Default)]
pub(super) struct User {
    /// A bearer token.
    pub(super) token: Option<String>,
    /// A file with a bearer token, which goes before the former.
    pub(super) token_file: Option<Source>,
    /// A name and a password.
    pub(super) basic: Option<(String, String)>,
    /// A certificate and its key.
    pub(super) certificate: Option<(Source, Source)>,
    /// A program that says who we are. It is not asked if anything above does.
    pub(super) plugin: Option<Plugin>,
}

/// What is shown to the server.
#[derive(Clone, Default, PartialEq)]
pub(super) struct Credentials {
    /// The header `Authorization`.
    pub(super) authorization: Option<HeaderValue>,
    /// A certificate and its key, as PEM.
    pub(super) certificate: Option<(Vec<u8>, Vec<u8>)>,
    /// Until when this holds.
    pub(super) until: Option<Timestamp>,
}

impl User {
    /// Whether files say who we are, so that it may change.
    pub(super) fn has_files(&self) -> bool {
        let certificate = self.certificate.iter().flat_map(|(certificate, key)| [certificate, key]);
        certificate.chain(&self.token_file).any(Source::is_file)
    }

    /// The plugin, if that is who says it.
    pub(super) fn plugin(&self) -> Option<&Plugin> {
        let says =
            self.token.is_some() || self.token_file.is_some() || self.basic.is_some() || self.certificate.is_some();
        self.plugin.as_ref().filter(|_| !says)
    }

    /// What files say now, or the kubeconfig.
    pub(super) fn read(&self) -> Result<Credentials, ConnectError> {
        let authorization = match (&self.token_file, &self.token, &self.basic) {
            (Some(file), _, _) => Some(self.token_of(file)?),
            (None, Some(token), _) => Some(bearer(token, "the token of the kubeconfig")?),
            (None, None, Some((name, password))) => Some(basic(name, password)?),
            (None, None, None) => None,
        };
        let certificate = match &self.certificate {
            Some((certificate, key)) => Some((certificate.read()?, key.read()?)),
            None => None,
        };
        Ok(Credentials { authorization, certificate, until: None })
    }

    /// The token in a file; if there is none, the one that goes with it, as in client-go.
    fn token_of(&self, file: &Source) -> Result<HeaderValue, ConnectError> {
        let token = file.read().and_then(|token| bearer(&String::from_utf8_lossy(&token), &file.to_string()));
        match (token, &self.token) {
            (Err(_), Some(token)) => bearer(token, "the token of the kubeconfig"),
            (token, _) => token,
        }
    }
}

/// The header for a token.
pub(super) fn bearer(token: &str, label: &str) -> Result<HeaderValue, ConnectError> {
    match token.trim() {
        "" => Err(ConnectError::new(format!("{label} is empty"))),
        token => secret(format!("Bearer {token}"))
            .ok_or_else(|| ConnectError::new(format!("{label} is no token: it has letters that no header can have"))),
    }
}

fn basic(name: &str, password: &str) -> Result<HeaderValue, ConnectError> {
    secret(format!("Basic {}", STANDARD.encode(format!("{name}:{password}"))))
        .ok_or_else(|| ConnectError::new("`username` and `password` of the kubeconfig are too much for a header"))
}

/// A header that is not printed, nor kept in tables of HTTP/2.
fn secret(text: String) -> Option<HeaderValue> {
    let mut value = HeaderValue::try_from(text).ok()?;
    value.set_sensitive(true);
    Some(value)
}
