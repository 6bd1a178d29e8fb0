//! The way to the API server, by a kubeconfig or as pods have it.
//!
//! Rules and precedence are client-go's. Tokens, certificates and authorities that are files are read again once a minute, as
//! client-go does with tokens, and whenever the server does not know who calls; new certificates are for new connections,
//! and watches keep theirs until they end. Credential plugins run again when what they said expires.
//!
//! `kube-client` is not used for this: its `config` feature reads kubeconfigs only, and what keeps credentials fresh is part
//! of a client with layers that nothing here needs. The structs are fewer than what would be converted.

mod credentials;
mod in_cluster;
mod kubeconfig;
mod plugin;
mod refresh;
mod server;
mod tls;

use std::fmt;
use std::path::Path;

use hyper::Uri;
use rustls::pki_types::ServerName;

use crate::transport::Http;
use credentials::User;
use kubeconfig::Kubeconfig;
pub use refresh::CredentialRefresher;
#[cfg(test)]
pub(crate) use tls::AcceptAnyCertificate;
use tls::Trust;

/// An API server, and who we are there.
pub struct Target {
    server: Uri,
    trust: Trust,
    /// Whose certificate the server shows, if not that of its address.
    server_name: Option<ServerName<'static>>,
    user: User,
}

impl fmt::Debug for Target {
    /// Without what is secret.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Target").field("server", &self.server).finish_non_exhaustive()
    }
}

impl Target {
    /// As kube-scheduler finds its API server: by a kubeconfig if there is one, else at `--master`, else as pods do. A
    /// `master` takes the place of the server that the kubeconfig names.
    pub fn new(kubeconfig: Option<&Path>, master: Option<&str>) -> Result<Target, ConnectError> {
        match (kubeconfig, master) {
            (Some(path), master) => Target::from_kubeconfig(path, master),
            (None, Some(master)) => server::at(master),
            (None, None) => Target::in_cluster(),
        }
    }

    /// By the current context of a kubeconfig.
    pub fn from_kubeconfig(path: &Path, master: Option<&str>) -> Result<Target, ConnectError> {
        Kubeconfig::read(path)?.target(master)
    }

    /// As pods do: by their environment and the files of their service account.
    pub fn in_cluster() -> Result<Target, ConnectError> {
        in_cluster::target(|name| std::env::var(name).ok(), Path::new(in_cluster::FILES))
    }

    /// The address of the server.
    pub fn server(&self) -> &Uri {
        &self.server
    }

    /// The way there, and the task that keeps it open. Files are read, and a credential plugin runs: what cannot be
    /// read now is an error, what cannot be read later a warning.
    pub async fn http(self) -> Result<(Http, CredentialRefresher), ConnectError> {
        CredentialRefresher::connect(self).await
    }
}

/// Why there is no way to the API server: what, where, and what to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConnectError(String);

impl ConnectError {
    fn new(message: impl Into<String>) -> Self {
        ConnectError(message.into())
    }
}

impl fmt::Display for ConnectError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for ConnectError {}

#[cfg(test)]
mod tests;
