//! Who has the cycle state of a pod that was decided, until Reserve has seen it.

use super::Engine;
use crate::incremental::SignatureId;
use crate::pre_filtered_pod::PreFilteredPod;
use crate::profile::Profile;

/// Who has the cycle state.
pub(crate) enum CycleStateOwner<P: Profile> {
    /// The answer that is kept for the pod's signature.
    Cached(SignatureId),
    /// The pod's own attempt.
    Owned(Box<PreFilteredPod<P>>),
    /// There is none.
    Absent,
}

impl<P: Profile> Engine<P> {
    /// The cycle state.
    pub(crate) fn cycle<'a>(&'a self, held: &'a CycleStateOwner<P>) -> Option<&'a P::Cycle> {
        match held {
            CycleStateOwner::Cached(signature) => {
                self.signatures.cached_answer(*signature).map(|cached| &cached.attempt.cycle)
            }
            CycleStateOwner::Owned(attempt) => Some(&attempt.cycle),
            CycleStateOwner::Absent => None,
        }
    }

    /// Nobody needs it any more.
    pub(crate) fn release(&mut self, held: CycleStateOwner<P>) {
        if let CycleStateOwner::Owned(attempt) = held {
            self.spare = Some(attempt);
        }
    }
}
