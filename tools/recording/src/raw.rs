//! The lines of a file, in which pods refer to templates and to their previous lines.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::entry::{Bind, End, Header, Kind, Reference, Reject, SchedulerEvent, Synced};

/// The content of a line of a file. Objects are values when they are read, and texts when they are written.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) enum RawEntry<'a, O = Value> {
    Recording(Header),
    Set(O),
    /// Fields that pods share.
    Template(TemplateLine<O>),
    /// A pod exists with these fields and those of its template.
    Pod(PodLine<'a, O>),
    Delete(Reference),
    Synced(Synced),
    Bind(Bind),
    Reject(Reject),
    Event(SchedulerEvent),
    Gap(Kind),
    Repaired(Kind),
    End(End),
}

/// Fields that pods share.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct TemplateLine<O> {
    /// Number in the file. A later template with the same number replaces this one.
    pub(crate) number: u32,
    /// Pod without the fields of [`PodLine`].
    pub(crate) pod: O,
}

/// The fields of a pod that other pods rarely share. Without `template`, an absent field has the same value as in the
/// previous line of this pod in the file.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct PodLine<'a, O> {
    /// Number of the template.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) template: Option<u32>,
    #[serde(default, skip_serializing_if = "str::is_empty")]
    pub(crate) namespace: Cow<'a, str>,
    pub(crate) name: Cow<'a, str>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) uid: Option<Cow<'a, str>>,
    /// Time of creation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) created: Option<Cow<'a, str>>,
    /// Time from which the pod is being deleted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) deleted: Option<Cow<'a, str>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) node: Option<Cow<'a, str>>,
    /// The decision that changed the pod.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) decision: Option<Decision>,
    #[serde(default = "none", skip_serializing_if = "Option::is_none")]
    pub(crate) status: Option<O>,
}

/// Default of a field for serde. Without this function, serde would require `O: Default`.
fn none<O>() -> Option<O> {
    None
}

/// A decision of a scheduler.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) enum Decision {
    /// The pod was bound to its node.
    Bind,
    /// The pod was reported as unschedulable, with the message of its condition.
    Reject,
}
