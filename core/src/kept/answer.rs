//! A kept answer: made once, brought up to date from then on.

use std::sync::Arc;

use super::parts::{FilterWork, Fresh, Parts, ScoreWork};
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
    /// How many slots of nodes there is room for.
    slots: usize,
    /// The nodes that changed, those that are gone included.
    changed: Vec<NodeIndex>,
    /// Those that are there.
    touched: Touched,
    /// Those of them that came or changed themselves; on the others, pods came and went.
    themselves: Touched,
    /// Those whose verdict may be another one, by what plugins say, or because they are new or gone.
    dirty: Touched,
    /// Whom one plugin asks about.
    again: Touched,
    /// Who became feasible, and who ceased to be.
    flipped: Touched,
    /// Feasible nodes that every Score is asked about.
    fresh: Touched,
    /// Those of them that are new to a Score that sees nothing of pods.
    fresh_themselves: Touched,
    /// Others whose scores changed.
    scored: Touched,
    base: Touched,
}

impl Room {
    /// Empties everything, and makes room for so many slots of nodes.
    #[inline(never)]
    fn begin(&mut self, slots: usize) {
        self.changed.clear();
        self.touched.clear();
        self.fresh.clear();
        // The others are mostly empty.
        let Room { themselves, dirty, again, flipped, fresh_themselves, scored, base, .. } = &*self;
        let others = [themselves, dirty, again, flipped, fresh_themselves, scored, base];
        if self.slots < slots || others.iter().any(|set| !set.is_empty()) {
            self.reset(slots);
        }
    }

    #[inline(never)]
    fn reset(&mut self, slots: usize) {
        self.slots = self.slots.max(slots);
        let Room { touched, themselves, dirty, again, flipped, fresh, fresh_themselves, scored, base, .. } = self;
        let sets = [touched, themselves, dirty, again, flipped, fresh, fresh_themselves, scored, base];
        sets.into_iter().for_each(|set| set.reset(slots));
    }

    /// A node came, changed itself, or is gone.
    #[cold]
    fn take_changed(&mut self, node: NodeIndex, alive: &Mask) {
        let is_new = !self.dirty.contains(node) && !self.touched.contains(node);
        if is_new {
            self.changed.push(node);
        }
        self.dirty.insert(node);
        if alive.contains(node) {
            self.touched.insert(node);
            self.themselves.insert(node);
        }
    }
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
        room.begin(slots);
        room.touched.insert_all(cache.base.alive());
        let Attempt { compiled, cycle, .. } = &kept.attempt;
        let columns = P::columns(&cache.state, &cache.base);
        kept.parts.resize_filters(compiled, cycle, slots);
        kept.parts.filter(compiled, cycle, columns, &room.touched, &mut room.dirty)?;
        room.dirty.extend(&room.touched);
        kept.yield_to_nominated(pod, cache, room)?;
        kept.find_feasible(cache, room);
        Ok(kept)
    }

    /// Scores what was filtered.
    ///
    /// # Errors
    /// The same.
    pub(crate) fn score_all(&mut self, plugins: &P, cache: &Cache<P::State>, room: &mut Room) -> Result<(), Anew> {
        self.score(plugins, cache, room)?;
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
        room: &mut Room,
    ) -> Result<(), Anew> {
        if !Arc::ptr_eq(&self.attempt.compiled, compiled) {
            self.attempt.compiled = compiled.clone();
        }
        let slots = cache.base.infos().len();
        let alive = cache.base.alive();
        let mut themselves = false;
        room.begin(slots);
        for entry in cache.log.since(self.seen).ok_or(Anew)? {
            let node = entry.slot();
            if entry.is_node_itself() || !alive.contains(node) {
                themselves |= entry.is_node_itself();
                room.take_changed(node, alive);
            } else if !room.touched.contains(node) {
                room.touched.insert(node);
                room.changed.push(node);
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
            themselves: &room.themselves,
            dirty: &mut room.dirty,
            again: &mut room.again,
            alive,
        };
        self.parts.update_filters(plugins, compiled, cycle, cache, &mut work)?;
        self.yield_to_nominated(pod, cache, room)?;
        if let Some(diagnosed) = &mut self.diagnosed {
            // Where Filter says no as before, it may be for another reason.
            diagnosed.mark(&room.touched, slots);
            diagnosed.mark(&room.dirty, slots);
        }
        if !room.dirty.is_empty() {
            self.find_feasible(cache, room);
        }
        self.rescore(plugins, cache, room, themselves)?;
        if self.bytes == 0 {
            self.weigh();
        }
        Ok(())
    }

    /// Finds out where the pods that are nominated for a node leave no room: what would pass, but not with them. Asks again
    /// about nodes whose nominations changed, and of the others about those whose verdict may have.
    #[inline]
    fn yield_to_nominated(&mut self, pod: &Arc<Pod>, cache: &Cache<P::State>, room: &mut Room) -> Result<(), Anew> {
        if cache.nominator.is_empty() && self.nominations.is_empty() {
            return Ok(());
        }
        self.yield_to_some(pod, cache, room)
    }

    fn yield_to_some(&mut self, pod: &Arc<Pod>, cache: &Cache<P::State>, room: &mut Room) -> Result<(), Anew> {
        self.yielded.resize(cache.base.infos().len());
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
        room.again.clear();
        Ok(())
    }

    /// Why the pod fits nowhere. It is the one that the answer was brought up to date for.
    pub(crate) fn diagnose(&mut self, pod: &Pod, cache: &Cache<P::State>) -> Diagnosis {
        self.diagnosed.get_or_insert_default().diagnose(&mut self.attempt, pod, cache)
    }

    /// Puts together what filters say of the dirty nodes, and leaves those that are another in `room.flipped`.
    #[inline]
    fn find_feasible(&mut self, cache: &Cache<P::State>, room: &mut Room) {
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
        room.fresh.clear();
        room.fresh.insert_all(&self.feasible);
        self.parts.clear_scores();
        self.parts.resize_scores(&score, slots);
        let all = Fresh { nodes: &room.fresh, themselves: &room.fresh };
        self.parts.score(compiled, &score, cache, all)?;
        let Kept { parts, feasible, totals, best, .. } = self;
        totals.resize(slots, 0);
        best.resize(slots);
        room.again.clear();
        parts.settle(&score, feasible, totals, &mut room.again)?;
        parts.total(&score, feasible.words().iter().copied().enumerate(), totals);
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
        room.again.clear();
        let feasible = self.feasible.words();
        for (word, bits) in room.touched.words() {
            room.fresh.insert_word(word, bits & feasible[word]);
        }
        for set in [&room.themselves, &room.flipped] {
            for (word, bits) in set.words() {
                room.fresh.insert_word(word, bits & feasible[word]);
                room.fresh_themselves.insert_word(word, bits & feasible[word]);
            }
        }
        let mut work = ScoreWork {
            changed: Changed { nodes: &room.changed, themselves },
            feasible: &self.feasible,
            flipped: &room.flipped,
            fresh: &room.fresh,
            scored: &mut room.scored,
            again: &mut room.again,
            base: &mut room.base,
            moved: false,
        };
        self.parts.update_scores(plugins, compiled, cycle, score, cache, &mut work)?;
        let fresh = Fresh { nodes: &room.fresh, themselves: &room.fresh_themselves };
        self.parts.score(compiled, score, cache, fresh)?;
        let Kept { parts, totals, feasible, best, .. } = self;
        if !room.flipped.is_empty() {
            parts.retire(score, feasible, &room.flipped);
        }
        parts.settle(score, feasible, totals, &mut room.again)?;
        room.fresh.extend(&room.scored);
        parts.total(score, room.fresh.words(), totals);
        room.fresh.extend(&room.flipped);
        room.fresh.extend(&room.again);
        best.refresh(&room.fresh, totals, feasible);
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
