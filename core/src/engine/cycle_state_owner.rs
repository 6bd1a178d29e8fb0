//! Owner of the cycle state of a decided pod, until Reserve has run.

use super::Engine;
use crate::engine::incremental::SignatureId;
use crate::engine::pre_filtered_pod::PreFilteredPod;
use crate::profile_api::profile::Profile;

/// Owner of a cycle state.
pub(crate) enum CycleStateOwner<P: Profile> {
    /// The cached answer of the pod's signature.
    Cached(SignatureId),
    /// The template of a pod that is pinned to a node.
    Pinned,
    /// The pod's own attempt.
    Owned(Box<PreFilteredPod<P>>),
    /// There is no cycle state.
    Absent,
}

impl<P: Profile> Engine<P> {
    /// Returns the cycle state.
    pub(crate) fn cycle<'a>(&'a self, owner: &'a CycleStateOwner<P>) -> Option<&'a P::Cycle> {
        match owner {
            CycleStateOwner::Cached(signature) => {
                self.signatures.cached_answer(*signature).map(|cached| &cached.attempt.cycle)
            }
            CycleStateOwner::Pinned => self.pinned.cycle(),
            CycleStateOwner::Owned(attempt) => Some(&attempt.cycle),
            CycleStateOwner::Absent => None,
        }
    }

    /// Releases a cycle state that is no longer needed.
    pub(crate) fn release(&mut self, owner: CycleStateOwner<P>) {
        if let CycleStateOwner::Owned(attempt) = owner {
            self.spare = Some(attempt);
        }
    }
}
