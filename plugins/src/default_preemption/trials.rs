//! What came of trying nodes, kept for pods that are alike.

use std::sync::{Mutex, MutexGuard, PoisonError};

use schedc_core::cache::{Base, Cache, State};
use schedc_core::incremental::{NominatedNodes, VerdictCounts};
use schedc_core::map::Map;
use schedc_core::model::{NodeIndex, Pod};
use schedc_core::node_mask::{NodeMask, nodes_of};
use schedc_core::node_set::NodeSet;
use schedc_core::verdict::Verdict;

use super::victims::Victims;
use crate::indexes::{BudgetsVersion, DisruptionBudgets};

/// What came of trying nodes for a pod, each node for itself. It holds as long as the node and its pods, the pods nominated
/// for it, the budgets of its pods, and, if pods have not started yet, the time are the same.
#[derive(Debug, Default)]
pub(super) struct PreemptionTrials {
    /// How far the log of the cluster was read. None: never.
    read: Option<u64>,
    nominations: NominatedNodes,
    budgets: BudgetsVersion,
    now: i64,
    /// The nodes that were tried.
    tried: NodeMask,
    /// Those of them where preemption works.
    works: NodeMask,
    /// Those where it may depend on budgets what comes of it.
    guarded: NodeMask,
    victims: Vec<Option<Box<Victims>>>,
    /// Why it does not work on the others.
    failures: VerdictCounts,
    /// Room for a set of nodes.
    stale: NodeSet,
}

impl PreemptionTrials {
    /// Forgets everything, and makes room for the nodes of a cluster.
    pub(super) fn clear(&mut self, base: &Base) {
        let tried = std::mem::take(&mut self.tried);
        tried.iter().for_each(|node| self.forget_outcome(node));
        self.tried = tried;
        self.tried.clear();
        self.read = None;
        self.resize(base.infos().len());
    }

    fn resize(&mut self, slots: usize) {
        if self.victims.len() < slots {
            self.victims.resize_with(slots, Option::default);
        }
        self.failures.resize(slots);
        [&mut self.tried, &mut self.works, &mut self.guarded].into_iter().for_each(|mask| mask.resize(slots));
    }

    /// Forgets what does not hold for `pod` any more. It is like the pod that came before it.
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

    /// Forgets what came of nodes that are not among these.
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
        self.victims[node.get()] = None;
        self.failures.set(node, None);
    }

    /// Takes down what came of a node.
    pub(super) fn set(&mut self, node: NodeIndex, guarded: bool, outcome: Result<Victims, Verdict>) {
        self.tried.insert(node);
        if guarded {
            self.guarded.insert(node);
        }
        match outcome {
            Ok(victims) => {
                self.works.insert(node);
                self.victims[node.get()] = Some(Box::new(victims));
            }
            Err(verdict) => self.failures.set(node, Some(&verdict)),
        }
    }

    /// Whether a node was tried.
    pub(super) fn has_outcome(&self, node: NodeIndex) -> bool {
        self.tried.contains(node)
    }

    /// The nodes of a word on which preemption is known not to work.
    pub(super) fn failed(&self, word: usize) -> u64 {
        self.tried.words()[word] & !self.works.words()[word]
    }

    /// Who would have to go from a node, if preemption works there.
    pub(super) fn victims(&self, node: NodeIndex) -> Option<&Victims> {
        self.victims.get(node.get())?.as_deref()
    }

    /// Why preemption does not work on the nodes that were tried in vain, and on how many.
    pub(super) fn failures(&self) -> impl Iterator<Item = (&Verdict, usize)> {
        self.failures.verdicts()
    }

    /// What it takes, in bytes, about.
    fn bytes(&self) -> usize {
        let victims = size_of::<Option<Box<Victims>>>() * self.victims.capacity();
        // A candidate has a few victims.
        let candidates = self.works.count() * (size_of::<Victims>() + 64);
        victims + candidates + self.failures.bytes() + 4 * size_of_val(self.tried.words())
    }
}

/// The trials of a profile, by [`PostFilterContext::equivalence_class`](schedc_core::extension_points::PostFilterContext::equivalence_class) and
/// priority. Those that were not asked for in the longest time go if there is no room.
#[derive(Debug, Default)]
pub(super) struct TrialCache(Mutex<CacheEntries>);

#[derive(Debug, Default)]
struct CacheEntries {
    by_pod: Map<(u64, i32), CacheEntry>,
    bytes: usize,
    /// Grows with every use.
    clock: u64,
    /// For pods of which nothing can be kept.
    uncached: PreemptionTrials,
}

#[derive(Debug, Default)]
struct CacheEntry {
    trials: PreemptionTrials,
    bytes: usize,
    used: u64,
}

/// How many bytes they take at most.
const BUDGET: usize = 64 << 20;

impl TrialCache {
    fn lock(&self) -> MutexGuard<'_, CacheEntries> {
        self.0.lock().unwrap_or_else(|poisoned: PoisonError<_>| {
            // Whoever panicked may have left half of a change behind.
            let mut entries = poisoned.into_inner();
            *entries = CacheEntries::default();
            entries
        })
    }

    /// Looks at nodes for a pod, given what is known of them, and takes down what is learned.
    pub(super) fn with<S: State, T>(
        &self,
        equivalence_class: Option<u64>,
        pod: &Pod,
        cache: &Cache<S>,
        budgets: &DisruptionBudgets,
        now: i64,
        evaluate: impl FnOnce(&mut PreemptionTrials) -> T,
    ) -> T {
        let mut entries = self.lock();
        let Some(equivalence_class) = equivalence_class else {
            entries.uncached.clear(&cache.base);
            return evaluate(&mut entries.uncached);
        };
        entries.clock += 1;
        let CacheEntries { by_pod, bytes, clock, .. } = &mut *entries;
        let entry = by_pod.entry((equivalence_class, pod.spec.priority)).or_default();
        entry.used = *clock;
        entry.trials.update(pod, cache, budgets, now);
        let found = evaluate(&mut entry.trials);
        *bytes -= std::mem::replace(&mut entry.bytes, entry.trials.bytes());
        *bytes += entry.bytes;
        entries.evict_oldest();
        found
    }
}

impl CacheEntries {
    fn evict_oldest(&mut self) {
        while self.bytes > BUDGET && self.by_pod.len() > 1 {
            let oldest = self.by_pod.iter().min_by_key(|(_, entry)| entry.used).map(|(key, _)| *key);
            let Some(entry) = oldest.and_then(|key| self.by_pod.remove(&key)) else { return };
            self.bytes -= entry.bytes;
        }
    }
}
