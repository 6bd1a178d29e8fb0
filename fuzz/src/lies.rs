//! Deliberate breaks: what the driver gets wrong, so that it can be seen that the invariants notice.

use std::fmt;

use crate::invariants::Invariant;

/// Something that the driver does wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Lie {
    /// New pods are not told of, some of them.
    HidesNewPods,
    /// That a pod is gone is not told.
    HidesDeletions,
    /// That a pod is bound is not told.
    HidesBindings,
    /// A bound pod is told to be on another node.
    NamesAnotherNode,
    /// A node's changes are not told.
    HidesNodes,
    /// The server says that it has bound a pod, and has not.
    DoesNotBind,
    /// The server binds pods that are bound.
    BindsTwice,
    /// The time is not told while a pod waits in Permit.
    StopsTheClock,
    /// That pods were parked for too long is not told.
    SleepsThroughFlush,
    /// A task's end is not told.
    LosesCompletions,
    /// Plugins' background tasks are ended.
    EndsTasks,
    /// What is unreserved is not taken down.
    IsDeafToUnreserve,
    /// A pod counts on its node twice.
    CountsTwice,
    /// A pod is nominated that nobody knows.
    NominatesGhosts,
    /// A node is put into the cache, and nobody is woken.
    ChangesNodesSilently,
    /// The same, and nobody looks for pods that fit and are parked.
    ChangesNodesUnseen,
}

/// A lie, and what it breaks.
#[derive(Clone, Copy, Debug)]
pub struct Break {
    /// What the driver does wrong.
    pub lie: Lie,
    /// The invariants that notice; which one does first depends on what happens.
    pub breaks: &'static [Invariant],
    /// Within how many steps they do.
    pub steps: u64,
}

impl Lie {
    /// All of them.
    pub const ALL: [Break; 16] = {
        use Invariant::*;
        const fn of(lie: Lie, breaks: &'static [Invariant], steps: u64) -> Break {
            Break { lie, breaks, steps }
        }
        [
            of(Lie::HidesNewPods, &[NoPodIsLost], 200),
            of(Lie::HidesDeletions, &[QueueAndCacheAgree, DecisionsHold], 2_000),
            of(Lie::HidesBindings, &[QueueAndCacheAgree], 1_000),
            of(Lie::NamesAnotherNode, &[QueueAndCacheAgree, DecisionsHold], 1_000),
            of(Lie::HidesNodes, &[DecisionsHold, FittingDoNotStayParked], 10_000),
            of(Lie::DoesNotBind, &[IdleIsIdle, NoneIsBoundTwice], 1_000),
            of(Lie::BindsTwice, &[NoneIsBoundTwice], 40_000),
            of(Lie::StopsTheClock, &[WaitsEnd, ItSettles], 10_000),
            of(Lie::SleepsThroughFlush, &[ParkedIsReachable], 5_000),
            of(Lie::LosesCompletions, &[IdleIsIdle], 1_000),
            of(Lie::EndsTasks, &[FollowersKeepUp], 200),
            of(Lie::IsDeafToUnreserve, &[ReservesArePaired, IdleIsIdle], 2_000),
            of(Lie::CountsTwice, &[CacheEqualsRebuilt], 1_000),
            of(Lie::NominatesGhosts, &[NominationsAreAlive], 1_000),
            of(Lie::ChangesNodesSilently, &[FittingDoNotStayParked], 5_000),
            of(Lie::ChangesNodesUnseen, &[NoneWaitsForTheFlush], 10_000),
        ]
    };
}

impl fmt::Display for Lie {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Lie::HidesNewPods => "some new pods are not told of",
            Lie::HidesDeletions => "that a pod is gone is not told, sometimes",
            Lie::HidesBindings => "that a pod is bound is not told, sometimes",
            Lie::NamesAnotherNode => "a bound pod is told to be on another node",
            Lie::HidesNodes => "changes of nodes are not told, sometimes",
            Lie::DoesNotBind => "the server says that it has bound a pod, and has not",
            Lie::BindsTwice => "the server binds pods that are bound",
            Lie::StopsTheClock => "the time is not told while a pod waits in Permit",
            Lie::SleepsThroughFlush => "the time is not told when pods were parked for too long",
            Lie::LosesCompletions => "the end of a task is not told, sometimes",
            Lie::EndsTasks => "plugins' background tasks are ended",
            Lie::IsDeafToUnreserve => "calls of Unreserve are not taken down",
            Lie::CountsTwice => "a pod counts on its node twice",
            Lie::NominatesGhosts => "a pod is nominated that does not wait",
            Lie::ChangesNodesSilently => "nodes change in the cache, and nobody is woken",
            Lie::ChangesNodesUnseen => "the same, and nobody asks whether parked pods fit",
        })
    }
}
