//! Errors that end a command.

use std::fmt::Display;
use std::io;

use schedc_profile_rules::Diagnostics;

/// The reason why a command ends early.
pub(crate) enum Failure {
    /// Error messages, one per line.
    Message(String),
    /// Error messages with a hint on how to fix them.
    #[cfg(feature = "tools")]
    WithNote(String, &'static str),
    /// Errors in profiles.
    Profiles(Box<Diagnostics>),
    /// The result on standard output contains the errors.
    #[cfg(feature = "tools")]
    Reported,
    /// Standard output is closed, as with `| head`.
    OutputClosed,
}

impl Failure {
    /// Creates a failure with a message.
    pub(crate) fn new(message: impl Display) -> Self {
        Failure::Message(message.to_string())
    }
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::BrokenPipe => Failure::OutputClosed,
            _ => Failure::Message(format!("cannot write the output: {error}")),
        }
    }
}

#[cfg(feature = "tools")]
impl From<schedc_interpret::InterpretError> for Failure {
    fn from(error: schedc_interpret::InterpretError) -> Self {
        match error {
            schedc_interpret::InterpretError::Invalid(diagnostics) => diagnostics.into(),
            foreign => Failure::new(foreign),
        }
    }
}

impl From<Diagnostics> for Failure {
    fn from(diagnostics: Diagnostics) -> Self {
        Failure::Profiles(Box::new(diagnostics))
    }
}

/// Converts errors to failures with their messages.
macro_rules! failures {
    ($($(#[$feature:meta])? $error:ty,)*) => {
        $($(#[$feature])? impl From<$error> for Failure {
            fn from(error: $error) -> Self {
                Failure::new(error)
            }
        })*
    };
}

failures! {
    #[cfg(feature = "tools")]
    crate::cluster::UnknownProfile,
    schedc_core::profile::StartErrors,
    #[cfg(feature = "run")]
    schedc_kubernetes::connect::ConnectError,
    #[cfg(feature = "run")]
    schedc_kubernetes::config::ConfigError,
    #[cfg(feature = "bench")]
    schedc_perf::Error,
    #[cfg(feature = "recordings")]
    schedc_recording::ReadError,
}
