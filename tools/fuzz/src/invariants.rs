//! What must hold.

use std::fmt;

/// Something that must hold, after every step or when nothing is left to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Invariant {
    /// A pod that waits for a node, as the scheduler was told, is in its queue or on its way to a node.
    NoPodIsLost,
    /// No pod is bound twice, or asked to be bound while it is known to be bound or another request to bind it is under way.
    NoPodIsBoundTwice,
    /// A node that a pod goes to has room for it and takes it, by what the scheduler was told and decided before.
    DecisionsAreValid,
    /// What is reserved is unreserved, the last first, or bound; once.
    ReservesArePaired,
    /// No pod waits in Permit when the patience of who makes it wait is over.
    WaitsEnd,
    /// A pod is in one place: the queue or the cache, as the scheduler was told and decided.
    QueueAndCacheAgree,
    /// Columns and indexes equal those that are derived from nothing.
    CacheEqualsRebuilt,
    /// Every nomination is that of a pod that waits for a node.
    NominationsHavePods,
    /// A pod for which room is being made is not tried, and no other room is made for it.
    OnePreemptionPerPod,
    /// Who is rejected after it waited, while something happened that wakes it, is not parked.
    EventsAreNotLost,
    /// With nothing left to do, nothing is under way: no attempts, no events kept for them, nothing reserved or assumed.
    IdleHasNothingInFlight,
    /// A parked pod fits nowhere, when the scheduler knows everything.
    FittingPodsAreNotParked,
    /// Parked pods are tried when they were parked for too long.
    ParkedPodsAreReachable,
    /// Nobody is bound only because of that.
    NoPodDependsOnTheFlush,
    /// A plugin's task that follows the cluster knows what the scheduler knows.
    FollowersKeepUp,
    /// If the world leaves it alone, the scheduler comes to rest.
    SchedulerSettles,
}

impl Invariant {
    /// All of them.
    pub const ALL: [Invariant; 16] = [
        Invariant::NoPodIsLost,
        Invariant::NoPodIsBoundTwice,
        Invariant::DecisionsAreValid,
        Invariant::ReservesArePaired,
        Invariant::WaitsEnd,
        Invariant::QueueAndCacheAgree,
        Invariant::CacheEqualsRebuilt,
        Invariant::NominationsHavePods,
        Invariant::OnePreemptionPerPod,
        Invariant::EventsAreNotLost,
        Invariant::IdleHasNothingInFlight,
        Invariant::FittingPodsAreNotParked,
        Invariant::ParkedPodsAreReachable,
        Invariant::NoPodDependsOnTheFlush,
        Invariant::FollowersKeepUp,
        Invariant::SchedulerSettles,
    ];
}

impl fmt::Display for Invariant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Invariant::NoPodIsLost => "no pod is lost",
            Invariant::NoPodIsBoundTwice => "no pod is bound twice",
            Invariant::DecisionsAreValid => "decisions hold by what was known",
            Invariant::ReservesArePaired => "what is reserved is unreserved or bound, once",
            Invariant::WaitsEnd => "every wait in Permit ends",
            Invariant::QueueAndCacheAgree => "a pod is in one place",
            Invariant::CacheEqualsRebuilt => "the cache equals one that is rebuilt",
            Invariant::NominationsHavePods => "nominations are those of waiting pods",
            Invariant::OnePreemptionPerPod => "a pod is not tried while room is made for it",
            Invariant::EventsAreNotLost => "what happens during an attempt is not lost",
            Invariant::IdleHasNothingInFlight => "nothing is under way when nothing is left to do",
            Invariant::FittingPodsAreNotParked => "no pod that fits stays parked",
            Invariant::ParkedPodsAreReachable => "every parked pod can be reached",
            Invariant::NoPodDependsOnTheFlush => "no pod is bound only after it was parked for too long",
            Invariant::FollowersKeepUp => "a task that follows the cluster knows it",
            Invariant::SchedulerSettles => "it settles",
        })
    }
}

/// An invariant that does not hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    /// Which one.
    pub invariant: Invariant,
    /// What was found.
    pub found: String,
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "broken: {}\n  {}", self.invariant, self.found)
    }
}

/// It does not hold.
pub(crate) fn violated(invariant: Invariant, found: impl Into<String>) -> Result<(), Violation> {
    Err(Violation { invariant, found: found.into() })
}
