//! The kept raw scores of a plugin that normalises.

use super::Anew;
use super::tree::{Tree, each_of_block};
use crate::column::ColumnSet;
use crate::extension_points::{Extent, MAX_NODE_SCORE, NormalizeScore, ScorePlugin};
use crate::mask::{Mask, nodes_of};
use crate::plugin::Slices;
use crate::touched::Touched;

/// Normalised scores are kept if the raw ones are so many at most.
const TABULATED: u64 = 4096;
/// In the table: nobody asked yet.
const UNKNOWN: i64 = i64::MIN;

/// The raw scores, their extremes by block, and what is added to totals for them.
#[derive(Debug)]
pub struct Normalized {
    raw: Vec<i64>,
    extents: Tree<Extent>,
    /// As NormalizeScore sees it.
    extent: Extent,
    /// The weighted normalised scores of the raw scores from `lowest` on, as far as they were asked for.
    table: Vec<i64>,
    lowest: i64,
    /// The same for a node that takes no part.
    ignored: i64,
}

impl Default for Normalized {
    fn default() -> Self {
        Normalized {
            raw: Vec::new(),
            extents: Tree::default(),
            extent: Extent::EMPTY,
            table: Vec::new(),
            lowest: 0,
            ignored: UNKNOWN,
        }
    }
}

impl Normalized {
    /// Makes room for so many slots of nodes.
    pub fn resize(&mut self, slots: usize) {
        if self.raw.len() < slots {
            self.raw.resize(slots, 0);
        }
        self.extents.resize(slots);
    }

    /// What it takes, in bytes.
    pub fn bytes(&self) -> usize {
        (self.raw.capacity() + self.table.capacity()) * size_of::<i64>() + self.extents.bytes()
    }

    /// Asks Score about nodes.
    ///
    /// # Errors
    /// Score failed.
    #[inline]
    pub fn score<P: ScorePlugin>(
        &mut self,
        args: &P::Args,
        pod: &P::Pod,
        state: &<P as ScorePlugin>::Cycle,
        columns: Slices<'_, P>,
        nodes: &Touched,
    ) -> Result<(), Anew> {
        for (word, bits) in nodes.words() {
            for node in nodes_of(word, bits) {
                let row = P::Columns::row(columns, node.get());
                self.raw[node.get()] = P::score(args, pod, state, row).map_err(|_| Anew)?;
            }
        }
        Ok(())
    }

    /// Sums the blocks of touched nodes up anew.
    #[inline]
    pub fn sum_up<P: NormalizeScore>(&mut self, feasible: &Mask, touched: &Touched) {
        let Normalized { raw, extents, .. } = self;
        extents.refresh(touched, |block| extent_of::<P>(raw, feasible, block));
    }

    /// Looks for the extremes in the blocks of touched nodes. Returns whether those over all nodes moved. `None` means all
    /// blocks, and counts as a move.
    pub fn look<P: NormalizeScore>(&mut self, feasible: &Mask, touched: Option<&Touched>) -> bool {
        if let Some(touched) = touched {
            self.sum_up::<P>(feasible, touched);
            return self.prepare::<P>();
        }
        let Normalized { raw, extents, .. } = self;
        extents.fill(|block| extent_of::<P>(raw, feasible, block));
        self.table.clear();
        self.ignored = UNKNOWN;
        self.extent = Extent::EMPTY;
        self.prepare::<P>();
        true
    }

    fn prepare<P: NormalizeScore>(&mut self) -> bool {
        let Extent { max, min } = self.extents.root();
        let extent = Extent { max, min: if P::LOOKS_AT_LOWEST { min } else { i64::MAX } };
        let moved = extent != self.extent;
        let is_covered = max < min || max.abs_diff(min) >= TABULATED || !self.table.is_empty() && self.lowest <= min;
        if !moved && is_covered {
            return false;
        }
        self.extent = extent;
        self.table.clear();
        if max >= min && max.abs_diff(min) < TABULATED {
            self.lowest = min;
            self.table.resize(max.abs_diff(min) as usize + 1, UNKNOWN);
        }
        if moved {
            self.ignored = UNKNOWN;
        }
        moved
    }

    /// Adds the weighted normalised scores of the nodes `bits` of a word to their totals.
    ///
    /// # Errors
    /// One is out of range.
    #[inline]
    pub fn add<P: NormalizeScore>(
        &mut self,
        args: &P::Args,
        weight: i64,
        word: usize,
        bits: u64,
        totals: &mut [i64],
    ) -> Result<(), Anew> {
        let Normalized { raw, table, ignored, lowest, extent, .. } = self;
        let mut weighted = |raw: i64| match table.get(raw.wrapping_sub(*lowest) as usize) {
            Some(&known) if known != UNKNOWN => Ok(known),
            _ => ask::<P>(args, weight, raw, *extent, *lowest, table, ignored),
        };
        let first = word * 64;
        if bits == u64::MAX {
            for (total, &raw) in totals[first..first + 64].iter_mut().zip(&raw[first..first + 64]) {
                *total = total.wrapping_add(weighted(raw)?);
            }
            return Ok(());
        }
        for node in nodes_of(word, bits) {
            let total = &mut totals[node.get()];
            *total = total.wrapping_add(weighted(raw[node.get()])?);
        }
        Ok(())
    }
}

/// Normalises a raw score that nobody asked for yet, and takes it down.
#[cold]
#[inline(never)]
fn ask<P: NormalizeScore>(
    args: &P::Args,
    weight: i64,
    raw: i64,
    extent: Extent,
    lowest: i64,
    table: &mut [i64],
    ignored: &mut i64,
) -> Result<i64, Anew> {
    if raw == P::IGNORED && *ignored != UNKNOWN {
        return Ok(*ignored);
    }
    let normalized = P::normalize(args, extent, raw);
    if !(0..=MAX_NODE_SCORE).contains(&normalized) {
        return Err(Anew);
    }
    let weighted = normalized.wrapping_mul(weight);
    if raw == P::IGNORED {
        *ignored = weighted;
    } else if let Some(entry) = table.get_mut(raw.wrapping_sub(lowest) as usize) {
        *entry = weighted;
    }
    Ok(weighted)
}

/// The extremes over the feasible nodes of a block.
#[inline(always)]
fn extent_of<P: NormalizeScore>(raw: &[i64], feasible: &Mask, block: usize) -> Extent {
    let mut extent = Extent::EMPTY;
    each_of_block(raw, feasible, block, |raw| {
        if raw != P::IGNORED {
            extent.include(raw);
        }
    });
    extent
}
