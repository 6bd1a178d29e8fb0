//! The search: candidates, verification, minimal changes, ranking.

use super::fork::Fork;
use super::remedy::Remedy;
use super::situation::Situation;
use super::{Combination, DescribedRemedy, Remedies};

/// Maximum product of the number of decisions and the number of nodes. [`DECISION_LIMITS`] overrides it.
const MAX_NODE_DECISIONS: usize = 4_000_000;
/// Smallest and largest limit of decisions. A search for victims counts as several decisions.
const DECISION_LIMITS: (usize, usize) = (400, 4000);
/// Limit of decisions for a profile with extenders, because each decision sends requests to the extenders.
const DECISIONS_WITH_EXTENDERS: usize = 50;
/// Maximum number of candidates of each kind that are combined with other candidates.
const MAX_COMBINED_PER_KIND: usize = 4;
/// Maximum number of candidates of all kinds that are combined with other candidates.
const MAX_COMBINED: usize = 32;
/// The search for pairs ends when there are this many pairs for each remedy to report; the best pairs are reported.
const COMBINATIONS_PER_REMEDY: usize = 4;

/// A search in progress.
pub(super) struct Search<'f, 'a> {
    fork: &'f mut Fork<'a>,
    /// Maximum number of remedies.
    max: usize,
    /// Maximum work; see [`Fork::work`].
    limit: usize,
    found: Vec<Combination>,
}

impl<'f, 'a> Search<'f, 'a> {
    pub(super) fn new(fork: &'f mut Fork<'a>, max: usize, calls_extenders: bool) -> Self {
        let limit = match calls_extenders {
            true => DECISIONS_WITH_EXTENDERS,
            false => (MAX_NODE_DECISIONS / fork.nodes().count().max(1)).clamp(DECISION_LIMITS.0, DECISION_LIMITS.1),
        };
        Search { fork, max, limit, found: Vec::new() }
    }

    /// Returns the remedies. `None`: the pod is schedulable without a change.
    pub(super) fn run(mut self) -> Option<Remedies> {
        if self.fork.place().is_some() {
            return None;
        }
        let situation = Situation::of(self.fork);
        let candidates = Remedy::candidates(self.fork, &situation);
        for candidate in &candidates {
            self.try_combination(vec![candidate.clone()]);
        }
        if self.found.is_empty() {
            self.try_pairs(combined(candidates));
        }
        let cut = self.is_cut();
        let Search { fork, mut found, max, .. } = self;
        found.sort_by_key(|found| (found.changes.len(), found.disturbance));
        found.truncate(max);
        Some(Remedies { found, trials: fork.trials(), cut })
    }

    fn is_cut(&self) -> bool {
        self.fork.work() >= self.limit
    }

    /// Tries each candidate together with the candidates for the rejections that remain after it.
    fn try_pairs(&mut self, candidates: Vec<Remedy>) {
        let mut tried: Vec<[String; 2]> = Vec::new();
        for first in candidates {
            if self.is_cut() || self.found.len() >= self.max * COMBINATIONS_PER_REMEDY {
                return;
            }
            let kept = self.fork.edits().len();
            let seconds = match first.apply(self.fork) {
                true => {
                    let situation = Situation::of(self.fork);
                    combined(Remedy::candidates(self.fork, &situation))
                }
                false => Vec::new(),
            };
            self.fork.revert_to(kept);
            for second in seconds {
                let mut texts = [first.to_string(), second.to_string()];
                texts.sort_unstable();
                if !tried.contains(&texts) {
                    tried.push(texts);
                    self.try_combination(vec![first.clone(), second]);
                }
            }
        }
    }

    /// Adds a combination to the results if the scheduler places the pod with it.
    fn try_combination(&mut self, changes: Vec<Remedy>) {
        if self.is_cut()
            || self.found.iter().any(|found| is_variant(found, &changes))
            || self.verify(&changes).is_none()
        {
            return;
        }
        let changes = self.reduced(changes);
        if self.found.iter().any(|found| is_variant(found, &changes)) {
            return;
        }
        // The changes are verified already. They are applied again to get the node and the edits.
        let kept = self.fork.edits().len();
        if let Some(node) = self.apply_and_place(&changes) {
            let edits = self.fork.edits()[kept..].to_vec();
            let disturbance = changes.iter().map(Remedy::disturbance).sum();
            let describe = |remedy: Remedy| DescribedRemedy { text: remedy.to_string(), remedy };
            let changes = changes.into_iter().map(describe).collect();
            self.found.push(Combination { changes, node, disturbance, edits });
        }
        self.fork.revert_to(kept);
    }

    fn apply_and_place(&mut self, changes: &[Remedy]) -> Option<String> {
        if changes.iter().all(|change| change.apply(self.fork)) { self.fork.place() } else { None }
    }

    /// Returns the node on which the scheduler places the pod after changes, and reverts them.
    fn verify(&mut self, changes: &[Remedy]) -> Option<String> {
        let kept = self.fork.edits().len();
        let node = self.apply_and_place(changes);
        self.fork.revert_to(kept);
        node
    }

    /// Returns a minimal combination that is still sufficient: without superfluous changes, and with each change reduced and
    /// weakened.
    fn reduced(&mut self, mut changes: Vec<Remedy>) -> Vec<Remedy> {
        let mut at = 0;
        while changes.len() > 1 && at < changes.len() {
            let mut fewer = changes.clone();
            fewer.remove(at);
            match self.verify(&fewer) {
                Some(_) => changes = fewer,
                None => at += 1,
            }
        }
        for at in 0..changes.len() {
            self.use_smaller_part(&mut changes, at);
            self.weaken(&mut changes, at);
        }
        changes
    }

    /// Replaces a change by a smaller part as long as one suffices.
    fn use_smaller_part(&mut self, changes: &mut Vec<Remedy>, at: usize) {
        loop {
            let smaller = changes[at].parts().into_iter().find_map(|part| {
                let mut fewer = changes.clone();
                fewer[at] = part;
                self.verify(&fewer).map(|_| fewer)
            });
            match smaller {
                Some(fewer) => *changes = fewer,
                None => return,
            }
        }
    }

    /// Weakens a change to its smallest sufficient strength.
    fn weaken(&mut self, changes: &mut [Remedy], at: usize) {
        let strongest = changes[at].clone();
        let (mut insufficient, mut sufficient) = (0, strongest.strengths());
        while sufficient - insufficient > 1 {
            let middle = insufficient + (sufficient - insufficient) / 2;
            changes[at] = strongest.with_strength(middle);
            match self.verify(changes) {
                Some(_) => sufficient = middle,
                None => insufficient = middle,
            }
        }
        changes[at] = strongest.with_strength(sufficient);
    }
}

/// Returns the candidates that are combined with others: the least disturbing ones of each kind.
fn combined(candidates: Vec<Remedy>) -> Vec<Remedy> {
    let mut chosen: Vec<Remedy> = Vec::new();
    for candidate in candidates {
        let is_same_kind = |other: &&Remedy| std::mem::discriminant(*other) == std::mem::discriminant(&candidate);
        if chosen.len() < MAX_COMBINED && chosen.iter().filter(is_same_kind).count() < MAX_COMBINED_PER_KIND {
            chosen.push(candidate);
        }
    }
    chosen
}

/// Returns whether `changes` are a variant of a remedy.
fn is_variant(found: &Combination, changes: &[Remedy]) -> bool {
    let is_in = |change: &Remedy| found.changes.iter().any(|other| change.is_variant_of(&other.remedy));
    // Remedies are minimal, so a different number of changes is another remedy.
    found.changes.len() == changes.len() && changes.iter().all(is_in)
}
