//! Leadership of this replica, and fencing of its writes.

use std::future::{Future, pending, poll_fn};
use std::pin::pin;
use std::task::Poll;
use std::time::Duration;

use k8s_openapi::jiff::Timestamp;
use schedc_core::column::CacheSize;
use tokio::sync::watch;

use crate::election::ElectionStatus;
use crate::transport::{ApiRequest, ApiResponse, Format, RequestClass, StreamingTransport, Transport, TransportError};

/// Whether this replica leads. Clones share the state.
#[derive(Clone, Debug)]
pub struct Leadership(Option<watch::Receiver<ElectionStatus>>);

impl Leadership {
    /// Creates the leadership of a replica without an election, which always leads: `--leader-elect=false`.
    pub fn alone() -> Self {
        Leadership(None)
    }

    /// Creates a leadership that follows the status of an election.
    pub fn elected(status: watch::Receiver<ElectionStatus>) -> Self {
        Leadership(Some(status))
    }

    /// Returns whether this replica leads at this time of the transport's clock.
    pub fn leads(&self, clock: Duration) -> bool {
        self.0.as_ref().is_none_or(|status| status.borrow().leads(clock))
    }

    /// Returns whether this replica lost the lease and will never lead again.
    pub fn is_lost(&self) -> bool {
        self.0.as_ref().is_some_and(|status| status.borrow().is_lost)
    }

    /// Returns whether the current leader is known.
    pub fn is_known(&self) -> bool {
        self.0.as_ref().is_none_or(|status| status.borrow().leader.is_some())
    }

    /// Waits until the status of the election may have changed; forever without an election.
    pub async fn changed(&mut self) {
        if let Some(status) = &mut self.0
            && status.changed().await.is_ok()
        {
            return;
        }
        pending().await
    }
}

/// Transport that sends bindings and other writes of objects only while this replica leads. A process that was
/// suspended cannot complete them after another replica took over. Requests for the lease are not fenced. Events are not
/// fenced either: they describe earlier attempts, and kube-scheduler sends them until its process ends.
#[derive(Clone, Debug)]
pub struct FencedTransport<T> {
    inner: T,
    leadership: Leadership,
}

impl<T> FencedTransport<T> {
    /// Creates a transport that sends fenced requests only while this replica leads.
    pub fn new(inner: T, leadership: Leadership) -> Self {
        FencedTransport { inner, leadership }
    }
}

impl<T: Transport> Transport for FencedTransport<T> {
    async fn call(&self, class: RequestClass, call: ApiRequest) -> Result<ApiResponse, TransportError> {
        let is_fenced = matches!(class, RequestClass::Bind | RequestClass::Write);
        let may_send = || !is_fenced || self.leadership.leads(self.inner.clock());
        let refused = || "another replica may lead by now".to_owned();
        if !may_send() {
            return Err(TransportError::NotSent(refused()));
        }
        let mut call = pin!(self.inner.call(class, call));
        // The call may still wait for a connection when the lease ends, and must not be sent then.
        poll_fn(|context| {
            if may_send() { call.as_mut().poll(context) } else { Poll::Ready(Err(TransportError::Lost(refused()))) }
        })
        .await
    }
    fn sleep(&self, time: Duration) -> impl Future<Output = ()> + Send {
        self.inner.sleep(time)
    }
    fn now(&self) -> Timestamp {
        self.inner.now()
    }
    fn clock(&self) -> Duration {
        self.inner.clock()
    }
    fn binding_requested(&self, time: Duration) {
        self.inner.binding_requested(time);
    }
    fn report_cache(&self, size: CacheSize) {
        self.inner.report_cache(size);
    }
}

impl<T: StreamingTransport> StreamingTransport for FencedTransport<T> {
    type Chunks = T::Chunks;

    fn open(
        &self,
        path: String,
        format: Format,
    ) -> impl Future<Output = Result<Result<Self::Chunks, ApiResponse>, TransportError>> + Send {
        self.inner.open(path, format)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicU64, Ordering};

    use bytes::Bytes;
    use futures_util::FutureExt;

    use super::*;
    use crate::transport::Verb;

    /// Transport that takes two seconds to connect.
    #[derive(Clone, Default)]
    struct Slow {
        seconds: Arc<AtomicU64>,
        sent: Arc<AtomicU64>,
    }

    impl Transport for Slow {
        async fn call(&self, _: RequestClass, _: ApiRequest) -> Result<ApiResponse, TransportError> {
            self.sleep(Duration::from_secs(2)).await;
            self.sent.fetch_add(1, Ordering::Relaxed);
            Ok(ApiResponse { code: 200, retry_after: None, body: Vec::new().into() })
        }
        async fn sleep(&self, time: Duration) {
            let end = self.clock() + time;
            poll_fn(|_| if self.clock() < end { Poll::Pending } else { Poll::Ready(()) }).await
        }
        fn now(&self) -> Timestamp {
            Timestamp::UNIX_EPOCH
        }
        fn clock(&self) -> Duration {
            Duration::from_secs(self.seconds.load(Ordering::Relaxed))
        }
    }

    #[test]
    fn requests_that_are_queued_when_the_lease_ends_are_not_sent() {
        // Remaining lease in seconds, request class, and whether the request is sent.
        for (lease, class, is_sent) in [
            (3, RequestClass::Bind, true),
            (2, RequestClass::Bind, false),
            (1, RequestClass::Write, false),
            (0, RequestClass::Write, false),
            (1, RequestClass::Event, true),
        ] {
            let status = ElectionStatus { leads_until: Some(Duration::from_secs(lease)), ..ElectionStatus::default() };
            let (_tell, status) = watch::channel(status);
            let slow = Slow::default();
            let fenced = FencedTransport::new(slow.clone(), Leadership::elected(status));
            let call = ApiRequest { verb: Verb::Create, path: String::new(), body: Bytes::new() };
            let mut call = pin!(fenced.call(class, call));
            let result = (0..3).find_map(|second| {
                slow.seconds.store(second, Ordering::Relaxed);
                call.as_mut().now_or_never()
            });
            let was_sent = slow.sent.load(Ordering::Relaxed) == 1;
            assert_eq!((result.map(|result| result.is_ok()), was_sent), (Some(is_sent), is_sent), "{lease} {class:?}");
        }
    }
}
