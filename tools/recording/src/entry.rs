//! The lines of a recording.

use std::borrow::Borrow;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use serde::{Deserialize, Serialize, Serializer};
use serde_json::Value;
use serde_json::value::{RawValue, to_raw_value};

/// Version of the format that is written. Version 1, which is also read, has no entries `template` and `pod`.
pub const VERSION: u32 = 2;

/// A line: an entry with its time. Objects are values when they are read, and [texts](ObjectText) when they are written.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Line<O = Value> {
    /// Time at which the recorder received the change, in milliseconds since 1970.
    pub at: i64,
    /// Resource version of the change: changes of all kinds are in this order. `None` if it is unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rv: Option<u64>,
    /// The entry.
    #[serde(flatten)]
    pub entry: Entry<O>,
}

impl<O> Line<O> {
    /// Creates a line without a resource version.
    pub fn new(at: i64, entry: Entry<O>) -> Self {
        Line { at, rv: None, entry }
    }
}

impl Line<ObjectText> {
    /// Returns the line with its object as a value.
    pub fn parse(self) -> Line {
        Line { at: self.at, rv: self.rv, entry: self.entry.map(|object| object.parse()) }
    }
}

impl Line {
    /// Returns the line with its object as text.
    pub fn into_text(self) -> Line<ObjectText> {
        Line { at: self.at, rv: self.rv, entry: self.entry.map(|object| ObjectText::new(&object).unwrap_or_default()) }
    }
}

/// An object as JSON text, which is written several times but formatted once.
#[derive(Clone, Debug)]
pub struct ObjectText(Arc<RawValue>);

impl ObjectText {
    /// Formats an object. Returns `None` if it cannot be written as JSON, which does not happen in practice.
    pub fn new(object: &Value) -> Option<ObjectText> {
        to_raw_value(object).ok().map(|text| ObjectText(text.into()))
    }

    /// Returns the object.
    pub fn parse(&self) -> Value {
        serde_json::from_str(self.0.get()).unwrap_or_default()
    }

    /// Returns whether there are other references to the text.
    pub(crate) fn is_shared(&self) -> bool {
        Arc::strong_count(&self.0) > 1
    }
}

impl From<Box<RawValue>> for ObjectText {
    fn from(text: Box<RawValue>) -> Self {
        ObjectText(text.into())
    }
}

impl Default for ObjectText {
    fn default() -> Self {
        ObjectText(RawValue::NULL.to_owned().into())
    }
}

impl PartialEq for ObjectText {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0) || self.0.get() == other.0.get()
    }
}

impl Eq for ObjectText {}

impl Hash for ObjectText {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.0.get().hash(state);
    }
}

impl Borrow<str> for ObjectText {
    fn borrow(&self) -> &str {
        self.0.get()
    }
}

impl Serialize for ObjectText {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        (*self.0).serialize(serializer)
    }
}

/// What a line contains.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Entry<O = Value> {
    /// The first line of each file. All objects follow, up to `synced`.
    Recording(Header),
    /// An object exists with these fields.
    Set(O),
    /// Fields that pods share.
    Template(Template<O>),
    /// A pod exists with these fields and those of its template.
    Pod(PodLine<O>),
    /// An object no longer exists.
    Delete(Reference),
    /// All objects that exist were set since the header; others no longer exist.
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

impl<O> Entry<O> {
    fn map<P>(self, convert: impl FnOnce(O) -> P) -> Entry<P> {
        match self {
            Entry::Recording(header) => Entry::Recording(header),
            Entry::Set(object) => Entry::Set(convert(object)),
            Entry::Template(Template { number, pod }) => Entry::Template(Template { number, pod: convert(pod) }),
            Entry::Pod(pod) => Entry::Pod(pod.map(convert)),
            Entry::Delete(reference) => Entry::Delete(reference),
            Entry::Synced(synced) => Entry::Synced(synced),
            Entry::Bind(bind) => Entry::Bind(bind),
            Entry::Reject(reject) => Entry::Reject(reject),
            Entry::Event(event) => Entry::Event(event),
            Entry::Gap(kind) => Entry::Gap(kind),
            Entry::Repaired(kind) => Entry::Repaired(kind),
            Entry::End(end) => Entry::End(end),
        }
    }
}

/// Fields that pods share.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Template<O = Value> {
    /// Number in the file. A later template with the same number replaces this one.
    pub number: u32,
    /// Pod without the fields of [`PodLine`].
    pub pod: O,
}

/// The fields of a pod that other pods rarely share. Without `template`, the template, `uid` and `created` are those of the
/// previous line of this pod in the file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PodLine<O = Value> {
    /// Number of the template.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub template: Option<u32>,
    /// Namespace.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub namespace: String,
    /// Name.
    pub name: String,
    /// Uid.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub uid: Option<String>,
    /// Time of creation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub created: Option<Time>,
    /// Time from which the pod is being deleted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deleted: Option<Time>,
    /// Node.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub node: Option<String>,
    /// Status.
    #[serde(default = "none", skip_serializing_if = "Option::is_none")]
    pub status: Option<O>,
}

/// Unlike `Option::default`, requires no default of the content.
fn none<O>() -> Option<O> {
    None
}

impl<O> PodLine<O> {
    fn map<P>(self, convert: impl FnOnce(O) -> P) -> PodLine<P> {
        let PodLine { template, namespace, name, uid, created, deleted, node, status } = self;
        PodLine { template, namespace, name, uid, created, deleted, node, status: status.map(convert) }
    }
}

/// The header of a file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Header {
    /// Version of the format.
    pub version: u32,
    /// Reason of the file.
    pub begin: Begin,
    /// Version of the program that recorded.
    pub schedc: String,
}

/// Reason of a new file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Begin {
    /// The recorder started: changes before this file may be missing.
    Start,
    /// The previous file was full: no change is missing.
    Rotation,
}

/// The snapshot at the begin of a file is complete.
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

/// A decision for a node.
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
    /// The recording goes on in the next file.
    Rotation,
}
