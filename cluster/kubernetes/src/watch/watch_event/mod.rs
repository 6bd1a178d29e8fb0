//! What arrives on a watch: one change after another.

mod json;
mod protobuf;

use std::fmt;

use schedc_objects::AnyObject;
use schedc_objects::decode::KindReader;
use schedc_objects::decode::protobuf::Malformed;

use crate::transport::{Format, StatusError};

/// The annotation of the bookmark after which all objects were told.
const END_OF_LIST: &str = "k8s.io/initial-events-end";

/// A change.
#[derive(Clone, Debug, PartialEq)]
pub enum WatchEvent {
    /// An object as it is now: it came, or changed.
    Upsert(AnyObject),
    /// An object as it was when it went, or stopped to be of interest.
    Removal(AnyObject),
    /// Everything up to this version was told.
    Bookmark {
        /// The version.
        version: Box<str>,
        /// All objects were told, too.
        is_end_of_list: bool,
    },
    /// The server goes no further.
    Error(StatusError),
}

/// Why a change cannot be read.
#[derive(Debug)]
pub enum ReadError {
    /// As JSON.
    Json(serde_json::Error),
    /// As protobuf.
    Protobuf(Malformed),
}

impl fmt::Display for ReadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ReadError::Json(error) => error.fmt(f),
            ReadError::Protobuf(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for ReadError {}

impl WatchEvent {
    /// Reads a change of an object of this kind, without what nobody looks at.
    ///
    /// # Errors
    /// It is none.
    pub fn read(kind: KindReader<'_>, format: Format, bytes: &[u8]) -> Result<WatchEvent, ReadError> {
        match format {
            Format::Json => json::read(kind, bytes).map_err(ReadError::Json),
            Format::Protobuf => protobuf::read(kind, bytes).map_err(ReadError::Protobuf),
        }
    }
}
