//! A kept answer: made once, brought up to date from then on.

use std::sync::Arc;

use super::parts::{FilterWork, Parts, ScoreWork};
use super::tree::{BLOCK, Best, Tree};
use super::{Anew, Changed, Diagnosed, Nominations};
use crate::attempt::Attempt;
use crate::cache::Cache;
use crate::diagnosis::Diagnosis;
use crate::mask::{Mask, nodes_of};
use crate::model::{NodeIndex, Pod};
use crate::profile::Profile;
use crate::touched::Touched;

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

/// Room for bringing answers up to date, one after the other.
#[derive(Default)]
pub(crate) struct Room {
    changed: Vec<NodeIndex>,
    touched: Touched,
    dirty: Touched,
    again: Touched,
    flipped: Touched,
    fresh: Touched,
    scored: Touched,
    base: Touched,
}

impl<P: Profile> Kept<P> {
    /// Evaluates a pod on every node.
    ///
    /// # Errors
    /// Something failed, so that there is no answer to keep. The attempt is lost.
    pub(crate) fn new(
        plugins: &P,
        attempt: Attempt<P>,
        pod: &Arc<Pod>,
        cache: &Cache<P::State>,
        room: &mut Room,
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
        room.touched.reset(slots);
        room.touched.insert_all(cache.base.alive());
        let Attempt { compiled, cycle, .. } = &kept.attempt;
        let columns = P::columns(&cache.state, &cache.base);
        kept.parts.resize_filters(compiled, cycle, slots);
        kept.parts.filter(compiled, cycle, columns, &room.touched)?;
        room.dirty.reset(slots);
        room.dirty.extend(&room.touched);
        room.changed.clear();
        kept.yield_to_nominated(pod, cache, room)?;
        kept.find_feasible(cache, room);
        kept.score(plugins, cache, room)?;
        kept.weigh();
        Ok(kept)
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
        room: &mut Room,
    ) -> Result<(), Anew> {
        if !Arc::ptr_eq(&self.attempt.compiled, compiled) {
            self.attempt.compiled = compiled.clone();
        }
        let slots = cache.base.infos().len();
        let alive = cache.base.alive();
        let mut themselves = false;
        room.changed.clear();
        room.touched.reset(slots);
        room.dirty.reset(slots);
        room.again.reset(slots);
        for entry in cache.log.since(self.seen).ok_or(Anew)? {
            let node = entry.slot();
            themselves |= entry.is_node_itself();
            if !room.dirty.contains(node) {
                room.dirty.insert(node);
                room.changed.push(node);
                if alive.contains(node) {
                    room.touched.insert(node);
                }
            }
        }
        self.seen = cache.log.end();
        let Attempt { compiled, cycle, .. } = &mut self.attempt;
        if self.feasible.words().len() < slots.div_ceil(64) {
            self.feasible.resize(slots);
            self.parts.resize_filters(compiled, cycle, slots);
            self.bytes = 0;
        }
        let changed = Changed { nodes: &room.changed, themselves };
        let mut work = FilterWork {
            changed,
            touched: &room.touched,
            dirty: &mut room.dirty,
            again: &mut room.again,
            alive,
            slots,
        };
        self.parts.update_filters(plugins, compiled, cycle, cache, &mut work)?;
        self.yield_to_nominated(pod, cache, room)?;
        if let Some(diagnosed) = &mut self.diagnosed {
            diagnosed.mark(&room.dirty, slots);
        }
        self.find_feasible(cache, room);
        self.rescore(plugins, cache, room, themselves)?;
        if self.bytes == 0 {
            self.weigh();
        }
        Ok(())
    }

    /// Finds out where the pods that are nominated for a node leave no room: what would pass, but not with them. Asks again
    /// about nodes whose nominations changed, and of the others about those whose verdict may have.
    fn yield_to_nominated(&mut self, pod: &Arc<Pod>, cache: &Cache<P::State>, room: &mut Room) -> Result<(), Anew> {
        if cache.nominator.is_empty() && self.nominations.is_empty() {
            return Ok(());
        }
        let slots = cache.base.infos().len();
        self.yielded.resize(slots);
        room.again.reset(slots);
        room.changed.iter().for_each(|&node| room.again.insert(node));
        self.nominations.update(pod, &cache.nominator, &cache.base, &mut room.again);
        let alone = P::looks_at_node_alone(&self.attempt.compiled, &self.attempt.cycle);
        if std::mem::replace(&mut self.yields_alone, alone) && alone {
            let nominated = |word| self.nominations.nodes().words().get(word).copied().unwrap_or(0);
            room.dirty.words().for_each(|(word, bits)| room.again.insert_word(word, bits & nominated(word)));
        } else {
            // What a plugin knows of other nodes may make a difference only once the nominated pods are there.
            room.again.insert_all(self.nominations.nodes());
        }
        room.dirty.extend(&room.again);
        for node in room.again.iter() {
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
        room.again.reset(slots);
        Ok(())
    }

    /// Why the pod fits nowhere. It is the one that the answer was brought up to date for.
    pub(crate) fn diagnose(&mut self, pod: &Pod, cache: &Cache<P::State>) -> Diagnosis {
        self.diagnosed.get_or_insert_default().diagnose(&mut self.attempt, pod, cache)
    }

    /// Puts together what filters say of the dirty nodes, and leaves those that are another in `room.flipped`.
    fn find_feasible(&mut self, cache: &Cache<P::State>, room: &mut Room) {
        room.flipped.reset(cache.base.infos().len());
        let Attempt { compiled, cycle, .. } = &self.attempt;
        let alive = cache.base.alive().words();
        let feasible = self.feasible.words_mut();
        for (word, _) in room.dirty.words() {
            let mut passing = self.parts.passing(compiled, cycle, word) & alive[word];
            passing &= !self.yielded.words().get(word).copied().unwrap_or(0);
            let before = std::mem::replace(&mut feasible[word], passing);
            room.flipped.insert_word(word, before ^ passing);
            self.count = self.count + passing.count_ones() as usize - before.count_ones() as usize;
        }
    }

    /// Scores all feasible nodes, unless they are too few for that.
    fn score(&mut self, plugins: &P, cache: &Cache<P::State>, room: &mut Room) -> Result<(), Anew> {
        if self.count < 2 {
            return Ok(());
        }
        self.bytes = 0;
        let Attempt { compiled, cycle, .. } = &self.attempt;
        let slots = cache.base.infos().len();
        let score = plugins.pre_score(compiled, cycle, cache, &self.feasible).map_err(|_| Anew)?;
        room.fresh.reset(slots);
        room.fresh.insert_all(&self.feasible);
        self.parts.clear_scores();
        self.parts.resize_scores(&score, slots);
        self.parts.score(compiled, &score, P::columns(&cache.state, &cache.base), &room.fresh)?;
        let Kept { parts, feasible, totals, best, .. } = self;
        totals.resize(slots, 0);
        best.resize(slots);
        room.again.reset(slots);
        parts.settle(&score, feasible, totals, &mut room.again)?;
        for (word, &bits) in feasible.words().iter().enumerate() {
            parts.total(&score, word, bits, totals);
        }
        best.fill(totals, feasible);
        self.score = Some(score);
        Ok(())
    }

    /// Scores again what has to be.
    fn rescore(&mut self, plugins: &P, cache: &Cache<P::State>, room: &mut Room, themselves: bool) -> Result<(), Anew> {
        if self.count < 2 {
            if let Some(score) = self.score.take() {
                plugins.recycle_score(score);
            }
            return Ok(());
        }
        let Some(score) = &mut self.score else { return self.score(plugins, cache, room) };
        let Attempt { compiled, cycle, .. } = &self.attempt;
        let slots = cache.base.infos().len();
        if self.totals.len() < slots {
            self.parts.resize_scores(score, slots);
            self.totals.resize(slots, 0);
            self.best.resize(slots);
        }
        let feasible = self.feasible.words();
        room.fresh.reset(slots);
        for (word, bits) in room.touched.words().chain(room.flipped.words()) {
            room.fresh.insert_word(word, bits & feasible[word]);
        }
        room.scored.reset(slots);
        room.scored.extend(&room.fresh);
        room.again.reset(slots);
        room.base.reset(slots);
        let mut work = ScoreWork {
            changed: Changed { nodes: &room.changed, themselves },
            feasible: &self.feasible,
            flipped: &room.flipped,
            fresh: &room.fresh,
            scored: &mut room.scored,
            again: &mut room.again,
            base: &mut room.base,
            moved: false,
            slots,
        };
        self.parts.update_scores(plugins, compiled, cycle, score, cache, &mut work)?;
        self.parts.score(compiled, score, P::columns(&cache.state, &cache.base), &room.fresh)?;
        let Kept { parts, totals, feasible, best, .. } = self;
        parts.retire(score, feasible, &room.flipped);
        room.again.reset(slots);
        parts.settle(score, feasible, totals, &mut room.again)?;
        for (word, bits) in room.scored.words() {
            parts.total(score, word, bits, totals);
        }
        room.scored.extend(&room.flipped);
        room.scored.extend(&room.again);
        best.refresh(&room.scored, totals, feasible);
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
        let bits = self.feasible.block(block, BLOCK);
        let nodes = nodes_of(0, bits).map(|node| NodeIndex((block * BLOCK) as u32 + node.0));
        nodes.filter(|node| self.totals[node.get()] == total).nth(k as usize)
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
