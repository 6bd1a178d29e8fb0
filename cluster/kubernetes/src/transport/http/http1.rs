//! Requests by HTTP/1.1: each request has a separate connection while it is in flight.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::client::conn::http1::{Builder, SendRequest};
use hyper::header::{HOST, HeaderValue};
use hyper::http::{response, uri};
use hyper::{Request, Uri};
use hyper_util::rt::TokioIo;
use tokio::time::{Instant, sleep};

use super::dial::{Server, Stream};
use super::error_chain;
use crate::transport::TransportError;

/// Maximum size of a connection's read buffer in bytes. Lists arrive faster than they are processed: a larger buffer
/// would fill up during a list, and remain allocated while the watch after it is open.
const MAX_READ_BUFFER: usize = 64 << 10;

/// Number of idle connections that stay open. A burst of requests may leave more, and each has buffers of more than
/// 20 kB. The excess connections are closed after [`IDLE_TIMEOUT`].
const MAX_IDLE: usize = 4;
/// Time without use after which an excess connection is closed. A burst ends after at least a second; the free memory that
/// is then returned to the system includes the buffers of these connections.
const IDLE_TIMEOUT: Duration = Duration::from_millis(250);

/// Sends requests on HTTP/1.1 connections. Clones share the idle ones.
#[derive(Clone)]
pub(super) struct Sender {
    server: Arc<Server>,
    idle: Idle,
}

/// Idle connections of a sender, in the order of their last use.
#[derive(Clone, Default)]
struct Idle(Arc<Mutex<IdleConnections>>);

#[derive(Default)]
struct IdleConnections {
    connections: Vec<(Instant, Connection)>,
    /// Whether a task is closing unused connections.
    is_closing: bool,
}

impl Idle {
    fn lock(&self) -> MutexGuard<'_, IdleConnections> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the connection that was used last. The others stay unused, so they can be closed later.
    fn take(&self) -> Option<Connection> {
        self.lock().connections.pop().map(|(_, connection)| connection)
    }

    fn put(&self, connection: Connection) {
        let mut idle = self.lock();
        idle.connections.push((Instant::now(), connection));
        if idle.connections.len() > MAX_IDLE && !idle.is_closing {
            idle.is_closing = true;
            tokio::spawn(close_unused(Arc::downgrade(&self.0)));
        }
    }
}

/// Closes connections that were not used for some time, until few are left.
async fn close_unused(idle: Weak<Mutex<IdleConnections>>) {
    loop {
        sleep(IDLE_TIMEOUT).await;
        let Some(idle) = idle.upgrade().map(Idle) else { return };
        let mut idle = idle.lock();
        let excess = idle.connections.len().saturating_sub(MAX_IDLE);
        let is_unused = |(since, _): &&(Instant, Connection)| since.elapsed() >= IDLE_TIMEOUT;
        let unused = idle.connections.iter().take(excess).take_while(is_unused).count();
        drop(idle.connections.drain(..unused));
        if idle.connections.len() <= MAX_IDLE {
            idle.connections.shrink_to_fit();
            idle.is_closing = false;
            return;
        }
    }
}

enum Connection {
    /// Nothing was sent on it yet.
    New(Stream),
    Used(SendRequest<Full<Bytes>>),
}

impl Sender {
    /// Creates a sender with a first connection.
    pub(super) fn new(server: Arc<Server>, first: Stream) -> Self {
        let idle = Idle::default();
        idle.put(Connection::New(first));
        Sender { server, idle }
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
            let stream = match self.idle.take() {
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

/// Converts a URI to origin form, which has no server name: in HTTP/1.1, the name is in the header `Host`.
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
                    idle.put(Connection::Used(send));
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

/// Classifies an error. `hyper` cancels a request only if it has not begun to process it, so the request was not sent.
fn transport_error(error: &hyper::Error) -> TransportError {
    if error.is_canceled() {
        TransportError::NotSent(error_chain(error))
    } else {
        TransportError::Lost(error_chain(error))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn connections_of_a_burst_are_closed() {
        let idle = Idle::default();
        let put = || idle.put(Connection::New(Stream { io: Box::new(tokio::io::duplex(1).0), is_http2: false }));
        let count = || idle.lock().connections.len();
        for _ in 0..2 {
            (count()..3 * MAX_IDLE).for_each(|_| put());
            sleep(IDLE_TIMEOUT / 2).await;
            // These connections are in use for a moment.
            let used: Vec<_> = (0..2 * MAX_IDLE).map_while(|_| idle.take()).collect();
            used.into_iter().for_each(|connection| idle.put(connection));
            assert_eq!(count(), 3 * MAX_IDLE);
            sleep(IDLE_TIMEOUT * 3 / 4).await;
            assert_eq!(count(), 2 * MAX_IDLE);
            sleep(IDLE_TIMEOUT).await;
            assert_eq!(count(), MAX_IDLE);
        }
    }
}
