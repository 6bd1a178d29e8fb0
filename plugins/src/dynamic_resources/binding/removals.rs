//! Reservations and created claims that Unreserve is removing.
//!
//! kube-scheduler's Unreserve waits for the responses to its requests, and the pod is retried only then. Here,
//! background tasks send these requests. PreBind of the next attempt waits for the tasks: otherwise, a late removal
//! could undo the reservation that PreBind writes.

use std::future::poll_fn;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Poll, Waker};

use schedc_core::map::Map;
use schedc_core::model::Uid;

/// Removals under way, by pod. Clones share them.
#[derive(Clone, Debug, Default)]
pub(in super::super) struct Removals(Arc<Mutex<Map<Uid, RemovalsOfPod>>>);

#[derive(Debug, Default)]
struct RemovalsOfPod {
    count: usize,
    /// Wakes PreBind of the pod's next attempt, if it waits.
    waiting: Option<Waker>,
}

/// A removal under way, which ends when this value is dropped.
#[derive(Debug)]
pub(super) struct Removal {
    all: Removals,
    pod: Uid,
}

impl Removals {
    /// Counts a removal for a pod until the returned value is dropped.
    pub(super) fn begin(&self, pod: &Uid) -> Removal {
        self.lock().entry(pod.clone()).or_default().count += 1;
        Removal { all: self.clone(), pod: pod.clone() }
    }

    /// Waits until no removal for a pod is under way.
    pub(super) async fn ended(&self, pod: &Uid) {
        poll_fn(|context| match self.lock().get_mut(pod) {
            Some(removals) => {
                removals.waiting = Some(context.waker().clone());
                Poll::Pending
            }
            None => Poll::Ready(()),
        })
        .await;
    }

    /// Locks the data. A panic under the lock leaves no half-made change, so the data are valid.
    fn lock(&self) -> MutexGuard<'_, Map<Uid, RemovalsOfPod>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Removal {
    fn drop(&mut self) {
        let mut all = self.all.lock();
        let Some(removals) = all.get_mut(&self.pod) else { return };
        removals.count -= 1;
        if removals.count == 0 {
            let waiting = all.remove(&self.pod).and_then(|removals| removals.waiting);
            drop(all);
            if let Some(waiting) = waiting {
                waiting.wake();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::future::Future;
    use std::pin::pin;
    use std::task::Context;

    use super::*;

    #[test]
    fn the_next_attempt_waits_for_all_removals_of_its_pod() {
        let (removals, pod, other) = (Removals::default(), Uid("a".into()), Uid("b".into()));
        let mut context = Context::from_waker(Waker::noop());
        let (first, second) = (removals.begin(&pod), removals.begin(&pod));
        let mut ended = pin!(removals.ended(&pod));
        assert!(pin!(removals.ended(&other)).poll(&mut context).is_ready());
        assert!(ended.as_mut().poll(&mut context).is_pending());
        drop(first);
        assert!(ended.as_mut().poll(&mut context).is_pending());
        drop(second);
        assert!(ended.as_mut().poll(&mut context).is_ready());
    }
}
