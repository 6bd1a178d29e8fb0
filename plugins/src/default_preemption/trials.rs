//! Trials: evaluations of preemption on single nodes, with outcomes that are cached for equivalent pods.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use schedc_core::cache::{Base, Cache, State};
use schedc_core::extension_points::PostFilterContext;
use schedc_core::handle::{Handle, PluginCacheSize};
use schedc_core::incremental::{NominatedNodes, VerdictCounts};
use schedc_core::map::Map;
use schedc_core::model::{NodeIndex, Pod};
use schedc_core::node_mask::{NodeMask, nodes_of};
use schedc_core::node_set::NodeSet;
use schedc_core::profile::Profile;
use schedc_core::status::Reason;
use schedc_core::verdict::Verdict;

use super::choice::{BestCandidates, VictimCost};
use super::victims::Victims;
use crate::indexes::{BudgetsVersion, DisruptionBudgets};

/// Outcomes of preemption for a pod, separately for each node. An outcome is valid until one of these changes: the
/// node, its pods, the pods nominated for it, the budgets of its pods, or the current time, which is used as the start
/// time of pods that have not started.
#[derive(Debug, Default)]
pub(super) struct PreemptionTrials {
    /// Position in the change log up to which changes were applied. `None`: never applied.
    read: Option<u64>,
    nominations: NominatedNodes,
    budgets: BudgetsVersion,
    now: i64,
    /// Evaluated nodes.
    tried: NodeMask,
    /// Evaluated nodes where preemption helps.
    works: NodeMask,
    /// Evaluated nodes with an outcome that may depend on budgets.
    guarded: NodeMask,
    /// For each word of `works`, the victims on its 64 nodes. The list of a word is empty until preemption helps on one
    /// of these nodes. Entries of nodes that are not in `works` are outdated.
    victims: Vec<Vec<Victims>>,
    /// Rejections of the evaluated nodes where preemption does not help.
    failures: VerdictCounts,
    /// Scratch memory for the nodes whose outcomes are removed.
    stale: NodeSet,
    /// Scratch memory for the best candidates.
    best: BestCandidates,
    /// The message of the last pod for which preemption helps on no node.
    pub(super) failure_text: LastText,
}

/// The text that was composed last. Most texts equal the one before, and share its memory.
#[derive(Debug, Default)]
pub(super) struct LastText {
    text: Reason,
    scratch: String,
}

impl LastText {
    /// Returns the text that `write` composes. Equal successive texts share their memory.
    pub(super) fn compose(&mut self, write: impl FnOnce(&mut String)) -> Reason {
        self.scratch.clear();
        write(&mut self.scratch);
        if *self.text != *self.scratch {
            self.text = Reason::Shared(self.scratch.as_str().into());
        }
        self.text.clone()
    }
}

impl PreemptionTrials {
    /// Removes all outcomes, and allocates memory for the nodes of a cluster.
    pub(super) fn clear(&mut self, base: &Base) {
        let tried = std::mem::take(&mut self.tried);
        tried.iter().for_each(|node| self.forget_outcome(node));
        self.tried = tried;
        self.tried.clear();
        self.read = None;
        self.resize(base.infos().len());
    }

    fn resize(&mut self, slots: usize) {
        let words = self.victims.len().max(slots.div_ceil(64));
        self.victims.resize_with(words, Vec::new);
        self.failures.resize(slots);
        [&mut self.tried, &mut self.works, &mut self.guarded].into_iter().for_each(|mask| mask.resize(slots));
    }

    /// Removes outdated outcomes. `pod` is equivalent to the pods of the earlier outcomes.
    pub(super) fn update<S: State>(&mut self, pod: &Pod, cache: &Cache<S>, budgets: &DisruptionBudgets, now: i64) {
        let changes = self.read.filter(|_| self.now == now).and_then(|read| cache.log.since(read));
        let mut stale = std::mem::take(&mut self.stale);
        stale.reset(cache.base.infos().len());
        match changes {
            Some(changes) => {
                self.resize(cache.base.infos().len());
                changes.for_each(|entry| stale.insert(entry.slot()));
            }
            None => {
                self.clear(&cache.base);
                self.nominations = NominatedNodes::default();
            }
        }
        (self.read, self.now) = (Some(cache.log.end()), now);
        self.nominations.update(pod, &cache.nominator, &cache.base, &mut stale);
        let before = std::mem::replace(&mut self.budgets, budgets.version());
        if before.namespaces != self.budgets.namespaces {
            stale.insert_all(&self.works);
        }
        if before.budgets != self.budgets.budgets {
            stale.insert_all(&self.guarded);
        }
        stale.iter().for_each(|node| self.forget(node));
        self.stale = stale;
    }

    /// Removes the outcomes of all nodes that are not in `nodes`.
    pub(super) fn keep_only(&mut self, nodes: &NodeMask) {
        for word in 0..self.tried.words().len() {
            let others = self.tried.words()[word] & !nodes.words().get(word).copied().unwrap_or(0);
            nodes_of(word, others).for_each(|node| self.forget(node));
        }
    }

    fn forget(&mut self, node: NodeIndex) {
        if self.tried.contains(node) {
            self.tried.remove(node);
            self.forget_outcome(node);
        }
    }

    fn forget_outcome(&mut self, node: NodeIndex) {
        self.works.remove(node);
        self.guarded.remove(node);
        self.failures.set(node, None);
    }

    /// Stores the outcome of a node.
    pub(super) fn set(&mut self, node: NodeIndex, guarded: bool, outcome: Result<Victims, Verdict>) {
        self.tried.insert(node);
        if guarded {
            self.guarded.insert(node);
        }
        match outcome {
            Ok(victims) => {
                self.works.insert(node);
                let of_word = &mut self.victims[node.get() / 64];
                if of_word.is_empty() {
                    of_word.resize_with(64, Victims::default);
                }
                of_word[node.get() % 64] = victims;
            }
            Err(verdict) => self.failures.set(node, Some(&verdict)),
        }
    }

    /// Returns whether the node has an outcome.
    pub(super) fn has_outcome(&self, node: NodeIndex) -> bool {
        self.tried.contains(node)
    }

    /// Returns the evaluated nodes of a mask word on which preemption does not help.
    pub(super) fn failed(&self, word: usize) -> u64 {
        self.tried.words()[word] & !self.works.words()[word]
    }

    /// Returns the cost of preemption on a node, if it helps there.
    #[inline]
    pub(super) fn cost(&self, node: NodeIndex) -> Option<&VictimCost> {
        self.works.contains(node).then(|| &self.victims[node.get() / 64][node.get() % 64].cost)
    }

    /// Returns the victims on a node where preemption helps, the most important first.
    pub(super) fn victims<'a>(&'a self, node: NodeIndex, base: &'a Base) -> impl Iterator<Item = &'a Arc<Pod>> {
        let pods = &base.infos()[node.get()].pods;
        let victims = &self.victims[node.get() / 64][node.get() % 64];
        victims.positions.iter().filter_map(move |&at| pods.get(at as usize))
    }

    /// Returns the scratch memory for the best candidates, without candidates.
    pub(super) fn take_best(&mut self) -> BestCandidates {
        self.best.clear();
        std::mem::take(&mut self.best)
    }

    /// Stores the memory of the best candidates for the next pod.
    pub(super) fn recycle(&mut self, best: BestCandidates) {
        self.best = best;
    }

    /// Returns the rejections of the evaluated nodes where preemption does not help, each with its number of nodes.
    pub(super) fn failures(&self) -> impl Iterator<Item = (&Verdict, usize)> {
        self.failures.verdicts()
    }

    /// Returns the approximate memory in bytes.
    fn bytes(&self) -> usize {
        // A usual number of victims is inline in `Victims`; the rare longer lists are not counted.
        let victims = size_of::<Victims>() * self.victims.iter().map(Vec::capacity).sum::<usize>();
        victims + self.failures.bytes() + 4 * size_of_val(self.tried.words())
    }
}

/// The trials of a profile, by
/// [`PostFilterContext::equivalence_class`](schedc_core::extension_points::PostFilterContext::equivalence_class) and
/// priority. While the memory limit is exceeded, the least recently used trials are evicted. The trials that were just
/// used always stay.
#[derive(Debug)]
pub(super) struct TrialCache {
    entries: Mutex<CacheEntries>,
    size: Arc<PluginCacheSize>,
}

#[derive(Debug, Default)]
struct CacheEntries {
    by_class: Map<(u64, i32), CacheEntry>,
    bytes: usize,
    /// Incremented by every use.
    clock: u64,
    /// For pods without an equivalence class.
    uncached: PreemptionTrials,
    /// The last message for a pod for which no trial is necessary.
    text_without_trials: LastText,
}

#[derive(Debug, Default)]
struct CacheEntry {
    trials: PreemptionTrials,
    bytes: usize,
    used: u64,
}

/// Memory limit of the cache, in bytes.
const MAX_BYTES: usize = 64 << 20;

impl TrialCache {
    /// Makes an empty cache, and registers its size.
    pub(super) fn new(handle: &Handle) -> Self {
        TrialCache { entries: Mutex::default(), size: handle.register_cache("preemption_bytes", MAX_BYTES) }
    }

    fn lock(&self) -> MutexGuard<'_, CacheEntries> {
        self.entries.lock().unwrap_or_else(|poisoned: PoisonError<_>| {
            // The thread that panicked may have left a partial change.
            let mut entries = poisoned.into_inner();
            *entries = CacheEntries::default();
            entries
        })
    }

    /// Calls `compose` for a pod for which no trial is necessary, with the last message for such a pod.
    pub(super) fn without_trials<T>(&self, compose: impl FnOnce(&mut LastText) -> T) -> T {
        compose(&mut self.lock().text_without_trials)
    }

    /// Runs `evaluate` with the trials of the pod's equivalence class, and keeps the new outcomes for the next pod of
    /// the class. A pod without a class starts with empty trials.
    pub(super) fn with<P: Profile, T>(
        &self,
        cx: &PostFilterContext<'_, P>,
        budgets: &DisruptionBudgets,
        evaluate: impl FnOnce(&mut PreemptionTrials) -> T,
    ) -> T {
        let mut entries = self.lock();
        let Some(equivalence_class) = cx.equivalence_class else {
            entries.uncached.clear(&cx.cache.base);
            return evaluate(&mut entries.uncached);
        };
        entries.clock += 1;
        let CacheEntries { by_class, bytes, clock, .. } = &mut *entries;
        let entry = by_class.entry((equivalence_class, cx.pod.spec.priority)).or_default();
        entry.used = *clock;
        entry.trials.update(cx.pod, cx.cache, budgets, cx.now);
        let found = evaluate(&mut entry.trials);
        *bytes -= std::mem::replace(&mut entry.bytes, entry.trials.bytes());
        *bytes += entry.bytes;
        entries.evict_oldest();
        self.size.set(entries.bytes);
        found
    }
}

impl CacheEntries {
    fn evict_oldest(&mut self) {
        while self.bytes > MAX_BYTES && self.by_class.len() > 1 {
            let oldest = self.by_class.iter().min_by_key(|(_, entry)| entry.used).map(|(key, _)| *key);
            let Some(entry) = oldest.and_then(|key| self.by_class.remove(&key)) else { return };
            self.bytes -= entry.bytes;
        }
    }
}
