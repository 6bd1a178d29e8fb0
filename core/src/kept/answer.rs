//! A kept answer: made once, brought up to date from then on.

use std::sync::Arc;

use super::parts::Parts;
use super::tree::{BLOCK, Best, Tree};
use super::{Anew, Diagnosed, Nominations, UpdateScratch};
use crate::attempt::Attempt;
use crate::cache::Cache;
use crate::diagnosis::Diagnosis;
use crate::mask::{Mask, nodes_of};
use crate::model::{NodeIndex, Pod};
use crate::profile::Profile;

/// The answer about all pods that a profile reads alike.
pub(crate) struct Kept<P: Profile> {
    pub(crate) attempt: Attempt<P>,
    /// The position in the cluster's log up to which it is good.
    seen: u64,
    parts: P::Parts,
    /// The nodes that pass every filter, also with the pods that are nominated for them.
    pub(crate) feasible: Mask,
    /// Number of feasible nodes.
    pub(crate) count: usize,
    nominations: Nominations,
    /// The nodes that pass, but not with the pods that are nominated for them.
    yielded: Mask,
    /// Whether they are a matter of each node alone, for the last pod for which they were found.
    yields_alone: bool,
    /// Why the last pod of the signature that fit nowhere did not.
    diagnosed: Option<Box<Diagnosed<P>>>,
    /// The score state; none while so few nodes are feasible that nobody scores.
    score: Option<P::Score>,
    totals: Vec<i64>,
    best: Tree,
    /// What it took when it was made, or grew last.
    bytes: usize,
}

impl<P: Profile> Kept<P> {
    /// Filters every node for a pod; [`Kept::score_all`] is next.
    ///
    /// # Errors
    /// Something failed, so that there is no answer to keep. The attempt is lost.
    pub(crate) fn filtered(
        attempt: Attempt<P>,
        pod: &Arc<Pod>,
        cache: &Cache<P::State>,
        work: &mut UpdateScratch,
    ) -> Result<Self, Anew> {
        let mut kept = Kept {
            attempt,
            seen: cache.log.end(),
            parts: P::Parts::default(),
            feasible: Mask::default(),
            count: 0,
            nominations: Nominations::default(),
            yielded: Mask::default(),
            yields_alone: false,
            diagnosed: None,
            score: None,
            totals: Vec::new(),
            best: Tree::default(),
            bytes: 0,
        };
        let slots = cache.base.infos().len();
        kept.feasible.resize(slots);
        work.begin(slots);
        work.touched.insert_all(cache.base.alive());
        let Attempt { compiled, cycle, .. } = &kept.attempt;
        let columns = P::columns(&cache.state, &cache.base);
        kept.parts.resize_filters(compiled, cycle, slots);
        kept.parts.filter(compiled, cycle, columns, &work.touched, &mut work.dirty)?;
        work.dirty.extend(&work.touched);
        kept.yield_to_nominated(pod, cache, work)?;
        kept.find_feasible(cache, work);
        Ok(kept)
    }

    /// Scores what was filtered.
    ///
    /// # Errors
    /// The same.
    pub(crate) fn score_all(
        &mut self,
        plugins: &P,
        cache: &Cache<P::State>,
        work: &mut UpdateScratch,
    ) -> Result<(), Anew> {
        self.score(plugins, cache, work)?;
        self.weigh();
        Ok(())
    }

    /// Brings the answer up to date, for a pod of its signature.
    ///
    /// # Errors
    /// It cannot be, and is of no use any more.
    pub(crate) fn update(
        &mut self,
        plugins: &P,
        compiled: &Arc<P::Pod>,
        pod: &Arc<Pod>,
        cache: &Cache<P::State>,
        work: &mut UpdateScratch,
    ) -> Result<(), Anew> {
        if !Arc::ptr_eq(&self.attempt.compiled, compiled) {
            self.attempt.compiled = compiled.clone();
        }
        let slots = cache.base.infos().len();
        let alive = cache.base.alive();
        work.begin(slots);
        for entry in cache.log.since(self.seen).ok_or(Anew)? {
            let node = entry.slot();
            if entry.is_node_itself() || !alive.contains(node) {
                work.nodes_changed |= entry.is_node_itself();
                work.take_changed(node, alive);
            } else {
                work.take_touched(node);
            }
        }
        self.seen = cache.log.end();
        let Attempt { compiled, cycle, .. } = &mut self.attempt;
        if self.feasible.words().len() < slots.div_ceil(64) {
            self.feasible.resize(slots);
            self.parts.resize_filters(compiled, cycle, slots);
            self.bytes = 0;
        }
        self.parts.update_filters(plugins, compiled, cycle, cache, work)?;
        self.yield_to_nominated(pod, cache, work)?;
        if let Some(diagnosed) = &mut self.diagnosed {
            // Where Filter says no as before, it may be for another reason.
            diagnosed.mark(&work.touched, slots);
            diagnosed.mark(&work.dirty, slots);
        }
        if !work.dirty.is_empty() {
            self.find_feasible(cache, work);
        }
        self.rescore(plugins, cache, work)?;
        if self.bytes == 0 {
            self.weigh();
        }
        Ok(())
    }

    /// Finds out where the pods that are nominated for a node leave no room: what would pass, but not with them. Asks again
    /// about nodes whose nominations changed, and of the others about those whose verdict may have.
    #[inline]
    fn yield_to_nominated(
        &mut self,
        pod: &Arc<Pod>,
        cache: &Cache<P::State>,
        work: &mut UpdateScratch,
    ) -> Result<(), Anew> {
        if cache.nominator.is_empty() && self.nominations.is_empty() {
            return Ok(());
        }
        self.yield_to_some(pod, cache, work)
    }

    fn yield_to_some(&mut self, pod: &Arc<Pod>, cache: &Cache<P::State>, work: &mut UpdateScratch) -> Result<(), Anew> {
        self.yielded.resize(cache.base.infos().len());
        work.changed.iter().for_each(|&node| work.again.insert(node));
        self.nominations.update(pod, &cache.nominator, &cache.base, &mut work.again);
        let alone = P::looks_at_node_alone(&self.attempt.compiled, &self.attempt.cycle);
        if std::mem::replace(&mut self.yields_alone, alone) && alone {
            let nominated = |word| self.nominations.nodes().words().get(word).copied().unwrap_or(0);
            work.dirty.words().for_each(|(word, bits)| work.again.insert_word(word, bits & nominated(word)));
        } else {
            // What a plugin knows of other nodes may make a difference only once the nominated pods are there.
            work.again.insert_all(self.nominations.nodes());
        }
        work.dirty.extend(&work.again);
        for node in work.again.iter() {
            let Attempt { compiled, cycle, .. } = &self.attempt;
            let passes = self.parts.passing(compiled, cycle, node.get() / 64) >> (node.0 % 64) & 1 == 1;
            self.yielded.remove(node);
            if !self.nominations.contains(node) {
                continue;
            }
            if let Err(rejection) = self.attempt.with_pods(&cache.nominated_on(node, pod), cache, node).filter() {
                // That a plugin fails with them comes first, also where the pod does not pass anyway.
                if !P::code(&rejection).is_rejected() {
                    return Err(Anew);
                }
                if passes {
                    self.yielded.insert(node);
                }
            }
        }
        work.again.clear();
        Ok(())
    }

    /// Why the pod fits nowhere. It is the one that the answer was brought up to date for.
    pub(crate) fn diagnose(&mut self, pod: &Pod, cache: &Cache<P::State>) -> Diagnosis {
        self.diagnosed.get_or_insert_default().diagnose(&mut self.attempt, pod, cache)
    }

    /// Puts together what filters say of the dirty nodes, and leaves those that are another in `work.flipped`.
    #[inline]
    fn find_feasible(&mut self, cache: &Cache<P::State>, work: &mut UpdateScratch) {
        let Attempt { compiled, cycle, .. } = &self.attempt;
        let alive = cache.base.alive().words();
        let feasible = self.feasible.words_mut();
        for (word, _) in work.dirty.words() {
            let mut passing = self.parts.passing(compiled, cycle, word) & alive[word];
            passing &= !self.yielded.words().get(word).copied().unwrap_or(0);
            let before = std::mem::replace(&mut feasible[word], passing);
            work.flipped.insert_word(word, before ^ passing);
            self.count = self.count + passing.count_ones() as usize - before.count_ones() as usize;
        }
    }

    /// Scores all feasible nodes, unless they are too few for that.
    fn score(&mut self, plugins: &P, cache: &Cache<P::State>, work: &mut UpdateScratch) -> Result<(), Anew> {
        if self.count < 2 {
            return Ok(());
        }
        self.bytes = 0;
        let Attempt { compiled, cycle, .. } = &self.attempt;
        let slots = cache.base.infos().len();
        let score = plugins.pre_score(compiled, cycle, cache, &self.feasible).map_err(|_| Anew)?;
        let Kept { parts, feasible, totals, best, .. } = self;
        work.again.clear();
        for set in [&mut work.fresh, &mut work.fresh_themselves] {
            set.clear();
            set.insert_all(feasible);
        }
        parts.clear_scores();
        parts.resize_scores(&score, slots);
        totals.resize(slots, 0);
        best.resize(slots);
        parts.score(compiled, &score, cache, feasible, totals, work)?;
        best.fill(totals, feasible);
        self.score = Some(score);
        Ok(())
    }

    /// Scores again what has to be.
    fn rescore(&mut self, plugins: &P, cache: &Cache<P::State>, work: &mut UpdateScratch) -> Result<(), Anew> {
        if self.count < 2 {
            if let Some(score) = self.score.take() {
                plugins.recycle_score(score);
            }
            return Ok(());
        }
        let Some(score) = &mut self.score else { return self.score(plugins, cache, work) };
        let Attempt { compiled, cycle, .. } = &self.attempt;
        let slots = cache.base.infos().len();
        if self.totals.len() < slots {
            self.parts.resize_scores(score, slots);
            self.totals.resize(slots, 0);
            self.best.resize(slots);
        }
        work.again.clear();
        let feasible = self.feasible.words();
        for (word, bits) in work.touched.words() {
            work.fresh.insert_word(word, bits & feasible[word]);
        }
        for set in [&work.themselves, &work.flipped] {
            for (word, bits) in set.words() {
                work.fresh.insert_word(word, bits & feasible[word]);
                work.fresh_themselves.insert_word(word, bits & feasible[word]);
            }
        }
        let Kept { parts, totals, feasible, best, .. } = self;
        parts.update_scores(plugins, compiled, cycle, score, cache, feasible, work)?;
        if !work.flipped.is_empty() {
            parts.retire(score, feasible, &work.flipped);
        }
        parts.score(compiled, score, cache, feasible, totals, work)?;
        work.fresh.extend(&work.scored);
        work.fresh.extend(&work.flipped);
        work.fresh.extend(&work.again);
        best.refresh(&work.fresh, totals, feasible);
        Ok(())
    }

    /// The highest total and how many nodes have it; none if nobody scored.
    pub(crate) fn best(&self) -> Best {
        if self.score.is_some() { self.best.root() } else { Best::default() }
    }

    /// The `k`-th of the nodes with the highest total, in the order of their indices.
    pub(crate) fn kth_best(&self, k: usize) -> Option<NodeIndex> {
        let (block, k) = self.best.kth(k as u32);
        let total = self.best.root().total;
        let (first, bits) = (block * BLOCK, self.feasible.block(block, BLOCK));
        let mut others = k;
        for node in nodes_of(0, bits).map(|node| first + node.get()) {
            if self.totals[node] != total {
                continue;
            }
            if others == 0 {
                return Some(NodeIndex(node as u32));
            }
            others -= 1;
        }
        None
    }

    /// The total of a feasible node; none if nobody scored.
    pub(crate) fn total(&self, node: NodeIndex) -> Option<i64> {
        self.score.as_ref()?;
        self.feasible.contains(node).then(|| self.totals[node.get()])
    }

    /// What it takes, in bytes, apart from plugins' states, as of when it was made or grew.
    pub(crate) fn bytes(&self) -> usize {
        self.bytes
    }

    fn weigh(&mut self) {
        self.bytes = self.parts.bytes()
            + self.totals.capacity() * size_of::<i64>()
            + self.best.bytes()
            + self.feasible.words().len() * 8
            + self.diagnosed.as_ref().map_or(0, |diagnosed| diagnosed.bytes())
    }
}
