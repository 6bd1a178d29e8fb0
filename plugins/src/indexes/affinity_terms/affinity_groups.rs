//! Groups of pods with equal affinity.

use std::sync::Arc;

use schedc_core::column::CacheSize;
use schedc_core::map::Map;
use schedc_core::model::{PodAffinity, PodSpec};

use super::term_table::TermId;

/// Number of groups that are kept in any case although they have no pods, because equal pods often return.
const MAX_UNUSED: usize = 1024;
/// Number of specs with a remembered group. A power of two, because `slot` masks addresses with it.
const RECENT: usize = 256;

/// The distinct affinities of pods. Pods of one template share a group: their terms are looked up once.
#[derive(Clone, Debug, Default)]
pub(super) struct AffinityGroups {
    ids: Map<Arc<PodAffinity>, usize>,
    all: Vec<Option<AffinityGroup>>,
    free: Vec<usize>,
    /// Number of groups without pods.
    unused: usize,
    /// Specs and the ids of their groups, at the `slot` of the spec's address. The specs are kept alive; otherwise,
    /// another spec could get the address.
    recent: Vec<Option<(Arc<PodSpec>, usize)>>,
}

/// Pods with equal affinity.
#[derive(Clone, Debug)]
pub(super) struct AffinityGroup {
    /// Number of pods, on nodes and pending.
    pub(super) pods: u32,
    pub(super) anti_required: Box<[TermId]>,
    pub(super) scored: Box<[TermId]>,
}

impl AffinityGroups {
    /// Returns the id of the group with this affinity.
    pub(super) fn id(&self, affinity: &PodAffinity) -> Option<usize> {
        self.ids.get(affinity).copied()
    }

    /// Returns the id of a pod's group, if it was remembered.
    #[inline]
    pub(super) fn recent(&self, pod: &Arc<PodSpec>) -> Option<usize> {
        let (known, id) = self.recent.get(slot(pod))?.as_ref()?;
        Arc::ptr_eq(known, pod).then_some(*id)
    }

    /// Remembers the group of a pod.
    pub(super) fn remember(&mut self, pod: &Arc<PodSpec>, id: usize) {
        self.recent.resize(RECENT, None);
        self.recent[slot(pod)] = Some((pod.clone(), id));
    }

    /// Returns the group of a pod.
    pub(super) fn find(&self, pod: &Arc<PodSpec>) -> Option<&AffinityGroup> {
        let id = self.recent(pod).or_else(|| self.id(&pod.affinity))?;
        self.all[id].as_ref()
    }

    pub(super) fn insert(&mut self, affinity: &PodAffinity, group: AffinityGroup) -> usize {
        self.unused += usize::from(group.pods == 0);
        let id = self.free.pop().unwrap_or(self.all.len());
        self.ids.insert(Arc::new(affinity.clone()), id);
        match self.all.get_mut(id) {
            Some(slot) => *slot = Some(group),
            None => self.all.push(Some(group)),
        }
        id
    }

    /// Counts a pod that is added to a group or removed from it. Returns the group.
    #[inline]
    pub(super) fn count(&mut self, id: usize, added: bool) -> Option<&AffinityGroup> {
        let group = self.all[id].as_mut()?;
        let unused = group.pods == 0;
        group.pods = if added { group.pods + 1 } else { group.pods.saturating_sub(1) };
        self.unused -= usize::from(unused);
        self.unused += usize::from(group.pods == 0);
        Some(group)
    }

    /// Returns the number of groups without pods above which these groups are evicted.
    fn max_unused(&self) -> usize {
        MAX_UNUSED.max(self.ids.len() / 2)
    }

    pub(super) fn cache_size(&self) -> CacheSize {
        let used = self.ids.len() - self.unused;
        CacheSize::limited("affinity_groups", self.ids.len(), used + self.max_unused())
    }

    /// Removes and returns groups without pods, if there are too many.
    pub(super) fn forget(&mut self) -> Vec<AffinityGroup> {
        if self.unused <= self.max_unused() {
            return Vec::new();
        }
        let AffinityGroups { ids, all, free, unused, recent } = self;
        let mut evicted = Vec::with_capacity(*unused);
        ids.retain(|_, id| match all[*id].take_if(|group| group.pods == 0) {
            Some(group) => {
                evicted.push(group);
                free.push(*id);
                false
            }
            None => true,
        });
        *unused = 0;
        recent.clear();
        evicted
    }

    #[cfg(test)]
    pub(super) fn in_use(&self) -> impl Iterator<Item = (PodAffinity, u32)> {
        let pods = |&id: &usize| self.all[id].as_ref().map_or(0, |group| group.pods);
        self.ids.iter().map(move |(affinity, id)| ((**affinity).clone(), pods(id))).filter(|(_, pods)| *pods > 0)
    }
}

fn slot(pod: &Arc<PodSpec>) -> usize {
    // The lowest bits hardly differ, because a spec has several hundred bytes.
    let address = Arc::as_ptr(pod).addr();
    ((address >> 6) ^ (address >> 14)) & (RECENT - 1)
}
