//! The lines of a recording.

use serde::{Deserialize, Serialize, Serializer};
use serde_json::Value;
use serde_json::value::{RawValue, to_raw_value};

/// Version of the format that is written. Version 1, which is also read, has no entries `template` and `pod`.
pub const VERSION: u32 = 2;

/// A line: an entry with its time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Line<E = Entry> {
    /// Time at which the recorder received the change, in milliseconds since 1970.
    pub at: i64,
    /// Resource version of the change, which orders changes of all kinds. `None` if it is unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rv: Option<u64>,
    /// The entry.
    #[serde(flatten)]
    pub entry: E,
}

impl<E> Line<E> {
    /// Creates a line without a resource version.
    pub fn new(at: i64, entry: E) -> Self {
        Line { at, rv: None, entry }
    }
}

/// An object as JSON text.
#[derive(Clone, Debug)]
pub struct ObjectText(Box<RawValue>);

impl ObjectText {
    /// Formats an object. Returns `None` if it cannot be written as JSON, which does not happen in practice.
    pub fn new(object: &impl Serialize) -> Option<ObjectText> {
        to_raw_value(object).ok().map(ObjectText)
    }

    /// Returns the object.
    pub fn parse(&self) -> Value {
        serde_json::from_str(self.0.get()).unwrap_or_default()
    }

    pub(crate) fn as_str(&self) -> &str {
        self.0.get()
    }
}

impl From<Box<RawValue>> for ObjectText {
    fn from(text: Box<RawValue>) -> Self {
        ObjectText(text)
    }
}

impl PartialEq for ObjectText {
    fn eq(&self, other: &Self) -> bool {
        self.as_str() == other.as_str()
    }
}

impl Eq for ObjectText {}

impl Serialize for ObjectText {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(serializer)
    }
}

/// The content of a line, with whole objects.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Entry {
    /// The first line of each file. All objects follow, up to `synced`.
    Recording(Header),
    /// An object exists with these fields.
    Set(Value),
    /// An object no longer exists.
    Delete(Reference),
    /// All existing objects were set since the header. Any other object no longer exists.
    Synced(Synced),
    /// A pod was bound to a node. The changed pod follows.
    Bind(Bind),
    /// A scheduler reported a pod as unschedulable. The changed pod follows.
    Reject(Reject),
    /// An event of a scheduler.
    Event(SchedulerEvent),
    /// Changes of a kind may be missing before this line. The lines up to `repaired` show the current objects.
    Gap(Kind),
    /// All changes of a kind are known again.
    Repaired(Kind),
    /// The regular end of a file.
    End(End),
}

/// The header of a file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Header {
    /// Version of the format.
    pub version: u32,
    /// Reason why the file begins.
    pub begin: Begin,
    /// Version of schedc that wrote the file.
    pub schedc: String,
}

/// Reason why a file begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Begin {
    /// The recorder started: changes before this file may be missing.
    Start,
    /// The previous file was full: no change is missing.
    Rotation,
}

/// The snapshot at the beginning of a file is complete.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Synced {
    /// Number of objects.
    pub objects: usize,
}

/// The name of an object.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Reference {
    /// Kind; for a kind that a plugin declares, the full name.
    pub kind: String,
    /// Namespace; empty for kinds without namespaces.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub namespace: String,
    /// Name.
    pub name: String,
}

/// A decision to bind a pod to a node.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Bind {
    /// Namespace of the pod.
    pub namespace: String,
    /// Name of the pod.
    pub name: String,
    /// The pod's scheduler.
    pub scheduler: String,
    /// The node.
    pub node: String,
}

/// A decision that no node is feasible.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reject {
    /// Namespace of the pod.
    pub namespace: String,
    /// Name of the pod.
    pub name: String,
    /// The pod's scheduler.
    pub scheduler: String,
    /// Message of the pod's condition.
    pub message: String,
}

/// An event of a scheduler.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SchedulerEvent {
    /// Namespace of the pod.
    pub namespace: String,
    /// Name of the pod.
    pub name: String,
    /// Reason, such as `FailedScheduling`.
    pub reason: String,
    /// The reporting scheduler.
    pub scheduler: String,
    /// Text of the event.
    pub note: String,
}

/// A kind of objects.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Kind {
    /// The kind.
    pub kind: String,
}

/// The end of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum End {
    /// The recorder was stopped.
    Stop,
    /// The recording continues in the next file.
    Rotation,
}
