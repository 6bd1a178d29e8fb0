//! A user of a kubeconfig, and the sources of its credentials.

use std::path::PathBuf;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use hyper::header::HeaderValue;
use schedc_bounds::files;

use super::ConnectError;
use super::credentials::{Credentials, bearer, secret};
use super::plugin::Plugin;

/// Value in a file or inline.
pub(super) struct Source {
    /// Description of the value and of its origin, for messages.
    label: String,
    origin: Origin,
}

enum Origin {
    Inline(Vec<u8>),
    File(PathBuf),
}

impl Source {
    pub(super) fn inline(contents: Vec<u8>, label: String) -> Self {
        Source { label, origin: Origin::Inline(contents) }
    }

    pub(super) fn file(path: PathBuf, label: String) -> Self {
        Source { label, origin: Origin::File(path) }
    }

    /// Returns the current content.
    pub(super) fn read(&self) -> Result<Vec<u8>, ConnectError> {
        match &self.origin {
            Origin::Inline(contents) => Ok(contents.clone()),
            Origin::File(path) => files::read(path).map_err(|why| ConnectError::new(format!("{self}: {why}"))),
        }
    }

    pub(super) fn is_file(&self) -> bool {
        matches!(self.origin, Origin::File(_))
    }
}

impl std::fmt::Display for Source {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match &self.origin {
            Origin::Inline(_) => f.write_str(&self.label),
            Origin::File(path) => write!(f, "{} in {}", self.label, path.display()),
        }
    }
}

#[derive(Default)]
pub(super) struct User {
    pub(super) token: Option<String>,
    /// File with a bearer token; overrides `token`.
    pub(super) token_file: Option<Source>,
    /// User name and password.
    pub(super) basic: Option<(String, String)>,
    pub(super) certificate: Option<(Source, Source)>,
    /// Credential plugin; used only if no field above is set.
    pub(super) plugin: Option<Plugin>,
}

impl User {
    /// Returns whether credentials come from files, which may change.
    pub(super) fn has_files(&self) -> bool {
        let certificate = self.certificate.iter().flat_map(|(certificate, key)| [certificate, key]);
        certificate.chain(&self.token_file).any(Source::is_file)
    }

    /// Returns the credential plugin, if no other credentials are set.
    pub(super) fn plugin(&self) -> Option<&Plugin> {
        let has_credentials =
            self.token.is_some() || self.token_file.is_some() || self.basic.is_some() || self.certificate.is_some();
        self.plugin.as_ref().filter(|_| !has_credentials)
    }

    /// Reads the current credentials from files and the kubeconfig.
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

    /// Returns the token in a file, or the inline token if the file contains no readable token, as in client-go.
    fn token_of(&self, file: &Source) -> Result<HeaderValue, ConnectError> {
        let token = file.read().and_then(|token| bearer(&String::from_utf8_lossy(&token), &file.to_string()));
        match (token, &self.token) {
            (Err(_), Some(token)) => bearer(token, "the token of the kubeconfig"),
            (token, _) => token,
        }
    }
}

fn basic(name: &str, password: &str) -> Result<HeaderValue, ConnectError> {
    secret(format!("Basic {}", STANDARD.encode(format!("{name}:{password}"))))
        .ok_or_else(|| ConnectError::new("`username` and `password` of the kubeconfig do not fit into a header"))
}
