//! Errors for users.

use std::fmt;

use schedc_core::profile::StartErrors;

/// An error: location, problem and fix, in one or more lines.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error(String);

impl Error {
    /// Creates an error with a message.
    pub(crate) fn new(message: impl fmt::Display) -> Self {
        Error(message.to_string())
    }

    /// Adds a location before the message.
    pub(crate) fn at(self, place: impl fmt::Display) -> Self {
        Error(format!("{place}: {}", self.0))
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl From<String> for Error {
    fn from(message: String) -> Self {
        Error(message)
    }
}

impl From<StartErrors> for Error {
    fn from(errors: StartErrors) -> Self {
        Error::new(errors.to_string().replace('\n', "; "))
    }
}

impl std::error::Error for Error {}
