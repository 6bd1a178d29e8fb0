//! Scores of plugins, and their errors.

use crate::plugin_api::extension_points::{MAX_NODE_SCORE, ScoreError};

/// Failure of a score in a loop. The type is small, which keeps the loop small.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ScoreFailure {
    /// The plugin.
    pub plugin: &'static str,
    /// The error.
    pub error: ScoreError,
}

/// Score of one plugin for one node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PluginScore {
    /// The plugin.
    pub plugin: &'static str,
    /// Result of Score; 0 in place of `i64::MIN`, the default mark of a node that is excluded from the extremes
    /// ([`IGNORED`](crate::extension_points::NormalizeScore::IGNORED)).
    pub raw: i64,
    /// Normalised score: within 0..=100 if it is valid. Scores of extenders are not normalised and may be higher.
    pub normalized: i64,
    /// The profile's weight.
    pub weight: i64,
}

impl PluginScore {
    /// Returns its part of the node's total.
    pub fn weighted(&self) -> i64 {
        self.normalized.wrapping_mul(self.weight)
    }
}

/// Range check of normalised scores: one comparison for each score in the loop. The plugin at fault is searched only
/// after a failure.
#[derive(Clone, Copy, Debug, Default)]
pub struct ScoreRange {
    highest: u64,
}

impl ScoreRange {
    /// Includes a score and returns it.
    #[inline(always)]
    pub fn check(&mut self, score: i64) -> i64 {
        // As an unsigned number, a negative score is very high.
        self.highest = self.highest.max(score as u64);
        score
    }
    /// Returns whether all scores were within 0..=100.
    pub fn holds(&self) -> bool {
        self.highest <= MAX_NODE_SCORE as u64
    }
}
