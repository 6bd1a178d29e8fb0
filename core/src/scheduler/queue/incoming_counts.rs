//! Counts of arrivals by place of the queue and cause, for metrics.

use std::fmt;

use crate::plugin_api::events::{Action, ClusterEvent, EventResource};

/// Cause of an arrival. The names are those of kube-scheduler's metrics.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Cause {
    /// An attempt failed.
    ScheduleAttemptFailure,
    /// The pod's backoff ended.
    BackoffComplete,
    /// The active queue was empty, and the pod's backoff ended early.
    PopFromBackoffQ,
    /// A plugin activated the pod, or a preemption for the pod ended.
    ForceActivate,
    /// The pod was unschedulable for too long.
    UnschedulableTimeout,
    /// A cluster event.
    Event(ClusterEvent),
}

impl Cause {
    /// A new pod.
    pub(crate) const POD_ADD: Cause = Cause::Event(ClusterEvent::new(EventResource::UnschedulablePod, Action::ADD));
    /// A pending pod changed.
    pub(crate) const POD_UPDATE: Cause =
        Cause::Event(ClusterEvent::new(EventResource::UnschedulablePod, Action::UPDATE));
}

impl fmt::Display for Cause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Cause::Event(event) => event.fmt(f),
            cause => fmt::Debug::fmt(cause, f),
        }
    }
}

/// Queues with separate counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum QueueKind {
    /// `activeQ`.
    Active,
    /// `backoffQ`, both parts.
    Backoff,
    /// `unschedulablePods`, including gated pods.
    Unschedulable,
}

impl QueueKind {
    /// All queues.
    pub const ALL: [QueueKind; 3] = [QueueKind::Active, QueueKind::Backoff, QueueKind::Unschedulable];

    /// Returns the name in kube-scheduler's metrics.
    pub const fn name(self) -> &'static str {
        match self {
            QueueKind::Active => "active",
            QueueKind::Backoff => "backoff",
            QueueKind::Unschedulable => "unschedulable",
        }
    }
}

/// Numbers of arrivals by queue and cause.
#[derive(Debug, Default)]
pub(super) struct IncomingCounts {
    /// The most frequent cause: new pods in the active queue.
    created: u64,
    /// All other counts. There are few causes.
    counts: Vec<(Cause, [u64; QueueKind::ALL.len()])>,
}

impl IncomingCounts {
    #[inline]
    pub(super) fn count(&mut self, cause: Cause, queue: QueueKind) {
        if cause == Cause::POD_ADD && queue == QueueKind::Active {
            self.created += 1;
        } else {
            self.count_rare(cause, queue);
        }
    }

    fn count_rare(&mut self, cause: Cause, queue: QueueKind) {
        let at = self.counts.iter().position(|(known, _)| *known == cause).unwrap_or_else(|| {
            self.counts.push((cause, [0; QueueKind::ALL.len()]));
            self.counts.len() - 1
        });
        self.counts[at].1[queue as usize] += 1;
    }

    /// Returns all counts that are not 0.
    pub(super) fn iter(&self) -> impl Iterator<Item = (Cause, QueueKind, u64)> {
        let rare =
            self.counts.iter().flat_map(|(cause, counts)| QueueKind::ALL.map(|q| (*cause, q, counts[q as usize])));
        rare.chain([(Cause::POD_ADD, QueueKind::Active, self.created)]).filter(|(.., count)| *count > 0)
    }
}
