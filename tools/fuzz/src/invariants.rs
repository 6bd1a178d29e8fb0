//! The invariants of the scheduler.

use std::fmt;

/// A condition that holds after every step or in the idle state.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Invariant {
    /// A pending pod, as delivered, is in the queue or assumed on a node.
    NoPodIsLost,
    /// No pod is bound twice. No binding is requested while the pod is known to be bound or another binding is in
    /// flight.
    NoPodIsBoundTwice,
    /// A chosen node is feasible, given the delivered changes and earlier decisions.
    DecisionsAreValid,
    /// A reservation ends once: with PostBind, or with Unreserve, in the reverse order of Reserve.
    ReservesArePaired,
    /// No pod waits in Permit after its timeout.
    WaitsEnd,
    /// A pod is either in the queue or in the cache, according to delivered changes and decisions.
    QueueAndCacheAgree,
    /// Columns and indexes equal rebuilt ones.
    CacheEqualsRebuilt,
    /// Every nomination belongs to a pending pod.
    NominationsHavePods,
    /// Every symbol of every object has a string.
    ObjectsHaveStrings,
    /// While the preemption for a pod is in progress, the pod is not attempted, and it preempts no further pods.
    OnePreemptionPerPod,
    /// A pod that is rejected after a relevant event during its attempt is not moved to the unschedulable pods.
    EventsAreNotLost,
    /// In the idle state, nothing is in flight: no attempts, no events kept for them, no reservations, no assumed
    /// pods.
    IdleHasNothingInFlight,
    /// No node is feasible for an unschedulable pod when all changes are delivered.
    FittingPodsAreNotParked,
    /// The flush retries unschedulable pods.
    ParkedPodsAreReachable,
    /// No pod is bound only because of the flush.
    NoPodDependsOnTheFlush,
    /// No device is allocated to two claims, unless it is shared.
    DevicesAreNotShared,
    /// Allocated devices do not exceed shared counters and capacities.
    CapacitiesAreNotExceeded,
    /// Devices are allocated from the newest generation of slices that was delivered.
    DevicesAreCurrent,
    /// The claims of a bound pod are allocated on its node, and reserved for it.
    BoundPodsHaveDevices,
    /// In the idle state, claims are reserved only for bound pods.
    ReservationsAreReleased,
    /// The state of a plugin's task that follows the cluster equals the scheduler's.
    FollowersKeepUp,
    /// Without further events, the scheduler becomes idle.
    SchedulerSettles,
}

impl Invariant {
    /// All invariants.
    pub const ALL: [Invariant; 22] = [
        Invariant::NoPodIsLost,
        Invariant::NoPodIsBoundTwice,
        Invariant::DecisionsAreValid,
        Invariant::ReservesArePaired,
        Invariant::WaitsEnd,
        Invariant::QueueAndCacheAgree,
        Invariant::CacheEqualsRebuilt,
        Invariant::NominationsHavePods,
        Invariant::ObjectsHaveStrings,
        Invariant::OnePreemptionPerPod,
        Invariant::EventsAreNotLost,
        Invariant::IdleHasNothingInFlight,
        Invariant::FittingPodsAreNotParked,
        Invariant::ParkedPodsAreReachable,
        Invariant::NoPodDependsOnTheFlush,
        Invariant::DevicesAreNotShared,
        Invariant::CapacitiesAreNotExceeded,
        Invariant::DevicesAreCurrent,
        Invariant::BoundPodsHaveDevices,
        Invariant::ReservationsAreReleased,
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
            Invariant::DevicesAreNotShared => "no device is allocated twice",
            Invariant::CapacitiesAreNotExceeded => "counters and capacities are not exceeded",
            Invariant::DevicesAreCurrent => "devices belong to the newest slices",
            Invariant::BoundPodsHaveDevices => "bound pods have their devices",
            Invariant::ReservationsAreReleased => "reservations of claims are released",
            Invariant::ObjectsHaveStrings => "objects have their strings",
            Invariant::FollowersKeepUp => "background tasks follow the cluster",
            Invariant::SchedulerSettles => "the scheduler settles",
        })
    }
}

/// A violation of an invariant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    /// The invariant.
    pub invariant: Invariant,
    /// Description of the violating state.
    pub description: String,
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "violated invariant: {}\n  {}", self.invariant, self.description)
    }
}

/// Returns a violation.
pub(crate) fn violated(invariant: Invariant, description: impl Into<String>) -> Result<(), Violation> {
    Err(Violation { invariant, description: description.into() })
}
