//! Shared counters of pools, during a search.

use schedc_core::quantity::Quantity;

use crate::block::bits;
use crate::pool::Pool;
use crate::view::{NodeView, consumed_counters};

/// Remaining amounts of the counters of all pools that a node sees.
#[derive(Debug, Default)]
pub(crate) struct Counters {
    /// Position of each pool's counters in `left`; `None` until they are read.
    pools: Vec<Option<usize>>,
    left: Vec<Quantity>,
}

impl Counters {
    pub(crate) fn reset(&mut self, pools: usize) {
        self.pools.clear();
        self.pools.resize(pools, None);
        self.left.clear();
    }

    /// Takes the amounts that a device consumes, if enough is left of every counter of the pool. Returns whether they
    /// were taken. As in Kubernetes, if the allocated devices exceed one counter of the pool, no device of the pool
    /// with counters can be allocated.
    pub(crate) fn take(&mut self, view: &NodeView, pool: &Pool, at: usize, consumed: &[(usize, Quantity)]) -> bool {
        let base = self.base(view, pool, at);
        for (counter, amount) in consumed {
            self.left[base + counter].sub(*amount);
        }
        let count = view.pools[at].counters.len();
        let is_enough = !self.left[base..base + count].iter().any(|left| left.is_negative());
        if !is_enough {
            self.give_back(at, consumed);
        }
        is_enough
    }

    /// Returns the first counter that prevents the allocation of a device, by its position in the pool.
    pub(crate) fn shortage(
        &mut self,
        view: &NodeView,
        pool: &Pool,
        at: usize,
        consumed: &[(usize, Quantity)],
    ) -> Option<usize> {
        let base = self.base(view, pool, at);
        for (counter, amount) in consumed {
            self.left[base + counter].sub(*amount);
        }
        let short = self.left[base..].iter().take(view.pools[at].counters.len()).position(|left| left.is_negative());
        self.give_back(at, consumed);
        short
    }

    pub(crate) fn give_back(&mut self, at: usize, consumed: &[(usize, Quantity)]) {
        let Some(base) = self.pools[at] else { return };
        for (counter, amount) in consumed {
            self.left[base + counter].add(*amount);
        }
    }

    /// Returns the position of a pool's counters in `left`. The first call for the pool sets them to their limits
    /// minus the amounts that allocated devices consume.
    fn base(&mut self, view: &NodeView, pool: &Pool, at: usize) -> usize {
        if let Some(base) = self.pools[at] {
            return base;
        }
        let base = self.left.len();
        self.pools[at] = Some(base);
        let pool_view = &view.pools[at];
        self.left.extend(pool_view.counters.iter().map(|counter| counter.limit));
        for &(slice, block) in &pool_view.consumers {
            let block = &pool.slices[slice].blocks[block];
            for bit in bits(block.held & block.consumers) {
                for (counter, amount) in consumed_counters(block, bit, &pool_view.counters) {
                    self.left[base + counter].sub(amount);
                }
            }
        }
        base
    }
}
