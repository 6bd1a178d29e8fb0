//! Results of plugins: codes and reasons.

use std::borrow::Cow;
use std::fmt;

use smallvec::SmallVec;

use crate::model::intern::Interner;

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
    /// PreEnqueue, Filter and later: an external component has to act first.
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
    pub reasons: Vec<String>,
}

impl Status {
    /// Makes a status with any code.
    pub fn new(code: Code, reason: impl Into<String>) -> Self {
        Status { code, plugin: "", reasons: vec![reason.into()] }
    }
    /// Makes a rejection that removing pods may change.
    pub fn unschedulable(reason: impl Into<String>) -> Self {
        Status::new(Code::Unschedulable, reason)
    }
    /// Makes a rejection that removing pods does not change.
    pub fn unresolvable(reason: impl Into<String>) -> Self {
        Status::new(Code::UnschedulableAndUnresolvable, reason)
    }
    /// Makes an error.
    pub fn error(reason: impl Into<String>) -> Self {
        Status::new(Code::Error, reason)
    }
    /// Makes a status for a pod that waits for an external component.
    pub fn pending(reason: impl Into<String>) -> Self {
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

/// Reasons why a node was rejected. Most plugins have one reason at a time, and a constant text.
pub type ReasonList = SmallVec<[Cow<'static, str>; 1]>;

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
    pub fn push(&mut self, reason: impl Into<Cow<'static, str>>) {
        self.list.push(reason.into());
    }
    /// Returns the reasons in order.
    pub fn into_list(self) -> ReasonList {
        self.list
    }
}
