//! The HTTPS server, and what it learns of the scheduler.

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
use crate::commands::profiles::Profile;

/// What the server is made of, beside the command line.
pub(super) struct ServedContent {
    /// What holds, as a KubeSchedulerConfiguration.
    pub(super) configuration: Value,
    /// The profiles that are compiled in, and what tells them from others.
    pub(super) profiles: &'static [ProfileInfo],
    pub(super) hash: &'static str,
    /// All flags.
    pub(super) printed: FlagValues,
    /// What is measured.
    pub(super) metrics: Metrics,
    /// When the program began.
    pub(super) started: SystemTime,
}

/// A server, until it is ended.
pub(super) struct Serving {
    health: Health,
    stop: watch::Sender<bool>,
    /// `None`: nothing is served.
    task: Option<JoinHandle<()>>,
}

impl Serving {
    /// Begins to serve.
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
        let ServedContent { configuration, profiles, hash, printed: FlagValues(printed), metrics, started } = content;
        let authenticates =
            api_clients.connect("authentication-kubeconfig", flags.authentication.kubeconfig.as_deref()).await?;
        let authorizes =
            api_clients.connect("authorization-kubeconfig", flags.authorization.kubeconfig.as_deref()).await?;
        if authorizes.is_none() {
            tracing::warn!("No authorization-kubeconfig provided: nobody may read more than what anybody may");
        }
        let parts = ServerParts {
            serving: &flags.serving,
            authentication: &flags.authentication,
            authorization: &flags.authorization,
            authenticates: authenticates.map(|http| MeteredTransport::new(http, metrics.clone())),
            authorizes: authorizes.map(|http| MeteredTransport::new(http, metrics.clone())),
            health: health.clone(),
            pages: pages(configuration, profiles, hash, printed, started)?,
            endpoints: Arc::new(metrics),
        };
        let server = Server::bind(parts).await.map_err(Failure::new)?;
        Ok(Serving { health, stop, task: server.map(|server| tokio::spawn(server.run(stopped))) })
    }

    /// What the checks look at.
    pub(super) fn health(&self) -> Health {
        self.health.clone()
    }

    /// Learns from the election, if there is one, whether this replica leads; and that the program was told to end.
    pub(super) fn follow(&self, standing: Option<watch::Receiver<ElectionStatus>>, mut stop: watch::Receiver<bool>) {
        match standing {
            None => self.health.set_leading(true),
            Some(standing) => drop(tokio::spawn(follow(standing, self.health()))),
        }
        let health = self.health();
        tokio::spawn(async move {
            if stop.wait_for(|stop| *stop).await.is_ok() {
                health.set_stopping();
            }
        });
    }

    /// Answers what is under way, and ends.
    pub(super) async fn end(self) {
        self.stop.send_replace(true);
        if let Some(task) = self.task {
            // It has nothing to say.
            let _ = task.await;
        }
    }
}

/// Tells of the lease as long as there is an election.
async fn follow(mut standing: watch::Receiver<ElectionStatus>, health: Health) {
    let mut leads_until = None;
    loop {
        let now = standing.borrow_and_update().leads_until;
        if now != leads_until {
            leads_until = now;
            health.set_leading(now.is_some());
        }
        if standing.changed().await.is_err() {
            return;
        }
    }
}

/// Ways to API servers, by their kubeconfigs; no kubeconfig: as pods have it.
pub(super) struct ApiClients(Vec<(Option<PathBuf>, Http)>);

impl ApiClients {
    /// So far, there is the scheduler's own; with `--master`, it is none that a kubeconfig says.
    pub(super) fn new(kubeconfig: Option<&Path>, master: Option<&str>, http: &Http) -> ApiClients {
        let own = (kubeconfig.map(Path::to_owned), http.clone());
        ApiClients(if master.is_none() { vec![own] } else { Vec::new() })
    }

    /// As in kube-scheduler: by a kubeconfig, else that of the cluster in which this pod runs, else there is none.
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
            Ok((http, fresh)) => {
                tokio::spawn(fresh.run());
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
