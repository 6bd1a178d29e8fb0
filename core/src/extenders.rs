//! Extenders: who has a say besides plugins, outside of the process. kube-scheduler's `Extender`, all of a profile as one.
//!
//! A profile has [`NoExtenders`] unless it says otherwise, and then nothing is left of what is here. Calls within a
//! scheduling cycle block it.

use std::future::{Future, ready};
use std::sync::Arc;

use crate::cache::Base;
use crate::client::Client;
use crate::extension_points::{Candidate, Placement};
use crate::mask::Mask;
use crate::model::{NodeIndex, Pod};
use crate::status::{Code, Status};

/// Stands among the plugins that rejected a pod if extenders took nodes out; every event wakes it.
pub const EXTENDER: &str = "Extender";

/// A node that extenders took out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExtenderRejection {
    /// The node.
    pub node: NodeIndex,
    /// `Unschedulable`, or `UnschedulableAndUnresolvable` where removing pods does not help.
    pub code: Code,
    /// Why, in the extender's words.
    pub reason: String,
}

/// All extenders of a profile. What is not overridden does nothing.
pub trait Extenders: Send + Sync + 'static {
    /// Whether there is none.
    const NONE: bool = false;

    /// After Filter: takes nodes out of `feasible`, and tells why as far as it is known.
    ///
    /// # Errors
    /// Fails the attempt, but for a pod that is nominated for a node: then the others are looked at.
    fn filter(&self, _pod: &Arc<Pod>, _base: &Base, _feasible: &mut Mask) -> Result<Vec<ExtenderRejection>, String> {
        Ok(Vec::new())
    }

    /// After Score: adds to the totals of the feasible nodes, which are at their indices.
    fn prioritize(&self, _pod: &Arc<Pod>, _base: &Base, _feasible: &Mask, _totals: &mut [i64]) {}

    /// Before one of the candidates for preemption is chosen: takes some out, or changes their victims.
    ///
    /// # Errors
    /// Ends the preemption.
    fn preempt(&self, _pod: &Arc<Pod>, _base: &Base, candidates: Vec<Candidate>) -> Result<Vec<Candidate>, String> {
        Ok(candidates)
    }

    /// Instead of the Bind plugins, if an extender binds this pod; none if not.
    fn bind<C: Client>(
        &self,
        _client: &C,
        _placement: &Placement,
    ) -> impl Future<Output = Option<Result<(), Status>>> + Send {
        ready(None)
    }
}

/// No extenders.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoExtenders;

impl Extenders for NoExtenders {
    const NONE: bool = true;
}
