//! Fingerprints, by which `schedc backtest merge` recognises shards of different back-tests.

use std::hash::Hasher;

use schedc_core::profile::{Budget, ProfileInfo};
use serde::Serialize;
use siphasher::sip128::{Hasher128, SipHasher13};

/// A hash of values. It is equal on all machines, and does not depend on the version of the compiler.
#[derive(Default)]
pub(crate) struct Fingerprint(SipHasher13);

impl Fingerprint {
    /// Adds a value.
    pub(crate) fn add(&mut self, value: &impl Serialize) {
        // All values have a form in JSON, because the keys of their maps are strings.
        self.0.write(&serde_json::to_vec(value).unwrap_or_default());
        // Separates values: JSON on one line contains no line end.
        self.0.write(b"\n");
    }

    pub(crate) fn finish(self) -> String {
        format!("{:032x}", self.0.finish128().as_u128())
    }
}

/// Returns the fingerprint of a profile: its plugins, weights, arguments and settings, and the version of schedc. Names
/// and limits of costs do not count, because they change no decision.
pub fn of_profile(profile: &ProfileInfo) -> String {
    let content = ProfileInfo { name: "", source: "", scheduler_name: "", budget: Budget::NONE, ..*profile };
    let mut fingerprint = Fingerprint::default();
    fingerprint.add(&env!("CARGO_PKG_VERSION"));
    fingerprint.add(&format!("{content:?}"));
    fingerprint.finish()
}
