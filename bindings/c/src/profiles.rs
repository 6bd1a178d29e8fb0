//! Profiles.

use schedc_api::Profiles;

use crate::buffer::{Buffer, Source, array};
use crate::guard::{create, free};
use crate::status::{Failure, Status};

/// Valid profiles. Any number of threads can use them at once.
pub struct ProfilesHandle(pub(crate) Profiles);

/// Reads and checks `count` profiles. Errors have all problems of all profiles, with file and line.
///
/// The texts of profiles stay in memory until the program ends: read a profile once, and use its handle again.
///
/// # Safety
/// The first comment of schedc.h has the conditions of pointers.
#[allow(unsafe_code, reason = "the profiles of callers are pointers")]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn schedc_profiles_parse(
    sources: *const Source,
    count: usize,
    profiles: *mut *mut ProfilesHandle,
    out: *mut Buffer,
) -> Status {
    let make = || {
        // SAFETY: the caller promises `count` valid sources, and valid texts in them.
        let sources = unsafe { array(sources, count, "sources") }?;
        let mut texts = Vec::with_capacity(sources.len());
        for source in sources {
            // SAFETY: as above.
            texts.push(unsafe { (source.name.text("name")?, source.text.text("text")?) });
        }
        Ok::<_, Failure>(ProfilesHandle(Profiles::parse(&texts)?))
    };
    // SAFETY: the caller promises that `profiles` and `out` are null or valid.
    unsafe { create(profiles, out, make) }
}

/// Releases profiles. Clusters and evaluators that use them are not affected.
///
/// # Safety
/// The first comment of schedc.h has the conditions of pointers.
#[allow(unsafe_code, reason = "handles are pointers")]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn schedc_profiles_free(profiles: *mut ProfilesHandle) {
    // SAFETY: the caller releases the handle once.
    unsafe { free(profiles) }
}
