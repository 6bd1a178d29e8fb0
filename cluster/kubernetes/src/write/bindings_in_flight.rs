//! Bindings in flight.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use tracing::{info, warn};

use super::stall::{Stall, StallReport};

/// Minimum number of bindings in flight with which the server, and not this process, limits the binding rate.
const BUSY: usize = 16;
/// Divisor of the mean binding time: responses accumulate during an eighth of this time.
const PAUSE_FRACTION: u32 = 8;
/// Maximum time during which responses accumulate.
const MAX_PAUSE: Duration = Duration::from_millis(20);
/// Approximate number of bindings in the moving average.
const MEAN_WINDOW: u64 = 16;

/// Number of bindings in flight, and their mean duration. Clones share the values.
#[derive(Clone, Debug, Default)]
pub struct Bindings(Arc<BindingStats>);

#[derive(Debug, Default)]
struct BindingStats {
    under_way: AtomicUsize,
    /// Mean duration in nanoseconds.
    mean: AtomicU64,
    /// `under_way` changes only under this lock, so the end of one binding cannot reset a stall that began with the
    /// next one.
    stall: Mutex<Stall>,
}

impl Bindings {
    /// Returns the number of bindings in flight.
    pub fn count(&self) -> usize {
        self.0.under_way.load(Ordering::Relaxed)
    }

    /// Returns the time to wait, when the scheduler is otherwise idle, before it reads responses.
    ///
    /// While the server works on many bindings, responses arrive one by one. After a short pause, several responses are
    /// available. Reading them together, and then sending the next bindings together, takes a fraction of the system
    /// calls. The pause is a small part of the duration of a binding.
    pub fn pause(&self) -> Duration {
        if self.count() < BUSY {
            return Duration::ZERO;
        }
        (Duration::from_nanos(self.0.mean.load(Ordering::Relaxed)) / PAUSE_FRACTION).min(MAX_PAUSE)
    }

    /// Counts a binding that begins. `clock` is the time of the transport's clock.
    pub(crate) fn begin(&self, clock: Duration) -> BindingGuard {
        let mut stall = self.stall();
        self.0.under_way.fetch_add(1, Ordering::Relaxed);
        stall.begin(clock);
        BindingGuard(self.clone(), Instant::now())
    }

    /// Logs periodically while no binding succeeds.
    pub(super) fn log_stall(&self, clock: Duration) {
        if let Some(StallReport { time, last_error }) = self.stall().check(clock) {
            let (under_way, seconds) = (self.count(), time.as_secs());
            warn!(under_way, err = last_error, "No binding has succeeded for {seconds} s");
        }
    }

    fn stall(&self) -> MutexGuard<'_, Stall> {
        self.0.stall.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn end(&self, took: Duration) {
        let took = u64::try_from(took.as_nanos()).unwrap_or(u64::MAX);
        let mean = self.0.mean.load(Ordering::Relaxed);
        self.0.mean.store(mean - mean / MEAN_WINDOW + took / MEAN_WINDOW, Ordering::Relaxed);
        let mut stall = self.stall();
        if self.0.under_way.fetch_sub(1, Ordering::Relaxed) == 1 {
            stall.end();
        }
    }
}

/// Counts a binding as in flight until this guard is dropped.
pub(crate) struct BindingGuard(Bindings, Instant);

impl BindingGuard {
    /// Records that the binding succeeded. `clock` is the time of the transport's clock.
    pub(super) fn succeed(&self, clock: Duration) {
        if let Some(time) = self.0.stall().succeed(clock) {
            info!("Bindings succeed again, after {} s", time.as_secs());
        }
    }

    /// Records a failed request of the binding; retries may follow.
    pub(super) fn fail(&self, why: &str) {
        self.0.stall().fail(why);
    }
}

impl Drop for BindingGuard {
    fn drop(&mut self) {
        self.0.end(self.1.elapsed());
    }
}

#[cfg(test)]
mod tests {
    use std::future::pending;

    use k8s_openapi::jiff::Timestamp;
    use schedc_core::client::{Client, Event};
    use schedc_core::extension_points::Placement;
    use schedc_core::intern::Interner;
    use schedc_core::model::NodeIndex;
    use tokio::time::Instant as VirtualInstant;

    use super::*;
    use crate::transport::{ApiRequest, ApiResponse, RequestClass, Transport, TransportError};
    use crate::write::PodRecords;
    use crate::write::{EventSink, KubeClient};

    /// Server that never responds, in virtual time.
    #[derive(Clone)]
    struct Silent(VirtualInstant);

    impl Transport for Silent {
        async fn call(&self, _: RequestClass, _: ApiRequest) -> Result<ApiResponse, TransportError> {
            pending().await
        }
        async fn sleep(&self, time: Duration) {
            tokio::time::sleep(time).await;
        }
        fn now(&self) -> Timestamp {
            Timestamp::UNIX_EPOCH
        }
        fn clock(&self) -> Duration {
            self.0.elapsed()
        }
    }

    #[derive(Clone)]
    struct NoEvents;

    impl EventSink for NoEvents {
        fn record(&self, _: Event, _: Option<u64>) {}
    }

    #[tokio::test(start_paused = true)]
    async fn bindings_without_an_answer_are_logged_before_they_time_out() {
        let bindings = Bindings::default();
        let client = KubeClient::new(Silent(VirtualInstant::now()), PodRecords::default(), NoEvents);
        let client = client.with_bindings(bindings.clone());
        let pod = schedc_objects::testing::pod("{metadata: {name: p, uid: u}}", &mut Interner::default()).into();
        let placement = Placement { pod, node: NodeIndex(0), node_name: "n".into() };
        let logged_after = async |seconds| {
            let waiting = tokio::time::timeout(Duration::from_secs(seconds), client.bind(&placement));
            let logged = async {
                tokio::time::sleep(Duration::from_secs(seconds) - Duration::from_millis(1)).await;
                bindings.stall().logged.map(|logged| logged.as_secs())
            };
            tokio::join!(waiting, logged).1
        };
        assert_eq!(logged_after(5).await, None);
        assert!(logged_after(9).await.is_some());
    }

    #[test]
    fn the_pause_is_a_fraction_of_the_mean_binding_time() {
        let bindings = Bindings::default();
        let end = |took| {
            std::mem::forget(bindings.begin(Duration::ZERO));
            bindings.end(took);
        };
        let settle = |took| (0..1000).for_each(|_| end(took));
        settle(Duration::from_millis(32));
        assert_eq!(bindings.pause(), Duration::ZERO, "no binding is in flight");
        let _under_way: Vec<_> = (0..BUSY).map(|_| bindings.begin(Duration::ZERO)).collect();
        assert_eq!(bindings.pause().as_millis(), 4);
        settle(Duration::from_secs(3));
        assert_eq!(bindings.pause(), MAX_PAUSE);
        settle(Duration::from_micros(160));
        assert_eq!(bindings.pause().as_micros(), 20);
    }
}
