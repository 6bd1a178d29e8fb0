//! The HTTPS server, and the state of the scheduler that it reports.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

use schedc_core::profile::ProfileInfo;
use schedc_kubernetes::connect::Target;
use schedc_kubernetes::election::ElectionStatus;
use schedc_kubernetes::flags::{FlagValues, Flags};
use schedc_kubernetes::health::Health;
use schedc_kubernetes::metrics::{MeteredTransport, Metrics};
use schedc_kubernetes::serving::{Pages, Server, ServerParts};
use schedc_kubernetes::transport::Http;
use serde_json::{Value, json};
use tokio::sync::watch;
use tokio::task::JoinHandle;

use crate::commands::failure::Failure;
use crate::commands::profiles::profile::Profile;

/// Content of the pages and of the metrics that the server serves.
pub(super) struct ServedContent {
    /// The effective settings as a KubeSchedulerConfiguration.
    pub(super) configuration: Value,
    /// The compiled-in profiles.
    pub(super) profiles: &'static [ProfileInfo],
    /// Hash that identifies the compiled-in profiles.
    pub(super) hash: &'static str,
    /// All flags with their values.
    pub(super) flag_values: FlagValues,
    pub(super) metrics: Metrics,
    /// Start of the program.
    pub(super) started: SystemTime,
}

/// A running server.
pub(super) struct Serving {
    health: Health,
    stop: watch::Sender<bool>,
    /// `None` if nothing is served.
    task: Option<JoinHandle<()>>,
}

impl Serving {
    /// Starts the server.
    pub(super) async fn start(
        flags: &Flags,
        content: ServedContent,
        health: Health,
        mut api_clients: ApiClients,
    ) -> Result<Serving, Failure> {
        let (stop, stopped) = watch::channel(false);
        if flags.serving.port == 0 {
            return Ok(Serving { health, stop, task: None });
        }
        let ServedContent { configuration, profiles, hash, flag_values: FlagValues(flag_values), metrics, started } =
            content;
        let authentication_client =
            api_clients.connect("authentication-kubeconfig", flags.authentication.kubeconfig.as_deref()).await?;
        let authorization_client =
            api_clients.connect("authorization-kubeconfig", flags.authorization.kubeconfig.as_deref()).await?;
        if authorization_client.is_none() {
            tracing::warn!("No authorization-kubeconfig provided: only paths that need no authorization can be read");
        }
        let parts = ServerParts {
            serving: &flags.serving,
            authentication: &flags.authentication,
            authorization: &flags.authorization,
            authentication_client: authentication_client.map(|http| MeteredTransport::new(http, metrics.clone())),
            authorization_client: authorization_client.map(|http| MeteredTransport::new(http, metrics.clone())),
            health: health.clone(),
            pages: pages(configuration, profiles, hash, flag_values, started)?,
            endpoints: Arc::new(metrics),
        };
        let server = Server::bind(parts).await.map_err(Failure::new)?;
        Ok(Serving { health, stop, task: server.map(|server| tokio::spawn(server.run(stopped))) })
    }

    /// Returns the state for health checks.
    pub(super) fn health(&self) -> Health {
        self.health.clone()
    }

    /// Updates the health state when this replica starts or stops leading, and when the program receives a signal
    /// to stop.
    pub(super) fn follow(&self, status: Option<watch::Receiver<ElectionStatus>>, mut stop: watch::Receiver<bool>) {
        match status {
            None => self.health.set_leading(true),
            Some(status) => drop(tokio::spawn(follow(status, self.health()))),
        }
        let health = self.health();
        tokio::spawn(async move {
            if stop.wait_for(|stop| *stop).await.is_ok() {
                health.set_stopping();
            }
        });
    }

    /// Completes pending requests and stops.
    pub(super) async fn end(self) {
        self.stop.send_replace(true);
        if let Some(task) = self.task {
            // The task has no result.
            let _ = task.await;
        }
    }
}

/// Updates the health state whenever the lease is gained, renewed or lost, until the election ends.
async fn follow(mut status: watch::Receiver<ElectionStatus>, health: Health) {
    let mut leads_until = None;
    loop {
        let now = status.borrow_and_update().leads_until;
        if now != leads_until {
            leads_until = now;
            health.set_leading(now.is_some());
        }
        if status.changed().await.is_err() {
            return;
        }
    }
}

/// Connections to API servers by kubeconfig. The key `None` stands for the in-cluster configuration.
pub(super) struct ApiClients(Vec<(Option<PathBuf>, Http)>);

impl ApiClients {
    /// Begins with the scheduler's own connection. With `--master`, the list begins empty, because that connection corresponds
    /// to no kubeconfig.
    pub(super) fn new(kubeconfig: Option<&Path>, master: Option<&str>, http: &Http) -> ApiClients {
        let own = (kubeconfig.map(Path::to_owned), http.clone());
        ApiClients(if master.is_none() { vec![own] } else { Vec::new() })
    }

    /// Connects as kube-scheduler does: with the kubeconfig, else with the in-cluster configuration. Returns `None` if
    /// neither exists, or if the in-cluster configuration fails.
    async fn connect(&mut self, flag: &str, kubeconfig: Option<&Path>) -> Result<Option<Http>, Failure> {
        if let Some((_, http)) = self.0.iter().find(|(known, _)| known.as_deref() == kubeconfig) {
            return Ok(Some(http.clone()));
        }
        let target = match kubeconfig {
            Some(path) => Target::from_kubeconfig(path, None),
            None if std::env::var_os("KUBERNETES_SERVICE_HOST").is_none() => return Ok(None),
            None => Target::in_cluster(),
        };
        let connected = match target {
            Ok(target) => target.http().await,
            Err(error) => Err(error),
        };
        match connected {
            Ok((http, refresher)) => {
                tokio::spawn(refresher.run());
                self.0.push((kubeconfig.map(Path::to_owned), http.clone()));
                Ok(Some(http))
            }
            Err(error) if kubeconfig.is_some() => Err(Failure::new(format!("--{flag}: {error}"))),
            Err(error) => {
                tracing::warn!("failed to read in-cluster kubeconfig for --{flag}: {error}");
                Ok(None)
            }
        }
    }
}

fn pages(
    configuration: Value,
    profiles: &[ProfileInfo],
    hash: &str,
    flags: BTreeMap<String, String>,
    started: SystemTime,
) -> Result<Pages, Failure> {
    let configz = json!({"componentconfig": configuration, "schedc": {"profilesHash": hash}});
    let profiles: Vec<Profile> = profiles.iter().map(Profile::from).collect();
    let profiles = serde_json::to_string(&profiles).map_err(Failure::new)?;
    Ok(Pages::new(configz.to_string(), profiles, flags, started))
}
