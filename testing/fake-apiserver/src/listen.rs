//! Connections of clients.

use std::convert::Infallible;
use std::net::TcpListener;
use std::sync::Arc;

use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo};
use hyper_util::server::conn::auto;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio::sync::{Notify, watch};
use tokio_rustls::TlsAcceptor;

use crate::service::serve;
use crate::shared::Shared;
use crate::tls::Tls;

/// Maximum number of concurrent requests on a connection, as on a real server.
const MAX_CONCURRENT_STREAMS: u32 = 100;

/// Serves connections until `stop` is set, then closes all of them.
pub(crate) fn run(listener: TcpListener, shared: Arc<Shared>, tls: Option<Tls>, mut stop: watch::Receiver<bool>) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.unwrap_or_else(|error| panic!("no runtime for the fake API server: {error}"));
    runtime.block_on(async {
        tokio::select! {
            never = accept(listener, shared, tls) => match never {},
            _ = stop.changed() => {}
        }
    });
}

async fn accept(listener: TcpListener, shared: Arc<Shared>, tls: Option<Tls>) -> Infallible {
    let listener = tokio::net::TcpListener::from_std(listener);
    let listener = listener.unwrap_or_else(|error| panic!("the fake API server cannot listen: {error}"));
    let tls = tls.map(|tls| TlsAcceptor::from(tls.config));
    loop {
        // Errors of a single connection attempt are ignored.
        let Ok((stream, _)) = listener.accept().await else { continue };
        tokio::spawn(connection(stream, shared.clone(), tls.clone()));
    }
}

async fn connection(stream: TcpStream, shared: Arc<Shared>, tls: Option<TlsAcceptor>) {
    let mut cut = shared.cut.subscribe();
    let broken = Arc::new(Notify::new());
    // Errors of a connection are reported by its client.
    let serving = async {
        // Without this option, small responses are delayed.
        let _result = stream.set_nodelay(true);
        match tls {
            None => serve_http(stream, shared, broken.clone()).await,
            Some(tls) => {
                if let Ok(stream) = tls.accept(stream).await {
                    serve_http(stream, shared, broken.clone()).await;
                }
            }
        }
    };
    tokio::select! {
        () = serving => {}
        () = broken.notified() => {}
        _ = cut.changed() => {}
    }
}

async fn serve_http<S: AsyncRead + AsyncWrite + Unpin + Send + 'static>(
    stream: S,
    shared: Arc<Shared>,
    broken: Arc<Notify>,
) {
    let service = service_fn(move |request| serve(shared.clone(), broken.clone(), request));
    let mut builder = auto::Builder::new(TokioExecutor::new());
    builder.http2().max_concurrent_streams(MAX_CONCURRENT_STREAMS);
    let _result = builder.serve_connection(TokioIo::new(stream), service).await;
}
