//! The API server of the cluster that this pod runs in, from environment variables that the kubelet sets.

use std::path::Path;

use super::tls::Trust;
use super::user::{Source, User};
use super::{ConnectError, Target, server};

/// Directory of a pod's service account files.
pub(super) const FILES: &str = "/var/run/secrets/kubernetes.io/serviceaccount";

pub(super) fn target(env: impl Fn(&str) -> Option<String>, files: &Path) -> Result<Target, ConnectError> {
    let variable = |name: &str| {
        env(name).filter(|value| !value.is_empty()).ok_or_else(|| {
            ConnectError::new(format!(
                "no API server: neither --kubeconfig nor --master is given, nor `clientConnection.kubeconfig` in the file \
                 of --config, and this is not a pod of a cluster, where {name} would be set"
            ))
        })
    };
    let (host, port) = (variable("KUBERNETES_SERVICE_HOST")?, variable("KUBERNETES_SERVICE_PORT")?);
    let host = if host.contains(':') { format!("[{host}]") } else { host };
    let server = server::parse(&format!("https://{host}:{port}"), true)
        .map_err(|why| ConnectError::new(format!("KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT: {why}")))?;
    let file = |name: &str, what: &str| Source::file(files.join(name), format!("{what} of this pod's service account"));
    Ok(Target {
        server,
        trust: Trust::Authority(file("ca.crt", "the authority")),
        server_name: None,
        user: User { token_file: Some(file("token", "the token")), ..User::default() },
    })
}
