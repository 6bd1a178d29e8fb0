//! Calls from other languages: handles and results.

use schedc_api::guard::caught;

use crate::buffer::Buffer;
use crate::status::{Failure, Status};

/// An answer: its status, and its bytes.
pub(crate) type Answered = Result<(Status, Vec<u8>), Failure>;

/// Runs a function, writes its answer or error to a buffer, and returns its status.
///
/// # Safety
/// `out` is null or valid for a write.
#[allow(unsafe_code, reason = "results go to a pointer of the caller")]
pub(crate) unsafe fn answer(out: *mut Buffer, work: impl FnOnce() -> Answered) -> Status {
    let (status, text) = match caught(work) {
        Ok(answer) => answer,
        Err(failure) => (failure.status, failure.message.into_bytes()),
    };
    // SAFETY: the caller makes the same promise.
    unsafe { Buffer::write(out, text) };
    status
}

/// Creates a handle, and writes it to a pointer of the caller; writes null if the creation fails.
///
/// # Safety
/// `handle` and `out` are null or valid for a write.
#[allow(unsafe_code, reason = "handles are pointers")]
pub(crate) unsafe fn create<T>(
    handle: *mut *mut T,
    out: *mut Buffer,
    make: impl FnOnce() -> Result<T, Failure>,
) -> Status {
    let made = if handle.is_null() { Err(Failure::null("handle")) } else { caught(make) };
    let (status, pointer, text) = match made {
        Ok(value) => (Status::Ok, Box::into_raw(Box::new(value)), Vec::new()),
        Err(failure) => (failure.status, std::ptr::null_mut(), failure.message.into_bytes()),
    };
    if !handle.is_null() {
        // SAFETY: `handle` is not null, and the caller promises that it is valid for a write.
        unsafe { handle.write(pointer) };
    }
    // SAFETY: the caller promises that `out` is null or valid.
    unsafe { Buffer::write(out, text) };
    status
}

/// Returns the value of a handle.
///
/// # Safety
/// `handle` is null, or comes from [`create`], is not released, and no other thread uses it during the call.
#[allow(unsafe_code, reason = "handles are pointers")]
pub(crate) unsafe fn value<'a, T>(handle: *mut T, name: &str) -> Result<&'a mut T, Failure> {
    // SAFETY: the caller promises a null or valid pointer that no other call uses.
    unsafe { handle.as_mut() }.ok_or_else(|| Failure::null(name))
}

/// Releases a handle. Null has no effect.
///
/// # Safety
/// `handle` is null, or comes from [`create`] and is not released.
#[allow(unsafe_code, reason = "handles are pointers")]
pub(crate) unsafe fn free<T>(handle: *mut T) {
    if !handle.is_null() {
        // SAFETY: `create` made the pointer from a box, and the caller releases it once.
        let value = unsafe { Box::from_raw(handle) };
        let _ = caught(move || {
            drop(value);
            Ok::<_, Failure>(())
        });
    }
}
