//! Error of a deliberately broken connection.

use std::convert::Infallible;
use std::fmt;

/// Error of a deliberately broken connection or stream.
#[derive(Clone, Copy, Debug)]
pub(crate) struct InjectedDisconnect;

impl fmt::Display for InjectedDisconnect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("disconnected by an injected fault")
    }
}

impl std::error::Error for InjectedDisconnect {}

impl From<Infallible> for InjectedDisconnect {
    fn from(never: Infallible) -> Self {
        match never {}
    }
}
