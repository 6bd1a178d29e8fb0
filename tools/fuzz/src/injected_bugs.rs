//! Deliberate breaks: what the driver gets wrong, so that it can be seen that the invariants notice.

use std::fmt;

use crate::invariants::Invariant;

/// Something that the driver does wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum InjectedBug {
    /// New pods are not told of, some of them.
    MissedPodCreation,
    /// That a pod is gone is not told.
    MissedPodDeletion,
    /// That a pod is bound is not told.
    MissedBinding,
    /// A bound pod is told to be on another node.
    WrongNode,
    /// A node's changes are not told.
    MissedNodeUpdate,
    /// The server says that it has bound a pod, and has not.
    FalseBinding,
    /// The server binds pods that are bound.
    DoubleBinding,
    /// The time is not told while a pod waits in Permit.
    StoppedClock,
    /// That pods were parked for too long is not told.
    MissedFlush,
    /// A task's end is not told.
    LostCompletion,
    /// Plugins' background tasks are ended.
    EndedTasks,
    /// What is unreserved is not taken down.
    IgnoredUnreserve,
    /// A pod counts on its node twice.
    DoubleCount,
    /// A pod is nominated that nobody knows.
    StaleNomination,
    /// A node is put into the cache, and nobody is woken.
    SilentNodeUpdate,
    /// The same, and nobody looks for pods that fit and are parked.
    UncheckedNodeUpdate,
}

/// A lie, and what it breaks.
#[derive(Clone, Copy, Debug)]
pub struct BugExpectation {
    /// What the driver does wrong.
    pub bug: InjectedBug,
    /// The invariants that notice; which one does first depends on what happens.
    pub violates: &'static [Invariant],
    /// Within how many steps they do.
    pub steps: u64,
}

impl InjectedBug {
    /// All of them.
    pub const ALL: [BugExpectation; 16] = {
        use Invariant::*;
        const fn of(bug: InjectedBug, violates: &'static [Invariant], steps: u64) -> BugExpectation {
            BugExpectation { bug, violates, steps }
        }
        [
            of(InjectedBug::MissedPodCreation, &[NoPodIsLost], 200),
            of(InjectedBug::MissedPodDeletion, &[QueueAndCacheAgree, DecisionsAreValid], 2_000),
            of(InjectedBug::MissedBinding, &[QueueAndCacheAgree], 1_000),
            of(InjectedBug::WrongNode, &[QueueAndCacheAgree, DecisionsAreValid], 1_000),
            of(InjectedBug::MissedNodeUpdate, &[DecisionsAreValid, FittingPodsAreNotParked], 10_000),
            of(InjectedBug::FalseBinding, &[IdleHasNothingInFlight, NoPodIsBoundTwice], 1_000),
            of(InjectedBug::DoubleBinding, &[NoPodIsBoundTwice], 40_000),
            of(InjectedBug::StoppedClock, &[WaitsEnd, SchedulerSettles], 10_000),
            of(InjectedBug::MissedFlush, &[ParkedPodsAreReachable], 5_000),
            of(InjectedBug::LostCompletion, &[IdleHasNothingInFlight], 1_000),
            of(InjectedBug::EndedTasks, &[FollowersKeepUp], 200),
            of(InjectedBug::IgnoredUnreserve, &[ReservesArePaired, IdleHasNothingInFlight], 2_000),
            of(InjectedBug::DoubleCount, &[CacheEqualsRebuilt], 1_000),
            of(InjectedBug::StaleNomination, &[NominationsHavePods], 1_000),
            of(InjectedBug::SilentNodeUpdate, &[FittingPodsAreNotParked], 5_000),
            of(InjectedBug::UncheckedNodeUpdate, &[NoPodDependsOnTheFlush], 10_000),
        ]
    };
}

impl fmt::Display for InjectedBug {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            InjectedBug::MissedPodCreation => "some pod creations are not delivered",
            InjectedBug::MissedPodDeletion => "some pod deletions are not delivered",
            InjectedBug::MissedBinding => "some bindings are not delivered",
            InjectedBug::WrongNode => "a bound pod is reported on another node",
            InjectedBug::MissedNodeUpdate => "some node updates are not delivered",
            InjectedBug::FalseBinding => "the server reports a binding that it did not store",
            InjectedBug::DoubleBinding => "the server binds pods that are already bound",
            InjectedBug::StoppedClock => "the clock stops while a pod waits in Permit",
            InjectedBug::MissedFlush => "the flush of parked pods is missed",
            InjectedBug::LostCompletion => "some task completions are not delivered",
            InjectedBug::EndedTasks => "background tasks of plugins are stopped",
            InjectedBug::IgnoredUnreserve => "calls of Unreserve are not recorded",
            InjectedBug::DoubleCount => "a pod counts twice on its node",
            InjectedBug::StaleNomination => "a pod that is not pending is nominated",
            InjectedBug::SilentNodeUpdate => "nodes change in the cache without an event",
            InjectedBug::UncheckedNodeUpdate => "the same, without the check for parked pods that fit",
        })
    }
}
