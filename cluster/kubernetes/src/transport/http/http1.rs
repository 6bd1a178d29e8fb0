//! Requests by HTTP/1.1: each request has a separate connection while it is in flight.

use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::client::conn::http1::{Builder, SendRequest};
use hyper::header::{HOST, HeaderValue};
use hyper::http::{response, uri};
use hyper::{Request, Uri};
use hyper_util::rt::TokioIo;

use super::dial::{Server, Stream};
use super::error_chain;
use crate::transport::TransportError;

/// Maximum size of a connection's read buffer in bytes. Lists arrive faster than they are processed: a larger buffer
/// would fill up during a list, and remain allocated while the watch after it is open.
const MAX_READ_BUFFER: usize = 64 << 10;

/// Sends requests on HTTP/1.1 connections. Clones share the idle ones.
#[derive(Clone)]
pub(super) struct Sender {
    server: Arc<Server>,
    idle: Idle,
}

type Idle = Arc<Mutex<Vec<Connection>>>;

enum Connection {
    /// Nothing was sent on it yet.
    New(Stream),
    Used(SendRequest<Full<Bytes>>),
}

impl Sender {
    /// Creates a sender with a first connection.
    pub(super) fn new(server: Arc<Server>, first: Stream) -> Self {
        Sender { server, idle: Arc::new(Mutex::new(vec![Connection::New(first)])) }
    }

    /// Sends a request. Returns the head and the body of the response.
    pub(super) async fn send(
        &self,
        request: Request<()>,
        body: Bytes,
    ) -> Result<(response::Parts, super::Body), TransportError> {
        let mut send = self.connection().await?;
        let (mut head, ()) = request.into_parts();
        let host = head.uri.authority().and_then(|authority| HeaderValue::from_str(authority.as_str()).ok());
        head.headers.extend(host.map(|host| (HOST, host)));
        head.uri = origin_form(head.uri);
        let answer = send.send_request(Request::from_parts(head, Full::from(body))).await;
        let (head, body) = answer.map_err(|error| transport_error(&error))?.into_parts();
        let back = Some((send, self.idle.clone()));
        Ok((head, super::Body::Http1(Body { body, back })))
    }

    /// Returns an idle connection, or opens one.
    async fn connection(&self) -> Result<SendRequest<Full<Bytes>>, TransportError> {
        loop {
            let idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner).pop();
            let stream = match idle {
                Some(Connection::New(stream)) => stream,
                Some(Connection::Used(mut send)) => match send.ready().await {
                    Ok(()) => return Ok(send),
                    Err(_) => continue,
                },
                None => self.server.dial().await.map_err(|error| TransportError::NotSent(error_chain(&error)))?,
            };
            if stream.is_http2 {
                return Err(TransportError::NotSent("the server speaks HTTP/2 now".to_owned()));
            }
            let (send, connection) = Builder::new()
                .max_buf_size(MAX_READ_BUFFER)
                .handshake(TokioIo::new(stream.io))
                .await
                .map_err(|error| TransportError::NotSent(error_chain(&error)))?;
            // Errors of the connection reach the requests that use it.
            tokio::spawn(connection);
            return Ok(send);
        }
    }
}

/// Converts a URI to origin form: HTTP/1.1 names the server in a header.
fn origin_form(uri: Uri) -> Uri {
    let mut parts = uri::Parts::default();
    parts.path_and_query = uri.into_parts().path_and_query;
    Uri::from_parts(parts).unwrap_or_default()
}

pub(super) struct Body {
    body: Incoming,
    /// The connection, and the idle list that it returns to after the last byte.
    back: Option<(SendRequest<Full<Bytes>>, Idle)>,
}

impl Body {
    pub(super) async fn next(&mut self) -> Option<Result<Bytes, TransportError>> {
        loop {
            let Some(frame) = self.body.frame().await else {
                if let Some((send, idle)) = self.back.take().filter(|(send, _)| !send.is_closed()) {
                    idle.lock().unwrap_or_else(PoisonError::into_inner).push(Connection::Used(send));
                }
                return None;
            };
            match frame {
                Err(error) => {
                    self.back = None;
                    return Some(Err(TransportError::Lost(error_chain(&error))));
                }
                // Trailers are ignored.
                Ok(frame) => match frame.into_data() {
                    Ok(bytes) => return Some(Ok(bytes)),
                    Err(_) => continue,
                },
            }
        }
    }
}

/// Classifies an error. A request that was canceled before its turn was not sent.
fn transport_error(error: &hyper::Error) -> TransportError {
    if error.is_canceled() {
        TransportError::NotSent(error_chain(error))
    } else {
        TransportError::Lost(error_chain(error))
    }
}
