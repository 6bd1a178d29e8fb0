//! Calls from other languages: handles, panics and results.

use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::buffer::Buffer;
use crate::status::{Failure, Status};

/// The value of a handle; `None` after a panic.
pub(crate) struct Guarded<T>(Option<T>);

/// An answer: its status, and its bytes.
pub(crate) type Answered = Result<(Status, Vec<u8>), Failure>;

impl<T> Guarded<T> {
    pub(crate) fn new(value: T) -> Self {
        Guarded(Some(value))
    }

    /// Calls a function with the value. After a panic, the value is gone.
    pub(crate) fn call<R>(&mut self, work: impl FnOnce(&mut T) -> Result<R, Failure>) -> Result<R, Failure> {
        let Some(value) = &mut self.0 else {
            let message = "an earlier call ended with an error of schedc; release the handle".to_owned();
            return Err(Failure { status: Status::Panicked, message });
        };
        let result = caught(|| work(value));
        if matches!(&result, Err(failure) if failure.status == Status::Panicked) {
            // Dropping an inconsistent value may panic again.
            let _ = caught(|| {
                self.0 = None;
                Ok(())
            });
        }
        result
    }
}

/// Runs a function, and turns a panic into an error.
pub(crate) fn caught<R>(work: impl FnOnce() -> Result<R, Failure>) -> Result<R, Failure> {
    // Values that a panic leaves inconsistent are not used again: `Guarded::call` drops them.
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|panic| {
        let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
        let text = text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_default();
        Err(Failure { status: Status::Panicked, message: format!("schedc failed, please report it: {text}") })
    })
}

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
    // SAFETY: the caller has the same promise.
    unsafe { Buffer::write(out, text) };
    status
}

/// Creates a handle, and writes it to a pointer of the caller; null if it fails.
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
            Ok(())
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_handle_refuses_calls_after_a_panic() {
        let mut handle = Guarded::new(1);
        let failure = handle.call(|_| -> Result<(), Failure> { panic!("a fault") }).err().unwrap();
        assert_eq!((failure.status, &*failure.message), (Status::Panicked, "schedc failed, please report it: a fault"));
        let failure = handle.call(|value| Ok(*value)).err().unwrap();
        assert_eq!(failure.status, Status::Panicked);
        assert!(failure.message.contains("release the handle"));
    }
}
