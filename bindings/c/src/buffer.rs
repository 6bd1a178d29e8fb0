//! Texts of callers and results for callers.

use std::{ptr, slice};

use crate::status::{Failure, Status};

/// A text in UTF-8 or a protobuf message of `length` bytes at `data`, borrowed from its owner. `data` may be NULL if `length`
/// is 0.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Text {
    /// The first byte.
    pub data: *const u8,
    /// The number of bytes.
    pub length: usize,
}

/// A profile: the name of its file, such as `packed.toml`, and its text. An empty text is kube-scheduler's default profile.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Source {
    /// The name of the file.
    pub name: Text,
    /// The text in TOML.
    pub text: Text,
}

/// A result in UTF-8, without a final zero byte. Release it with schedc_buffer_free.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Buffer {
    /// The first byte.
    pub data: *mut u8,
    /// The number of bytes.
    pub length: usize,
}

impl Text {
    /// Returns a text that points to `text`, which must outlive it.
    pub fn of(text: &str) -> Self {
        Text { data: text.as_ptr(), length: text.len() }
    }

    /// Returns the bytes of a text of a caller.
    ///
    /// # Safety
    /// `data` is null or valid for `length` bytes, until the end of the call of the library.
    #[allow(unsafe_code, reason = "texts of callers are pointers")]
    pub(crate) unsafe fn bytes<'a>(self, name: &str) -> Result<&'a [u8], Failure> {
        match (self.data.is_null(), self.length) {
            (_, 0) => Ok(&[]),
            (true, _) => Err(Failure::null(name)),
            (false, length) if isize::try_from(length).is_err() => {
                let message = format!("`{name}` has {length} bytes, more than any text in memory");
                Err(Failure { status: Status::InvalidUtf8, message })
            }
            // SAFETY: `data` is not null. The caller promises `length` valid bytes, and does not change them during the call.
            (false, length) => Ok(unsafe { slice::from_raw_parts(self.data, length) }),
        }
    }

    /// Returns the text of a caller.
    ///
    /// # Safety
    /// The condition of [`Text::bytes`].
    #[allow(unsafe_code, reason = "texts of callers are pointers")]
    pub(crate) unsafe fn text<'a>(self, name: &str) -> Result<&'a str, Failure> {
        // SAFETY: the caller makes the same promise.
        let bytes = unsafe { self.bytes(name) }?;
        std::str::from_utf8(bytes).map_err(|error| Failure {
            status: Status::InvalidUtf8,
            message: format!("`{name}` is not UTF-8: byte {} is wrong", error.valid_up_to()),
        })
    }
}

/// Returns the values of an array of a caller.
///
/// # Safety
/// `data` is null or valid for `count` values, until the end of the call of the library.
#[allow(unsafe_code, reason = "arrays of callers are pointers")]
pub(crate) unsafe fn array<'a, T>(data: *const T, count: usize, name: &str) -> Result<&'a [T], Failure> {
    let bytes = count.checked_mul(size_of::<T>()).filter(|bytes| isize::try_from(*bytes).is_ok());
    match (data.is_null(), bytes) {
        (_, Some(0)) => Ok(&[]),
        (true, _) => Err(Failure::null(name)),
        (false, None) => Err(Failure {
            status: Status::InvalidRequest,
            message: format!("`{name}` has {count} values, more than any array in memory"),
        }),
        // SAFETY: `data` is not null. The caller promises `count` valid values, and does not change them during the call.
        (false, Some(_)) => Ok(unsafe { slice::from_raw_parts(data, count) }),
    }
}

impl Buffer {
    fn of(text: Vec<u8>) -> Self {
        let text = Box::leak(text.into_boxed_slice());
        Buffer { data: if text.is_empty() { ptr::null_mut() } else { text.as_mut_ptr() }, length: text.len() }
    }

    /// Writes a text to the buffer of a caller, if there is one.
    ///
    /// # Safety
    /// `buffer` is null or valid for a write.
    #[allow(unsafe_code, reason = "results go to a pointer of the caller")]
    pub(crate) unsafe fn write(buffer: *mut Buffer, text: Vec<u8>) {
        if !buffer.is_null() {
            // SAFETY: `buffer` is not null, and the caller promises that it is valid for a write.
            unsafe { buffer.write(Buffer::of(text)) };
        }
    }
}

/// Releases a result. The buffer is empty afterwards; releasing it again has no effect.
///
/// # Safety
/// `buffer` is null or points to a buffer that a function of this library wrote and that is not yet released.
#[allow(unsafe_code, reason = "the buffer belongs to the caller")]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn schedc_buffer_free(buffer: *mut Buffer) {
    if buffer.is_null() {
        return;
    }
    // SAFETY: `buffer` is not null, and the caller promises that it is valid.
    let Buffer { data, length } = unsafe { buffer.replace(Buffer { data: ptr::null_mut(), length: 0 }) };
    if !data.is_null() {
        // SAFETY: `Buffer::of` made `data` from a boxed slice of this length, and it is released once.
        drop(unsafe { Box::from_raw(ptr::slice_from_raw_parts_mut(data, length)) });
    }
}
