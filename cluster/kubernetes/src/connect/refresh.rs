//! Credential refresh.

use std::time::Duration;

use tokio::time::{Instant, sleep, sleep_until};
use tracing::{error, info};

use super::credentials::Credentials;
use super::{ConnectError, Target, server};
use crate::transport::{Http, Transport};

/// Interval at which files are read: client-go's value for tokens.
const READ_INTERVAL: Duration = Duration::from_secs(60);
/// Minimum interval between two refreshes, even after 401 responses.
const MIN_INTERVAL: Duration = Duration::from_secs(10);
/// Time between the renewal of credentials and their expiry.
const EXPIRY_MARGIN: Duration = Duration::from_secs(10);

/// Keeps the credentials of a transport valid: [`run`](Self::run) must run while the transport is used.
pub struct CredentialRefresher {
    target: Target,
    http: Http,
    presented: PresentedCredentials,
    last_refresh: Instant,
}

impl std::fmt::Debug for CredentialRefresher {
    /// Omits secrets.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("CredentialRefresher").field("target", &self.target).finish_non_exhaustive()
    }
}

/// Authority and credentials that were read last.
#[derive(Clone, PartialEq)]
struct PresentedCredentials {
    authority: Option<Vec<u8>>,
    credentials: Credentials,
}

impl CredentialRefresher {
    pub(super) async fn connect(target: Target) -> Result<(Http, CredentialRefresher), ConnectError> {
        let mut presented = PresentedCredentials { authority: target.trust.read()?, credentials: target.user.read()? };
        if let Some(plugin) = target.user.plugin() {
            presented.credentials = plugin.run().await?;
        }
        let tls = server::is_tls(&target.server).then(|| presented.tls(&target)).transpose()?;
        let http = Http::with_server_name(&target.server, tls, target.server_name.clone());
        http.set_authorization(presented.credentials.authorization.clone());
        Ok((http.clone(), CredentialRefresher { target, http, presented, last_refresh: Instant::now() }))
    }

    /// Reads files again and runs the plugin again when due. It never returns.
    pub async fn run(self) {
        self.run_with_intervals(READ_INTERVAL, MIN_INTERVAL).await
    }

    pub(super) async fn run_with_intervals(mut self, read_interval: Duration, min_interval: Duration) {
        let Target { trust, user, .. } = &self.target;
        if !user.has_files() && user.plugin().is_none() && !trust.is_file() {
            return std::future::pending().await;
        }
        loop {
            let is_unauthorized = tokio::select! {
                () = sleep(self.interval(read_interval)) => false,
                () = self.http.unauthorized() => true,
            };
            sleep_until(self.last_refresh + min_interval).await;
            self.last_refresh = Instant::now();
            if let Err(why) = self.refresh(is_unauthorized).await {
                error!(err = %why, "Unable to rotate credentials");
            }
        }
    }

    /// Returns the time until the next refresh.
    fn interval(&self, read_interval: Duration) -> Duration {
        self.time_left().map_or(read_interval, |time_left| time_left.min(read_interval))
    }

    /// Returns the time until the credentials must be renewed; `None` if they have no known expiry.
    fn time_left(&self) -> Option<Duration> {
        let time_left = self.presented.credentials.until?.duration_since(self.http.now());
        Some(Duration::try_from(time_left).unwrap_or_default().saturating_sub(EXPIRY_MARGIN))
    }

    async fn refresh(&mut self, is_unauthorized: bool) -> Result<(), ConnectError> {
        let credentials = match self.target.user.plugin() {
            None => self.target.user.read()?,
            Some(plugin) if is_unauthorized || self.time_left() == Some(Duration::ZERO) => plugin.run().await?,
            Some(_) => self.presented.credentials.clone(),
        };
        if credentials.authorization != self.presented.credentials.authorization {
            self.http.set_authorization(credentials.authorization.clone());
            self.presented.credentials.authorization = credentials.authorization.clone();
        }
        let presented = PresentedCredentials { authority: self.target.trust.read()?, credentials };
        let is_other = presented.authority != self.presented.authority
            || presented.credentials.certificate != self.presented.credentials.certificate;
        if is_other && server::is_tls(&self.target.server) {
            // If the certificate does not match its key, only one of the two files has been replaced yet. This is an
            // error; the next refresh reads both files again.
            self.http.set_tls(presented.tls(&self.target)?);
            info!("Certificates changed; new connections use them");
        }
        self.presented = presented;
        Ok(())
    }
}

impl PresentedCredentials {
    fn tls(&self, target: &Target) -> Result<rustls::ClientConfig, ConnectError> {
        target.trust.tls(self.authority.as_deref(), self.credentials.certificate.as_ref())
    }
}
