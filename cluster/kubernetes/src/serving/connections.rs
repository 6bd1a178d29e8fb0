//! Connections of the server: their number, timeouts and shutdown.

use std::cmp::Reverse;
use std::collections::HashMap;
use std::convert::Infallible;
use std::net::{IpAddr, Ipv4Addr};
use std::pin::{Pin, pin};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use bytes::Bytes;
use http_body_util::Full;
use hyper::body::Incoming;
use hyper::server::conn::{http1, http2};
use hyper::service::{Service, service_fn};
use hyper::{Request, Response};
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use tokio::net::TcpStream;
use tokio::sync::watch;
use tokio::time::timeout;
use tokio_rustls::TlsAcceptor;

use super::peer::{Peer, RequestInFlight};
use super::tracked::TrackedStream;
use crate::logs::RateLimit;

/// Resource limits of the server.
#[derive(Clone, Copy, Debug)]
pub(super) struct Limits {
    /// Maximum number of connections. At the maximum, a new connection displaces one that is idle or waits for a
    /// review. If there is no such connection, the new one is refused.
    pub(super) connections: usize,
    /// Maximum number of requests that wait for a review. The other connections remain for requests without a review.
    pub(super) reviews: usize,
    /// Timeout of the headers of a request. For the first request, the time starts with the end of the TLS handshake.
    pub(super) head: Duration,
    /// Timeout of an idle connection.
    pub(super) idle: Duration,
    /// Timeout of the TLS handshake.
    pub(super) handshake: Duration,
    /// Grace period of requests in flight when a connection ends.
    pub(super) last: Duration,
    /// Maximum number of concurrent requests on an HTTP/2 connection.
    pub(super) streams: u32,
    /// Maximum size of the headers of a request in bytes.
    pub(super) headers: u32,
}

impl Default for Limits {
    /// Returns kube-scheduler's limits, and limits of this server where kube-scheduler has none.
    fn default() -> Self {
        Limits {
            connections: 100,
            reviews: 80,
            head: Duration::from_secs(10),
            idle: Duration::from_secs(90),
            handshake: Duration::from_secs(10),
            last: Duration::from_secs(5),
            streams: 100,
            headers: 64 << 10,
        }
    }
}

/// Size in bytes of an HTTP/2 connection's send buffer, and of its receive window; request bodies are never read.
const BUFFER_BYTES: usize = 64 << 10;

#[derive(Debug)]
pub(super) struct Connections {
    peers: Mutex<HashMap<u64, Arc<Peer>>>,
    next: AtomicU64,
    began: Instant,
    limits: Limits,
    refused: RateLimit,
}

pub(super) trait RequestHandler: Send + Sync + 'static {
    fn answer(&self, peer: &Peer, request: Request<Incoming>) -> impl Future<Output = Response<Full<Bytes>>> + Send;
}

impl Connections {
    pub(super) fn new(limits: Limits) -> Self {
        let (peers, next, refused) = (Mutex::default(), AtomicU64::new(0), RateLimit::default());
        Connections { peers, next, began: Instant::now(), limits, refused }
    }

    /// Registers a connection, and displaces another one if necessary. `None`: the connection is refused.
    fn enter(&self, address: IpAddr) -> Option<(u64, Arc<Peer>)> {
        let mut peers = self.peers.lock().unwrap_or_else(PoisonError::into_inner);
        if peers.len() >= self.limits.connections {
            let id = least_important(&peers)?;
            peers.remove(&id)?.displace();
        }
        let id = self.next.fetch_add(1, Ordering::Relaxed);
        let peer = Arc::new(Peer::new(self.began, address));
        peers.insert(id, peer.clone());
        Some((id, peer))
    }

    fn leave(&self, id: u64) {
        self.peers.lock().unwrap_or_else(PoisonError::into_inner).remove(&id);
    }

    /// Serves a connection until it ends.
    pub(super) async fn serve<A: RequestHandler>(
        &self,
        stream: TcpStream,
        tls: TlsAcceptor,
        answers: Arc<A>,
        mut stop: watch::Receiver<bool>,
    ) {
        let address = stream.peer_addr().map_or(Ipv4Addr::UNSPECIFIED.into(), |address| address.ip());
        let Some((id, peer)) = self.enter(address) else {
            if let Some(others) = self.refused.allow(self.began.elapsed()) {
                tracing::warn!(others, "Refused a connection: all {} connections are busy", self.limits.connections);
            }
            return;
        };
        tokio::select! {
            () = self.talk(stream, tls, answers, &peer, &mut stop) => {}
            () = peer.displaced() => {}
        }
        self.leave(id);
    }

    async fn talk<A: RequestHandler>(
        &self,
        stream: TcpStream,
        tls: TlsAcceptor,
        answers: Arc<A>,
        peer: &Arc<Peer>,
        stop: &mut watch::Receiver<bool>,
    ) {
        // Small responses are sent at once. If the option cannot be set, they are sent with a delay.
        let _later = stream.set_nodelay(true);
        let stream = match timeout(self.limits.handshake, tls.accept(stream)).await {
            Ok(Ok(stream)) => stream,
            Ok(Err(error)) => return tracing::debug!("TLS handshake error: {error}"),
            Err(_) => return tracing::debug!("TLS handshake error: it took too long"),
        };
        let (_, session) = stream.get_ref();
        let is_http2 = session.alpn_protocol() == Some(b"h2");
        let certificates = session.peer_certificates().unwrap_or_default().to_vec();
        peer.set_certificates(certificates);
        peer.touch();
        peer.begin_head();

        let request_peer = peer.clone();
        let service = service_fn(move |request| {
            let (answers, in_flight) = (answers.clone(), RequestInFlight::new(request_peer.clone()));
            async move { Ok::<_, Infallible>(answers.answer(in_flight.peer(), request).await) }
        });
        let stream = TokioIo::new(TrackedStream::new(stream, (!is_http2).then(|| peer.clone())));
        let limits = &self.limits;
        if is_http2 {
            let window = u32::try_from(BUFFER_BYTES).unwrap_or(u32::MAX);
            let connection = http2::Builder::new(TokioExecutor::new())
                .timer(TokioTimer::new())
                .max_concurrent_streams(limits.streams)
                .max_header_list_size(limits.headers)
                .initial_stream_window_size(window)
                .initial_connection_window_size(window)
                .max_send_buf_size(BUFFER_BYTES)
                .serve_connection(stream, service);
            self.drive(connection, peer, stop).await;
        } else {
            // hyper's own header timeout would also end connections that are idle between requests.
            let connection = http1::Builder::new()
                .timer(TokioTimer::new())
                .header_read_timeout(None)
                .max_buf_size(limits.headers as usize)
                .serve_connection(stream, service);
            self.drive(connection, peer, stop).await;
        }
    }

    async fn drive<C: GracefulShutdown>(&self, connection: C, peer: &Peer, stop: &mut watch::Receiver<bool>) {
        let mut connection = pin!(connection);
        // Errors of a connection are ignored: the client notices them.
        tokio::select! {
            _ended = connection.as_mut() => return,
            _stop = stop.wait_for(|stop| *stop) => {}
            () = peer.ended() => {}
            () = peer.idle(self.limits.idle) => {}
            () = peer.late_head(self.limits.head) => return tracing::debug!("Headers of a request took too long"),
        }
        connection.as_mut().shut_down();
        let _ended = timeout(self.limits.last, connection).await;
    }
}

/// Returns the connection to displace, or `None` if every connection has a request that is being answered. Connections
/// of the address with the most connections come first, so a client with many connections displaces its own. Among
/// these, idle connections precede those that wait for a review, and less recently active ones precede others.
fn least_important(peers: &HashMap<u64, Arc<Peer>>) -> Option<u64> {
    let mut of_address = HashMap::<_, usize>::new();
    peers.values().for_each(|peer| *of_address.entry(peer.address()).or_default() += 1);
    let importance = |peer: &Peer| {
        let connections = of_address.get(&peer.address()).copied().unwrap_or_default();
        (Reverse(connections), !peer.is_idle(), peer.last_activity())
    };
    let can_be_displaced = peers.iter().filter(|(_, peer)| peer.can_be_displaced());
    can_be_displaced.min_by_key(|(id, peer)| (importance(peer), **id)).map(|(id, _)| *id)
}

/// Connection that can shut down after the requests in flight.
trait GracefulShutdown: Future {
    fn shut_down(self: Pin<&mut Self>);
}

type Answer = Response<Full<Bytes>>;
type Stream = TokioIo<TrackedStream>;

impl<S> GracefulShutdown for http1::Connection<Stream, S>
where
    S: Service<Request<Incoming>, Response = Answer, Error = Infallible>,
{
    fn shut_down(self: Pin<&mut Self>) {
        self.graceful_shutdown();
    }
}

impl<S> GracefulShutdown for http2::Connection<Stream, S, TokioExecutor>
where
    S: Service<Request<Incoming>, Response = Answer, Error = Infallible>,
    S::Future: Send + 'static,
{
    fn shut_down(self: Pin<&mut Self>) {
        self.graceful_shutdown();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn address(last: u8) -> IpAddr {
        [10, 0, 0, last].into()
    }

    fn full(connections: usize, addresses: &[u8]) -> (Connections, Vec<Arc<Peer>>) {
        let connections = Connections::new(Limits { connections, ..Limits::default() });
        let peers = addresses.iter().map(|last| connections.enter(address(*last)).unwrap().1).collect();
        (connections, peers)
    }

    /// Returns the remaining connections in order of arrival.
    fn left(connections: &Connections) -> Vec<u64> {
        let mut left: Vec<_> = connections.peers.lock().unwrap().keys().copied().collect();
        left.sort_unstable();
        left
    }

    #[test]
    fn an_address_with_many_connections_displaces_its_own() {
        let (connections, _peers) = full(4, &[1, 2, 2, 2]);
        (0..10).for_each(|_| drop(connections.enter(address(2)).unwrap()));
        assert!(left(&connections).contains(&0), "the first one is the only one of its address");
        connections.enter(address(3)).unwrap();
        connections.enter(address(4)).unwrap();
        assert_eq!(left(&connections), [0, 13, 14, 15]);
    }

    #[test]
    fn connections_that_wait_for_a_review_are_displaced_after_idle_ones() {
        let (connections, peers) = full(3, &[1, 1, 1]);
        let mut in_flight: Vec<_> = peers.iter().map(|peer| RequestInFlight::new(peer.clone())).collect();
        assert!(connections.enter(address(2)).is_none(), "all are being answered");
        let _review = peers[1].review();
        in_flight.pop();
        let (_, third) = connections.enter(address(2)).unwrap();
        assert_eq!(left(&connections), [0, 1, 3], "the last one was idle");
        let _in_flight = RequestInFlight::new(third);
        connections.enter(address(3)).unwrap();
        assert_eq!(left(&connections), [0, 3, 4], "the second one waited for a review");
    }
}
