//! A history at a few positions of an axis.

use schedc_report::Unit;

use super::{Amount, Moment, SimulationHistory};
use crate::timeline::Span;

/// Maximum number of positions of a line.
const MAX_POSITIONS: usize = 240;

/// The horizontal axis of a history: virtual time, or the number of attempts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Axis {
    /// Until this many nanoseconds after the start.
    Time(i64),
    /// Until this number of attempts.
    Attempts(u32),
}

impl Axis {
    pub(crate) fn label(self) -> &'static str {
        match self {
            Axis::Time(_) => "Time",
            Axis::Attempts(_) => "Attempts",
        }
    }

    pub(crate) fn unit(self) -> Unit {
        match self {
            Axis::Time(_) => Unit::Seconds,
            Axis::Attempts(_) => Unit::Count,
        }
    }

    fn end(self) -> i64 {
        match self {
            Axis::Time(end) => end,
            Axis::Attempts(end) => end.into(),
        }
    }

    fn position(self, moment: Moment) -> i64 {
        match self {
            Axis::Time(_) => moment.time,
            Axis::Attempts(_) => moment.attempts.into(),
        }
    }

    /// Returns at most `max` distinct positions at equal distances, including both ends; only the end if `max` is 1.
    fn positions(self, max: usize) -> Vec<i64> {
        let steps = i64::try_from(max).unwrap_or(i64::MAX).saturating_sub(1).clamp(0, self.end());
        if steps == 0 {
            return vec![self.end()];
        }
        let at = |step: i64| (i128::from(self.end()) * i128::from(step) / i128::from(steps)) as i64;
        (0..=steps).map(at).collect()
    }

    /// Returns a position in the unit of the axis.
    fn value(self, position: i64) -> f64 {
        match self {
            Axis::Time(_) => Span(position).seconds(),
            Axis::Attempts(_) => position as f64,
        }
    }
}

/// A history at positions of its axis.
pub(crate) struct Sweep {
    pub(crate) axis: Axis,
    /// Positions of lines.
    pub(crate) x: Vec<f64>,
    pub(crate) pending: Vec<Option<f64>>,
    pub(crate) running: Vec<Option<f64>>,
    /// For each resource and each position in `x`, the requested share of the allocatable amount of all nodes in
    /// percent.
    pub(crate) shares: Vec<Vec<Option<f64>>>,
    /// Positions of the moments of the heat map.
    pub(crate) moments: Vec<f64>,
    /// For each resource and moment, the requested share of each node in percent.
    pub(crate) node_shares: Vec<Vec<Vec<Option<f64>>>>,
    /// The amounts of each node at the end; empty for a node that does not exist.
    pub(crate) last: Vec<Vec<Amount>>,
}

impl SimulationHistory {
    /// Returns the history at a few positions. `end` is the end of the simulation in seconds; with 0, the axis is the
    /// number of attempts. `moments` is the maximum number of moments of the heat map.
    pub(crate) fn sweep(&self, end: f64, moments: usize) -> Sweep {
        let end = (end * 1e9) as i64;
        let axis = if end > 0 { Axis::Time(end) } else { Axis::Attempts(self.attempts) };
        let mut sweep = Sweep {
            axis,
            x: Vec::new(),
            pending: Vec::new(),
            running: Vec::new(),
            shares: vec![Vec::new(); self.resources.len()],
            moments: Vec::new(),
            node_shares: vec![Vec::new(); self.resources.len()],
            last: vec![Vec::new(); self.nodes.len()],
        };
        let lines = axis.positions(MAX_POSITIONS);
        let moments = axis.positions(moments);
        let mut all: Vec<i64> = lines.iter().chain(&moments).copied().collect();
        all.sort_unstable();
        all.dedup();
        let (mut nodes, mut pods) = (self.node_changes.iter().peekable(), self.pod_changes.iter().peekable());
        let (mut pending, mut running) = (0_i64, 0_i64);
        let mut totals = vec![(0_i64, 0_i64); self.resources.len()];
        let last = all.last().copied();
        for at in all {
            // Rounding must not leave out the last changes.
            let is_due = |moment: Moment| axis.position(moment) <= at || Some(at) == last;
            while let Some(change) = pods.next_if(|change| is_due(change.at)) {
                (pending, running) = (pending + change.pending, running + change.running);
            }
            while let Some(change) = nodes.next_if(|change| is_due(change.at)) {
                for amount in &sweep.last[change.node] {
                    let (requested, allocatable) = &mut totals[amount.resource];
                    (*requested, *allocatable) = (*requested - amount.requested, *allocatable - amount.allocatable);
                }
                for amount in &change.amounts {
                    let (requested, allocatable) = &mut totals[amount.resource];
                    *requested = requested.saturating_add(amount.requested);
                    *allocatable = allocatable.saturating_add(amount.allocatable);
                }
                sweep.last[change.node].clone_from(&change.amounts);
            }
            if lines.binary_search(&at).is_ok() {
                sweep.x.push(axis.value(at));
                sweep.pending.push(Some(pending as f64));
                sweep.running.push(Some(running as f64));
                for (shares, (requested, allocatable)) in sweep.shares.iter_mut().zip(&totals) {
                    shares.push(percent(*requested, *allocatable));
                }
            }
            if moments.binary_search(&at).is_ok() {
                sweep.moments.push(axis.value(at));
                for (resource, shares) in sweep.node_shares.iter_mut().enumerate() {
                    shares.push(sweep.last.iter().map(|amounts| share(amounts, resource)).collect());
                }
            }
        }
        sweep
    }
}

/// Returns the requested share of a resource of a node in percent; `None` if the node does not have the resource.
pub(crate) fn share(amounts: &[Amount], resource: usize) -> Option<f64> {
    let amount = amounts.iter().find(|amount| amount.resource == resource)?;
    percent(amount.requested, amount.allocatable)
}

fn percent(requested: i64, allocatable: i64) -> Option<f64> {
    (allocatable > 0).then(|| requested as f64 * 100.0 / allocatable as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_are_distinct_and_include_both_ends() {
        assert_eq!(Axis::Attempts(0).positions(10), [0]);
        assert_eq!(Axis::Attempts(3).positions(10), [0, 1, 2, 3]);
        assert_eq!(Axis::Attempts(100).positions(5), [0, 25, 50, 75, 100]);
        assert_eq!(Axis::Time(i64::MAX).positions(3), [0, i64::MAX / 2, i64::MAX]);
        assert_eq!(Axis::Time(7).positions(1), [7]);
    }
}
