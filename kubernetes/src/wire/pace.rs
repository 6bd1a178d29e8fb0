//! No more requests than somebody asked for: `--kube-api-qps` and `--kube-api-burst`.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use k8s_openapi::jiff::Timestamp;

use super::{Answer, Call, Format, Lane, Silence, Streams, Transport, Verb};

/// A way on which requests take turns, those of each lane among themselves: bindings never wait for anything else. Watches
/// and leader election do not take part. Clones share the turns.
#[derive(Clone, Debug)]
pub struct Paced<T> {
    inner: T,
    pace: Option<Pace>,
    buckets: Arc<Mutex<[Bucket; Lane::COUNT]>>,
}

/// How many requests there may be.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pace {
    /// In a second, as time goes on.
    pub qps: f32,
    /// At once.
    pub burst: u32,
}

/// client-go's token bucket: it fills with time, up to the burst, and may be in debt to those who wait.
#[derive(Clone, Copy, Debug)]
struct Bucket {
    tokens: f64,
    filled: Duration,
}

impl Bucket {
    /// Takes a token, and says how long to wait for it.
    fn take(&mut self, pace: Pace, clock: Duration) -> Duration {
        let (qps, burst) = (f64::from(pace.qps), f64::from(pace.burst));
        let gained = clock.saturating_sub(self.filled).as_secs_f64() * qps;
        self.tokens = burst.min(self.tokens + gained) - 1.0;
        self.filled = self.filled.max(clock);
        Duration::try_from_secs_f64((-self.tokens).max(0.0) / qps).unwrap_or(Duration::MAX)
    }
}

impl<T> Paced<T> {
    /// `None`, or no more than nothing in a second: no limit. A burst of 0 is one of 1.
    pub fn new(inner: T, pace: Option<Pace>) -> Self {
        let pace = pace.filter(|pace| pace.qps > 0.0).map(|pace| Pace { burst: pace.burst.max(1), ..pace });
        let tokens = pace.map_or(0.0, |pace| f64::from(pace.burst));
        let buckets = [Bucket { tokens, filled: Duration::ZERO }; Lane::COUNT];
        Paced { inner, pace, buckets: Arc::new(Mutex::new(buckets)) }
    }
}

impl<T: Transport> Paced<T> {
    async fn turn(&self, lane: Lane, verb: Verb) {
        let Some(pace) = self.pace.filter(|_| !matches!(lane, Lane::Watch | Lane::Lease)) else { return };
        let wait = {
            let mut buckets = self.buckets.lock().unwrap_or_else(PoisonError::into_inner);
            buckets[lane as usize].take(pace, self.inner.clock())
        };
        if !wait.is_zero() {
            self.inner.sleep(wait).await;
        }
        self.inner.waited(verb, wait);
    }
}

impl<T: Transport> Transport for Paced<T> {
    async fn call(&self, lane: Lane, call: Call) -> Result<Answer, Silence> {
        self.turn(lane, call.verb).await;
        self.inner.call(lane, call).await
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
}

impl<S: Streams> Streams for Paced<S> {
    type Chunks = S::Chunks;

    fn open(
        &self,
        path: String,
        format: Format,
    ) -> impl Future<Output = Result<Result<Self::Chunks, Answer>, Silence>> + Send {
        self.inner.open(path, format)
    }
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;

    use super::*;

    #[test]
    fn a_burst_and_then_so_many_in_a_second() {
        let pace = Pace { qps: 50.0, burst: 3 };
        let mut bucket = Bucket { tokens: 3.0, filled: Duration::ZERO };
        let mut take = |milliseconds| bucket.take(pace, Duration::from_millis(milliseconds)).as_millis();
        assert_eq!([0, 0, 0, 0, 0].map(&mut take), [0, 0, 0, 20, 40]);
        // Who waits has taken a token already.
        assert_eq!(take(20), 40);
        assert_eq!(take(100), 0);
        // A long time fills no more than the burst.
        assert_eq!([10_000, 10_000, 10_000, 10_000].map(&mut take), [0, 0, 0, 20]);
    }

    /// Answers at once; only waiting takes time.
    #[derive(Clone, Default)]
    struct Clock(Arc<Mutex<Duration>>);

    impl Transport for Clock {
        async fn call(&self, _: Lane, _: Call) -> Result<Answer, Silence> {
            Ok(Answer { code: 200, retry_after: None, body: Vec::new().into() })
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
    async fn lanes_do_not_wait_for_each_other() {
        let took = async |pace: Option<Pace>, lanes: &[Lane]| {
            let paced = Paced::new(Clock::default(), pace);
            for lane in lanes {
                let call = Call { verb: Verb::Get, path: String::new(), body: Bytes::new() };
                paced.call(*lane, call).await.unwrap();
            }
            paced.clock().as_millis()
        };
        let slow = Some(Pace { qps: 10.0, burst: 0 });
        assert_eq!(took(slow, &[Lane::Event, Lane::Event, Lane::Event]).await, 200);
        assert_eq!(took(slow, &[Lane::Event, Lane::Bind, Lane::Write, Lane::Lease, Lane::Lease, Lane::Watch]).await, 0);
        assert_eq!(took(None, &[Lane::Event; 100]).await, 0);
        assert_eq!(took(Some(Pace { qps: 0.0, burst: 5 }), &[Lane::Event; 100]).await, 0);
    }
}
