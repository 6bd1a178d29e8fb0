//! Claims that were created for extended resources and are not received yet.
//!
//! Their devices count as allocated until the scheduler receives the claim. The scheduler never receives the claim if
//! it is deleted while the watch is interrupted. Therefore PostFilter looks these claims up at the API server.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use schedc_core::client::{ApiReason, Client};
use schedc_core::map::Map;
use schedc_core::model::Uid;
use schedc_core::pending_allocations::WrittenAllocation;

use super::DynamicResources;

/// Look-ups under way: for each pending allocation, the pods that are retried if its claim is gone. Clones share them.
#[derive(Clone, Debug, Default)]
pub(super) struct Lookups(Arc<Mutex<Map<Uid, Vec<Uid>>>>);

impl Lookups {
    /// Locks the data. A panic under the lock leaves no half-made change, so the data are valid.
    fn lock(&self) -> MutexGuard<'_, Map<Uid, Vec<Uid>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl DynamicResources {
    /// Looks up the claims that were created and not received. If a claim is gone, its devices are released, and all
    /// pods that waited for this look-up are retried.
    pub(super) fn look_up_unreceived(&self, pod: &Uid) {
        let pending = self.handle.pending_allocations();
        let created = pending.iter().filter(|(_, pending)| pending.claim.is_none());
        let written = created.filter_map(|(uid, pending)| Some((uid.clone(), pending.written.clone()?)));
        let unreceived: Vec<(Uid, WrittenAllocation)> = written.collect();
        drop(pending);
        for (allocation, written) in unreceived {
            let is_under_way = {
                let mut lookups = self.lookups.lock();
                let is_under_way = lookups.contains_key(&allocation);
                lookups.entry(allocation.clone()).or_default().push(pod.clone());
                is_under_way
            };
            if is_under_way {
                continue;
            }
            let (handle, lookups) = (self.handle.clone(), self.lookups.clone());
            self.handle.spawn(|client| async move {
                let is_gone = match client.get(&written.object).await {
                    Ok(found) => found["metadata"]["uid"] != *written.uid.0,
                    Err(error) => error.reason == ApiReason::NotFound,
                };
                let pods = lookups.lock().remove(&allocation).unwrap_or_default();
                if is_gone {
                    handle.pending_allocations().remove(&allocation);
                    pods.into_iter().for_each(|pod| handle.activate(pod));
                }
            });
        }
    }
}
