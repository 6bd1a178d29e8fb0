//! Credentials that stay valid.

use std::time::Duration;

use tokio::time::{Instant, sleep, sleep_until};
use tracing::{error, info};

use super::credentials::Credentials;
use super::{ConnectError, Target, server};
use crate::wire::{Http, Transport};

/// How often files are read: client-go's for tokens.
const EACH: Duration = Duration::from_secs(60);
/// How often at most somebody is asked who we are, whatever the server says.
const NOT_BEFORE: Duration = Duration::from_secs(10);
/// How long before they expire others are asked for.
const EARLY: Duration = Duration::from_secs(10);

/// What keeps a way to the API server open: [`keep`](Self::keep) is to run as long as the way is used.
pub struct Fresh {
    target: Target,
    http: Http,
    shown: Shown,
    looked: Instant,
}

impl std::fmt::Debug for Fresh {
    /// Without what is secret.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Fresh").field("target", &self.target).finish_non_exhaustive()
    }
}

/// What was read last.
#[derive(Clone, PartialEq)]
struct Shown {
    authority: Option<Vec<u8>>,
    credentials: Credentials,
}

impl Fresh {
    pub(super) async fn begin(target: Target) -> Result<(Http, Fresh), ConnectError> {
        let mut shown = Shown { authority: target.trust.read()?, credentials: target.user.read()? };
        if let Some(plugin) = target.user.plugin() {
            shown.credentials = plugin.ask().await?;
        }
        let tls = server::is_tls(&target.server).then(|| shown.tls(&target)).transpose()?;
        let http = Http::named(&target.server, tls, target.server_name.clone());
        http.set_authorization(shown.credentials.authorization.clone());
        Ok((http.clone(), Fresh { target, http, shown, looked: Instant::now() }))
    }

    /// Reads files again and runs the plugin again when it is time. It never ends.
    pub async fn keep(self) {
        self.keep_at(EACH, NOT_BEFORE).await
    }

    pub(super) async fn keep_at(mut self, each: Duration, not_before: Duration) {
        let Target { trust, user, .. } = &self.target;
        if !user.has_files() && user.plugin().is_none() && !trust.is_file() {
            return std::future::pending().await;
        }
        loop {
            let is_unknown = tokio::select! {
                () = sleep(self.patience(each)) => false,
                () = self.http.unknown() => true,
            };
            sleep_until(self.looked + not_before).await;
            self.looked = Instant::now();
            if let Err(why) = self.look(is_unknown).await {
                error!(err = %why, "Unable to rotate credentials");
            }
        }
    }

    /// How long what we have is good for.
    fn patience(&self, each: Duration) -> Duration {
        self.left().map_or(each, |left| left.min(each))
    }

    /// How long until others must be asked for; not known of most.
    fn left(&self) -> Option<Duration> {
        let left = self.shown.credentials.until?.duration_since(self.http.now());
        Some(Duration::try_from(left).unwrap_or_default().saturating_sub(EARLY))
    }

    async fn look(&mut self, is_unknown: bool) -> Result<(), ConnectError> {
        let credentials = match self.target.user.plugin() {
            None => self.target.user.read()?,
            Some(plugin) if is_unknown || self.left() == Some(Duration::ZERO) => plugin.ask().await?,
            Some(_) => self.shown.credentials.clone(),
        };
        if credentials.authorization != self.shown.credentials.authorization {
            self.http.set_authorization(credentials.authorization.clone());
            self.shown.credentials.authorization = credentials.authorization.clone();
        }
        let shown = Shown { authority: self.target.trust.read()?, credentials };
        let is_other = shown.authority != self.shown.authority
            || shown.credentials.certificate != self.shown.credentials.certificate;
        if is_other && server::is_tls(&self.target.server) {
            // A certificate and a key that do not belong together are half written: soon they will.
            self.http.set_tls(shown.tls(&self.target)?);
            info!("Certificates changed; new connections use them");
        }
        self.shown = shown;
        Ok(())
    }
}

impl Shown {
    fn tls(&self, target: &Target) -> Result<rustls::ClientConfig, ConnectError> {
        target.trust.tls(self.authority.as_deref(), self.credentials.certificate.as_ref())
    }
}
