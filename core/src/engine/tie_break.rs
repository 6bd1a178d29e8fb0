//! Choice among equally good nodes.

use crate::plugin_api::random::Random;

/// Choice among equally good nodes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TieBreak {
    /// Drawn at random, all with equal probability.
    #[default]
    Random,
    /// The first by node index: in the order in which nodes were added, unless a node got the index of a removed one.
    First,
}

impl TieBreak {
    /// Picks one of `n` equally good nodes.
    #[inline]
    fn draw(self, random: &mut Random, n: usize) -> usize {
        match self {
            TieBreak::Random => random.below(n),
            TieBreak::First => 0,
        }
    }

    /// Returns the function that draws nodes in an attempt. All callers use this closure type, so that an engine is
    /// compiled only once.
    #[inline]
    pub(crate) fn draw_fn(self, random: &mut Random) -> impl FnMut(usize) -> usize {
        move |n| self.draw(random, n)
    }
}
