//! Which pods ask the same question, and the answers that are kept.

use std::hash::{Hash, Hasher};
use std::sync::Arc;

use hashbrown::HashTable;

use super::answer::Kept;
use crate::cache::Cache;
use crate::map::{FixedHasher, Map};
use crate::model::PodSpec;
use crate::profile::Profile;

/// How many specs and signatures are known at most.
const LIMIT: usize = 4096;
/// How many bytes kept answers take at most.
const BUDGET: usize = 256 << 20;

/// Everything that a profile reads of a pod, as a number: pods with equal ones get equal answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SignatureId(u32);

/// A pod as the profile reads it, and its signature. Another pod of that signature differs from it in nothing but what is
/// [`Individual`](super::Individual).
pub(crate) struct Read<P: Profile> {
    /// None if no pod of its signature was seen lately: what is asked about once is not worth keeping.
    pub(crate) signature: Option<SignatureId>,
    /// That of the signature, which no other ever has.
    pub(crate) number: u64,
    pub(crate) compiled: Arc<P::Pod>,
}

impl<P: Profile> Clone for Read<P> {
    fn clone(&self) -> Self {
        Read { signature: self.signature, number: self.number, compiled: self.compiled.clone() }
    }
}

/// The signatures of a profile.
pub(crate) struct Signatures<P: Profile> {
    /// By address, which stays as long as the spec is held here.
    by_address: Map<usize, (Arc<PodSpec>, Read<P>)>,
    /// By content, with hashes.
    by_spec: HashTable<(u64, Arc<PodSpec>, Read<P>)>,
    specs_seen: Seen,
    /// By what is compiled, with hashes.
    by_pod: HashTable<(u64, SignatureId)>,
    pods_seen: Seen,
    entries: Vec<Signature<P>>,
    /// The number of the last new signature.
    numbered: u64,
    /// The cluster that they are about, and [`Profile::compile_epoch`] when specs were compiled.
    cluster: Arc<()>,
    epoch: u64,
    /// Grows with every question.
    clock: u64,
    /// What kept answers take.
    bytes: usize,
}

struct Signature<P: Profile> {
    number: u64,
    compiled: Arc<P::Pod>,
    hash: u64,
    /// When it was asked about last.
    asked: u64,
    kept: Option<Box<Kept<P>>>,
    bytes: usize,
}

impl<P: Profile> Default for Signatures<P> {
    fn default() -> Self {
        Signatures {
            by_address: Map::default(),
            by_spec: HashTable::default(),
            specs_seen: Seen::default(),
            by_pod: HashTable::default(),
            pods_seen: Seen::default(),
            entries: Vec::new(),
            numbered: 0,
            cluster: Arc::default(),
            epoch: 0,
            clock: 0,
            bytes: 0,
        }
    }
}

impl<P: Profile> Signatures<P> {
    /// Reads a pod, unless one with its spec was read before.
    #[inline]
    pub(crate) fn read(&mut self, plugins: &P, spec: &Arc<PodSpec>, cache: &mut Cache<P::State>) -> Read<P> {
        if Arc::ptr_eq(&self.cluster, &cache.identity)
            && plugins.compile_epoch(&cache.state) == Some(self.epoch)
            && let Some((_, read)) = self.by_address.get(&(Arc::as_ptr(spec) as usize))
        {
            return read.clone();
        }
        self.read_unknown(plugins, spec, cache)
    }

    fn read_unknown(&mut self, plugins: &P, spec: &Arc<PodSpec>, cache: &mut Cache<P::State>) -> Read<P> {
        if !Arc::ptr_eq(&self.cluster, &cache.identity) {
            let (cluster, numbered) = (cache.identity.clone(), self.numbered);
            *self = Signatures { cluster, numbered, ..Signatures::default() };
        }
        // Without an epoch, what a spec was compiled to does not hold for another attempt.
        let Some(epoch) = plugins.compile_epoch(&cache.state) else { return self.compile(plugins, spec, cache) };
        if epoch != self.epoch {
            self.epoch = epoch;
            self.forget_specs();
        }
        // Claims are a pod's own, nearly always, and how things stand with them tells what other pods it is like.
        if spec.has_claims() {
            return self.compile(plugins, spec, cache);
        }
        let hash = hash_of(&**spec);
        let is_it = |known: &(u64, Arc<PodSpec>, Read<P>)| known.0 == hash && known.1 == *spec;
        let read = match self.by_spec.find(hash, is_it) {
            Some((.., read)) => read.clone(),
            None => {
                let read = self.compile(plugins, spec, cache);
                if !self.specs_seen.again(hash) {
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
        self.by_address.clear();
        self.by_spec.clear();
    }

    fn compile(&mut self, plugins: &P, spec: &PodSpec, cache: &mut Cache<P::State>) -> Read<P> {
        let compiled = Arc::new(compile(plugins, spec, cache));
        let hash = hash_of(&*compiled);
        let entries = &self.entries;
        let is_it = |known: &(u64, SignatureId)| known.0 == hash && entries[known.1.0 as usize].compiled == compiled;
        if let Some(&(_, signature)) = self.by_pod.find(hash, is_it) {
            return Read { signature: Some(signature), number: self.entries[signature.0 as usize].number, compiled };
        }
        self.numbered += 1;
        let number = self.numbered;
        if !self.pods_seen.again(hash) {
            return Read { signature: None, number, compiled };
        }
        if self.entries.len() >= LIMIT {
            self.forget_unkept();
        }
        let signature = SignatureId(self.entries.len() as u32);
        self.by_pod.insert_unique(hash, (hash, signature), |known| known.0);
        self.entries.push(Signature { number, compiled: compiled.clone(), hash, asked: 0, kept: None, bytes: 0 });
        Read { signature: Some(signature), number, compiled }
    }

    /// Forgets the signatures without an answer, or all of them if nearly every one has one.
    fn forget_unkept(&mut self) {
        self.forget_specs();
        self.entries.retain(|signature| signature.kept.is_some());
        if self.entries.len() > LIMIT / 2 {
            self.entries.clear();
            self.bytes = 0;
        }
        self.by_pod.clear();
        for (signature, at) in self.entries.iter().zip(0..) {
            self.by_pod.insert_unique(signature.hash, (signature.hash, SignatureId(at)), |known| known.0);
        }
    }

    /// The pods' answer, if one is kept.
    #[inline]
    pub(crate) fn kept(&self, id: SignatureId) -> Option<&Kept<P>> {
        self.entries.get(id.0 as usize)?.kept.as_deref()
    }

    /// The same, to be changed.
    #[inline]
    pub(crate) fn kept_mut(&mut self, id: SignatureId) -> Option<&mut Kept<P>> {
        self.entries.get_mut(id.0 as usize)?.kept.as_deref_mut()
    }

    /// A pod asks for its answer: from now on, no other was asked for later.
    #[inline]
    pub(crate) fn ask(&mut self, id: SignatureId) {
        self.clock += 1;
        self.entries[id.0 as usize].asked = self.clock;
    }

    /// Removes an answer, if one is kept.
    pub(crate) fn take(&mut self, id: SignatureId) -> Option<Box<Kept<P>>> {
        let signature = &mut self.entries[id.0 as usize];
        self.bytes -= std::mem::take(&mut signature.bytes);
        signature.kept.take()
    }

    /// An answer was brought up to date, and may be larger than before.
    #[inline]
    pub(crate) fn updated(&mut self, id: SignatureId) {
        let signature = &self.entries[id.0 as usize];
        if signature.kept.as_ref().is_some_and(|kept| kept.bytes() != signature.bytes) {
            self.weigh(id);
        }
    }

    #[cold]
    fn weigh(&mut self, id: SignatureId) {
        if let Some(kept) = self.take(id) {
            self.put(id, kept);
        }
    }

    /// Keeps an answer. Those that were not asked for in the longest time go if there is no room.
    pub(crate) fn put(&mut self, id: SignatureId, kept: Box<Kept<P>>) {
        let bytes = kept.bytes();
        if self.bytes + bytes > BUDGET {
            self.make_room(bytes);
        }
        let signature = &mut self.entries[id.0 as usize];
        (signature.kept, signature.bytes) = (Some(kept), bytes);
        self.bytes += bytes;
    }

    #[cold]
    fn make_room(&mut self, bytes: usize) {
        while self.bytes + bytes > BUDGET {
            let others = self.entries.iter_mut().filter(|signature| signature.kept.is_some());
            let Some(oldest) = others.min_by_key(|signature| signature.asked) else { break };
            oldest.kept = None;
            self.bytes -= std::mem::take(&mut oldest.bytes);
        }
    }
}

/// Reads a pod with every plugin of the profile.
pub(crate) fn compile<P: Profile>(plugins: &P, spec: &PodSpec, cache: &mut Cache<P::State>) -> P::Pod {
    plugins.compile(spec, &mut cache.base.interner, &mut cache.state)
}

fn hash_of(value: &impl Hash) -> u64 {
    let mut hasher = FixedHasher::default();
    value.hash(&mut hasher);
    hasher.finish()
}

/// Which hashes were seen lately: the last few of each of some thousand groups.
#[derive(Default)]
struct Seen {
    groups: Vec<[u64; Seen::IN_GROUP]>,
}

impl Seen {
    const IN_GROUP: usize = 4;

    /// Whether a hash was seen before. From now on it was.
    fn again(&mut self, hash: u64) -> bool {
        if self.groups.is_empty() {
            self.groups.resize(LIMIT / Self::IN_GROUP, [0; Self::IN_GROUP]);
        }
        // 0 is that of none.
        let hash = hash | 1;
        let at = (hash >> 1) as usize % self.groups.len();
        let group = &mut self.groups[at];
        let is_known = group.contains(&hash);
        if !is_known {
            group.rotate_right(1);
            group[0] = hash;
        }
        is_known
    }
}
