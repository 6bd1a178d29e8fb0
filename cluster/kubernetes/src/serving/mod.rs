//! The HTTPS server: how the scheduler is, what it does and how it is set up, for those who may know.
//!
//! | module | idea |
//! |---|---|
//! | `listen` | the port |
//! | `certificate`, `tls` | the server's certificate: given, found, or made; TLS as flags say |
//! | `connections` | how many there are, how long they stay, how they end |
//! | `authorities` | who vouches for callers: files, or the cluster |
//! | `authenticate` | who calls: proxies, certificates, bearer tokens |
//! | `authorize` | what they may do |
//! | `review`, `cache` | asking the API server about somebody; answers that hold for a while |
//! | `budget` | limits for reviews: how many wait, and how many a caller may cause that fail |
//! | `tracked` | a stream that reports when the headers of a request begin to arrive |
//! | `pages` | what there is to read |

mod authenticate;
mod authorities;
mod authorize;
mod budget;
mod cache;
mod certificate;
mod connections;
mod listen;
mod pages;
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
use authorities::{Authorities, AuthorityConfig, AuthoritySources};
use authorize::Authorizer;
use budget::Budget;
use certificate::{CertificatePair, CertificateSource};
use connections::{Connections, Limits, Peer, RequestHandler};
use review::AuthProblem;

/// How often files and the cluster are looked at for other certificates: as often as kube-scheduler looks at files.
const REFRESH: Duration = Duration::from_secs(60);
/// How soon the cluster is asked again if it did not answer.
const LOOKUP_RETRY_DELAY: Duration = Duration::from_secs(5);
/// How long nobody is let in after the system had no file or memory for one more connection.
const ACCEPT_RETRY_DELAY: Duration = Duration::from_millis(200);

/// What a server is made of.
pub struct ServerParts<'a, T> {
    /// The port, and the server's certificate.
    pub serving: &'a flags::Serving,
    /// Who calls.
    pub authentication: &'a flags::Authentication,
    /// Who may call.
    pub authorization: &'a flags::Authorization,
    /// The API server that knows who calls, by `--authentication-kubeconfig`, or from inside a cluster. None: certificates
    /// that files vouch for count, and whoever has none is anonymous.
    pub authenticates: Option<T>,
    /// The API server that knows who may call, by `--authorization-kubeconfig`, or from inside a cluster. None: only what
    /// anybody may is answered.
    pub authorizes: Option<T>,
    /// How the scheduler is.
    pub health: Health,
    /// What does not change.
    pub pages: Pages,
    /// What does.
    pub endpoints: Arc<dyn Endpoints>,
}

/// A server that has its port, and serves once it [runs](Server::run).
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
    /// What the present is made of: the certificate, and who vouches for callers.
    inputs: Mutex<(CertificatePair, AuthorityConfig)>,
    present: Mutex<(Arc<ServerConfig>, Arc<Authorities>)>,
    authenticator: Authenticator<T>,
    authorizer: Authorizer<T>,
    health: Health,
    pages: Pages,
    endpoints: Arc<dyn Endpoints>,
    began: Instant,
    unauthenticated: RateLimit,
    unauthorized: RateLimit,
    limited: RateLimit,
}

impl<T> std::fmt::Debug for ServerState<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Shared").field("source", &self.source).finish_non_exhaustive()
    }
}

impl<T: Transport> Server<T> {
    /// Takes the port, and reads the certificate and whatever vouches for callers; the cluster is asked once the server runs,
    /// unless it must not go on without. `None`: `--secure-port` is 0.
    ///
    /// # Errors
    /// What is wrong, and what to do: a certificate, a key or a path that is not what it should be, a port that is taken, or
    /// a cluster that does not say who vouches for callers where `--authentication-tolerate-lookup-failure` is false.
    pub async fn bind(parts: ServerParts<'_, T>) -> Result<Option<Self>, String> {
        if parts.serving.port == 0 {
            return Ok(None);
        }
        Self::with_limits(parts, Limits::default(), REFRESH).await.map(Some)
    }

    async fn with_limits(parts: ServerParts<'_, T>, limits: Limits, refresh: Duration) -> Result<Self, String> {
        let streams = parts.serving.streams.unwrap_or(limits.streams);
        let listener = listen::listen(parts.serving)?;
        let address = listener.local_addr().map_err(|error| format!("the port: {error}"))?;
        let (source, pair) = CertificateSource::load(parts.serving)?;
        let sources = AuthoritySources::new(parts.authentication, parts.authenticates.clone());
        let mut authority_config = sources.read_files()?;
        if !parts.authentication.tolerate_lookup_failure {
            let cure = |why| format!("{why}; --authentication-tolerate-lookup-failure would go on without");
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
            authenticator: Authenticator::new(parts.authentication, parts.authenticates, budget.clone()),
            authorizer: Authorizer::new(parts.authorization, parts.authorizes, budget)?,
            health: parts.health,
            pages: parts.pages,
            endpoints: parts.endpoints,
            began: Instant::now(),
            unauthenticated: RateLimit::default(),
            unauthorized: RateLimit::default(),
            limited: RateLimit::default(),
        };
        let connections = Arc::new(Connections::new(Limits { streams, ..limits }));
        Ok(Server { listener, address, shared: Arc::new(shared), connections, refresh })
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Serves until it is told to stop: then nobody comes in any more, and what is under way is answered, within 5 seconds.
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
                        tracing::warn!("A connection could not be taken: {error}");
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
        // Each ends by itself, in time.
        while tasks.join_next().await.is_some() {}
    }
}

fn present<T: Transport>(
    serving: &flags::Serving,
    sources: &AuthoritySources<T>,
    pair: &CertificatePair,
    authority_config: &AuthorityConfig,
) -> Result<(Arc<ServerConfig>, Arc<Authorities>), String> {
    let authorities = Authorities::new(authority_config)?;
    let config = tls::config(serving, pair, sources.accept_certificates().then(|| authorities.subjects()))?;
    Ok((Arc::new(config), Arc::new(authorities)))
}

impl<T: Transport> ServerState<T> {
    fn present(&self) -> (Arc<ServerConfig>, Arc<Authorities>) {
        self.present.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Looks whether files or the cluster say something else. What cannot be read, or makes no sense, changes nothing. Returns
    /// whether the cluster answered.
    async fn refresh(&self) -> bool {
        let (old_pair, old_said) = self.inputs.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let log_error = |why: &String| tracing::error!("{why}; what was there before stays");
        let pair = self.source.reload().and_then(|pair| pair.inspect_err(log_error).ok());
        let pair = pair.unwrap_or_else(|| old_pair.clone());
        let (mut authority_config, mut is_looked_up) = (old_said.clone(), true);
        if let Ok(mut files) = self.sources.read_files().inspect_err(log_error) {
            match self.sources.look_up(&mut files).await {
                Ok(()) => authority_config = files,
                Err(why) => {
                    tracing::warn!("{why}; until it can be looked up, nobody else's certificates are believed");
                    is_looked_up = false;
                }
            }
        }
        // One that is broken does not keep the other from changing.
        for (pair, authority_config) in [(&pair, &authority_config), (&old_pair, &authority_config), (&pair, &old_said)]
        {
            if (pair, authority_config) == (&old_pair, &old_said) {
                break;
            }
            match present(&self.flags, &self.sources, pair, authority_config) {
                Ok(present) => {
                    *self.present.lock().unwrap_or_else(PoisonError::into_inner) = present;
                    *self.inputs.lock().unwrap_or_else(PoisonError::into_inner) =
                        (pair.clone(), authority_config.clone());
                    tracing::info!("Other certificates are in use from now on");
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
        if let Some(others) = self.limited.allow(self.began.elapsed()) {
            let address = peer.address();
            tracing::warn!(others, "Too many reviews wait, or failed for {address}: the request was refused");
        }
        pages::too_many_requests()
    }
}

impl<T: Transport> RequestHandler for ServerState<T> {
    async fn answer(&self, peer: &Peer, request: Request<Incoming>) -> Response<Full<Bytes>> {
        // Nothing that is asked for has a body.
        let (head, _) = request.into_parts();
        let (_, authorities) = self.present();
        let user = self.authenticator.authenticate(&authorities, peer, &head.headers).await;
        // As in kube-scheduler: HTTP/2 costs much, so that nobody in particular gets one answer on a connection.
        if head.version == Version::HTTP_2 && user.as_ref().map_or(true, user::User::is_anonymous) {
            peer.end();
        }
        let user = match user {
            Ok(user) => user,
            Err(AuthProblem::Limited) => return self.limited(peer),
            Err(AuthProblem::Failed(why)) => {
                if let Some(others) = self.unauthenticated.allow(self.began.elapsed()) {
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
                if let Some(others) = self.unauthorized.allow(self.began.elapsed()) {
                    tracing::error!(others, "Unable to authorize the request: {why}");
                }
                pages::internal_error(path, &why)
            }
        }
    }
}

#[cfg(test)]
mod tests;
