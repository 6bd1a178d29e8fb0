//! Why pods come to a place of the queue: counted, and read by whoever wants to know.

use std::fmt;

use crate::events::{Action, ClusterEvent, EventResource};

/// Why a pod comes to a place. Names are those of kube-scheduler's metrics.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Cause {
    /// An attempt failed.
    ScheduleAttemptFailure,
    /// Its backoff is over.
    BackoffComplete,
    /// There was nothing else to try: its backoff ended early.
    PopFromBackoffQ,
    /// A plugin asked for it, or room was made for it.
    ForceActivate,
    /// It was unschedulable for too long.
    UnschedulableTimeout,
    /// Something happened in the cluster.
    Event(ClusterEvent),
}

impl Cause {
    /// A pod came that nobody knew.
    pub const POD_ADD: Cause = Cause::Event(ClusterEvent::new(EventResource::UnschedulablePod, Action::ADD));
    /// A pending pod changed.
    pub const POD_UPDATE: Cause = Cause::Event(ClusterEvent::new(EventResource::UnschedulablePod, Action::UPDATE));
}

impl fmt::Display for Cause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Cause::Event(event) => event.fmt(f),
            cause => fmt::Debug::fmt(cause, f),
        }
    }
}

/// The queues that are counted apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum QueueKind {
    /// `activeQ`.
    Active,
    /// `backoffQ`, both halves.
    Backoff,
    /// `unschedulablePods`, gated pods among them.
    Unschedulable,
}

impl QueueKind {
    /// All of them.
    pub const ALL: [QueueKind; 3] = [QueueKind::Active, QueueKind::Backoff, QueueKind::Unschedulable];

    /// What kube-scheduler's metrics call it.
    pub const fn name(self) -> &'static str {
        match self {
            QueueKind::Active => "active",
            QueueKind::Backoff => "backoff",
            QueueKind::Unschedulable => "unschedulable",
        }
    }
}

/// How often pods came to each queue.
#[derive(Debug, Default)]
pub(super) struct IncomingCounts {
    /// By far the most.
    created: u64,
    /// All others. Causes are few.
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

    /// All that is not 0.
    pub(super) fn iter(&self) -> impl Iterator<Item = (Cause, QueueKind, u64)> {
        let rare =
            self.counts.iter().flat_map(|(cause, counts)| QueueKind::ALL.map(|q| (*cause, q, counts[q as usize])));
        rare.chain([(Cause::POD_ADD, QueueKind::Active, self.created)]).filter(|(.., count)| *count > 0)
    }
}
