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
            Invariant::DecisionsAreValid => "decisions are valid for the known state",
            Invariant::ReservesArePaired => "each reservation is unreserved or bound once",
            Invariant::WaitsEnd => "every wait in Permit ends",
            Invariant::QueueAndCacheAgree => "queue and cache agree on each pod",
            Invariant::CacheEqualsRebuilt => "the cache equals a rebuilt one",
            Invariant::NominationsHavePods => "nominated pods are pending",
            Invariant::OnePreemptionPerPod => "one preemption per pod at a time",
            Invariant::EventsAreNotLost => "events during an attempt are not lost",
            Invariant::IdleHasNothingInFlight => "nothing is in flight when idle",
            Invariant::FittingPodsAreNotParked => "no parked pod fits",
            Invariant::ParkedPodsAreReachable => "every parked pod is tried by the flush",
            Invariant::NoPodDependsOnTheFlush => "no pod depends on the flush",
            Invariant::FollowersKeepUp => "background tasks follow the cluster",
            Invariant::SchedulerSettles => "the scheduler settles",
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
