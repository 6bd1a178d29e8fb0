//! Who has the cycle state of a pod that was decided, until Reserve has seen it.

use super::Engine;
use crate::attempt::Attempt;
use crate::kept::SignatureId;
use crate::profile::Profile;

/// Who has the cycle state.
pub(crate) enum Held<P: Profile> {
    /// The answer that is kept for the pod's signature.
    Kept(SignatureId),
    /// The pod's own attempt.
    Own(Box<Attempt<P>>),
    /// There is none.
    Nobody,
}

impl<P: Profile> Engine<P> {
    /// The cycle state.
    pub(crate) fn cycle<'a>(&'a self, held: &'a Held<P>) -> Option<&'a P::Cycle> {
        match held {
            Held::Kept(signature) => self.signatures.kept(*signature).map(|kept| &kept.attempt.cycle),
            Held::Own(attempt) => Some(&attempt.cycle),
            Held::Nobody => None,
        }
    }

    /// Nobody needs it any more.
    pub(crate) fn release(&mut self, held: Held<P>) {
        if let Held::Own(attempt) = held {
            self.spare = Some(attempt);
        }
    }
}
