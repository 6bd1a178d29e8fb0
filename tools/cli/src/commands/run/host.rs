//! The host name, the identity of this process, and random numbers.

use std::hash::{BuildHasher, RandomState};

/// Returns the host name.
pub(super) fn name() -> String {
    gethostname::gethostname().to_string_lossy().into_owned()
}

/// Returns the identity of this process: the host name and a random number, as kube-scheduler's `id`. It is
/// unique among all hosts.
pub(super) fn identity() -> String {
    format!("{}_{:016x}{:016x}", name(), random_number(), random_number())
}

/// Returns a random number.
pub(super) fn random_number() -> u64 {
    RandomState::new().hash_one(std::process::id())
}
