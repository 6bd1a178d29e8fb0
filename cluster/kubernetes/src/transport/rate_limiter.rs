//! Client rate limit: `--kube-api-qps` and `--kube-api-burst`.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use k8s_openapi::jiff::Timestamp;
use schedc_core::column::CacheSize;

use super::{ApiRequest, ApiResponse, Format, RequestClass, StreamingTransport, Transport, TransportError, Verb};

/// Transport with a separate rate limit for each request class: bindings never wait for other requests. Watches and
/// leader election have no limit. Clones share the token buckets.
#[derive(Clone, Debug)]
pub struct RateLimitedTransport<T> {
    inner: T,
    rate_limit: Option<RateLimiterConfig>,
    buckets: Arc<Mutex<[Bucket; RequestClass::COUNT]>>,
}

/// Client rate limit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RateLimiterConfig {
    /// Sustained requests per second.
    pub qps: f32,
    /// Number of requests that may be sent at once.
    pub burst: u32,
}

/// client-go's token bucket. Tokens are added over time, up to the burst. While requests wait for tokens, the number of
/// tokens is negative.
#[derive(Clone, Copy, Debug)]
struct Bucket {
    tokens: f64,
    filled: Duration,
}

impl Bucket {
    /// Takes a token. Returns how long the request must wait for it.
    fn take(&mut self, rate_limit: RateLimiterConfig, clock: Duration) -> Duration {
        let (qps, burst) = (f64::from(rate_limit.qps), f64::from(rate_limit.burst));
        let gained = clock.saturating_sub(self.filled).as_secs_f64() * qps;
        self.tokens = burst.min(self.tokens + gained) - 1.0;
        self.filled = self.filled.max(clock);
        Duration::try_from_secs_f64((-self.tokens).max(0.0) / qps).unwrap_or(Duration::MAX)
    }
}

impl<T> RateLimitedTransport<T> {
    /// Creates a rate-limited transport. `None`, or a rate of 0 or less, means no limit. A burst of 0 counts as 1.
    pub fn new(inner: T, rate_limit: Option<RateLimiterConfig>) -> Self {
        let rate_limit = rate_limit
            .filter(|rate_limit| rate_limit.qps > 0.0)
            .map(|rate_limit| RateLimiterConfig { burst: rate_limit.burst.max(1), ..rate_limit });
        let tokens = rate_limit.map_or(0.0, |rate_limit| f64::from(rate_limit.burst));
        let buckets = [Bucket { tokens, filled: Duration::ZERO }; RequestClass::COUNT];
        RateLimitedTransport { inner, rate_limit, buckets: Arc::new(Mutex::new(buckets)) }
    }
}

impl<T: Transport> RateLimitedTransport<T> {
    async fn wait_for_token(&self, class: RequestClass, verb: Verb) {
        let Some(rate_limit) = self.rate_limit.filter(|_| !matches!(class, RequestClass::Watch | RequestClass::Lease))
        else {
            return;
        };
        let wait = {
            let mut buckets = self.buckets.lock().unwrap_or_else(PoisonError::into_inner);
            buckets[class as usize].take(rate_limit, self.inner.clock())
        };
        if !wait.is_zero() {
            self.inner.sleep(wait).await;
        }
        self.inner.waited(verb, wait);
    }
}

impl<T: Transport> Transport for RateLimitedTransport<T> {
    async fn call(&self, class: RequestClass, call: ApiRequest) -> Result<ApiResponse, TransportError> {
        self.wait_for_token(class, call.verb).await;
        self.inner.call(class, call).await
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
    fn waited(&self, verb: Verb, time: Duration) {
        self.inner.waited(verb, time);
    }
    fn binding_requested(&self, time: Duration) {
        self.inner.binding_requested(time);
    }
    fn report_cache(&self, size: CacheSize) {
        self.inner.report_cache(size);
    }
}

impl<S: StreamingTransport> StreamingTransport for RateLimitedTransport<S> {
    type Chunks = S::Chunks;

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
    use bytes::Bytes;

    use super::*;

    #[test]
    fn a_burst_and_then_the_rate() {
        let rate_limit = RateLimiterConfig { qps: 50.0, burst: 3 };
        let mut bucket = Bucket { tokens: 3.0, filled: Duration::ZERO };
        let mut take = |milliseconds| bucket.take(rate_limit, Duration::from_millis(milliseconds)).as_millis();
        assert_eq!([0, 0, 0, 0, 0].map(&mut take), [0, 0, 0, 20, 40]);
        // A request takes its token before it waits.
        assert_eq!(take(20), 40);
        assert_eq!(take(100), 0);
        // A long time fills no more than the burst.
        assert_eq!([10_000, 10_000, 10_000, 10_000].map(&mut take), [0, 0, 0, 20]);
    }

    /// Responds at once; only waiting takes time.
    #[derive(Clone, Default)]
    struct Clock(Arc<Mutex<Duration>>);

    impl Transport for Clock {
        async fn call(&self, _: RequestClass, _: ApiRequest) -> Result<ApiResponse, TransportError> {
            Ok(ApiResponse { code: 200, retry_after: None, body: Vec::new().into() })
        }
        async fn sleep(&self, time: Duration) {
            *self.0.lock().unwrap() += time;
        }
        fn now(&self) -> Timestamp {
            Timestamp::UNIX_EPOCH
        }
        fn clock(&self) -> Duration {
            *self.0.lock().unwrap()
        }
    }

    #[tokio::test]
    async fn request_classes_have_separate_limits() {
        let took = async |rate_limit: Option<RateLimiterConfig>, classes: &[RequestClass]| {
            let paced = RateLimitedTransport::new(Clock::default(), rate_limit);
            for class in classes {
                let call = ApiRequest { verb: Verb::Get, path: String::new(), body: Bytes::new() };
                paced.call(*class, call).await.unwrap();
            }
            paced.clock().as_millis()
        };
        let slow = Some(RateLimiterConfig { qps: 10.0, burst: 0 });
        assert_eq!(took(slow, &[RequestClass::Event, RequestClass::Event, RequestClass::Event]).await, 200);
        assert_eq!(
            took(
                slow,
                &[
                    RequestClass::Event,
                    RequestClass::Bind,
                    RequestClass::Write,
                    RequestClass::Lease,
                    RequestClass::Lease,
                    RequestClass::Watch
                ]
            )
            .await,
            0
        );
        assert_eq!(took(None, &[RequestClass::Event; 100]).await, 0);
        assert_eq!(took(Some(RateLimiterConfig { qps: 0.0, burst: 5 }), &[RequestClass::Event; 100]).await, 0);
    }
}
