//! The extension points of the scheduling framework.

use std::fmt;

/// An extension point of the scheduling framework.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Point {
    /// Holds a pod before it enters the active queue.
    PreEnqueue,
    /// Orders the active queue.
    QueueSort,
    /// Evaluates the pod once, before the nodes.
    PreFilter,
    /// Rejects nodes.
    Filter,
    /// Runs if no node is feasible, to make room.
    PostFilter,
    /// Evaluates the feasible nodes before scoring.
    PreScore,
    /// Scores the feasible nodes.
    Score,
    /// Reserves resources for the pod on the selected node; Unreserve reverts it.
    Reserve,
    /// Approves, denies or delays binding.
    Permit,
    /// Prepares the pod's dependencies before binding.
    PreBind,
    /// Binds the pod to the node.
    Bind,
    /// Runs after the pod was bound.
    PostBind,
}

impl Point {
    /// All extension points, in the order of a scheduling attempt.
    pub const ALL: [Self; 12] = [
        Self::PreEnqueue,
        Self::QueueSort,
        Self::PreFilter,
        Self::Filter,
        Self::PostFilter,
        Self::PreScore,
        Self::Score,
        Self::Reserve,
        Self::Permit,
        Self::PreBind,
        Self::Bind,
        Self::PostBind,
    ];

    /// Returns the key in a profile's `[plugins]`: `pre-filter`.
    pub fn name(self) -> &'static str {
        match self {
            Self::PreEnqueue => "pre-enqueue",
            Self::QueueSort => "queue-sort",
            Self::PreFilter => "pre-filter",
            Self::Filter => "filter",
            Self::PostFilter => "post-filter",
            Self::PreScore => "pre-score",
            Self::Score => "score",
            Self::Reserve => "reserve",
            Self::Permit => "permit",
            Self::PreBind => "pre-bind",
            Self::Bind => "bind",
            Self::PostBind => "post-bind",
        }
    }

    /// Returns the name as a Rust identifier: `pre_filter`.
    pub fn snake_case(self) -> &'static str {
        match self {
            Self::PreEnqueue => "pre_enqueue",
            Self::QueueSort => "queue_sort",
            Self::PreFilter => "pre_filter",
            Self::Filter => "filter",
            Self::PostFilter => "post_filter",
            Self::PreScore => "pre_score",
            Self::Score => "score",
            Self::Reserve => "reserve",
            Self::Permit => "permit",
            Self::PreBind => "pre_bind",
            Self::Bind => "bind",
            Self::PostBind => "post_bind",
        }
    }

    /// Returns whether plugins may write to the cluster at this point.
    pub fn may_write(self) -> bool {
        use Point::{Bind, Permit, PostBind, PostFilter, PreBind, Reserve};
        matches!(self, PostFilter | Reserve | Permit | PreBind | Bind | PostBind)
    }

    /// Returns the point with this key, if any.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|point| point.name() == name)
    }
}

impl fmt::Display for Point {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
