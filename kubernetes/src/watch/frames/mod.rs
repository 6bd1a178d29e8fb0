//! What arrives on a watch: one change after another.

mod json;
mod protobuf;

use std::fmt;

use schedc_objects::AnyObject;
use schedc_objects::reads::OfKind;
use schedc_objects::reads::protobuf::Malformed;

use crate::wire::{Format, Refusal};

/// The annotation of the bookmark after which all objects were told.
const END_OF_LIST: &str = "k8s.io/initial-events-end";

/// A change.
#[derive(Clone, Debug, PartialEq)]
pub enum Frame {
    /// An object as it is now: it came, or changed.
    Is(AnyObject),
    /// An object as it was when it went, or stopped to be of interest.
    Gone(AnyObject),
    /// Everything up to this version was told.
    Bookmark {
        /// The version.
        version: Box<str>,
        /// All objects were told, too.
        is_end_of_list: bool,
    },
    /// The server goes no further.
    Refused(Refusal),
}

/// Why a change cannot be read.
#[derive(Debug)]
pub enum Unreadable {
    /// As JSON.
    Json(serde_json::Error),
    /// As protobuf.
    Protobuf(Malformed),
}

impl fmt::Display for Unreadable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Unreadable::Json(error) => error.fmt(f),
            Unreadable::Protobuf(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for Unreadable {}

impl Frame {
    /// Reads a change of an object of this kind, without what nobody looks at.
    ///
    /// # Errors
    /// It is none.
    pub fn read(kind: OfKind<'_>, format: Format, bytes: &[u8]) -> Result<Frame, Unreadable> {
        match format {
            Format::Json => json::read(kind, bytes).map_err(Unreadable::Json),
            Format::Protobuf => protobuf::read(kind, bytes).map_err(Unreadable::Protobuf),
        }
    }
}
