//! Credential plugins of `client.authentication.k8s.io`, versions `v1` and `v1beta1`.

use std::path::PathBuf;
use std::process::{Output, Stdio};
use std::time::Duration;

use k8s_openapi::jiff::Timestamp;
use schedc_bounds::files;
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::io::{AsyncRead, AsyncReadExt};
use tokio::process::Command;
use tokio::time::timeout;

use super::ConnectError;
use super::credentials::{Credentials, bearer};

/// Maximum time that a plugin may run.
const TIMEOUT: Duration = Duration::from_secs(60);

/// `exec` of a user in a kubeconfig.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Exec {
    api_version: Option<String>,
    command: Option<String>,
    args: Option<Vec<String>>,
    env: Option<Vec<Variable>>,
    install_hint: Option<String>,
    pub(super) provide_cluster_info: Option<bool>,
    interactive_mode: Option<String>,
}

#[derive(Clone, Deserialize)]
struct Variable {
    name: String,
    value: Option<String>,
}

pub(super) struct Plugin {
    /// Path of the kubeconfig and field of the plugin in it, for messages.
    label: String,
    api_version: String,
    command: PathBuf,
    args: Vec<String>,
    env: Vec<Variable>,
    hint: Option<String>,
    /// Value of the variable `KUBERNETES_EXEC_INFO`.
    info: String,
}

/// Output of a plugin.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ExecCredential {
    kind: Option<String>,
    api_version: Option<String>,
    status: Option<Status>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Status {
    expiration_timestamp: Option<Timestamp>,
    token: Option<String>,
    client_certificate_data: Option<String>,
    client_key_data: Option<String>,
}

impl Plugin {
    /// Reads `exec` of a kubeconfig. `at` resolves a command that contains a `/`; `cluster` is the cluster information
    /// for the plugin.
    pub(super) fn new(
        exec: &Exec,
        label: String,
        at: impl Fn(&str) -> PathBuf,
        cluster: Option<Value>,
    ) -> Result<Self, ConnectError> {
        let wrong = |why: String| ConnectError::new(format!("{label}: {why}"));
        let Some(command) = exec.command.as_deref().filter(|command| !command.is_empty()) else {
            return Err(wrong("`command` is missing".to_owned()));
        };
        let api_version = exec.api_version.clone().unwrap_or_default();
        if !matches!(&*api_version, "client.authentication.k8s.io/v1" | "client.authentication.k8s.io/v1beta1") {
            return Err(wrong(format!(
                "`apiVersion` is `{api_version}`; client.authentication.k8s.io/v1 and client.authentication.k8s.io/v1beta1 \
                 are known"
            )));
        }
        match exec.interactive_mode.as_deref() {
            None | Some("" | "Never" | "IfAvailable") => {}
            Some("Always") => {
                let why = "`interactiveMode` is `Always`, but schedc runs without a terminal; set it to `Never`";
                return Err(wrong(why.to_owned()));
            }
            Some(mode) => return Err(wrong(format!("`interactiveMode` is `{mode}`; set it to `Never`"))),
        }
        let mut spec = json!({"interactive": false});
        if let Some(cluster) = cluster {
            spec["cluster"] = cluster;
        }
        let info = json!({"kind": "ExecCredential", "apiVersion": api_version, "spec": spec}).to_string();
        let command = if command.contains('/') { at(command) } else { command.into() };
        let (args, env) = (exec.args.clone().unwrap_or_default(), exec.env.clone().unwrap_or_default());
        Ok(Plugin { label, api_version, command, args, env, hint: exec.install_hint.clone(), info })
    }

    pub(super) async fn run(&self) -> Result<Credentials, ConnectError> {
        let mut command = Command::new(&self.command);
        command.args(&self.args).stdin(Stdio::null()).kill_on_drop(true);
        command.envs(self.env.iter().map(|one| (&one.name, one.value.as_deref().unwrap_or_default())));
        command.env("KUBERNETES_EXEC_INFO", &self.info);
        let printed = match timeout(TIMEOUT, output(command)).await {
            Ok(Ok(None)) => {
                let most = files::MAX_SIZE >> 20;
                return Err(self.wrong(format_args!("it printed more than {most} MiB, the maximum")));
            }
            Ok(Ok(Some(output))) if output.status.success() => output.stdout,
            Ok(Ok(Some(output))) => {
                let stderr = String::from_utf8_lossy(&output.stderr);
                let stderr = stderr.trim();
                return Err(self.wrong(format_args!("it ended with {}: {stderr}", output.status)));
            }
            Ok(Err(error)) => {
                let hint = self.hint.as_deref().map(|hint| format!("; {}", hint.trim())).unwrap_or_default();
                return Err(self.wrong(format_args!("it cannot be run: {error}{hint}")));
            }
            Err(_) => return Err(self.wrong(format_args!("it took longer than {} seconds", TIMEOUT.as_secs()))),
        };
        self.read(&printed)
    }

    fn wrong(&self, why: std::fmt::Arguments<'_>) -> ConnectError {
        ConnectError::new(format!("{}: {}: {why}", self.label, self.command.display()))
    }

    fn read(&self, printed: &[u8]) -> Result<Credentials, ConnectError> {
        // The error names the position only, since the output is secret.
        let credential: ExecCredential = serde_json::from_slice(printed).map_err(|error| {
            let (line, column) = (error.line(), error.column());
            self.wrong(format_args!("its output is not an ExecCredential: line {line}, column {column}"))
        })?;
        let (kind, version) = (credential.kind.unwrap_or_default(), credential.api_version.unwrap_or_default());
        if kind != "ExecCredential" || version != self.api_version {
            let expected = &self.api_version;
            return Err(self.wrong(format_args!(
                "its output has kind `{kind}` and version `{version}`, but `apiVersion` in the kubeconfig requires \
                 ExecCredential of {expected}"
            )));
        }
        let Some(status) = credential.status else { return Err(self.wrong(format_args!("it printed no `status`"))) };
        let non_empty = |text: Option<String>| text.filter(|text| !text.is_empty());
        let token = non_empty(status.token);
        let certificate = match (non_empty(status.client_certificate_data), non_empty(status.client_key_data)) {
            (Some(certificate), Some(key)) => Some((certificate.into_bytes(), key.into_bytes())),
            (None, None) if token.is_some() => None,
            (None, None) => return Err(self.wrong(format_args!("it printed neither a token nor a certificate"))),
            _ => return Err(self.wrong(format_args!("it printed only one of certificate and key; both are required"))),
        };
        let authorization = token.map(|token| bearer(&token, &format!("{}: its token", self.label))).transpose()?;
        Ok(Credentials { authorization, certificate, until: status.expiration_timestamp })
    }
}

/// Runs a program and returns its output, or `None` if it is too large.
async fn output(mut command: Command) -> std::io::Result<Option<Output>> {
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()?;
    let (stdout, stderr) = (child.stdout.take(), child.stderr.take());
    let (stdout, stderr, status) = tokio::try_join!(read(stdout), read(stderr), child.wait())?;
    let output = |(stdout, stderr)| Output { status, stdout, stderr };
    Ok(stdout.zip(stderr).map(output))
}

/// Reads to the end, or returns `None` if the output is too large. The rest is not read, so the program receives
/// SIGPIPE.
async fn read(from: Option<impl AsyncRead + Unpin>) -> std::io::Result<Option<Vec<u8>>> {
    let mut bytes = Vec::new();
    let Some(from) = from else { return Ok(Some(bytes)) };
    from.take(files::MAX_SIZE + 1).read_to_end(&mut bytes).await?;
    Ok((bytes.len() as u64 <= files::MAX_SIZE).then_some(bytes))
}
