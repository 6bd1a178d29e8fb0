//! What plugins answer: codes and reasons.

use std::borrow::Cow;
use std::fmt;

use smallvec::SmallVec;

use crate::intern::Interner;

/// kube-scheduler's status codes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Code {
    /// Go on.
    Success,
    /// Something broke: the attempt fails and the pod is tried again after backoff.
    Error,
    /// Not now; removing pods may help.
    Unschedulable,
    /// Not now, and removing pods does not help.
    UnschedulableAndUnresolvable,
    /// Permit: wait for approval.
    Wait,
    /// PreFilter, PreScore: leave this plugin's Filter or Score out. Bind: let the next plugin do it.
    Skip,
    /// PreEnqueue, Filter and later: an external component has to act first.
    Pending,
}

impl Code {
    /// Whether the pod, not the scheduler, is the matter.
    pub fn is_rejected(self) -> bool {
        matches!(self, Code::Unschedulable | Code::UnschedulableAndUnresolvable | Code::Pending)
    }
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self, f)
    }
}

/// An answer other than success.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Status {
    /// What follows from it.
    pub code: Code,
    /// Who says so; the framework fills it in.
    pub plugin: &'static str,
    /// Why.
    pub reasons: Vec<String>,
}

impl Status {
    /// A status of any code.
    pub fn new(code: Code, reason: impl Into<String>) -> Self {
        Status { code, plugin: "", reasons: vec![reason.into()] }
    }
    /// The pod cannot be scheduled; removing pods may help.
    pub fn unschedulable(reason: impl Into<String>) -> Self {
        Status::new(Code::Unschedulable, reason)
    }
    /// The pod cannot be scheduled; removing pods does not help.
    pub fn unresolvable(reason: impl Into<String>) -> Self {
        Status::new(Code::UnschedulableAndUnresolvable, reason)
    }
    /// Something broke.
    pub fn error(reason: impl Into<String>) -> Self {
        Status::new(Code::Error, reason)
    }
    /// Something outside must act first.
    pub fn pending(reason: impl Into<String>) -> Self {
        Status::new(Code::Pending, reason)
    }
    /// The same status, said by `plugin`.
    pub fn with_plugin(mut self, plugin: &'static str) -> Self {
        self.plugin = plugin;
        self
    }
    /// All reasons in one line.
    pub fn message(&self) -> String {
        self.reasons.join(", ")
    }
}

impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message())
    }
}

/// Why a node was rejected, in words. Most plugins have one reason at a time, and know its text beforehand.
pub type ReasonList = SmallVec<[Cow<'static, str>; 1]>;

/// Takes down why a node was rejected. Made only when somebody asks.
pub struct Reasons<'a> {
    /// The cluster's strings.
    pub interner: &'a Interner,
    list: ReasonList,
}

impl<'a> Reasons<'a> {
    /// Nothing said yet.
    pub fn new(interner: &'a Interner) -> Self {
        Reasons { interner, list: ReasonList::new() }
    }
    /// Another reason.
    pub fn push(&mut self, reason: impl Into<Cow<'static, str>>) {
        self.list.push(reason.into());
    }
    /// What was said, in order.
    pub fn into_list(self) -> ReasonList {
        self.list
    }
}
