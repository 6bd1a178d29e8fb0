//! Score: how good a feasible node is, and NormalizeScore: how good compared with the others.

use crate::plugin::{Plugin, Row};

/// The highest score after normalisation; the lowest is 0.
pub const MAX_NODE_SCORE: i64 = 100;

/// A score could not be told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ScoreError(pub &'static str);

/// Scores feasible nodes.
#[diagnostic::on_unimplemented(
    message = "plugin `{Self}` does not implement the extension point `score`",
    note = "a profile or the plugin's catalog entry lists it there; it must implement `schedc_core::extension_points::ScorePlugin`"
)]
pub trait ScorePlugin: Plugin {
    /// The state that PreScore left; its default if the profile has no PreScore of this plugin.
    type Cycle: Send + Sync + 'static;

    /// The score of a node: 0 to 100, or anything if the plugin normalises.
    ///
    /// # Errors
    /// Fails the attempt.
    fn score(args: &Self::Args, pod: &Self::Pod, cycle: &Self::Cycle, node: Row<'_, Self>) -> Result<i64, ScoreError>;
}

/// The extremes of raw scores over all feasible nodes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Extent {
    /// The highest; `i64::MIN` if there is none.
    pub max: i64,
    /// The lowest; `i64::MAX` if there is none.
    pub min: i64,
}

impl Extent {
    /// Of no score at all.
    pub const EMPTY: Extent = Extent { max: i64::MIN, min: i64::MAX };

    /// Takes another score in.
    #[inline(always)]
    pub fn include(&mut self, raw: i64) {
        self.max = self.max.max(raw);
        self.min = self.min.min(raw);
    }

    /// Takes another score of a plugin in, as far as the plugin looks at it.
    #[inline(always)]
    pub fn include_for<P: NormalizeScore>(&mut self, raw: i64) {
        // The lowest score of all is never the highest, so that most plugins have nothing to ask here.
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

/// What tells nodes apart that a plugin scores differently, as a number that the plugin makes up. The default is the raw
/// score itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ScoreClass(pub u64);

/// Brings raw scores into 0..=100, as a function of the score and the extremes over all feasible nodes.
#[diagnostic::on_unimplemented(
    message = "plugin `{Self}` does not implement `NormalizeScore`",
    note = "its catalog entry says `normalizes = true`"
)]
pub trait NormalizeScore: ScorePlugin {
    /// A raw score that takes no part in the extremes.
    const IGNORED: i64 = i64::MIN;
    /// Whether `normalize` looks at the lowest score.
    const USES_MIN: bool = true;
    /// The normalised score.
    fn normalize(args: &Self::Args, extent: Extent, raw: i64) -> i64;

    /// The class of a node: nodes of one class have one raw score, and still do when their score is another one, as nodes of
    /// one zone do for a plugin that counts pods by zone. Where answers are kept, a raw score is kept for each class, so that
    /// one that moves costs nothing for each of its nodes.
    ///
    /// # Errors
    /// As `score`.
    #[inline(always)]
    fn class(
        args: &Self::Args,
        pod: &Self::Pod,
        cycle: &<Self as ScorePlugin>::Cycle,
        node: Row<'_, Self>,
    ) -> Result<ScoreClass, ScoreError> {
        Self::score(args, pod, cycle, node).map(|raw| ScoreClass(raw as u64))
    }

    /// The raw score of the nodes of a class. It is also asked of classes whose nodes are about to be asked for their class
    /// again.
    #[inline(always)]
    fn score_of_class(
        _args: &Self::Args,
        _pod: &Self::Pod,
        _cycle: &<Self as ScorePlugin>::Cycle,
        class: ScoreClass,
    ) -> i64 {
        class.0 as i64
    }
}

/// kube-scheduler's `DefaultNormalizeScore` up to 100: in proportion to the highest score, reversed if less is better.
#[inline(always)]
pub fn default_normalize(extent: Extent, reverse: bool, raw: i64) -> i64 {
    if extent.max <= 0 {
        return if reverse { MAX_NODE_SCORE } else { raw };
    }
    let score = MAX_NODE_SCORE.wrapping_mul(raw) / extent.max;
    if reverse { MAX_NODE_SCORE - score } else { score }
}
