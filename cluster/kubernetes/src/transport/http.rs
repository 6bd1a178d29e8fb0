//! HTTP transport: HTTP/2 if TLS negotiates it, so one connection carries many requests; otherwise HTTP/1.1.
//!
//! | module | content |
//! |---|---|
//! | `connection` | one connection for many requests, reconnected after a failure |
//! | `http2` | requests on an HTTP/2 connection |
//! | `http1` | requests on HTTP/1.1 connections |
//! | `dial` | TCP and TLS connections |
//!
//! The crate `h2` is used directly. A higher-level HTTP client pools connections to many servers, and opens a
//! connection for each request that begins before the first connection is open. This transport has one server. With
//! HTTP/2, all requests of a class wait for one connection.

mod connection;
mod dial;
mod http1;
mod http2;

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use bytes::{Bytes, BytesMut};
use hyper::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, HeaderValue, RETRY_AFTER, USER_AGENT};
use hyper::http::response;
use hyper::{HeaderMap, Method, Request, StatusCode, Uri};
use k8s_openapi::jiff::Timestamp;
use rustls::pki_types::ServerName;
use tokio::sync::Notify;
use tokio::time::timeout;

use super::{
    ApiRequest, ApiResponse, Chunks, Format, RequestClass, StreamingTransport, Transport, TransportError, Verb,
};
use dial::Server;

/// Transport to an API server by HTTP. Clones share the connections.
#[derive(Clone)]
pub struct Http(Arc<Inner>);

struct Inner {
    /// The server's address, and the prefix of all paths.
    base: Uri,
    /// Name in the server's certificate, if it differs from the address.
    server_name: Option<ServerName<'static>>,
    connections: Mutex<Arc<Connections>>,
    authorization: Mutex<Option<HeaderValue>>,
    /// Notified when the server responds with 401 (Unauthorized).
    unauthorized: Notify,
    began: Instant,
}

/// One connection for each request class. A server limits the concurrent requests on a connection (kube-apiserver to
/// 250), so events on the connection of bindings would delay bindings.
type Connections = [connection::SharedConnection; RequestClass::COUNT];

/// Deadline for a response, or for the head of a streamed response.
const RESPONSE_TIMEOUT: Duration = Duration::from_secs(30);
/// Maximum size of a response body in bytes.
const MAX_BODY: usize = 256 << 20;

impl Http {
    /// Creates a transport to the server at this address. With `tls`, the scheme must be `https`.
    pub fn new(base: &Uri, tls: Option<rustls::ClientConfig>) -> Self {
        Http::with_server_name(base, tls, None)
    }

    /// Creates a transport to a server whose certificate has the name `server_name` instead of the address.
    pub(crate) fn with_server_name(
        base: &Uri,
        tls: Option<rustls::ClientConfig>,
        server_name: Option<ServerName<'static>>,
    ) -> Self {
        let connections = Mutex::new(connections(base, tls, server_name.as_ref()));
        let (authorization, unauthorized) = (Mutex::default(), Notify::new());
        let base = base.clone();
        Http(Arc::new(Inner { base, server_name, connections, authorization, unauthorized, began: Instant::now() }))
    }

    /// Sends later requests by new connections with this TLS configuration. Requests in flight keep their connections.
    pub(crate) fn set_tls(&self, tls: rustls::ClientConfig) {
        let connections = connections(&self.0.base, Some(tls), self.0.server_name.as_ref());
        *self.0.connections.lock().unwrap_or_else(PoisonError::into_inner) = connections;
    }

    /// Waits for a response with 401 (Unauthorized). Returns at once if there was at least one such response after the
    /// previous wait ended.
    pub(crate) async fn unauthorized(&self) {
        self.0.unauthorized.notified().await;
    }

    /// Sets the `Authorization` header of later requests.
    pub fn set_authorization(&self, authorization: Option<HeaderValue>) {
        *self.0.authorization.lock().unwrap_or_else(PoisonError::into_inner) = authorization;
    }

    /// Sends a request. Returns the head and the body of the response.
    async fn send(
        &self,
        class: RequestClass,
        call: ApiRequest,
        format: Format,
    ) -> Result<(response::Parts, Body), TransportError> {
        let ApiRequest { verb, path, body } = call;
        let request = self.request(verb, &path, !body.is_empty(), format)?;
        let connections = self.0.connections.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let (head, body) = connections[class as usize].send(request, body).await?;
        if head.status == StatusCode::UNAUTHORIZED {
            self.0.unauthorized.notify_one();
        }
        Ok((head, body))
    }

    fn request(&self, verb: Verb, path: &str, has_body: bool, format: Format) -> Result<Request<()>, TransportError> {
        let method = match verb {
            Verb::Get => Method::GET,
            Verb::Create => Method::POST,
            Verb::Update => Method::PUT,
            Verb::Delete => Method::DELETE,
            Verb::MergePatch | Verb::StrategicPatch => Method::PATCH,
        };
        let uri = self.uri(path).map_err(|error| TransportError::NotSent(format!("{path}: {error}")))?;
        let mut request = Request::new(());
        *request.method_mut() = method;
        *request.uri_mut() = uri;
        let headers = request.headers_mut();
        headers.insert(ACCEPT, HeaderValue::from_static(format.accept()));
        headers.insert(USER_AGENT, HeaderValue::from_static(concat!("schedc/", env!("CARGO_PKG_VERSION"))));
        if has_body {
            headers.insert(CONTENT_TYPE, HeaderValue::from_static(verb.content_type()));
        }
        let authorization = self.0.authorization.lock().unwrap_or_else(PoisonError::into_inner).clone();
        headers.extend(authorization.map(|authorization| (AUTHORIZATION, authorization)));
        Ok(request)
    }

    fn uri(&self, path: &str) -> Result<Uri, hyper::http::Error> {
        let base = self.0.base.clone().into_parts();
        let prefix = base.path_and_query.as_ref().map_or("", |path| path.path()).trim_end_matches('/');
        let path = if prefix.is_empty() { path.try_into()? } else { format!("{prefix}{path}").try_into()? };
        let mut parts = hyper::http::uri::Parts::default();
        (parts.scheme, parts.authority, parts.path_and_query) = (base.scheme, base.authority, Some(path));
        Ok(Uri::from_parts(parts)?)
    }
}

impl Transport for Http {
    async fn call(&self, class: RequestClass, call: ApiRequest) -> Result<ApiResponse, TransportError> {
        with_timeout(async {
            let (head, body) = self.send(class, call, Format::Json).await?;
            answer(head, body).await
        })
        .await
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

impl StreamingTransport for Http {
    type Chunks = HttpChunks;

    async fn open(&self, path: String, format: Format) -> Result<Result<HttpChunks, ApiResponse>, TransportError> {
        with_timeout(async {
            let (head, body) = self
                .send(RequestClass::Watch, ApiRequest { verb: Verb::Get, path, body: Bytes::new() }, format)
                .await?;
            match head.status.is_success() {
                true => Ok(Ok(HttpChunks { format: format_of(&head.headers), body })),
                false => answer(head, body).await.map(Err),
            }
        })
        .await
    }
}

/// Limits the time until a response. After a timeout the response counts as lost.
async fn with_timeout<T>(answer: impl Future<Output = Result<T, TransportError>>) -> Result<T, TransportError> {
    let late = || TransportError::Lost(format!("no response within {} seconds", RESPONSE_TIMEOUT.as_secs()));
    timeout(RESPONSE_TIMEOUT, answer).await.unwrap_or_else(|_| Err(late()))
}

/// Streamed response, received in chunks.
pub struct HttpChunks {
    format: Format,
    body: Body,
}

enum Body {
    Http1(http1::Body),
    Http2(http2::Body),
}

impl Body {
    async fn next(&mut self) -> Option<Result<Bytes, TransportError>> {
        match self {
            Body::Http1(body) => body.next().await,
            Body::Http2(body) => body.next().await,
        }
    }
}

impl Chunks for HttpChunks {
    fn format(&self) -> Format {
        self.format
    }

    async fn next(&mut self) -> Option<Result<Bytes, TransportError>> {
        self.body.next().await
    }
}

/// Creates one connection for each request class; each connects when it is first used.
fn connections(
    base: &Uri,
    tls: Option<rustls::ClientConfig>,
    server_name: Option<&ServerName<'static>>,
) -> Arc<Connections> {
    let server = Arc::new(Server::new(base, tls.unwrap_or_else(tls_config_without_roots), server_name.cloned()));
    Arc::new(std::array::from_fn(|_| connection::SharedConnection::new(server.clone())))
}

/// Returns a TLS configuration without trusted roots. It is unused with `http`; with `https`, it refuses every server.
fn tls_config_without_roots() -> rustls::ClientConfig {
    rustls::ClientConfig::builder_with_provider(schedc_tls::provider())
        .with_safe_default_protocol_versions()
        .expect("ring supports TLS 1.2 and 1.3")
        .with_root_certificates(rustls::RootCertStore::empty())
        .with_no_client_auth()
}

/// Returns the system time; times before 1970 become the start of 1970.
fn now() -> Timestamp {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i128::try_from(since.as_nanos())
        .ok()
        .and_then(|time| Timestamp::from_nanosecond(time).ok())
        .unwrap_or(Timestamp::MAX)
}

async fn answer(head: response::Parts, mut chunks: Body) -> Result<ApiResponse, TransportError> {
    let (code, retry_after) = (head.status.as_u16(), retry_after(&head.headers));
    // Most responses arrive as one chunk.
    let mut body = match chunks.next().await.transpose()? {
        Some(first) => first,
        None => Bytes::new(),
    };
    if let Some(second) = chunks.next().await.transpose()? {
        let mut all = BytesMut::from(body);
        all.extend_from_slice(&second);
        while let Some(more) = chunks.next().await.transpose()? {
            if all.len() + more.len() > MAX_BODY {
                return Err(TransportError::Lost(format!("a response of more than {} MiB", MAX_BODY >> 20)));
            }
            all.extend_from_slice(&more);
        }
        body = all.freeze();
    }
    Ok(ApiResponse { code, retry_after, body })
}

fn format_of(headers: &HeaderMap) -> Format {
    let content_type = headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok());
    Format::of_content(content_type.unwrap_or_default())
}

fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    headers.get(RETRY_AFTER)?.to_str().ok()?.parse().ok().map(Duration::from_secs)
}

/// Formats an error with its causes.
fn error_chain(error: &dyn std::error::Error) -> String {
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
