//! Results of plugins: codes and reasons.

use std::borrow::{Borrow, Cow};
use std::fmt;
use std::hash::{Hash, Hasher};
use std::ops::Deref;
use std::sync::Arc;

use smallvec::SmallVec;

use crate::model::intern::Interner;
use crate::plugin_api::client::ApiError;

/// kube-scheduler's status codes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Code {
    /// The plugin passes.
    Success,
    /// The plugin failed: the attempt fails and the pod is retried after backoff.
    Error,
    /// The pod cannot be scheduled now; removing pods may help.
    Unschedulable,
    /// The pod cannot be scheduled now; removing pods does not help.
    UnschedulableAndUnresolvable,
    /// Permit: the pod waits for approval.
    Wait,
    /// PreFilter, PreScore: this plugin's Filter or Score is skipped. Bind: the next plugin runs.
    Skip,
    /// PreEnqueue, Filter and later extension points: an external component has to act first.
    Pending,
}

impl Code {
    /// Returns whether the code is a rejection of the pod, and not a failure.
    pub fn is_rejected(self) -> bool {
        matches!(self, Code::Unschedulable | Code::UnschedulableAndUnresolvable | Code::Pending)
    }
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self, f)
    }
}

/// A result other than success.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Status {
    /// Code, which determines the consequence.
    pub code: Code,
    /// The plugin; set by the framework.
    pub plugin: &'static str,
    /// The reasons.
    pub reasons: ReasonList,
}

impl Status {
    /// Makes a status with any code.
    pub fn new(code: Code, reason: impl Into<Reason>) -> Self {
        Status { code, plugin: "", reasons: ReasonList::from_iter([reason.into()]) }
    }
    /// Makes a rejection that removing pods may change.
    pub fn unschedulable(reason: impl Into<Reason>) -> Self {
        Status::new(Code::Unschedulable, reason)
    }
    /// Makes a rejection that removing pods does not change.
    pub fn unresolvable(reason: impl Into<Reason>) -> Self {
        Status::new(Code::UnschedulableAndUnresolvable, reason)
    }
    /// Makes an error.
    pub fn error(reason: impl Into<Reason>) -> Self {
        Status::new(Code::Error, reason)
    }
    /// Makes a status for a pod that waits for an external component.
    pub fn pending(reason: impl Into<Reason>) -> Self {
        Status::new(Code::Pending, reason)
    }
    /// Returns the status with this plugin.
    pub fn with_plugin(mut self, plugin: &'static str) -> Self {
        self.plugin = plugin;
        self
    }
    /// Returns all reasons in one line.
    pub fn message(&self) -> String {
        self.reasons.join(", ")
    }
}

impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message())
    }
}

/// Text of a reason. Clones share it.
#[derive(Clone)]
pub enum Reason {
    /// A constant.
    Constant(&'static str),
    /// A text with parts that are known at run time.
    Shared(Arc<str>),
}

impl Deref for Reason {
    type Target = str;
    #[inline]
    fn deref(&self) -> &str {
        match self {
            Reason::Constant(text) => text,
            Reason::Shared(text) => text,
        }
    }
}
impl Borrow<str> for Reason {
    fn borrow(&self) -> &str {
        self
    }
}
impl Default for Reason {
    /// Returns an empty text.
    fn default() -> Self {
        Reason::Constant("")
    }
}
impl PartialEq for Reason {
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}
impl Eq for Reason {}
impl PartialEq<str> for Reason {
    fn eq(&self, other: &str) -> bool {
        **self == *other
    }
}
impl PartialEq<&str> for Reason {
    fn eq(&self, other: &&str) -> bool {
        **self == **other
    }
}
impl PartialOrd for Reason {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}
impl Ord for Reason {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        (**self).cmp(&**other)
    }
}
impl Hash for Reason {
    fn hash<H: Hasher>(&self, state: &mut H) {
        (**self).hash(state);
    }
}
impl fmt::Debug for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&**self, f)
    }
}
impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self)
    }
}
impl From<&'static str> for Reason {
    fn from(text: &'static str) -> Self {
        Reason::Constant(text)
    }
}
impl From<String> for Reason {
    fn from(text: String) -> Self {
        Reason::Shared(text.into())
    }
}
impl From<Arc<str>> for Reason {
    fn from(text: Arc<str>) -> Self {
        Reason::Shared(text)
    }
}
impl From<Cow<'static, str>> for Reason {
    fn from(text: Cow<'static, str>) -> Self {
        match text {
            Cow::Borrowed(text) => text.into(),
            Cow::Owned(text) => text.into(),
        }
    }
}
impl From<Box<str>> for Reason {
    fn from(text: Box<str>) -> Self {
        Reason::Shared(text.into())
    }
}
impl From<ApiError> for Reason {
    fn from(error: ApiError) -> Self {
        String::from(error).into()
    }
}
impl From<Reason> for String {
    fn from(reason: Reason) -> Self {
        reason.to_string()
    }
}

/// Reasons of a status or of a node's rejection. Two fit without an allocation: most rejections have one reason, and a
/// PostFilter has two.
pub type ReasonList = SmallVec<[Reason; 2]>;

/// Collects reasons why a node was rejected. Used only when the reasons are needed.
pub struct Reasons<'a> {
    /// The cluster's strings.
    pub interner: &'a Interner,
    list: ReasonList,
}

impl<'a> Reasons<'a> {
    /// Makes an empty list.
    pub fn new(interner: &'a Interner) -> Self {
        Reasons { interner, list: ReasonList::new() }
    }
    /// Adds a reason.
    pub fn push(&mut self, reason: impl Into<Reason>) {
        self.list.push(reason.into());
    }
    /// Returns the reasons in order.
    pub fn into_list(self) -> ReasonList {
        self.list
    }
}
