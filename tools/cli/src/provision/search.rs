//! Branch and bound over the numbers of nodes of each shape.
//!
//! A greedy choice yields the first sufficient set. It adds many nodes at once, so the number of trials grows with the
//! logarithm of the number of nodes. Then sets are visited in the order of a lower bound: the price of the set, plus a
//! lower bound of the price of the resources that it still lacks. Only sets that lack no resource are tried. The first
//! sufficient set is the cheapest. Sets with a bound of at least the best known price are left out.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use schedc_core::profile::StartErrors;

use super::bound::Bound;
use super::{Outcome, Provision, Question, amount};
use crate::enforced::EnforcedResources;
use crate::trial::Trial;

/// Maximum number of visited sets.
const MAX_SETS: usize = 1_000_000;

/// Maximum number of node counts in memory; a set has one for each shape.
const MAX_COUNTS: usize = 20_000_000;

/// Maximum number of further sets that are tried if the greedy choice is not sufficient.
const MAX_TRIALS_WITHOUT_SOLUTION: usize = 100;

/// A search in progress.
pub(super) struct Search<'a> {
    question: &'a Question<'a>,
    bound: Bound,
    max_trials: usize,
    trials: usize,
    /// The cheapest sufficient set so far.
    best: Option<(u64, Vec<usize>, Outcome)>,
}

impl<'a> Search<'a> {
    pub(super) fn new(question: &'a Question<'a>, max_trials: usize) -> Result<Self, StartErrors> {
        let mut trial = Trial::new(question.bundle, question.objects.clone(), question.options)?;
        let daemons = question.shapes.iter().flat_map(|shape| &shape.daemons);
        let pods = question.pods.iter().map(|new| &new.pod).chain(daemons);
        let enforced = EnforcedResources::of(&question.options.routes, pods, &question.objects);
        let bound = Bound::new(&mut trial, &question.pods, &question.shapes, enforced);
        Ok(Search { question, bound, max_trials, trials: 0, best: None })
    }

    pub(super) fn run(mut self) -> Result<Provision, StartErrors> {
        let (shapes, max_trials) = (self.question.shapes.len(), self.max_trials);
        let last = self.greedy()?;
        // Without any sufficient set, only the bound of the resources is known.
        let mut lower_bound = self.bound.remaining_price(&vec![0; shapes], 0).unwrap_or(0);
        if self.best.is_none() {
            // Other sets may be sufficient: pods may need several nodes at once, for example because of spread
            // constraints.
            self.max_trials = self.max_trials.min(self.trials + MAX_TRIALS_WITHOUT_SOLUTION);
        }
        let (bound, is_complete) = self.cheapest()?;
        lower_bound = lower_bound.max(bound);
        let is_optimal = is_complete && self.best.is_some();
        let trials = self.trials;
        let (price, counts, outcome, sufficient) = match self.best {
            Some((price, counts, outcome)) => (price, counts, outcome, true),
            None => (self.question.price(&last.0), last.0, last.1, false),
        };
        let names = self.question.shapes.iter().map(|shape| shape.node.metadata.name.clone().unwrap_or_default());
        Ok(Provision {
            sufficient,
            nodes: names.zip(counts).filter(|(_, count)| *count > 0).collect(),
            price: amount(price),
            lower_bound: amount(lower_bound),
            optimal: is_optimal,
            trials,
            cut: !is_complete,
            at_max_trials: !is_complete && trials >= max_trials,
            placements: outcome.placements,
            waiting: outcome.waiting,
        })
    }

    /// As long as a pod waits, adds nodes of the shape that places the most pods for its price. Ends early
    /// if no shape places a pod, or after the maximum number of trials. Returns the last set.
    fn greedy(&mut self) -> Result<(Vec<usize>, Outcome), StartErrors> {
        let mut counts = vec![0; self.question.shapes.len()];
        let mut outcome = self.outcome(&counts)?;
        while !outcome.waiting.is_empty() && self.trials < self.max_trials {
            let mut choice: Option<(f64, usize, usize, Outcome)> = None;
            for (at, shape) in self.question.shapes.iter().enumerate() {
                if counts[at] >= shape.max || self.trials >= self.max_trials {
                    continue;
                }
                counts[at] += 1;
                let next = self.outcome(&counts)?;
                counts[at] -= 1;
                let placed = outcome.waiting.len().saturating_sub(next.waiting.len());
                let value = placed as f64 / (shape.price.max(1)) as f64;
                if placed > 0 && choice.as_ref().is_none_or(|(best, ..)| value > *best) {
                    choice = Some((value, at, placed, next));
                }
            }
            let Some((_, at, placed, next)) = choice else { break };
            counts[at] += 1;
            outcome = next;
            // The shape is likely the best one for the other pods as well, so half of the nodes that they need are
            // added.
            let more = outcome.waiting.len() / placed / 2;
            let more = more.min(self.question.shapes[at].max - counts[at]);
            if more > 0 && self.trials < self.max_trials {
                counts[at] += more;
                let next = self.outcome(&counts)?;
                if next.waiting.is_empty() {
                    outcome = self.fewest(&mut counts, at, more, next)?;
                } else if next.waiting.len() < outcome.waiting.len() {
                    outcome = next;
                } else {
                    counts[at] -= more;
                }
            }
        }
        if outcome.waiting.is_empty() {
            self.best = Some((self.question.price(&counts), counts.clone(), outcome.clone()));
        }
        Ok((counts, outcome))
    }

    /// Reduces the number of nodes of a shape to the fewest with which all pods run, by binary search over the `added` nodes.
    /// Returns the outcome with these nodes.
    fn fewest(
        &mut self,
        counts: &mut [usize],
        at: usize,
        added: usize,
        mut outcome: Outcome,
    ) -> Result<Outcome, StartErrors> {
        let (mut insufficient, mut sufficient) = (counts[at] - added, counts[at]);
        while sufficient - insufficient > 1 && self.trials < self.max_trials {
            counts[at] = insufficient + (sufficient - insufficient) / 2;
            let found = self.outcome(counts)?;
            match found.waiting.is_empty() {
                true => (sufficient, outcome) = (counts[at], found),
                false => insufficient = counts[at],
            }
        }
        counts[at] = sufficient;
        Ok(outcome)
    }

    /// Finds the cheapest set. Returns a lower bound of its price, and whether the search is complete. If it is, the
    /// best known set is the cheapest or, without a known set, no set is sufficient.
    fn cheapest(&mut self) -> Result<(u64, bool), StartErrors> {
        let question = self.question;
        let mut heap = BinaryHeap::new();
        let mut visited = 0;
        let none = vec![0; question.shapes.len()];
        if let Some(bound) = self.bound.remaining_price(&none, 0) {
            heap.push(Reverse((bound, none, 0_usize)));
        }
        while let Some(Reverse((bound, counts, first))) = heap.pop() {
            let best = self.best.as_ref().map_or(u64::MAX, |(price, ..)| *price);
            if bound >= best {
                return Ok((best, true));
            }
            visited += 1;
            if self.trials >= self.max_trials
                || visited > MAX_SETS
                || heap.len().saturating_mul(counts.len()) > MAX_COUNTS
            {
                return Ok((bound, false));
            }
            if !self.bound.is_short(&counts) {
                let outcome = self.outcome(&counts)?;
                if outcome.waiting.is_empty() {
                    // Sets are visited in the order of their bounds, so no other set is cheaper.
                    let price = question.price(&counts);
                    self.best = Some((price, counts, outcome));
                    return Ok((price, true));
                }
            }
            // With one node per pod, a further node would stay empty.
            if counts.iter().sum::<usize>() >= question.pods.len() {
                continue;
            }
            for at in first..counts.len() {
                if counts[at] >= question.shapes[at].max {
                    continue;
                }
                let mut more = counts.clone();
                more[at] += 1;
                if let Some(remaining) = self.bound.remaining_price(&more, at) {
                    heap.push(Reverse((question.price(&more).saturating_add(remaining), more, at)));
                }
            }
        }
        let best = self.best.as_ref().map_or(0, |(price, ..)| *price);
        Ok((best, true))
    }

    fn outcome(&mut self, counts: &[usize]) -> Result<Outcome, StartErrors> {
        self.trials += 1;
        self.question.outcome(counts)
    }
}

impl Question<'_> {
    /// Returns the price of a set.
    fn price(&self, counts: &[usize]) -> u64 {
        let prices = self.shapes.iter().zip(counts).map(|(shape, count)| shape.price.saturating_mul(*count as u64));
        prices.fold(0, u64::saturating_add)
    }
}
