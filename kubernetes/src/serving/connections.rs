//! Connections: how many there are, how long they stay, and how they end.

use std::collections::HashMap;
use std::convert::Infallible;
use std::pin::{Pin, pin};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use bytes::Bytes;
use http_body_util::Full;
use hyper::body::Incoming;
use hyper::server::conn::{http1, http2};
use hyper::service::{Service, service_fn};
use hyper::{Request, Response};
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use rustls::pki_types::CertificateDer;
use tokio::net::TcpStream;
use tokio::sync::{Notify, watch};
use tokio::time::{sleep, timeout};
use tokio_rustls::TlsAcceptor;

/// How much a server gives to those who call.
#[derive(Clone, Copy, Debug)]
pub(super) struct Limits {
    /// Connections. One that is idle goes if there are more.
    pub(super) connections: usize,
    /// How long a connection may be idle.
    pub(super) idle: Duration,
    /// How long it may take to agree on TLS.
    pub(super) handshake: Duration,
    /// How long requests that are under way may take when a connection is to end.
    pub(super) last: Duration,
    /// Requests at a time on a connection of HTTP/2.
    pub(super) streams: u32,
    /// Bytes of the headers of a request.
    pub(super) headers: u32,
}

impl Default for Limits {
    /// kube-scheduler's where it has any.
    fn default() -> Self {
        Limits {
            connections: 100,
            idle: Duration::from_secs(90),
            handshake: Duration::from_secs(10),
            last: Duration::from_secs(5),
            streams: 100,
            headers: 64 << 10,
        }
    }
}

/// Bytes of an answer that wait to be sent on a connection of HTTP/2, and of a request's body that nobody reads.
const WAITING: usize = 64 << 10;

/// The other end of a connection.
#[derive(Debug)]
pub(super) struct Peer {
    /// What it showed.
    certificates: Mutex<Vec<CertificateDer<'static>>>,
    under_way: AtomicUsize,
    /// When something last happened, in milliseconds since `began`.
    last: AtomicU64,
    began: Instant,
    /// It ends after what is under way.
    to_end: Notify,
    /// It ends at once.
    to_go: Notify,
}

impl Peer {
    fn new(began: Instant) -> Self {
        let peer = Peer {
            certificates: Mutex::default(),
            under_way: AtomicUsize::new(0),
            last: AtomicU64::new(0),
            began,
            to_end: Notify::new(),
            to_go: Notify::new(),
        };
        peer.touch();
        peer
    }

    /// What it showed, the peer's own first.
    pub(super) fn certificates(&self) -> Vec<CertificateDer<'static>> {
        self.certificates.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The connection ends once requests that are under way are answered.
    pub(super) fn end(&self) {
        self.to_end.notify_one();
    }

    fn now(&self) -> u64 {
        u64::try_from(self.began.elapsed().as_millis()).unwrap_or(u64::MAX)
    }

    fn touch(&self) {
        self.last.store(self.now(), Ordering::Relaxed);
    }

    fn is_idle(&self) -> bool {
        self.under_way.load(Ordering::Relaxed) == 0
    }

    /// Waits until nothing has happened for some time.
    async fn idle(&self, time: Duration) {
        loop {
            let since = Duration::from_millis(self.now().saturating_sub(self.last.load(Ordering::Relaxed)));
            match time.checked_sub(since).filter(|left| !left.is_zero()) {
                Some(left) => sleep(left).await,
                None if self.is_idle() => return,
                None => sleep(time).await,
            }
        }
    }
}

/// A request that is under way.
struct UnderWay(Arc<Peer>);

impl UnderWay {
    fn new(peer: Arc<Peer>) -> Self {
        peer.under_way.fetch_add(1, Ordering::Relaxed);
        UnderWay(peer)
    }
}

impl Drop for UnderWay {
    fn drop(&mut self) {
        self.0.touch();
        self.0.under_way.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Whoever is connected.
#[derive(Debug)]
pub(super) struct Connections {
    peers: Mutex<HashMap<u64, Arc<Peer>>>,
    next: AtomicU64,
    began: Instant,
    limits: Limits,
}

/// Whoever answers requests.
pub(super) trait Answers: Send + Sync + 'static {
    /// Answers a request.
    fn answer(&self, peer: &Peer, request: Request<Incoming>) -> impl Future<Output = Response<Full<Bytes>>> + Send;
}

impl Connections {
    pub(super) fn new(limits: Limits) -> Self {
        Connections { peers: Mutex::default(), next: AtomicU64::new(0), began: Instant::now(), limits }
    }

    /// Makes room for one more; if there is none to make, nobody comes in.
    fn enter(&self) -> Option<(u64, Arc<Peer>)> {
        let mut peers = self.peers.lock().unwrap_or_else(PoisonError::into_inner);
        if peers.len() >= self.limits.connections {
            let idle = peers.iter().filter(|(_, peer)| peer.is_idle());
            let (&id, _) = idle.min_by_key(|(_, peer)| peer.last.load(Ordering::Relaxed))?;
            peers.remove(&id)?.to_go.notify_one();
        }
        let id = self.next.fetch_add(1, Ordering::Relaxed);
        let peer = Arc::new(Peer::new(self.began));
        peers.insert(id, peer.clone());
        Some((id, peer))
    }

    fn leave(&self, id: u64) {
        self.peers.lock().unwrap_or_else(PoisonError::into_inner).remove(&id);
    }

    /// Serves a connection until it ends.
    pub(super) async fn serve<A: Answers>(
        &self,
        stream: TcpStream,
        tls: TlsAcceptor,
        answers: Arc<A>,
        mut stop: watch::Receiver<bool>,
    ) {
        let Some((id, peer)) = self.enter() else {
            tracing::warn!("A connection was refused: {} are busy", self.limits.connections);
            return;
        };
        tokio::select! {
            () = self.talk(stream, tls, answers, &peer, &mut stop) => {}
            () = peer.to_go.notified() => {}
        }
        self.leave(id);
    }

    async fn talk<A: Answers>(
        &self,
        stream: TcpStream,
        tls: TlsAcceptor,
        answers: Arc<A>,
        peer: &Arc<Peer>,
        stop: &mut watch::Receiver<bool>,
    ) {
        // An answer goes out at once, small as it may be. If that cannot be had, it goes out later.
        let _later = stream.set_nodelay(true);
        let stream = match timeout(self.limits.handshake, tls.accept(stream)).await {
            Ok(Ok(stream)) => stream,
            Ok(Err(error)) => return tracing::debug!("TLS handshake error: {error}"),
            Err(_) => return tracing::debug!("TLS handshake error: it took too long"),
        };
        let (_, session) = stream.get_ref();
        let is_http2 = session.alpn_protocol() == Some(b"h2");
        let certificates = session.peer_certificates().unwrap_or_default().to_vec();
        *peer.certificates.lock().unwrap_or_else(PoisonError::into_inner) = certificates;
        peer.touch();

        let of = peer.clone();
        let service = service_fn(move |request| {
            let (answers, under_way) = (answers.clone(), UnderWay::new(of.clone()));
            async move { Ok::<_, Infallible>(answers.answer(&under_way.0, request).await) }
        });
        let stream = TokioIo::new(stream);
        let limits = &self.limits;
        if is_http2 {
            let window = u32::try_from(WAITING).unwrap_or(u32::MAX);
            let connection = http2::Builder::new(TokioExecutor::new())
                .timer(TokioTimer::new())
                .max_concurrent_streams(limits.streams)
                .max_header_list_size(limits.headers)
                .initial_stream_window_size(window)
                .initial_connection_window_size(window)
                .max_send_buf_size(WAITING)
                .serve_connection(stream, service);
            self.drive(connection, peer, stop).await;
        } else {
            // How long a request may take to arrive is part of how long a connection may be idle.
            let connection = http1::Builder::new()
                .timer(TokioTimer::new())
                .header_read_timeout(None)
                .max_buf_size(limits.headers as usize)
                .serve_connection(stream, service);
            self.drive(connection, peer, stop).await;
        }
    }

    async fn drive<C: Ends>(&self, connection: C, peer: &Peer, stop: &mut watch::Receiver<bool>) {
        let mut connection = pin!(connection);
        // How it ends is the client's matter.
        tokio::select! {
            _ended = connection.as_mut() => return,
            _stop = stop.wait_for(|stop| *stop) => {}
            () = peer.to_end.notified() => {}
            () = peer.idle(self.limits.idle) => {}
        }
        connection.as_mut().end();
        let _ended = timeout(self.limits.last, connection).await;
    }
}

/// A connection that can end once requests that are under way are answered.
trait Ends: Future {
    fn end(self: Pin<&mut Self>);
}

type Answer = Response<Full<Bytes>>;
type Stream = TokioIo<tokio_rustls::server::TlsStream<TcpStream>>;

impl<S> Ends for http1::Connection<Stream, S>
where
    S: Service<Request<Incoming>, Response = Answer, Error = Infallible>,
{
    fn end(self: Pin<&mut Self>) {
        self.graceful_shutdown();
    }
}

impl<S> Ends for http2::Connection<Stream, S, TokioExecutor>
where
    S: Service<Request<Incoming>, Response = Answer, Error = Infallible>,
    S::Future: Send + 'static,
{
    fn end(self: Pin<&mut Self>) {
        self.graceful_shutdown();
    }
}
