//! Requests on an HTTP/2 connection.

use std::future::poll_fn;
use std::time::Duration;

use bytes::Bytes;
use h2::client::{Builder, SendRequest};
use h2::{Error, Ping, PingPong, Reason, RecvStream};
use hyper::Request;
use hyper::http::response;
use tokio::time::{sleep, timeout};

use super::dial::Io;
use super::error_chain;
use crate::transport::TransportError;

/// Interval of health checks by PING frames, as in client-go.
const PING_INTERVAL: Duration = Duration::from_secs(30);
/// Timeout of a health check, as in client-go.
const PING_TIMEOUT: Duration = Duration::from_secs(15);
/// Flow-control window of one response, in bytes.
const STREAM_WINDOW: u32 = 512 << 10;
/// Flow-control window of the whole connection, in bytes.
const CONNECTION_WINDOW: u32 = 2 << 20;
/// Maximum number of unsent bytes of one request.
const SEND_BUFFER: usize = 1 << 20;

/// Sends requests on one connection. Clones share it.
#[derive(Clone)]
pub(super) struct Sender(SendRequest<Bytes>);

impl Sender {
    /// Performs the HTTP/2 handshake. The connection stays open while the peer responds to PING frames, and a sender or
    /// a response exists.
    pub(super) async fn new(io: Box<dyn Io>) -> Result<Self, Error> {
        let mut builder = Builder::new();
        builder.enable_push(false).initial_window_size(STREAM_WINDOW).initial_connection_window_size(CONNECTION_WINDOW);
        builder.max_send_buffer_size(SEND_BUFFER);
        let (send, mut connection) = builder.handshake(io).await?;
        let pings = connection.ping_pong();
        tokio::spawn(async move {
            // Errors of the connection reach the requests that use it.
            tokio::select! {
                _ = connection => {}
                () = wait_until_dead(pings) => {}
            }
        });
        Ok(Sender(send))
    }

    /// Waits until a request can be sent. An error means that the connection is unusable.
    pub(super) async fn ready(self) -> Result<SendRequest<Bytes>, Error> {
        self.0.ready().await
    }
}

/// Returns when the peer stops responding to PING frames.
async fn wait_until_dead(mut pings: Option<PingPong>) {
    let Some(pings) = &mut pings else { return std::future::pending().await };
    loop {
        sleep(PING_INTERVAL).await;
        let has_responded = pings.send_ping(Ping::opaque()).is_ok()
            && timeout(PING_TIMEOUT, poll_fn(|context| pings.poll_pong(context))).await.is_ok_and(|pong| pong.is_ok());
        if !has_responded {
            return;
        }
    }
}

/// Sends a request. Returns the head and the body of the response.
pub(super) async fn send(
    mut ready: SendRequest<Bytes>,
    request: Request<()>,
    body: Bytes,
) -> Result<(response::Parts, super::Body), TransportError> {
    let not_sent = |error: Error| TransportError::NotSent(error_chain(&error));
    let (answer, mut stream) = ready.send_request(request, body.is_empty()).map_err(not_sent)?;
    if !body.is_empty() {
        stream.send_data(body, true).map_err(not_sent)?;
    }
    let (head, body) = answer.await.map_err(|error| transport_error(&error))?.into_parts();
    Ok((head, super::Body::Http2(Body(body))))
}

pub(super) struct Body(RecvStream);

impl Body {
    pub(super) async fn next(&mut self) -> Option<Result<Bytes, TransportError>> {
        let chunk = self.0.data().await?.and_then(|chunk| {
            self.0.flow_control().release_capacity(chunk.len())?;
            Ok(chunk)
        });
        Some(chunk.map_err(|error| transport_error(&error)))
    }
}

/// Classifies an error. If a server refuses a stream, it has not processed the request on this stream.
fn transport_error(error: &Error) -> TransportError {
    match error.is_remote() && error.is_reset() && error.reason() == Some(Reason::REFUSED_STREAM) {
        true => TransportError::NotSent(error_chain(error)),
        false => TransportError::Lost(error_chain(error)),
    }
}

#[cfg(test)]
mod tests;
