//! Scores of plugins, and what can be wrong with them.

use crate::extension_points::{MAX_NODE_SCORE, ScoreError};

/// A score failed in a loop: small, so that the loop stays small.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ScoreFailure {
    /// The plugin.
    pub plugin: &'static str,
    /// What is wrong.
    pub error: ScoreError,
}

/// What one plugin says of one node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PluginScore {
    /// The plugin.
    pub plugin: &'static str,
    /// As its Score returned it; 0 if the node takes no part
    /// ([`IGNORED`](crate::extension_points::NormalizeScore::IGNORED)).
    pub raw: i64,
    /// Within 0..=100.
    pub normalized: i64,
    /// The profile's weight.
    pub weight: i64,
}

impl PluginScore {
    /// What it adds to the node's total.
    pub fn weighted(&self) -> i64 {
        self.normalized.wrapping_mul(self.weight)
    }
}

/// Watches over normalised scores: one comparison a score in the loop, the search for the culprit only if it fails.
#[derive(Clone, Copy, Debug, Default)]
pub struct ScoreRange {
    highest: u64,
}

impl ScoreRange {
    /// Passes a score through.
    #[inline(always)]
    pub fn check(&mut self, score: i64) -> i64 {
        // A negative score is a very high one without its sign.
        self.highest = self.highest.max(score as u64);
        score
    }
    /// Whether all scores were within 0..=100.
    pub fn holds(&self) -> bool {
        self.highest <= MAX_NODE_SCORE as u64
    }
}
