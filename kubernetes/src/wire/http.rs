//! HTTP: version 2 where TLS agrees on it, so that many requests are under way on one connection, else version 1.1.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use bytes::Bytes;
use http_body_util::{BodyExt, Full, Limited};
use hyper::body::Incoming;
use hyper::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, HeaderValue, RETRY_AFTER, USER_AGENT};
use hyper::{HeaderMap, Method, Request, Response, StatusCode, Uri};
use hyper_rustls::{FixedServerNameResolver, HttpsConnector, HttpsConnectorBuilder};
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::client::legacy::{Client, Error};
use hyper_util::rt::{TokioExecutor, TokioTimer};
use k8s_openapi::jiff::Timestamp;
use rustls::pki_types::ServerName;
use tokio::sync::Notify;
use tokio::time::timeout;

use super::{Answer, Call, Chunks, Lane, Silence, Streams, Transport, Verb};
use crate::crypto;

/// The way to an API server by HTTP. Clones share the connections.
#[derive(Clone)]
pub struct Http(Arc<Inner>);

struct Inner {
    /// Scheme, authority, and what all paths begin with.
    base: Box<str>,
    /// Whose certificate the server shows, if not that of its address.
    server_name: Option<ServerName<'static>>,
    lanes: Mutex<Arc<Lanes>>,
    authorization: Mutex<Option<HeaderValue>>,
    /// The server did not know who asked.
    unknown: Notify,
    began: Instant,
}

type Lanes = [Connection; Lane::COUNT];
type Connection = Client<HttpsConnector<HttpConnector>, Full<Bytes>>;

/// How long a connection may take.
const CONNECT: Duration = Duration::from_secs(10);
/// How long an answer may take, or of a long one its beginning.
const ANSWER: Duration = Duration::from_secs(30);
/// client-go's: a connection on which nothing arrived for so long is asked whether it is alive, and given up if it does not say so.
const IDLE: Duration = Duration::from_secs(30);
const ALIVE: Duration = Duration::from_secs(15);
/// What no answer is longer than.
const LONGEST: usize = 256 << 20;

impl Http {
    /// To the server at an address. With `tls`, that has to be `https`.
    pub fn new(base: &Uri, tls: Option<rustls::ClientConfig>) -> Self {
        Http::named(base, tls, None)
    }

    /// To the server at an address that shows the certificate of another name.
    pub fn named(base: &Uri, tls: Option<rustls::ClientConfig>, server_name: Option<ServerName<'static>>) -> Self {
        let lanes = Mutex::new(lanes(tls.unwrap_or_else(trusts_nobody), server_name.as_ref()));
        let base = base.to_string().trim_end_matches('/').into();
        let (authorization, unknown) = (Mutex::default(), Notify::new());
        Http(Arc::new(Inner { base, server_name, lanes, authorization, unknown, began: Instant::now() }))
    }

    /// From now on, requests go by new connections that show and trust this. What is under way goes on as it is.
    pub fn set_tls(&self, tls: rustls::ClientConfig) {
        let lanes = lanes(tls, self.0.server_name.as_ref());
        *self.0.lanes.lock().unwrap_or_else(PoisonError::into_inner) = lanes;
    }

    /// Waits until the server has not known who asked: a request got the status code 401. It says so once, however
    /// many got it meanwhile.
    pub async fn unknown(&self) {
        self.0.unknown.notified().await;
    }

    /// From now on, requests say this of who sends them: the header `Authorization`.
    pub fn set_authorization(&self, authorization: Option<HeaderValue>) {
        *self.0.authorization.lock().unwrap_or_else(PoisonError::into_inner) = authorization;
    }

    async fn send(&self, lane: Lane, call: Call) -> Result<Response<Incoming>, Silence> {
        let method = match call.verb {
            Verb::Get => Method::GET,
            Verb::Create => Method::POST,
            Verb::Update => Method::PUT,
            Verb::Delete => Method::DELETE,
            Verb::MergePatch | Verb::StrategicPatch => Method::PATCH,
        };
        let mut request = Request::builder().method(method).uri(format!("{}{}", self.0.base, call.path));
        if let Some(headers) = request.headers_mut() {
            headers.insert(ACCEPT, HeaderValue::from_static("application/json"));
            headers.insert(USER_AGENT, HeaderValue::from_static(concat!("schedc/", env!("CARGO_PKG_VERSION"))));
            if !call.body.is_empty() {
                headers.insert(CONTENT_TYPE, HeaderValue::from_static(call.verb.content_type()));
            }
            let authorization = self.0.authorization.lock().unwrap_or_else(PoisonError::into_inner).clone();
            headers.extend(authorization.map(|authorization| (AUTHORIZATION, authorization)));
        }
        let request = request.body(Full::from(call.body)).map_err(|error| Silence::NotSent(error.to_string()))?;
        let lanes = self.0.lanes.lock().unwrap_or_else(PoisonError::into_inner).clone();
        match timeout(ANSWER, lanes[lane as usize].request(request)).await {
            Ok(Ok(response)) => {
                if response.status() == StatusCode::UNAUTHORIZED {
                    self.0.unknown.notify_one();
                }
                Ok(response)
            }
            Ok(Err(error)) => Err(silence(&error)),
            Err(_) => Err(Silence::Lost(format!("no answer within {} seconds", ANSWER.as_secs()))),
        }
    }
}

impl Transport for Http {
    async fn call(&self, lane: Lane, call: Call) -> Result<Answer, Silence> {
        let response = self.send(lane, call).await?;
        timeout(ANSWER, answer(response))
            .await
            .unwrap_or_else(|_| Err(Silence::Lost(format!("half an answer within {} seconds", ANSWER.as_secs()))))
    }

    async fn sleep(&self, time: Duration) {
        tokio::time::sleep(time).await;
    }

    fn now(&self) -> Timestamp {
        now()
    }

    fn clock(&self) -> Duration {
        self.0.began.elapsed()
    }
}

impl Streams for Http {
    type Chunks = HttpChunks;

    async fn open(&self, path: String) -> Result<Result<HttpChunks, Answer>, Silence> {
        let response = self.send(Lane::Watch, Call { verb: Verb::Get, path, body: Vec::new() }).await?;
        match response.status().is_success() {
            true => Ok(Ok(HttpChunks(response.into_body()))),
            false => answer(response).await.map(Err),
        }
    }
}

/// An answer that arrives bit by bit.
#[derive(Debug)]
pub struct HttpChunks(Incoming);

impl Chunks for HttpChunks {
    async fn next(&mut self) -> Option<Result<Bytes, Silence>> {
        loop {
            match self.0.frame().await? {
                Err(error) => return Some(Err(Silence::Lost(in_full(&error)))),
                Ok(frame) => {
                    // Trailers say nothing.
                    if let Ok(bytes) = frame.into_data() {
                        return Some(Ok(bytes));
                    }
                }
            }
        }
    }
}

/// A connection for each lane, made when it is needed.
fn lanes(tls: rustls::ClientConfig, server_name: Option<&ServerName<'static>>) -> Arc<Lanes> {
    let connection = |_| {
        let mut tcp = HttpConnector::new();
        tcp.enforce_http(false);
        tcp.set_nodelay(true);
        tcp.set_connect_timeout(Some(CONNECT));
        let tls = HttpsConnectorBuilder::new().with_tls_config(tls.clone()).https_or_http();
        let tls = match server_name {
            Some(name) => tls.with_server_name_resolver(FixedServerNameResolver::new(name.clone())),
            None => tls,
        };
        let connector = tls.enable_all_versions().wrap_connector(tcp);
        Client::builder(TokioExecutor::new())
            .timer(TokioTimer::new())
            .pool_timer(TokioTimer::new())
            .http2_keep_alive_interval(IDLE)
            .http2_keep_alive_timeout(ALIVE)
            .http2_keep_alive_while_idle(true)
            .build(connector)
    };
    Arc::new(std::array::from_fn(connection))
}

/// For servers without TLS, and to be refused by all others.
fn trusts_nobody() -> rustls::ClientConfig {
    rustls::ClientConfig::builder_with_provider(crypto::provider())
        .with_safe_default_protocol_versions()
        .expect("ring has what TLS 1.2 and 1.3 need")
        .with_root_certificates(rustls::RootCertStore::empty())
        .with_no_client_auth()
}

/// The time of the system's clock; one that is set to before 1970 is at its beginning.
fn now() -> Timestamp {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i128::try_from(since.as_nanos())
        .ok()
        .and_then(|time| Timestamp::from_nanosecond(time).ok())
        .unwrap_or(Timestamp::MAX)
}

async fn answer(response: Response<Incoming>) -> Result<Answer, Silence> {
    let (code, retry_after) = (response.status().as_u16(), retry_after(response.headers()));
    match Limited::new(response.into_body(), LONGEST).collect().await {
        Ok(body) => Ok(Answer { code, retry_after, body: body.to_bytes() }),
        Err(error) => Err(Silence::Lost(in_full(&*error))),
    }
}

fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    headers.get(RETRY_AFTER)?.to_str().ok()?.parse().ok().map(Duration::from_secs)
}

/// Whether a request may have been done that has no answer.
fn silence(error: &Error) -> Silence {
    let why = in_full(error);
    if error.is_connect() { Silence::NotSent(why) } else { Silence::Lost(why) }
}

/// An error with what caused it.
fn in_full(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        text = format!("{text}: {error}");
        cause = error.source();
    }
    text
}

#[cfg(test)]
mod tests;
