//! Deliberate errors of the simulation, which the invariants must detect.

use std::fmt;

use clap::ValueEnum;

use crate::invariants::Invariant;

/// A deliberate error of the simulation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, ValueEnum)]
pub enum InjectedBug {
    /// Some new pods are not delivered.
    MissedPodCreation,
    /// Some deletions of pods are not delivered.
    MissedPodDeletion,
    /// Some bindings of pods are not delivered.
    MissedBinding,
    /// A bound pod is delivered with another node.
    WrongNode,
    /// Some changes of nodes are not delivered.
    MissedNodeUpdate,
    /// The server reports a binding without executing it.
    FalseBinding,
    /// The server binds pods that are already bound.
    DoubleBinding,
    /// The clock stops while a pod waits in Permit.
    StoppedClock,
    /// The flush of unschedulable pods does not run.
    MissedFlush,
    /// Some completions of tasks are not delivered.
    LostCompletion,
    /// Background tasks of plugins are aborted.
    EndedTasks,
    /// Calls of Unreserve are not recorded.
    IgnoredUnreserve,
    /// A pod counts on its node twice.
    DoubleCount,
    /// A pod that is not pending is nominated.
    StaleNomination,
    /// A node changes in the cache without requeueing pods.
    SilentNodeUpdate,
    /// A node changes in the cache without requeueing pods, and the check of unschedulable pods is off.
    UncheckedNodeUpdate,
    /// Allocations of devices are forgotten before the scheduler receives the claims.
    DoubleAllocation,
    /// Pending allocations of devices are never removed.
    LeakedCounter,
    /// Allocations are written without the reservation for the pod.
    ForgottenReservation,
    /// Some new slices are not delivered.
    StaleSliceGeneration,
    /// Strings are freed although objects have them.
    FreedStrings,
}

/// An injected bug and the expected violations.
#[derive(Clone, Copy, Debug)]
pub struct BugExpectation {
    /// The bug.
    pub bug: InjectedBug,
    /// Invariants that can detect the bug. The history decides which one does.
    pub violates: &'static [Invariant],
    /// Number of steps within which it is detected.
    pub steps: u64,
}

impl InjectedBug {
    /// All injected bugs.
    pub const ALL: [BugExpectation; 21] = {
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
            of(InjectedBug::FalseBinding, &[IdleHasNothingInFlight, NoPodIsBoundTwice, ReservationsAreReleased], 1_000),
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
            of(InjectedBug::DoubleAllocation, &[DevicesAreNotShared, CapacitiesAreNotExceeded], 60_000),
            of(InjectedBug::LeakedCounter, &[FittingPodsAreNotParked], 20_000),
            of(InjectedBug::ForgottenReservation, &[BoundPodsHaveDevices], 20_000),
            of(InjectedBug::StaleSliceGeneration, &[DevicesAreCurrent, FittingPodsAreNotParked], 20_000),
            of(InjectedBug::FreedStrings, &[ObjectsHaveStrings], 200),
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
            InjectedBug::UncheckedNodeUpdate => {
                "nodes change in the cache without an event, and the check for parked pods that fit is off"
            }
            InjectedBug::DoubleAllocation => "pending allocations of devices are forgotten",
            InjectedBug::LeakedCounter => "pending allocations of devices are never removed",
            InjectedBug::ForgottenReservation => "claims are allocated without the reservation for their pod",
            InjectedBug::StaleSliceGeneration => "some new slices are not delivered",
            InjectedBug::FreedStrings => "strings are freed while objects have them",
        })
    }
}
