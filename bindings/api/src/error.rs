//! Errors with stable codes.

use std::fmt;

use serde::Serialize;

/// An error.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Error {
    /// The code.
    pub code: ErrorCode,
    /// All problems with their locations and solutions; may have several lines.
    pub message: String,
}

/// The kind of an error. Names and numbers are stable.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
#[repr(u32)]
#[non_exhaustive]
pub enum ErrorCode {
    /// A profile is wrong, or cannot be interpreted: it has extenders, or plugins of other crates.
    InvalidProfile = 10,
    /// No profile has this name.
    UnknownProfile = 11,
    /// Objects are wrong.
    InvalidObjects = 12,
    /// Scheduling ignores objects of this kind.
    UnknownKind = 13,
    /// The cluster has no pod of this name.
    UnknownPod = 14,
    /// The cluster has no node of this name.
    UnknownNode = 15,
    /// A scenario is wrong.
    InvalidScenario = 16,
    /// A request is wrong.
    InvalidRequest = 17,
}

impl Error {
    pub(crate) fn new(code: ErrorCode, message: impl fmt::Display) -> Self {
        Error { code, message: message.to_string() }
    }
}

impl ErrorCode {
    /// Returns the number of the code, for interfaces that pass codes as numbers, such as C.
    pub fn number(self) -> u32 {
        self as u32
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Error {}
