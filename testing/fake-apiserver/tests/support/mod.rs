//! A minimal client: one connection, no retries.
#![allow(clippy::unwrap_used, reason = "a test that cannot continue panics")]

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::client::conn::{http1, http2};
use hyper::{Request, Response};
use hyper_util::rt::{TokioExecutor, TokioIo};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName};
use schedc_fake_apiserver::Server;
use serde_json::{Value, from_slice};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;

pub(crate) const STRATEGIC: &str = "application/strategic-merge-patch+json";
pub(crate) const MERGE: &str = "application/merge-patch+json";
/// Longer than any response takes.
pub(crate) const TIMEOUT: Duration = Duration::from_secs(20);

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Http {
    One,
    Two,
}

enum Sender {
    One(http1::SendRequest<Full<Bytes>>),
    Two(http2::SendRequest<Full<Bytes>>),
}

pub(crate) struct Client {
    sender: Sender,
    host: String,
    token: &'static str,
}

#[derive(Debug, PartialEq)]
pub(crate) struct Answer {
    pub(crate) code: u16,
    pub(crate) retry_after: Option<String>,
    pub(crate) body: Value,
}

/// Error for a missing response.
#[derive(Debug, PartialEq)]
pub(crate) struct ConnectionError;

impl Client {
    pub(crate) async fn new(server: &Server, http: Http) -> Client {
        let url = server.url();
        let (scheme, host) = url.split_once("://").unwrap();
        let stream = TcpStream::connect(host).await.unwrap();
        // Without it, the second of two small writes waits for an acknowledgement that is delayed by 40 ms.
        stream.set_nodelay(true).unwrap();
        let sender = match scheme {
            "http" => handshake(stream, http).await,
            _ => {
                let mut roots = rustls::RootCertStore::empty();
                let authority = CertificateDer::from_pem_slice(server.authority().unwrap().as_bytes()).unwrap();
                roots.add(authority).unwrap();
                let provider = Arc::new(rustls::crypto::ring::default_provider());
                let builder = rustls::ClientConfig::builder_with_provider(provider);
                let builder = builder.with_safe_default_protocol_versions().unwrap();
                let mut config = builder.with_root_certificates(roots).with_no_client_auth();
                let protocol: &[u8] = if http == Http::One { b"http/1.1" } else { b"h2" };
                config.alpn_protocols = vec![protocol.to_vec()];
                let name = ServerName::try_from("127.0.0.1").unwrap();
                let stream = TlsConnector::from(Arc::new(config)).connect(name, stream).await.unwrap();
                assert_eq!(stream.get_ref().1.alpn_protocol(), Some(protocol));
                handshake(stream, http).await
            }
        };
        Client { sender, host: url, token: "" }
    }

    /// Sets a bearer token.
    pub(crate) fn with_token(self, token: &'static str) -> Client {
        Client { token, ..self }
    }

    async fn send(
        &mut self,
        method: &str,
        path: &str,
        body: Option<Value>,
        content_type: &str,
    ) -> Option<Response<Incoming>> {
        let builder = Request::builder().method(method).header("content-type", content_type);
        let builder = match self.token {
            "" => builder,
            token => builder.header("authorization", format!("Bearer {token}")),
        };
        let builder = match &self.sender {
            Sender::One(_) => builder.uri(path).header("host", "fake-apiserver"),
            Sender::Two(_) => builder.uri(format!("{}{path}", self.host)),
        };
        let body = body.map(|body| body.to_string()).unwrap_or_default();
        let request = builder.body(Full::from(body)).unwrap();
        match &mut self.sender {
            Sender::One(sender) => sender.send_request(request).await.ok(),
            Sender::Two(sender) => sender.send_request(request).await.ok(),
        }
    }

    pub(crate) async fn call(
        &mut self,
        method: &str,
        path: &str,
        body: Option<Value>,
        content_type: &str,
    ) -> Result<Answer, ConnectionError> {
        let response = self.send(method, path, body, content_type).await.ok_or(ConnectionError)?;
        let code = response.status().as_u16();
        let retry_after = response.headers().get("retry-after").map(|it| it.to_str().unwrap().to_owned());
        let body = response.into_body().collect().await.map_err(|_| ConnectionError)?.to_bytes();
        Ok(Answer { code, retry_after, body: from_slice(&body).unwrap_or(Value::Null) })
    }

    pub(crate) async fn get(&mut self, path: &str) -> Result<Answer, ConnectionError> {
        self.call("GET", path, None, "").await
    }

    pub(crate) async fn post(&mut self, path: &str, body: Value) -> Result<Answer, ConnectionError> {
        self.call("POST", path, Some(body), "application/json").await
    }

    /// Binds a pod of the namespace `default`.
    pub(crate) async fn bind(&mut self, pod: &str, node: &str) -> Result<Answer, ConnectionError> {
        let binding = serde_json::json!({"metadata": {"name": pod}, "target": {"kind": "Node", "name": node}});
        self.post(&format!("/api/v1/namespaces/default/pods/{pod}/binding"), binding).await
    }

    pub(crate) async fn watch(&mut self, path: &str) -> Watch {
        let response = self.send("GET", path, None, "").await.unwrap();
        assert_eq!(response.status(), 200);
        Watch { body: response.into_body(), read: Vec::new() }
    }
}

async fn handshake<S: AsyncRead + AsyncWrite + Unpin + Send + 'static>(stream: S, http: Http) -> Sender {
    let stream = TokioIo::new(stream);
    match http {
        Http::One => {
            let (sender, connection) = http1::handshake(stream).await.unwrap();
            tokio::spawn(connection);
            Sender::One(sender)
        }
        Http::Two => {
            let (sender, connection) = http2::handshake(TokioExecutor::new(), stream).await.unwrap();
            tokio::spawn(connection);
            Sender::Two(sender)
        }
    }
}

/// The events of a watch.
pub(crate) struct Watch {
    body: Incoming,
    read: Vec<u8>,
}

impl Watch {
    /// Returns the next event; `None`: the watch ended; `Err`: it is broken.
    pub(crate) async fn next(&mut self) -> Option<Result<Value, ConnectionError>> {
        loop {
            if let Some(end) = self.read.iter().position(|byte| *byte == b'\n') {
                let line: Vec<u8> = self.read.drain(..=end).collect();
                assert!(line.starts_with(b"{\"type\":"), "the type comes first");
                return Some(Ok(from_slice(&line).unwrap()));
            }
            let frame = tokio::time::timeout(TIMEOUT, self.body.frame()).await.expect("the watch sends a frame");
            match frame? {
                Ok(frame) => self.read.extend_from_slice(frame.data_ref().unwrap()),
                Err(_) => return Some(Err(ConnectionError)),
            }
        }
    }

    /// Returns the next events as text: type, name and version.
    pub(crate) async fn next_events(&mut self, events: usize) -> Vec<String> {
        let mut events_read = Vec::new();
        for _ in 0..events {
            let event = self.next().await.unwrap().unwrap();
            let metadata = &event["object"]["metadata"];
            let text = |value: &Value| value.as_str().unwrap_or("-").to_owned();
            events_read.push(format!(
                "{} {} {}",
                text(&event["type"]),
                text(&metadata["name"]),
                text(&metadata["resourceVersion"])
            ));
        }
        events_read
    }
}

/// Returns a server with a node `n` and pods `p0`, `p1`... in the namespace `default`.
pub(crate) fn server(pods: usize) -> Server {
    fill(Server::start(), pods)
}

pub(crate) fn fill(server: Server, pods: usize) -> Server {
    server.create(serde_json::json!({"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n"}}));
    for pod in 0..pods {
        let name = format!("p{pod}");
        server.create(serde_json::json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name}}));
    }
    server
}
