//! HTTPS server: health, metrics, configuration and debug pages for authorized clients.
//!
//! | module | content |
//! |---|---|
//! | `listen` | the listening socket |
//! | `certificate`, `tls` | the server's certificate, from files or generated; TLS settings |
//! | `connections`, `peer` | number, timeouts and shutdown of connections |
//! | `authorities` | trusted authorities, from files or the cluster |
//! | `authenticate` | authentication by proxies, certificates and bearer tokens |
//! | `user` | authenticated users |
//! | `authorize` | authorization of users |
//! | `review`, `cache` | reviews by the API server, and their cached results |
//! | `budget` | limits of waiting and failed reviews |
//! | `tracked` | a stream that reports the start of request headers |
//! | `pages` | the pages |

mod authenticate;
mod authorities;
mod authorize;
mod budget;
mod cache;
mod certificate;
mod connections;
mod listen;
mod pages;
mod peer;
mod review;
mod tls;
mod tracked;
mod user;

use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use bytes::Bytes;
use http_body_util::Full;
use hyper::body::Incoming;
use hyper::{Request, Response, Version};
use rustls::ServerConfig;
use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio::time::sleep;
use tokio_rustls::TlsAcceptor;

pub use pages::{Endpoints, Pages};

use crate::flags;
use crate::health::Health;
use crate::logs::RateLimit;
use crate::transport::Transport;
use authenticate::Authenticator;
use authorities::{AuthorityConfig, AuthoritySources, ClientAuthorities};
use authorize::Authorizer;
use budget::Budget;
use certificate::{CertificatePair, CertificateSource};
use connections::{Connections, Limits, RequestHandler};
use peer::Peer;
use review::AuthProblem;

/// Interval at which files and the cluster are read for changed certificates: kube-scheduler's interval for files.
const REFRESH_INTERVAL: Duration = Duration::from_secs(60);
/// Delay after a failed lookup in the cluster.
const LOOKUP_RETRY_DELAY: Duration = Duration::from_secs(5);
/// Pause after a connection could not be accepted, for example because no file descriptor was free.
const ACCEPT_RETRY_DELAY: Duration = Duration::from_millis(200);

/// Inputs of a server.
pub struct ServerParts<'a, T> {
    /// Port, and the server's certificate.
    pub serving: &'a flags::Serving,
    /// Authentication flags.
    pub authentication: &'a flags::Authentication,
    /// Authorization flags.
    pub authorization: &'a flags::Authorization,
    /// API server for TokenReviews, found by `--authentication-kubeconfig` or from inside a cluster. `None`: clients and
    /// request-header proxies need a certificate signed by an authority in a file; clients without one are anonymous.
    pub authentication_client: Option<T>,
    /// API server for SubjectAccessReviews, found by `--authorization-kubeconfig` or from inside a cluster. `None`:
    /// only always-allowed paths are served, except for members of `system:masters`.
    pub authorization_client: Option<T>,
    /// State of the scheduler.
    pub health: Health,
    /// Pages with constant content.
    pub pages: Pages,
    /// Pages with changing content.
    pub endpoints: Arc<dyn Endpoints>,
}

/// Server with an open port; [`run`](Server::run) serves requests.
#[derive(Debug)]
pub struct Server<T> {
    listener: TcpListener,
    address: SocketAddr,
    shared: Arc<ServerState<T>>,
    connections: Arc<Connections>,
    refresh: Duration,
}

struct ServerState<T> {
    flags: flags::Serving,
    source: CertificateSource,
    sources: AuthoritySources<T>,
    /// Certificate and authorities from which the value of the field `present` was built.
    inputs: Mutex<(CertificatePair, AuthorityConfig)>,
    present: Mutex<(Arc<ServerConfig>, Arc<ClientAuthorities>)>,
    authenticator: Authenticator<T>,
    authorizer: Authorizer<T>,
    health: Health,
    pages: Pages,
    endpoints: Arc<dyn Endpoints>,
    started: Instant,
    unauthenticated: RateLimit,
    unauthorized: RateLimit,
    limited: RateLimit,
}

impl<T> std::fmt::Debug for ServerState<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ServerState").field("source", &self.source).finish_non_exhaustive()
    }
}

impl<T: Transport> Server<T> {
    /// Opens the port, and reads the certificate and the authorities from files. Authorities in the cluster are looked
    /// up when the server runs, or here if a failed lookup must prevent the start. Returns `None` if `--secure-port` is
    /// 0.
    ///
    /// # Errors
    /// A certificate, key or path is invalid, or the port is in use. With
    /// `--authentication-tolerate-lookup-failure=false`, also a failed lookup of authorities in the cluster. The
    /// message contains the remedy.
    pub async fn bind(parts: ServerParts<'_, T>) -> Result<Option<Self>, String> {
        if parts.serving.port == 0 {
            return Ok(None);
        }
        Self::with_limits(parts, Limits::default(), REFRESH_INTERVAL).await.map(Some)
    }

    async fn with_limits(parts: ServerParts<'_, T>, limits: Limits, refresh: Duration) -> Result<Self, String> {
        let streams = parts.serving.streams.unwrap_or(limits.streams);
        let listener = listen::listen(parts.serving)?;
        let address = listener.local_addr().map_err(|error| format!("the port: {error}"))?;
        let (source, pair) = CertificateSource::load(parts.serving)?;
        let sources = AuthoritySources::new(parts.authentication, parts.authentication_client.clone());
        let mut authority_config = sources.read_files()?;
        if !parts.authentication.tolerate_lookup_failure {
            let cure = |why| format!("{why}; set --authentication-tolerate-lookup-failure=true to start without it");
            sources.look_up(&mut authority_config).await.map_err(cure)?;
        }
        let present = present(parts.serving, &sources, &pair, &authority_config)?;
        let budget = Budget::new(limits.reviews);
        let shared = ServerState {
            flags: parts.serving.clone(),
            source,
            sources,
            inputs: Mutex::new((pair, authority_config)),
            present: Mutex::new(present),
            authenticator: Authenticator::new(parts.authentication, parts.authentication_client, budget.clone()),
            authorizer: Authorizer::new(parts.authorization, parts.authorization_client, budget)?,
            health: parts.health,
            pages: parts.pages,
            endpoints: parts.endpoints,
            started: Instant::now(),
            unauthenticated: RateLimit::default(),
            unauthorized: RateLimit::default(),
            limited: RateLimit::default(),
        };
        let connections = Arc::new(Connections::new(Limits { streams, ..limits }));
        Ok(Server { listener, address, shared: Arc::new(shared), connections, refresh })
    }

    /// Returns the listening address.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Serves until `stop` is set. New connections are refused then, and requests in flight have 5 seconds to complete.
    pub async fn run(self, mut stop: watch::Receiver<bool>) {
        tracing::info!("Serving securely on {}", self.address);
        let mut tasks = JoinSet::new();
        let shared = self.shared.clone();
        let refreshing = tokio::spawn(async move {
            loop {
                let is_looked_up = shared.refresh().await;
                sleep(if is_looked_up { self.refresh } else { self.refresh.min(LOOKUP_RETRY_DELAY) }).await;
            }
        });
        let stopped = stop.clone();
        let mut accept = async || loop {
            tokio::select! {
                accepted = self.listener.accept() => match accepted {
                    Ok((stream, _)) => {
                        let tls = TlsAcceptor::from(self.shared.present().0);
                        let (connections, shared, stop) = (self.connections.clone(), self.shared.clone(), stopped.clone());
                        tasks.spawn(async move { connections.serve(stream, tls, shared, stop).await });
                    }
                    Err(error) => {
                        tracing::warn!("Unable to accept a connection: {error}");
                        sleep(ACCEPT_RETRY_DELAY).await;
                    }
                },
                Some(_ended) = tasks.join_next() => {}
            }
        };
        tokio::select! {
            () = accept() => {}
            _stop = stop.wait_for(|stop| *stop) => {}
        }
        refreshing.abort();
        drop(self.listener);
        // Each connection ends within its grace period.
        while tasks.join_next().await.is_some() {}
    }
}

fn present<T: Transport>(
    serving: &flags::Serving,
    sources: &AuthoritySources<T>,
    pair: &CertificatePair,
    authority_config: &AuthorityConfig,
) -> Result<(Arc<ServerConfig>, Arc<ClientAuthorities>), String> {
    let authorities = ClientAuthorities::new(authority_config)?;
    let config = tls::config(serving, pair, sources.accept_certificates().then(|| authorities.subjects()))?;
    Ok((Arc::new(config), Arc::new(authorities)))
}

impl<T: Transport> ServerState<T> {
    fn present(&self) -> (Arc<ServerConfig>, Arc<ClientAuthorities>) {
        self.present.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Reads files and the cluster again. Unreadable or invalid content is logged and not used. Returns `false` if the
    /// lookup in the cluster failed.
    async fn refresh(&self) -> bool {
        let (old_pair, old_authorities) = self.inputs.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let log_error = |why: &String| tracing::error!("{why}; the previous certificates stay in use");
        let pair = self.source.reload().and_then(|pair| pair.inspect_err(log_error).ok());
        let pair = pair.unwrap_or_else(|| old_pair.clone());
        let (mut authority_config, mut is_looked_up) = (old_authorities.clone(), true);
        if let Ok(mut files) = self.sources.read_files().inspect_err(log_error) {
            match self.sources.look_up(&mut files).await {
                Ok(()) => authority_config = files,
                Err(why) => {
                    tracing::warn!(
                        "{why}; until the lookup succeeds, the previous authorities stay in use; after a start, these are the ones \
                         from files"
                    );
                    is_looked_up = false;
                }
            }
        }
        // An invalid part does not prevent the update of the other one.
        for (pair, authority_config) in
            [(&pair, &authority_config), (&old_pair, &authority_config), (&pair, &old_authorities)]
        {
            if (pair, authority_config) == (&old_pair, &old_authorities) {
                break;
            }
            match present(&self.flags, &self.sources, pair, authority_config) {
                Ok(present) => {
                    *self.present.lock().unwrap_or_else(PoisonError::into_inner) = present;
                    *self.inputs.lock().unwrap_or_else(PoisonError::into_inner) =
                        (pair.clone(), authority_config.clone());
                    tracing::info!("Certificates changed; new connections use them");
                    break;
                }
                Err(why) => log_error(&why),
            }
        }
        is_looked_up
    }
}

impl<T> ServerState<T> {
    fn limited(&self, peer: &Peer) -> Response<Full<Bytes>> {
        if let Some(others) = self.limited.allow(self.started.elapsed()) {
            let address = peer.address();
            tracing::warn!(
                others,
                "Refused a request of {address}: too many reviews are waiting, or too many have failed"
            );
        }
        pages::too_many_requests()
    }
}

impl<T: Transport> RequestHandler for ServerState<T> {
    async fn answer(&self, peer: &Peer, request: Request<Incoming>) -> Response<Full<Bytes>> {
        // No page reads a request body.
        let (head, _) = request.into_parts();
        let (_, authorities) = self.present();
        let user = self.authenticator.authenticate(&authorities, peer, &head.headers).await;
        // As in kube-scheduler: HTTP/2 is expensive, so an unauthenticated client receives one response per connection.
        if head.version == Version::HTTP_2 && user.as_ref().map_or(true, user::User::is_anonymous) {
            peer.end();
        }
        let user = match user {
            Ok(user) => user,
            Err(AuthProblem::Limited) => return self.limited(peer),
            Err(AuthProblem::Failed(why)) => {
                if let Some(others) = self.unauthenticated.allow(self.started.elapsed()) {
                    tracing::error!(others, "Unable to authenticate the request: {why}");
                }
                return pages::unauthorized();
            }
        };
        let (verb, path) = (head.method.as_str().to_ascii_lowercase(), head.uri.path());
        match self.authorizer.authorize(peer, &user, &verb, path).await {
            Ok(decision) if decision.is_allowed => self.pages.answer(&head, &self.health, &*self.endpoints).await,
            Ok(decision) => pages::forbidden(&user.name, &verb, path, &decision.reason),
            Err(AuthProblem::Limited) => self.limited(peer),
            Err(AuthProblem::Failed(why)) => {
                if let Some(others) = self.unauthorized.allow(self.started.elapsed()) {
                    tracing::error!(others, "Unable to authorize the request: {why}");
                }
                pages::internal_error(path, &why)
            }
        }
    }
}

#[cfg(test)]
mod tests;
