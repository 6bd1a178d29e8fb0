//! One connection for many requests, opened by the first one and reopened after a failure.

use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;
use futures_util::FutureExt;
use futures_util::future::{BoxFuture, Shared};
use hyper::Request;
use hyper::http::response;

use super::dial::Server;
use super::{Body, error_chain, http1, http2};
use crate::transport::TransportError;

/// Connection that the requests of one class share.
pub(super) struct SharedConnection {
    server: Arc<Server>,
    connection: Mutex<Option<Connecting>>,
}

/// Connection, or an attempt to open one. All requests that arrive during the attempt wait for it.
type Connecting = Shared<BoxFuture<'static, Result<Connection, Arc<str>>>>;

#[derive(Clone)]
enum Connection {
    Http1(http1::Sender),
    Http2(http2::Sender),
}

impl Connection {
    async fn make(server: Arc<Server>) -> Result<Connection, Arc<str>> {
        let stream = server.dial().await.map_err(|error| error_chain(&error))?;
        match stream.is_http2 {
            true => {
                http2::Sender::new(stream.io).await.map(Connection::Http2).map_err(|error| error_chain(&error).into())
            }
            false => Ok(Connection::Http1(http1::Sender::new(server, stream))),
        }
    }
}

impl SharedConnection {
    /// Creates a connection that the first request opens.
    pub(super) fn new(server: Arc<Server>) -> Self {
        SharedConnection { server, connection: Mutex::new(None) }
    }

    /// Sends a request. Returns the head and the body of the response.
    pub(super) async fn send(
        &self,
        request: Request<()>,
        body: Bytes,
    ) -> Result<(response::Parts, Body), TransportError> {
        let mut why = None;
        // The connection may have closed since it was last used. In that case, retry once with a new one.
        for _ in 0..2 {
            let connecting = self.connecting();
            match connecting.clone().await {
                Err(why) => {
                    self.forget(&connecting);
                    return Err(TransportError::NotSent(why.to_string()));
                }
                Ok(Connection::Http1(connections)) => {
                    let answer = connections.send(request, body).await;
                    // The server may have been replaced by one with another protocol, so negotiate again.
                    if matches!(answer, Err(TransportError::NotSent(_))) {
                        self.forget(&connecting);
                    }
                    return answer;
                }
                Ok(Connection::Http2(connection)) => match connection.ready().await {
                    Ok(ready) => return http2::send(ready, request, body).await,
                    Err(error) => {
                        self.forget(&connecting);
                        why = Some(error);
                    }
                },
            }
        }
        Err(TransportError::NotSent(why.map(|error| error_chain(&error)).unwrap_or_default()))
    }

    fn connecting(&self) -> Connecting {
        let mut connection = self.connection.lock().unwrap_or_else(PoisonError::into_inner);
        let make = || Connection::make(self.server.clone()).boxed().shared();
        connection.get_or_insert_with(make).clone()
    }

    /// Drops a failed connection, unless a new one has replaced it already.
    fn forget(&self, gone: &Connecting) {
        let mut connection = self.connection.lock().unwrap_or_else(PoisonError::into_inner);
        if connection.as_ref().is_some_and(|connection| connection.ptr_eq(gone)) {
            *connection = None;
        }
    }
}
