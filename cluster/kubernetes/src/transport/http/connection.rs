//! One connection for many requests, made when the first one needs it, and anew when it is gone.

use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;
use futures_util::FutureExt;
use futures_util::future::{BoxFuture, Shared};
use hyper::Request;
use hyper::http::response;

use super::dial::Server;
use super::{Body, error_chain, http1, http2};
use crate::transport::TransportError;

/// The way that some requests go.
pub(super) struct SharedConnection {
    server: Arc<Server>,
    connection: Mutex<Option<Connecting>>,
}

/// A connection that is being made, or was: all who need it wait for the same one.
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
    /// There is no connection so far.
    pub(super) fn new(server: Arc<Server>) -> Self {
        SharedConnection { server, connection: Mutex::new(None) }
    }

    /// Sends a request. Returns what the answer begins with, and what it goes on with.
    pub(super) async fn send(
        &self,
        request: Request<()>,
        body: Bytes,
    ) -> Result<(response::Parts, Body), TransportError> {
        let mut why = None;
        // A connection that was fine when it was last used may be gone. Then there is a new one, once.
        for _ in 0..2 {
            let connecting = self.connecting();
            match connecting.clone().await {
                Err(why) => {
                    self.forget(&connecting);
                    return Err(TransportError::NotSent(why.to_string()));
                }
                Ok(Connection::Http1(connections)) => {
                    let answer = connections.send(request, body).await;
                    // What was agreed on with the server that is gone need not be so with the next one.
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

    /// A connection is no good. If there is another one by now, that stays.
    fn forget(&self, gone: &Connecting) {
        let mut connection = self.connection.lock().unwrap_or_else(PoisonError::into_inner);
        if connection.as_ref().is_some_and(|connection| connection.ptr_eq(gone)) {
            *connection = None;
        }
    }
}
