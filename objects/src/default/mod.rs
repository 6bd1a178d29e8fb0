//! What an API server does to an object that is created, as far as scheduling can tell.

use crate::manifests::{Error, Manifests};

/// Completes and checks.
///
/// # Errors
/// What an API server would refuse.
pub fn complete(manifests: &mut Manifests) -> Result<(), Error> {
    let _ = manifests;
    Ok(())
}
