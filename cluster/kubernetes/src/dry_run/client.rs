//! Client of a dry run, which sends no writes.

use std::collections::HashSet;
use std::future::Future;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use schedc_core::client::{ApiError, Client};
use schedc_core::extension_points::Placement;
use schedc_core::model::{Pod, Uid};
use schedc_core::scheduler::Change;

use crate::driver::DriverClient;
use crate::transport::Transport;

/// Simulates bindings and evictions, and ignores pod statuses and events. Writes of other objects return an error, as
/// in a cluster without their kinds.
#[derive(Clone, Debug)]
pub struct DryRunClient<T> {
    /// Transport, used only for its clock.
    clock: T,
    evicted: Arc<Mutex<Evictions>>,
}

#[derive(Debug, Default)]
struct Evictions {
    /// Pods that exist but count as evicted.
    pods: HashSet<Uid>,
    /// Evicted pods that the scheduler has not removed yet.
    unreported: Vec<Uid>,
}

impl<T: Transport> DryRunClient<T> {
    /// Creates a client without evictions.
    pub fn new(clock: T) -> Self {
        DryRunClient { clock, evicted: Arc::default() }
    }

    /// Locks the evictions. A panic under the lock leaves no half-made change, so poisoning is ignored.
    fn evicted(&self) -> MutexGuard<'_, Evictions> {
        self.evicted.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<T: Transport> Client for DryRunClient<T> {
    async fn bind(&self, _: &Placement) -> Result<(), ApiError> {
        Ok(())
    }

    /// Reports the pod as bound, without a call of the extender.
    async fn bind_by_extender(
        &self,
        _: &Placement,
        _: impl FnOnce() -> Result<bool, String> + Send + 'static,
    ) -> Result<bool, String> {
        Ok(true)
    }

    fn notify_extender(&self, _: impl FnOnce() + Send + 'static) {}

    async fn delete_pod(&self, pod: &Arc<Pod>) -> Result<(), ApiError> {
        let mut evicted = self.evicted();
        if evicted.pods.insert(pod.uid.clone()) {
            evicted.unreported.push(pod.uid.clone());
        }
        Ok(())
    }

    fn sleep(&self, time: Duration) -> impl Future<Output = ()> + Send {
        self.clock.sleep(time)
    }
}

impl<T: Transport> DriverClient for DryRunClient<T> {
    fn adjust_change(&self, change: Change) -> Option<Change> {
        match &change {
            Change::Pod(pod) if self.evicted().pods.contains(&pod.uid) => None,
            Change::PodDeleted(uid) => {
                self.evicted().pods.remove(uid);
                Some(change)
            }
            _ => Some(change),
        }
    }

    fn take_changes(&self) -> Vec<Change> {
        std::mem::take(&mut self.evicted().unreported).into_iter().map(Change::PodDeleted).collect()
    }
}

#[cfg(test)]
mod tests {
    use std::pin::pin;
    use std::task::{Context, Poll, Waker};

    use k8s_openapi::jiff::Timestamp;

    use super::*;
    use crate::transport::{ApiRequest, ApiResponse, RequestClass, TransportError};

    /// Transport that never sends a request.
    #[derive(Clone)]
    struct NoTransport;

    impl Transport for NoTransport {
        async fn call(&self, _: RequestClass, _: ApiRequest) -> Result<ApiResponse, TransportError> {
            unreachable!("nothing is sent")
        }
        async fn sleep(&self, _: Duration) {}
        fn now(&self) -> Timestamp {
            Timestamp::UNIX_EPOCH
        }
        fn clock(&self) -> Duration {
            Duration::ZERO
        }
    }

    #[test]
    fn evicted_pods_stay_deleted_until_the_watch_confirms_it() {
        let client = DryRunClient::new(NoTransport);
        let pod = |uid: &str| Pod { uid: Uid(uid.into()), ..Pod::default() };
        let is_passed_on = |change| client.adjust_change(change).is_some();
        assert!(is_passed_on(Change::Pod(pod("a"))));
        let victim = Arc::new(pod("a"));
        let evicted = pin!(client.delete_pod(&victim)).poll(&mut Context::from_waker(Waker::noop()));
        assert_eq!(evicted, Poll::Ready(Ok(())));
        assert!(matches!(&client.take_changes()[..], [Change::PodDeleted(uid)] if *uid == victim.uid));
        assert!(client.take_changes().is_empty(), "each eviction is reported once");
        assert!(!is_passed_on(Change::Pod(pod("a"))) && is_passed_on(Change::Pod(pod("b"))));
        assert!(is_passed_on(Change::PodDeleted(victim.uid.clone())));
        assert!(client.evicted().pods.is_empty(), "deleted pods are removed");
    }
}
