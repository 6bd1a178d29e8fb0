//! Watch events.

mod json;
mod protobuf;

use std::fmt;

use schedc_objects::AnyObject;
use schedc_objects::decode::KindReader;
use schedc_objects::decode::protobuf::Malformed;

use crate::transport::{Format, StatusError};

/// Annotation of the bookmark that ends the initial list.
const END_OF_LIST: &str = "k8s.io/initial-events-end";

/// Event of a watch.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum WatchEvent {
    /// Object that was added or modified.
    Upsert(AnyObject),
    /// Last state of an object that was deleted or no longer matches the field selector.
    Removal(AnyObject),
    /// All events up to a version were sent.
    Bookmark {
        /// Resource version.
        version: Box<str>,
        /// Whether the bookmark ends the initial list.
        is_end_of_list: bool,
    },
    /// Error that ends the watch.
    Error(StatusError),
}

/// Reason that an event cannot be read.
#[derive(Debug)]
pub(crate) enum ReadError {
    /// Invalid JSON.
    Json(serde_json::Error),
    /// Invalid protobuf.
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
    /// Reads an event of a watch of this kind, without the fields that the scheduler ignores.
    ///
    /// # Errors
    /// The bytes are not a valid event.
    pub(crate) fn read(kind: KindReader<'_>, format: Format, bytes: &[u8]) -> Result<WatchEvent, ReadError> {
        match format {
            Format::Json => json::read(kind, bytes).map_err(ReadError::Json),
            Format::Protobuf => protobuf::read(kind, bytes).map_err(ReadError::Protobuf),
        }
    }
}
