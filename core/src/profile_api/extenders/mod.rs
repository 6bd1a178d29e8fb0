//! Scheduler extenders, kube-scheduler's `Extender`: services outside of the process. One value stands for all
//! extenders of a profile.
//!
//! A profile without extenders has [`NoExtenders`], which compiles to nothing. Calls in a scheduling cycle block the
//! cycle. Bind and later calls go through the [`Client`](crate::client::Client), which decides where they may block.

mod overrides;

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use crate::model::cache::Base;
use crate::model::node_mask::NodeMask;
use crate::model::placement::Placement;
use crate::model::{NodeIndex, Pod};
use crate::plugin_api::extension_points::Candidate;
use crate::plugin_api::status::Code;
use crate::profile_api::profile_info::ProfileInfo;

pub use overrides::{Overrides, Setting};

/// Name in the list of the plugins that rejected a pod: at least one extender rejected it. Every event causes another
/// attempt for such a pod.
pub const EXTENDER: &str = "Extender";

/// An extender's rejection of a node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExtenderRejection {
    /// The node; it may be one that the extender did not receive. If a node has several entries, the last one counts.
    pub node: NodeIndex,
    /// `Unschedulable`, or `UnschedulableAndUnresolvable` where removing pods does not help.
    pub code: Code,
    /// The extender's reason.
    pub reason: String,
}

/// All extenders of a profile. The default methods do nothing.
pub trait Extenders: Send + Sync + 'static {
    /// Whether there are no extenders.
    const NONE: bool = false;

    /// Prepares the extenders, before any call. `overrides` are for the extenders of all `profiles`, which include this
    /// profile.
    ///
    /// # Errors
    /// The extenders cannot be called.
    fn set_up(&self, _overrides: &Overrides, _profiles: &[ProfileInfo]) -> Result<(), String> {
        Ok(())
    }

    /// Removes nodes from `feasible`, after Filter, and returns the reasons that the extenders gave.
    ///
    /// # Errors
    /// The attempt fails. Exception: if only the pod's nominated node is being evaluated, the other nodes are evaluated
    /// instead.
    fn filter(
        &self,
        _pod: &Arc<Pod>,
        _base: &Base,
        _feasible: &mut NodeMask,
    ) -> Result<Vec<ExtenderRejection>, String> {
        Ok(Vec::new())
    }

    /// Adds to the totals of the feasible nodes, after Score. A total is at the index of its node.
    fn prioritize(&self, _pod: &Arc<Pod>, _base: &Base, _feasible: &NodeMask, _totals: &mut [i64]) {}

    /// Removes candidates for preemption, or changes their victims, before a candidate is chosen.
    ///
    /// # Errors
    /// Ends the preemption.
    fn preempt(&self, _pod: &Arc<Pod>, _base: &Base, candidates: Vec<Candidate>) -> Result<Vec<Candidate>, String> {
        Ok(candidates)
    }

    /// Returns the indexes of the extenders that bind this pod instead of the Bind plugins, in order.
    fn binders(&self, _pod: &Pod, _base: &Base) -> Vec<usize> {
        Vec::new()
    }

    /// Calls these extenders. Returns whether one of them bound the pod; if none did, the Bind plugins run. Blocks.
    ///
    /// # Errors
    /// An extender failed to bind the pod; the Bind plugins do not run.
    fn bind(&self, _placement: &Placement, _binders: &[usize]) -> Result<bool, String> {
        Ok(false)
    }

    /// Returns the indexes of the extenders that are notified when the decision for a node is reverted.
    fn unreservers(&self, _pod: &Pod, _base: &Base) -> Vec<usize> {
        Vec::new()
    }

    /// Notifies these extenders. Blocks.
    fn unreserve(&self, _placement: &Placement, _unreservers: &[usize]) {}

    /// Returns the recorded extender calls since the last call of this function; the oldest ones may be missing.
    fn take_calls(&self) -> Vec<ExtenderCall> {
        Vec::new()
    }
}

/// No extenders.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoExtenders;

impl Extenders for NoExtenders {
    const NONE: bool = true;
}

/// Request to an extender.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Verb {
    /// Filters nodes.
    Filter,
    /// Scores nodes.
    Prioritize,
    /// Selects victims of a preemption.
    Preempt,
    /// Binds a pod.
    Bind,
    /// Reverts a decision.
    Unreserve,
}

impl fmt::Display for Verb {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Verb::Filter => "filter",
            Verb::Prioritize => "prioritize",
            Verb::Preempt => "preempt",
            Verb::Bind => "bind",
            Verb::Unreserve => "unreserve",
        })
    }
}

/// One extender call, for metrics.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExtenderCall {
    /// The extender, by the prefix of its URL.
    pub extender: Arc<str>,
    /// The request.
    pub verb: Verb,
    /// Whether the response was valid.
    pub succeeded: bool,
    /// Its duration.
    pub duration: Duration,
}
