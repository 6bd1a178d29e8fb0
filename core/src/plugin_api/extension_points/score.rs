//! Score: rates feasible nodes. NormalizeScore: rates them relative to each other.

use crate::plugin_api::plugin::{Plugin, Row};

/// The highest score after normalisation; the lowest is 0.
pub const MAX_NODE_SCORE: i64 = 100;

/// Failure of a score.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ScoreError(pub &'static str);

/// Scores feasible nodes.
#[diagnostic::on_unimplemented(
    message = "plugin `{Self}` does not implement the extension point `score`",
    note = "possible causes: a profile uses the plugin at this extension point, or the plugin's catalog entry lists it; remedy: implement `schedc_core::extension_points::ScorePlugin`, or `SimpleScore` with `#[plugin]`"
)]
pub trait ScorePlugin: Plugin {
    /// The state from PreScore; its default if the profile has no PreScore of this plugin.
    type Cycle: Send + Sync + 'static;

    /// Returns the score of a node: 0 to 100, or any number if the plugin normalises.
    ///
    /// # Errors
    /// Any error fails the attempt.
    fn score(args: &Self::Args, pod: &Self::Pod, cycle: &Self::Cycle, node: Row<'_, Self>) -> Result<i64, ScoreError>;
}

/// The extremes of raw scores over all feasible nodes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Extent {
    /// The highest raw score; `i64::MIN` if there are no scores.
    pub max: i64,
    /// The lowest raw score; `i64::MAX` if there are no scores.
    pub min: i64,
}

impl Extent {
    /// Extent without scores.
    pub const EMPTY: Extent = Extent { max: i64::MIN, min: i64::MAX };

    /// Includes another score.
    #[inline(always)]
    pub fn include(&mut self, raw: i64) {
        self.max = self.max.max(raw);
        self.min = self.min.min(raw);
    }

    /// Includes another score of a plugin, unless the plugin ignores it. Updates only the extremes that the plugin
    /// reads.
    #[inline(always)]
    pub fn include_for<P: NormalizeScore>(&mut self, raw: i64) {
        // Including `i64::MIN` never changes the maximum: a plugin that ignores only this score, and reads only the
        // maximum, needs no comparison.
        if (P::IGNORED == i64::MIN && !P::USES_MIN) || raw != P::IGNORED {
            self.max = self.max.max(raw);
            if P::USES_MIN {
                self.min = self.min.min(raw);
            }
        }
    }
}

impl Default for Extent {
    fn default() -> Self {
        Extent::EMPTY
    }
}

/// Number that a plugin chooses for a node. Nodes with different scores have different numbers
/// ([`Incremental::score_class`](crate::incremental::Incremental::score_class)).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ScoreClass(pub u64);

/// Maps raw scores to 0..=100, as a function of the score and the extremes over all feasible nodes.
#[diagnostic::on_unimplemented(
    message = "plugin `{Self}` does not implement `NormalizeScore`",
    note = "cause: the plugin's catalog entry has `normalizes = true`; remedy: implement `schedc_core::extension_points::NormalizeScore`, or declare `type Normalization` in `impl SimpleScore`"
)]
pub trait NormalizeScore: ScorePlugin {
    /// A raw score that is excluded from the extremes.
    const IGNORED: i64 = i64::MIN;
    /// Whether `normalize` reads the lowest score.
    const USES_MIN: bool = true;
    /// Returns the normalised score.
    fn normalize(args: &Self::Args, extent: Extent, raw: i64) -> i64;
}

/// Returns the score of kube-scheduler's `DefaultNormalizeScore` with the maximum 100: in proportion to the highest raw
/// score, reversed if less is better.
#[inline(always)]
pub fn default_normalize(extent: Extent, less_is_better: bool, raw: i64) -> i64 {
    if extent.max <= 0 {
        return if less_is_better { MAX_NODE_SCORE } else { raw };
    }
    let score = MAX_NODE_SCORE.wrapping_mul(raw) / extent.max;
    if less_is_better { MAX_NODE_SCORE - score } else { score }
}
