//! The client side of a connection: its address and certificates, its activity, and signals that end the connection.

use std::net::IpAddr;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use rustls::pki_types::CertificateDer;
use tokio::sync::Notify;
use tokio::time::sleep;

#[derive(Debug)]
pub(super) struct Peer {
    address: IpAddr,
    /// Certificates that the peer presented.
    certificates: Mutex<Vec<CertificateDer<'static>>>,
    /// Number of requests in flight.
    in_flight: AtomicUsize,
    /// Number of requests in flight that wait for a review.
    waiting_for_review: AtomicUsize,
    /// Start of the headers that are still incomplete, in milliseconds since `started`, plus one; 0 if no headers are
    /// incomplete.
    head: AtomicU64,
    /// Time of the last activity, in milliseconds since `started`.
    last: AtomicU64,
    started: Instant,
    /// Ends the connection after the requests in flight.
    ending: Notify,
    /// Ends the connection at once.
    displaced: Notify,
}

impl Peer {
    pub(super) fn new(started: Instant, address: IpAddr) -> Self {
        let peer = Peer {
            address,
            certificates: Mutex::default(),
            in_flight: AtomicUsize::new(0),
            waiting_for_review: AtomicUsize::new(0),
            head: AtomicU64::new(0),
            last: AtomicU64::new(0),
            started,
            ending: Notify::new(),
            displaced: Notify::new(),
        };
        peer.touch();
        peer
    }

    pub(super) fn address(&self) -> IpAddr {
        self.address
    }

    /// Records that a request waits for a review, until the returned guard is dropped.
    pub(super) fn review(&self) -> ReviewGuard<'_> {
        self.waiting_for_review.fetch_add(1, Ordering::Relaxed);
        ReviewGuard(self)
    }

    /// Returns the certificates of the peer, the leaf certificate first.
    pub(super) fn certificates(&self) -> Vec<CertificateDer<'static>> {
        self.certificates.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub(super) fn set_certificates(&self, certificates: Vec<CertificateDer<'static>>) {
        *self.certificates.lock().unwrap_or_else(PoisonError::into_inner) = certificates;
    }

    /// Ends the connection after the requests in flight.
    pub(super) fn end(&self) {
        self.ending.notify_one();
    }

    /// Waits for [`Peer::end`].
    pub(super) async fn ended(&self) {
        self.ending.notified().await;
    }

    /// Ends the connection at once.
    pub(super) fn displace(&self) {
        self.displaced.notify_one();
    }

    /// Waits for [`Peer::displace`].
    pub(super) async fn displaced(&self) {
        self.displaced.notified().await;
    }

    fn now(&self) -> u64 {
        u64::try_from(self.started.elapsed().as_millis()).unwrap_or(u64::MAX)
    }

    /// Records activity.
    pub(super) fn touch(&self) {
        self.last.store(self.now(), Ordering::Relaxed);
    }

    /// Returns the time of the last activity, in milliseconds since `started`. All connections have the same `started`.
    pub(super) fn last_activity(&self) -> u64 {
        self.last.load(Ordering::Relaxed)
    }

    pub(super) fn is_idle(&self) -> bool {
        self.in_flight.load(Ordering::Relaxed) == 0
    }

    /// Returns whether every request in flight waits for a review; also `true` if no request is in flight.
    pub(super) fn can_be_displaced(&self) -> bool {
        self.in_flight.load(Ordering::Relaxed) <= self.waiting_for_review.load(Ordering::Relaxed)
    }

    /// Records the start of headers, unless it is recorded already or a request is in flight.
    pub(super) fn begin_head(&self) {
        if self.is_idle() {
            let _began_before = self.head.compare_exchange(0, self.now() + 1, Ordering::Relaxed, Ordering::Relaxed);
        }
    }

    /// Waits until headers have been incomplete for longer than `time`.
    pub(super) async fn late_head(&self, time: Duration) {
        loop {
            sleep(time / 4).await;
            let head_start = self.head.load(Ordering::Relaxed);
            if head_start > 0 && Duration::from_millis(self.now().saturating_sub(head_start - 1)) >= time {
                return;
            }
        }
    }

    /// Waits until the connection has been idle for `time`.
    pub(super) async fn idle(&self, time: Duration) {
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

pub(super) struct RequestInFlight(Arc<Peer>);

impl RequestInFlight {
    pub(super) fn new(peer: Arc<Peer>) -> Self {
        peer.in_flight.fetch_add(1, Ordering::Relaxed);
        peer.head.store(0, Ordering::Relaxed);
        RequestInFlight(peer)
    }

    pub(super) fn peer(&self) -> &Peer {
        &self.0
    }
}

/// Request that waits for a review.
pub(super) struct ReviewGuard<'a>(&'a Peer);

impl Drop for ReviewGuard<'_> {
    fn drop(&mut self) {
        self.0.waiting_for_review.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Drop for RequestInFlight {
    fn drop(&mut self) {
        self.0.touch();
        self.0.in_flight.fetch_sub(1, Ordering::Relaxed);
    }
}
