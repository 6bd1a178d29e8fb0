//! Extenders: who has a say besides plugins, outside of the process. kube-scheduler's `Extender`, all of a profile as one.
//!
//! A profile has [`NoExtenders`] unless it says otherwise, and then nothing is left of what is here. Calls within a
//! scheduling cycle block it; binding and what follows it go through the [`Client`](crate::client::Client), which knows
//! where it may block.

mod overrides;

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use crate::cache::{Base, State};
use crate::engine::Engine;
use crate::extension_points::{Candidate, Placement};
use crate::model::{NodeIndex, Pod};
use crate::node_mask::NodeMask;
use crate::profile::{Bundle, Profile, ProfileInfo, StartError, StartErrors, Visitor};
use crate::status::Code;

pub use overrides::{Overrides, Setting};

/// Stands among the plugins that rejected a pod if extenders took nodes out; every event wakes it.
pub const EXTENDER: &str = "Extender";

/// A node that extenders took out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExtenderRejection {
    /// The node: one that was asked about, or another one, of which the last word counts, too.
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

    /// Before anything is asked: makes ready what may fail. `here` says what is different where the scheduler runs from what
    /// these profiles say, of which this is one.
    ///
    /// # Errors
    /// They cannot be asked.
    fn set_up(&self, _here: &Overrides, _profiles: &[ProfileInfo]) -> Result<(), String> {
        Ok(())
    }

    /// After Filter: takes nodes out of `feasible`, and tells why as far as it is known.
    ///
    /// # Errors
    /// Fails the attempt, but for a pod that is nominated for a node: then the others are looked at.
    fn filter(
        &self,
        _pod: &Arc<Pod>,
        _base: &Base,
        _feasible: &mut NodeMask,
    ) -> Result<Vec<ExtenderRejection>, String> {
        Ok(Vec::new())
    }

    /// After Score: adds to the totals of the feasible nodes, which are at their indices.
    fn prioritize(&self, _pod: &Arc<Pod>, _base: &Base, _feasible: &NodeMask, _totals: &mut [i64]) {}

    /// Before one of the candidates for preemption is chosen: takes some out, or changes their victims.
    ///
    /// # Errors
    /// Ends the preemption.
    fn preempt(&self, _pod: &Arc<Pod>, _base: &Base, candidates: Vec<Candidate>) -> Result<Vec<Candidate>, String> {
        Ok(candidates)
    }

    /// Who of them binds this pod instead of the Bind plugins, in order.
    fn binders(&self, _pod: &Pod, _base: &Base) -> Vec<usize> {
        Vec::new()
    }

    /// Asks them to. Returns whether the pod is bound now; if not, the Bind plugins are to do it. It blocks.
    ///
    /// # Errors
    /// The pod is not bound.
    fn bind(&self, _placement: &Placement, _binders: &[usize]) -> Result<bool, String> {
        Ok(false)
    }

    /// Who of them wants to know that a pod does not go to its node after all.
    fn unreservers(&self, _pod: &Pod, _base: &Base) -> Vec<usize> {
        Vec::new()
    }

    /// Tells them. It blocks.
    fn unreserve(&self, _placement: &Placement, _unreservers: &[usize]) {}

    /// The calls since this was asked last, as far back as they are remembered.
    fn take_calls(&self) -> Vec<ExtenderCall> {
        Vec::new()
    }
}

/// Makes the extenders of all profiles ready. `here` says what is different where they run.
///
/// # Errors
/// Those that cannot be asked.
pub fn set_up<B: Bundle>(bundle: &mut B, here: &Overrides) -> Result<(), StartErrors> {
    let profiles = bundle.profiles();
    let set_up = (0..profiles.len()).map(|profile| bundle.with(profile, SetUp { here, profiles }));
    let mut errors: Vec<StartError> = set_up.filter_map(Result::err).collect();
    // Profiles may share extenders, and what is wrong with them.
    errors.dedup();
    if errors.is_empty() { Ok(()) } else { Err(errors.into()) }
}

struct SetUp<'a> {
    here: &'a Overrides,
    profiles: &'a [ProfileInfo],
}

impl<S: State> Visitor<S> for SetUp<'_> {
    type Output = Result<(), StartError>;
    fn visit<P: Profile<State = S>>(self, engine: &mut Engine<P>) -> Self::Output {
        let made_ready = engine.plugins.extenders().set_up(self.here, self.profiles);
        made_ready.map_err(|reason| StartError { plugin: EXTENDER, reason })
    }
}

/// No extenders.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoExtenders;

impl Extenders for NoExtenders {
    const NONE: bool = true;
}

/// What an extender is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Verb {
    /// Which nodes are feasible.
    Filter,
    /// How good nodes are.
    Prioritize,
    /// Which pods are to go for another.
    Preempt,
    /// To bind a pod.
    Bind,
    /// To forget a decision.
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

/// A call of an extender, for those who measure.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExtenderCall {
    /// The extender, by the prefix of its URL.
    pub extender: Arc<str>,
    /// What it was asked.
    pub verb: Verb,
    /// Whether its answer could be used.
    pub succeeded: bool,
    /// How long it took.
    pub took: Duration,
}
