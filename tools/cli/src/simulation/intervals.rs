//! Counts of pod transitions in equal intervals.

use super::report::Interval;
use crate::timeline::Span;

/// A transition of a pod.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PodTransition {
    /// Created, and waits for a node.
    Created,
    /// Created with a node.
    CreatedOnNode,
    /// Bound after waiting.
    Bound,
    /// Bound by an event; no profile serves the pod, so it did not wait in this simulation.
    Placed,
    /// Deleted without a node.
    Deleted,
    /// Deleted from its node.
    DeletedFromNode,
    /// Deleted from its node by preemption.
    Preempted,
}

/// All transitions, in the order of time.
#[derive(Clone, Debug, Default)]
pub(super) struct Intervals(Vec<(i64, PodTransition)>);

const SECOND: i64 = 1_000_000_000;
const HOUR: i64 = 3600 * SECOND;
/// Maximum number of intervals. Only simulations of more than 12 times 364 days have more intervals.
const MAX_INTERVALS: i64 = 12;
/// Interval lengths that are easy to read, in nanoseconds. Longer simulations have intervals of 364 days.
const LENGTHS: [i64; 26] = [
    SECOND / 1000,
    SECOND / 100,
    SECOND / 10,
    SECOND / 2,
    SECOND,
    2 * SECOND,
    5 * SECOND,
    10 * SECOND,
    15 * SECOND,
    30 * SECOND,
    60 * SECOND,
    120 * SECOND,
    300 * SECOND,
    600 * SECOND,
    900 * SECOND,
    1800 * SECOND,
    HOUR,
    2 * HOUR,
    3 * HOUR,
    6 * HOUR,
    12 * HOUR,
    24 * HOUR,
    48 * HOUR,
    7 * 24 * HOUR,
    14 * 24 * HOUR,
    28 * 24 * HOUR,
];

impl Intervals {
    pub(super) fn push(&mut self, now: i64, transition: PodTransition) {
        self.0.push((now, transition));
    }

    /// Returns the intervals from 0 to `end` nanoseconds.
    pub(super) fn over(&self, end: i64) -> Vec<Interval> {
        if end <= 0 {
            return Vec::new();
        }
        let length = LENGTHS.into_iter().find(|length| end <= MAX_INTERVALS * length).unwrap_or(364 * 24 * HOUR);
        let count = (end - 1) / length + 1;
        let seconds = |nanoseconds| Span(nanoseconds).seconds();
        let mut transitions = self.0.iter().peekable();
        let mut intervals = Vec::new();
        let (mut pending, mut running) = (0_usize, 0_usize);
        for at in 0..count {
            let (from, to) = (at * length, end.min((at + 1) * length));
            let mut interval = Interval { from: seconds(from), to: seconds(to), ..Interval::default() };
            let is_last = at + 1 == count;
            while let Some((_, transition)) = transitions.next_if(|(time, _)| *time < to || is_last) {
                match transition {
                    PodTransition::Created => (interval.created, pending) = (interval.created + 1, pending + 1),
                    PodTransition::CreatedOnNode => (interval.created, running) = (interval.created + 1, running + 1),
                    PodTransition::Bound => {
                        interval.placed += 1;
                        (pending, running) = (pending.saturating_sub(1), running + 1);
                    }
                    PodTransition::Placed => running += 1,
                    PodTransition::Deleted => {
                        (interval.deleted, pending) = (interval.deleted + 1, pending.saturating_sub(1))
                    }
                    PodTransition::DeletedFromNode | PodTransition::Preempted => {
                        interval.deleted += 1;
                        interval.preempted += usize::from(*transition == PodTransition::Preempted);
                        running = running.saturating_sub(1);
                    }
                }
            }
            intervals.push(Interval { pending, running, ..interval });
        }
        intervals
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn intervals_are_readable_and_few() {
        for (end, length, count) in [
            (1, SECOND / 1000, 1),
            (SECOND, SECOND / 10, 10),
            (13 * SECOND, 2 * SECOND, 7),
            (HOUR, 300 * SECOND, 12),
            (12_902_960 * SECOND, 14 * 24 * HOUR, 11),
            (20 * 365 * 24 * HOUR, 364 * 24 * HOUR, 21),
        ] {
            let intervals = Intervals::default().over(end);
            assert_eq!((intervals[0].to, intervals.len()), (Span(length.min(end)).seconds(), count), "{end}");
            assert_eq!(intervals[count - 1].to, Span(end).seconds());
        }
        assert_eq!(Intervals::default().over(0), []);
    }

    #[test]
    fn events_at_the_end_of_an_interval_belong_to_the_next() {
        let mut transitions = Intervals::default();
        transitions.push(0, PodTransition::Created);
        transitions.push(SECOND, PodTransition::Bound);
        transitions.push(12 * SECOND, PodTransition::DeletedFromNode);
        let intervals = transitions.over(12 * SECOND);
        let show = |interval: &Interval| {
            (interval.created, interval.placed, interval.deleted, interval.pending, interval.running)
        };
        assert_eq!(intervals.len(), 12);
        assert_eq!(intervals.iter().take(2).map(show).collect::<Vec<_>>(), [(1, 0, 0, 1, 0), (0, 1, 0, 0, 1)]);
        assert_eq!(show(&intervals[11]), (0, 0, 1, 0, 0));
    }
}
