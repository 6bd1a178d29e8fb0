//! Which program this is, of all that run.

use std::hash::{BuildHasher, RandomState};

/// The name of this host.
pub(super) fn name() -> String {
    gethostname::gethostname().to_string_lossy().into_owned()
}

/// Who we are; no other program is called so, on this host or any other: the host's name and a random number, as
/// kube-scheduler's `id` is.
pub(super) fn identity() -> String {
    format!("{}_{:016x}{:016x}", name(), draw(), draw())
}

/// Something that nobody else has.
pub(super) fn draw() -> u64 {
    RandomState::new().hash_one(std::process::id())
}
