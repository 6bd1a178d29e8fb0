//! Kubeconfig files: `kind: Config` of version `v1`.
//!
//! Unknown fields are ignored, as in client-go. `proxy-url`, `as` and `auth-provider` are errors, because they are not
//! supported.

use std::path::{Path, PathBuf};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use rustls::pki_types::ServerName;
use schedc_bounds::files;
use schedc_import::yaml::only_document;
use serde::Deserialize;
use serde_json::Value;

use super::plugin::{Exec, Plugin};
use super::tls::Trust;
use super::user::{Source, User};
use super::{ConnectError, Target, server};

/// Kubeconfig with its path.
pub(super) struct Kubeconfig {
    path: PathBuf,
    file: File,
}

#[derive(Deserialize)]
struct File {
    kind: Option<String>,
    #[serde(rename = "apiVersion")]
    api_version: Option<String>,
    #[serde(rename = "current-context")]
    current_context: Option<String>,
    contexts: Option<Vec<Named<ContextSpec>>>,
    clusters: Option<Vec<Named<Cluster>>>,
    users: Option<Vec<Named<UserSpec>>>,
}

#[derive(Deserialize)]
struct Named<T> {
    name: String,
    #[serde(rename = "cluster", alias = "context", alias = "user")]
    value: Option<T>,
}

#[derive(Default, Deserialize)]
struct ContextSpec {
    cluster: Option<String>,
    user: Option<String>,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
struct Cluster {
    server: Option<String>,
    tls_server_name: Option<String>,
    insecure_skip_tls_verify: Option<bool>,
    certificate_authority: Option<String>,
    certificate_authority_data: Option<String>,
    proxy_url: Option<String>,
    extensions: Option<Vec<Extension>>,
}

#[derive(Deserialize)]
struct Extension {
    name: String,
    extension: Option<Value>,
}

/// Name of the cluster extension that credential plugins receive.
const EXEC_EXTENSION: &str = "client.authentication.k8s.io/exec";

#[derive(Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
struct UserSpec {
    client_certificate: Option<String>,
    client_certificate_data: Option<String>,
    client_key: Option<String>,
    client_key_data: Option<String>,
    token: Option<String>,
    #[serde(rename = "tokenFile")]
    token_file: Option<String>,
    username: Option<String>,
    password: Option<String>,
    #[serde(rename = "as")]
    impersonate: Option<String>,
    auth_provider: Option<Value>,
    exec: Option<Exec>,
}

impl Kubeconfig {
    pub(super) fn read(path: &Path) -> Result<Self, ConnectError> {
        let text = files::read_text(path).map_err(|why| {
            ConnectError::new(format!(
                "kubeconfig {}: {why}; name another with --kubeconfig, or with \
                 `clientConnection.kubeconfig` in the file of --config",
                path.display()
            ))
        })?;
        Kubeconfig::parse(path, &text)
    }

    pub(super) fn parse(path: &Path, text: &str) -> Result<Self, ConnectError> {
        // Errors contain no part of the text, which may be secret.
        let file: File = only_document(text).map_err(|error| {
            ConnectError::new(format!("kubeconfig {}: this is not a kubeconfig: {error}", path.display()))
        })?;
        let kubeconfig = Kubeconfig { path: path.to_owned(), file };
        let (kind, version) = (non_empty(&kubeconfig.file.kind), non_empty(&kubeconfig.file.api_version));
        match (kind.unwrap_or("Config"), version.unwrap_or("v1")) {
            ("Config", "v1") => Ok(kubeconfig),
            (kind, version) => {
                Err(kubeconfig.wrong("kind", format!("this is a {kind} of {version}; a kubeconfig is a Config of v1")))
            }
        }
    }

    fn wrong(&self, field: &str, why: impl std::fmt::Display) -> ConnectError {
        ConnectError::new(format!("kubeconfig {}: `{field}`: {why}", self.path.display()))
    }

    /// Resolves the current context. `master` overrides the server of that context. If there is no current context,
    /// `master` alone is the target.
    pub(super) fn target(&self, master: Option<&str>) -> Result<Target, ConnectError> {
        let contexts = self.contexts();
        let name = match (non_empty(&self.file.current_context), master) {
            (Some(name), _) => name,
            (None, Some(master)) => return server::at(master),
            (None, None) => {
                let names: Vec<_> = contexts.iter().map(|context| context.name.as_str()).collect();
                let why = match names.is_empty() {
                    true => "it is missing, and the file has no contexts".to_owned(),
                    false => format!("it is missing; set it to one of {}", names.join(", ")),
                };
                return Err(self.wrong("current-context", why));
            }
        };
        self.resolve(name, "current-context", master)
    }

    /// Resolves the context with this name, which the user chose.
    pub(super) fn target_of(&self, context: &str) -> Result<Target, ConnectError> {
        self.resolve(context, "--context", None)
    }

    fn contexts(&self) -> &[Named<ContextSpec>] {
        self.file.contexts.as_deref().unwrap_or_default()
    }

    /// Resolves a context. `from` is the field or flag that names it, for messages.
    fn resolve(&self, name: &str, from: &str, master: Option<&str>) -> Result<Target, ConnectError> {
        let context = self.find(self.contexts(), name, from, "contexts")?;
        let field = |name: &str, of: &str| format!("contexts[{name}].context.{of}");
        let refers = |of: &str, value: &Option<String>| match non_empty(value) {
            Some(value) => Ok(value.to_owned()),
            None => Err(self.wrong(&field(name, of), "it is missing")),
        };
        let (cluster_name, user_name) = (refers("cluster", &context.cluster)?, refers("user", &context.user)?);
        let clusters = self.file.clusters.as_deref().unwrap_or_default();
        let cluster = self.find(clusters, &cluster_name, &field(name, "cluster"), "clusters")?;
        let users = self.file.users.as_deref().unwrap_or_default();
        let user = self.find(users, &user_name, &field(name, "user"), "users")?;
        self.build_target(&cluster_name, cluster, &user_name, user, master)
    }

    fn find<'a, T>(&self, all: &'a [Named<T>], name: &str, from: &str, list: &str) -> Result<&'a T, ConnectError> {
        let mut found = all.iter().filter(|one| one.name == name);
        match (found.next(), found.next()) {
            (Some(_), Some(_)) => Err(self.wrong(list, format!("`{name}` occurs twice"))),
            (Some(Named { value: Some(value), .. }), None) => Ok(value),
            (Some(_), None) => Err(self.wrong(list, format!("`{name}` has a name and no content"))),
            (None, _) => Err(self.wrong(from, format!("`{list}` has no entry `{name}`"))),
        }
    }

    fn build_target(
        &self,
        cluster_name: &str,
        cluster: &Cluster,
        user_name: &str,
        user: &UserSpec,
        master: Option<&str>,
    ) -> Result<Target, ConnectError> {
        let of_cluster = |field: &str| format!("clusters[{cluster_name}].cluster.{field}");
        if let Some(proxy) = non_empty(&cluster.proxy_url) {
            let proxy = server::redacted(proxy);
            let why = format!(
                "{proxy}: schedc does not support proxies; remove this field and make `server` reachable directly"
            );
            return Err(self.wrong(&of_cluster("proxy-url"), why));
        }
        let authority = self.source(
            (&cluster.certificate_authority, of_cluster("certificate-authority")),
            (&cluster.certificate_authority_data, of_cluster("certificate-authority-data")),
        )?;
        let skip = cluster.insecure_skip_tls_verify == Some(true);
        let trust = match (authority, skip) {
            (Some(_), true) => {
                let why = "it cannot be `true` with a certificate authority; remove one of the two";
                return Err(self.wrong(&of_cluster("insecure-skip-tls-verify"), why));
            }
            (Some(authority), false) => Trust::Authority(authority),
            (None, true) => Trust::InsecureSkipVerify,
            (None, false) => Trust::System,
        };
        let has_certificate =
            non_empty(&user.client_certificate).or(non_empty(&user.client_certificate_data)).is_some();
        let is_tls = has_certificate || !matches!(trust, Trust::System);
        let server = match (master, non_empty(&cluster.server)) {
            (Some(master), _) => server::parse(master, is_tls).map_err(|why| server::wrong_master(master, &why))?,
            (None, Some(server)) => server::parse(server, is_tls)
                .map_err(|why| self.wrong(&of_cluster("server"), format!("{}: {why}", server::redacted(server))))?,
            (None, None) => return Err(self.wrong(&of_cluster("server"), "it is missing")),
        };
        // The name belongs to the server of the kubeconfig, not to that of `--master`.
        let server_name = non_empty(&cluster.tls_server_name).filter(|_| master.is_none());
        let server_name = server_name.map(|name| ServerName::try_from(name.to_owned())).transpose();
        let server_name = server_name.map_err(|error| self.wrong(&of_cluster("tls-server-name"), error))?;
        let info = || cluster_info(cluster, &server.to_string(), &trust);
        let user = match server::is_confidential(&server) {
            true => self.user(user_name, user, info)?,
            false => User::default(),
        };
        Ok(Target { server, trust, server_name, user })
    }

    fn user(
        &self,
        name: &str,
        user: &UserSpec,
        info: impl FnOnce() -> Result<Value, ConnectError>,
    ) -> Result<User, ConnectError> {
        let field = |field: &str| format!("users[{name}].user.{field}");
        if non_empty(&user.impersonate).is_some() {
            return Err(self
                .wrong(&field("as"), "schedc does not impersonate users; name a user with the required permissions"));
        }
        if user.auth_provider.is_some() {
            return Err(self.wrong(
                &field("auth-provider"),
                "Kubernetes no longer supports auth providers; use a credential plugin: `exec`",
            ));
        }
        let certificate = self.source(
            (&user.client_certificate, field("client-certificate")),
            (&user.client_certificate_data, field("client-certificate-data")),
        )?;
        let key =
            self.source((&user.client_key, field("client-key")), (&user.client_key_data, field("client-key-data")))?;
        let certificate = match (certificate, key) {
            (Some(certificate), Some(key)) => Some((certificate, key)),
            (Some(_), None) => {
                let why = "a client certificate needs `client-key` or `client-key-data`";
                return Err(self.wrong(&field("client-key"), why));
            }
            (None, _) => None,
        };
        let token_file = non_empty(&user.token_file);
        let token_file = token_file.map(|file| Source::file(self.at(file), self.label(&field("tokenFile"))));
        let token = non_empty(&user.token).map(str::to_owned);
        let basic = match (non_empty(&user.username), non_empty(&user.password)) {
            (None, None) => None,
            (name, password) => Some((name.unwrap_or_default().to_owned(), password.unwrap_or_default().to_owned())),
        };
        if basic.is_some() && (token.is_some() || token_file.is_some()) {
            return Err(self.wrong(&field("username"), "a token is set, too; remove one of the two"));
        }
        let plugin = match &user.exec {
            Some(exec) => {
                let label = self.label(&field("exec"));
                let info = exec.provide_cluster_info.unwrap_or_default().then(info).transpose()?;
                Some(Plugin::new(exec, label, |command| self.at(command), info)?)
            }
            None => None,
        };
        Ok(User { token, token_file, basic, certificate, plugin })
    }

    /// Returns the source of a value that is in a file or inline as base64.
    fn source(
        &self,
        (file, file_field): (&Option<String>, String),
        (data, data_field): (&Option<String>, String),
    ) -> Result<Option<Source>, ConnectError> {
        match (non_empty(file), non_empty(data)) {
            (None, None) => Ok(None),
            (Some(file), None) => Ok(Some(Source::file(self.at(file), self.label(&file_field)))),
            (None, Some(data)) => {
                let data: String = data.split_ascii_whitespace().collect();
                match STANDARD.decode(data) {
                    Ok(data) => Ok(Some(Source::inline(data, self.label(&data_field)))),
                    Err(error) => Err(self.wrong(&data_field, format!("this is not base64: {error}"))),
                }
            }
            (Some(_), Some(_)) => Err(self.wrong(&data_field, "a file is set, too; remove one of the two")),
        }
    }

    fn label(&self, field: &str) -> String {
        format!("kubeconfig {}: `{field}`", self.path.display())
    }

    /// Resolves a path relative to the kubeconfig.
    fn at(&self, path: &str) -> PathBuf {
        self.path.parent().unwrap_or(Path::new("")).join(path)
    }
}

/// Returns the text unless it is empty.
fn non_empty(text: &Option<String>) -> Option<&str> {
    text.as_deref().filter(|text| !text.is_empty())
}

/// Returns the cluster information for a credential plugin.
fn cluster_info(cluster: &Cluster, server: &str, trust: &Trust) -> Result<Value, ConnectError> {
    let mut info = serde_json::json!({"server": server.trim_end_matches('/')});
    if let Some(name) = non_empty(&cluster.tls_server_name) {
        info["tls-server-name"] = name.into();
    }
    if matches!(trust, Trust::InsecureSkipVerify) {
        info["insecure-skip-tls-verify"] = true.into();
    }
    if let Some(authority) = trust.read()? {
        info["certificate-authority-data"] = STANDARD.encode(authority).into();
    }
    let extensions = cluster.extensions.as_deref().unwrap_or_default();
    if let Some(extension) = extensions.iter().find(|extension| extension.name == EXEC_EXTENSION) {
        info["config"] = extension.extension.clone().unwrap_or_default();
    }
    Ok(info)
}

#[cfg(test)]
mod tests;
