//! The signatures of pods, and their cached answers.

use std::hash::{Hash, Hasher};
use std::sync::Arc;

use hashbrown::HashTable;

use super::cached_answer::CachedAnswer;
use crate::model::PodSpec;
use crate::model::cache::Cache;
use crate::model::cache_size::CacheSize;
use crate::model::map::{FixedHasher, Map};
use crate::profile_api::profile::Profile;

/// Maximum number of specs and of signatures.
const LIMIT: usize = 4096;
/// Maximum size of all cached answers, in bytes.
const BUDGET: usize = 256 << 20;

/// Index of a pod's signature. Pods with equal signatures get equal answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SignatureId(u32);

/// A compiled pod and its signature. Pods with equal signatures differ only in parts that are
/// [`ExcludedFromSignature`](crate::incremental::ExcludedFromSignature).
pub(crate) struct CompiledPod<P: Profile> {
    /// `None` if no pod with this signature was seen recently: an answer for a single pod is not worth caching.
    pub(crate) signature: Option<SignatureId>,
    /// Number of the signature, never reused.
    pub(crate) signature_number: u64,
    pub(crate) compiled: Arc<P::Pod>,
}

impl<P: Profile> Clone for CompiledPod<P> {
    fn clone(&self) -> Self {
        CompiledPod {
            signature: self.signature,
            signature_number: self.signature_number,
            compiled: self.compiled.clone(),
        }
    }
}

/// The answer of the last compiled pod, for an update.
pub(crate) struct LatestAnswer<'a, P: Profile> {
    pub(crate) id: SignatureId,
    pub(crate) compiled: &'a Arc<P::Pod>,
    pub(crate) cached: &'a mut CachedAnswer<P>,
    /// Size of the answer that is part of the size of all answers.
    pub(crate) bytes: usize,
}

/// The signatures of a profile.
pub(crate) struct Signatures<P: Profile> {
    /// By address, which is stable as long as the spec is held here.
    by_address: Map<usize, (Arc<PodSpec>, CompiledPod<P>)>,
    /// The last entry of `by_address` that was read: pods of one template often follow each other.
    latest: Option<(usize, CompiledPod<P>)>,
    /// By content, with hashes.
    by_spec: HashTable<(u64, Arc<PodSpec>, CompiledPod<P>)>,
    specs_seen: RecentHashes,
    /// By compiled pod, with hashes.
    by_pod: HashTable<(u64, SignatureId)>,
    pods_seen: RecentHashes,
    entries: Vec<Signature<P>>,
    /// The last two compiled pods, for reuse of their memory. The later one may still be in use.
    spares: [Option<Arc<P::Pod>>; 2],
    /// The number of the last new signature.
    last_number: u64,
    /// Identity of the cluster, and [`Profile::compile_epoch`] when specs were compiled.
    cluster: Arc<()>,
    epoch: u64,
    /// Grows with every use of a signature's answer.
    clock: u64,
    /// Size of the cached answers in bytes.
    bytes: usize,
}

struct Signature<P: Profile> {
    number: u64,
    compiled: Arc<P::Pod>,
    hash: u64,
    /// Value of `clock` at the last use.
    last_used: u64,
    cached: Option<Box<CachedAnswer<P>>>,
    bytes: usize,
}

impl<P: Profile> Default for Signatures<P> {
    fn default() -> Self {
        Signatures {
            by_address: Map::default(),
            latest: None,
            by_spec: HashTable::default(),
            specs_seen: RecentHashes::default(),
            by_pod: HashTable::default(),
            pods_seen: RecentHashes::default(),
            entries: Vec::new(),
            spares: [None, None],
            last_number: 0,
            cluster: Arc::default(),
            epoch: 0,
            clock: 0,
            bytes: 0,
        }
    }
}

impl<P: Profile> Signatures<P> {
    /// Returns the answer of the last compiled pod, and marks it as the most recently used. `None`: there is no answer,
    /// or that pod had another spec or cannot be used again.
    #[inline(always)]
    pub(crate) fn latest_answer(
        &mut self,
        plugins: &P,
        spec: &Arc<PodSpec>,
        cache: &Cache<P::State>,
    ) -> Option<LatestAnswer<'_, P>> {
        let is_current = self.is_current(plugins, cache);
        let (address, CompiledPod { signature, compiled, .. }) = self.latest.as_ref()?;
        let id = signature.filter(|_| is_current && *address == Arc::as_ptr(spec) as usize)?;
        debug_assert!(
            self.by_address
                .get(address)
                .is_some_and(|(_, read)| { read.signature == Some(id) && Arc::ptr_eq(&read.compiled, compiled) })
        );
        let Signature { last_used, cached, bytes, .. } = self.entries.get_mut(id.0 as usize)?;
        let cached = cached.as_deref_mut()?;
        self.clock += 1;
        *last_used = self.clock;
        Some(LatestAnswer { id, compiled, cached, bytes: *bytes })
    }

    /// Returns whether compiled pods can be used again.
    #[inline(always)]
    fn is_current(&self, plugins: &P, cache: &Cache<P::State>) -> bool {
        Arc::ptr_eq(&self.cluster, &cache.identity) && plugins.compile_epoch(&cache.state) == Some(self.epoch)
    }

    /// Compiles a pod, unless a compiled pod with the same spec can be used again.
    #[inline(never)]
    pub(crate) fn read(&mut self, plugins: &P, spec: &Arc<PodSpec>, cache: &mut Cache<P::State>) -> CompiledPod<P> {
        let address = Arc::as_ptr(spec) as usize;
        if self.is_current(plugins, cache)
            && let Some((_, read)) = self.by_address.get(&address)
        {
            self.latest = Some((address, read.clone()));
            return read.clone();
        }
        self.compile_new_spec(plugins, spec, cache)
    }

    #[inline(never)]
    fn compile_new_spec(&mut self, plugins: &P, spec: &Arc<PodSpec>, cache: &mut Cache<P::State>) -> CompiledPod<P> {
        if !Arc::ptr_eq(&self.cluster, &cache.identity) {
            let (cluster, last_number) = (cache.identity.clone(), self.last_number);
            *self = Signatures { cluster, last_number, ..Signatures::default() };
        }
        // Without an epoch, a compiled pod serves one attempt only.
        let Some(epoch) = plugins.compile_epoch(&cache.state) else { return self.compile(plugins, spec, cache) };
        if epoch != self.epoch {
            self.epoch = epoch;
            self.forget_specs();
        }
        // The compiled form contains the current state of the claims that the spec names, and most claims belong to a
        // single pod.
        if spec.names_claims() {
            return self.compile(plugins, spec, cache);
        }
        let hash = hash_of(&**spec);
        let is_it = |known: &(u64, Arc<PodSpec>, CompiledPod<P>)| known.0 == hash && known.1 == *spec;
        let read = match self.by_spec.find(hash, is_it) {
            Some((.., read)) => read.clone(),
            None => {
                let read = self.compile(plugins, spec, cache);
                // If a compiled pod without a signature were stored, pods with this spec would never get a cached
                // answer.
                if !self.specs_seen.check_and_insert(hash) || read.signature.is_none() {
                    return read;
                }
                self.by_spec.insert_unique(hash, (hash, spec.clone(), read.clone()), |known| known.0);
                read
            }
        };
        if self.by_address.len() >= LIMIT {
            self.forget_specs();
        }
        self.by_address.insert(Arc::as_ptr(spec) as usize, (spec.clone(), read.clone()));
        read
    }

    fn forget_specs(&mut self) {
        self.latest = None;
        self.by_address.clear();
        self.by_spec.clear();
    }

    fn compile(&mut self, plugins: &P, spec: &PodSpec, cache: &mut Cache<P::State>) -> CompiledPod<P> {
        let compiled = self.share(compile(plugins, spec, cache));
        let hash = hash_of(&*compiled);
        let entries = &self.entries;
        let is_it = |known: &(u64, SignatureId)| known.0 == hash && entries[known.1.0 as usize].compiled == compiled;
        if let Some(&(_, signature)) = self.by_pod.find(hash, is_it) {
            return CompiledPod {
                signature: Some(signature),
                signature_number: self.entries[signature.0 as usize].number,
                compiled,
            };
        }
        self.last_number += 1;
        let number = self.last_number;
        if !self.pods_seen.check_and_insert(hash) {
            return CompiledPod { signature: None, signature_number: number, compiled };
        }
        if self.entries.len() >= LIMIT {
            self.evict_uncached();
        }
        let signature = SignatureId(self.entries.len() as u32);
        self.by_pod.insert_unique(hash, (hash, signature), |known| known.0);
        self.entries.push(Signature { number, compiled: compiled.clone(), hash, last_used: 0, cached: None, bytes: 0 });
        CompiledPod { signature: Some(signature), signature_number: number, compiled }
    }

    /// Moves a compiled pod into shared memory.
    fn share(&mut self, compiled: P::Pod) -> Arc<P::Pod> {
        self.spares.swap(0, 1);
        let shared = match self.spares[0].take() {
            Some(mut spare) => match Arc::get_mut(&mut spare) {
                Some(unused) => {
                    *unused = compiled;
                    spare
                }
                None => Arc::new(compiled),
            },
            None => Arc::new(compiled),
        };
        self.spares[0] = Some(shared.clone());
        shared
    }

    /// Removes the signatures without an answer, or all signatures if more than half of the limit have one.
    fn evict_uncached(&mut self) {
        self.forget_specs();
        self.entries.retain(|signature| signature.cached.is_some());
        if self.entries.len() > LIMIT / 2 {
            self.entries.clear();
            self.bytes = 0;
        }
        self.by_pod.clear();
        for (signature, at) in self.entries.iter().zip(0..) {
            self.by_pod.insert_unique(signature.hash, (signature.hash, SignatureId(at)), |known| known.0);
        }
    }

    /// Returns the cached answer, if there is one.
    #[inline]
    pub(crate) fn cached_answer(&self, id: SignatureId) -> Option<&CachedAnswer<P>> {
        self.entries.get(id.0 as usize)?.cached.as_deref()
    }

    /// Returns the cached answer to be updated, if there is one.
    #[inline]
    pub(crate) fn cached_answer_mut(&mut self, id: SignatureId) -> Option<&mut CachedAnswer<P>> {
        self.entries.get_mut(id.0 as usize)?.cached.as_deref_mut()
    }

    /// Marks an answer as the most recently used. Returns whether this is the first use.
    #[inline]
    pub(crate) fn mark_used(&mut self, id: SignatureId) -> bool {
        self.clock += 1;
        std::mem::replace(&mut self.entries[id.0 as usize].last_used, self.clock) == 0
    }

    /// Returns the sizes of the caches.
    pub(crate) fn cache_sizes(&self) -> [CacheSize; 3] {
        [
            CacheSize::limited("specs", self.by_address.len(), LIMIT),
            CacheSize::limited("signatures", self.entries.len(), LIMIT),
            CacheSize::limited("answer_bytes", self.bytes, BUDGET),
        ]
    }

    /// Removes an answer, if there is one.
    pub(crate) fn take(&mut self, id: SignatureId) -> Option<Box<CachedAnswer<P>>> {
        let signature = &mut self.entries[id.0 as usize];
        self.bytes -= std::mem::take(&mut signature.bytes);
        signature.cached.take()
    }

    /// Corrects the total size after the update of an answer.
    #[inline]
    pub(crate) fn updated(&mut self, id: SignatureId) {
        let signature = &self.entries[id.0 as usize];
        if signature.cached.as_ref().is_some_and(|cached| cached.bytes() != signature.bytes) {
            self.update_bytes(id);
        }
    }

    #[cold]
    pub(crate) fn update_bytes(&mut self, id: SignatureId) {
        if let Some(cached) = self.take(id) {
            self.put(id, cached);
        }
    }

    /// Stores an answer. The least recently used answers are removed if the size is exceeded.
    pub(crate) fn put(&mut self, id: SignatureId, cached: Box<CachedAnswer<P>>) {
        let bytes = cached.bytes();
        if self.bytes + bytes > BUDGET {
            self.evict(bytes);
        }
        let signature = &mut self.entries[id.0 as usize];
        (signature.cached, signature.bytes) = (Some(cached), bytes);
        self.bytes += bytes;
    }

    #[cold]
    fn evict(&mut self, bytes: usize) {
        while self.bytes + bytes > BUDGET {
            let others = self.entries.iter_mut().filter(|signature| signature.cached.is_some());
            let Some(oldest) = others.min_by_key(|signature| signature.last_used) else { break };
            oldest.cached = None;
            self.bytes -= std::mem::take(&mut oldest.bytes);
        }
    }
}

/// Compiles a pod with every plugin of the profile.
pub(crate) fn compile<P: Profile>(plugins: &P, spec: &PodSpec, cache: &mut Cache<P::State>) -> P::Pod {
    // The strings that plugins intern are never freed, because a compiled pod may live longer than all objects with
    // these strings.
    cache.base.interner.pinning(|interner| plugins.compile(spec, interner, &mut cache.state))
}

fn hash_of(value: &impl Hash) -> u64 {
    let mut hasher = FixedHasher::default();
    value.hash(&mut hasher);
    hasher.finish()
}

/// Set of recently seen hashes: the last eight of each of 1,024 groups.
#[derive(Default)]
struct RecentHashes {
    groups: Vec<[u64; RecentHashes::IN_GROUP]>,
}

impl RecentHashes {
    const GROUPS: usize = 1024;
    const IN_GROUP: usize = 8;

    /// Returns whether a hash was seen before, and adds it.
    fn check_and_insert(&mut self, hash: u64) -> bool {
        if self.groups.is_empty() {
            self.groups.resize(Self::GROUPS, [0; Self::IN_GROUP]);
        }
        // 0 marks an empty slot.
        let hash = hash | 1;
        // The upper bits are the best ones of a multiplicative hash.
        let at = (hash >> 48) as usize % Self::GROUPS;
        let group = &mut self.groups[at];
        let is_known = group.contains(&hash);
        if !is_known {
            group.rotate_right(1);
            group[0] = hash;
        }
        is_known
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hashes_of_similar_values_are_seldom_forgotten() {
        let mut seen = RecentHashes::default();
        let hashes: Vec<u64> = (0..LIMIT as i64).map(|number| hash_of(&("cpu", 1_000_000 + number))).collect();
        assert!(!hashes.iter().any(|&hash| seen.check_and_insert(hash)));
        let forgotten = hashes.iter().filter(|&&hash| !seen.check_and_insert(hash)).count();
        assert!(forgotten < LIMIT / 10, "{forgotten} hashes were forgotten");
    }
}
