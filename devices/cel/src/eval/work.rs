//! Limits of one evaluation.

use std::sync::Arc;

use regex::Regex;

use super::failure::Failure;

/// Units of work per unit of the cost limit.
const WORK_PER_COST: u64 = 2;

/// Cost so far, and work that is left. The cost is that of Kubernetes. Work covers operations without such a cost,
/// such as the comparison of nested lists. A unit of work is an element, or 16 bytes that are copied or scanned.
#[derive(Debug)]
pub(crate) struct Work {
    pub(crate) cost: u64,
    limit: u64,
    work_left: u64,
    /// Cache of compiled regular expressions whose text is not constant. Most evaluations use the same text repeatedly.
    pub(crate) regexes: Vec<(Box<str>, Arc<Regex>)>,
}

impl Work {
    pub(crate) fn new(limit: u64) -> Work {
        Work { cost: 0, limit, work_left: limit.saturating_mul(WORK_PER_COST), regexes: Vec::new() }
    }

    /// Adds the cost of an operation, before the operation. Fails if the limit is exceeded.
    #[inline]
    pub(crate) fn charge<'a>(&mut self, cost: u64) -> Result<(), Failure<'a>> {
        self.cost = self.cost.saturating_add(cost);
        if self.cost > self.limit { Err(Failure::Limit) } else { Ok(()) }
    }

    /// Adds work that has no cost. Fails if no work is left.
    #[inline]
    pub(crate) fn spend<'a>(&mut self, units: u64) -> Result<(), Failure<'a>> {
        match self.work_left.checked_sub(units) {
            Some(left) => {
                self.work_left = left;
                Ok(())
            }
            None => Err(Failure::Limit),
        }
    }

    /// Adds the work of copying or scanning bytes.
    pub(crate) fn spend_bytes<'a>(&mut self, bytes: usize) -> Result<(), Failure<'a>> {
        self.spend(bytes as u64 / 16)
    }
}
