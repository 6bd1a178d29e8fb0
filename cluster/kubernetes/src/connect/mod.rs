//! Connects to the API server by a kubeconfig or by the environment of a pod.
//!
//! Rules and precedence are client-go's. Files with tokens, certificates and authorities are read again once a minute,
//! as client-go does with tokens, and after each 401 response. New connections use new certificates; open watches keep
//! their connections. Credential plugins run again when their credentials expire, and after a 401 response.
//!
//! The crate `kube-client` is not used. Its `config` feature only reads kubeconfigs. Its credential refresh is part of
//! a client with layers that are not needed here. A conversion of its types would need more structs than this module
//! has.

mod credentials;
mod in_cluster;
mod kubeconfig;
mod plugin;
mod refresh;
mod server;
mod tls;
mod user;
mod user_choice;

use std::fmt;
use std::path::Path;

use hyper::Uri;
use rustls::pki_types::ServerName;

use crate::transport::Http;
use kubeconfig::Kubeconfig;
pub use refresh::CredentialRefresher;
use tls::Trust;
use user::User;

/// API server, and the user's credentials for it.
pub struct Target {
    server: Uri,
    trust: Trust,
    /// Name in the server's certificate, if it differs from the address.
    server_name: Option<ServerName<'static>>,
    user: User,
}

impl fmt::Debug for Target {
    /// Omits secrets.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Target").field("server", &self.server).finish_non_exhaustive()
    }
}

impl Target {
    /// Finds the API server as kube-scheduler does: by a kubeconfig, otherwise at `master`, otherwise by the
    /// environment of a pod. `master` overrides the server of the kubeconfig.
    pub fn new(kubeconfig: Option<&Path>, master: Option<&str>) -> Result<Target, ConnectError> {
        match (kubeconfig, master) {
            (Some(path), master) => Target::from_kubeconfig(path, master),
            (None, Some(master)) => server::at(master),
            (None, None) => Target::in_cluster(),
        }
    }

    /// Reads the current context of a kubeconfig. `master` overrides its server.
    pub fn from_kubeconfig(path: &Path, master: Option<&str>) -> Result<Target, ConnectError> {
        Kubeconfig::read(path)?.target(master)
    }

    /// Finds the cluster of a user's command as kubectl does: in this kubeconfig, otherwise in that of the environment
    /// variable `KUBECONFIG`, otherwise in `~/.kube/config`, otherwise by the environment of a pod. `context` selects a
    /// context of the kubeconfig instead of the current one, and requires a kubeconfig. Several existing files in
    /// `KUBECONFIG` are an error: they are not merged.
    pub fn of_user(kubeconfig: Option<&Path>, context: Option<&str>) -> Result<Target, ConnectError> {
        user_choice::target(kubeconfig, context, |name| std::env::var_os(name))
    }

    /// Reads the environment and the service account files of a pod.
    pub fn in_cluster() -> Result<Target, ConnectError> {
        in_cluster::target(|name| std::env::var(name).ok(), Path::new(in_cluster::FILES))
    }

    /// Returns the address of the server.
    pub fn server(&self) -> &Uri {
        &self.server
    }

    /// Creates the transport, and the task that refreshes its credentials. Reads files and runs the credential plugin.
    /// Unreadable credentials are an error here; the task only logs them.
    pub async fn http(self) -> Result<(Http, CredentialRefresher), ConnectError> {
        CredentialRefresher::connect(self).await
    }
}

/// Reason why there is no connection to the API server: the place of the problem, and a remedy.
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
