//! Which pods ask the same question, and the answers that are kept.

use std::sync::Arc;

use super::answer::Kept;
use crate::cache::Cache;
use crate::map::Map;
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
    pub(crate) signature: SignatureId,
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
    by_spec: Map<Arc<PodSpec>, Read<P>>,
    by_pod: Map<Arc<P::Pod>, SignatureId>,
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
    /// When it was asked about last; 0 if it is new.
    asked: u64,
    kept: Option<Box<Kept<P>>>,
    bytes: usize,
}

impl<P: Profile> Default for Signatures<P> {
    fn default() -> Self {
        Signatures {
            by_address: Map::default(),
            by_spec: Map::default(),
            by_pod: Map::default(),
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
    pub(crate) fn read(&mut self, spec: &Arc<PodSpec>, cache: &mut Cache<P::State>) -> Read<P> {
        if !Arc::ptr_eq(&self.cluster, &cache.identity) {
            let (cluster, numbered) = (cache.identity.clone(), self.numbered);
            *self = Signatures { cluster, numbered, ..Signatures::default() };
        }
        // Without an epoch, what a spec was compiled to does not hold for another attempt.
        let Some(epoch) = P::compile_epoch(&cache.state) else { return self.compile(spec, cache) };
        if epoch != self.epoch {
            self.epoch = epoch;
            self.forget_specs();
        }
        // Claims are a pod's own, nearly always, and how things stand with them tells what other pods it is like.
        if spec.has_claims() {
            return self.compile(spec, cache);
        }
        let address = Arc::as_ptr(spec) as usize;
        if let Some((_, read)) = self.by_address.get(&address) {
            return read.clone();
        }
        let read = match self.by_spec.get(spec) {
            Some(read) => read.clone(),
            None => {
                let read = self.compile(spec, cache);
                self.by_spec.insert(spec.clone(), read.clone());
                read
            }
        };
        if self.by_address.len() >= LIMIT {
            self.forget_specs();
        }
        self.by_address.insert(address, (spec.clone(), read.clone()));
        read
    }

    fn forget_specs(&mut self) {
        self.by_address.clear();
        self.by_spec.clear();
    }

    fn compile(&mut self, spec: &PodSpec, cache: &mut Cache<P::State>) -> Read<P> {
        let compiled = Arc::new(compile::<P>(spec, cache));
        if let Some(&signature) = self.by_pod.get(&compiled) {
            return Read { signature, number: self.entries[signature.0 as usize].number, compiled };
        }
        if self.entries.len() >= LIMIT {
            self.forget_unkept();
        }
        let signature = SignatureId(self.entries.len() as u32);
        self.by_pod.insert(compiled.clone(), signature);
        self.numbered += 1;
        let number = self.numbered;
        self.entries.push(Signature { number, compiled: compiled.clone(), asked: 0, kept: None, bytes: 0 });
        Read { signature, number, compiled }
    }

    /// Forgets the signatures without an answer.
    fn forget_unkept(&mut self) {
        self.forget_specs();
        self.entries.retain(|signature| signature.kept.is_some());
        let numbers = self.entries.iter().zip(0..);
        self.by_pod = numbers.map(|(signature, at)| (signature.compiled.clone(), SignatureId(at))).collect();
    }

    /// The pods' answer, if one is kept.
    pub(crate) fn kept(&self, id: SignatureId) -> Option<&Kept<P>> {
        self.entries.get(id.0 as usize)?.kept.as_deref()
    }

    /// Takes the answer out, to bring it up to date or to make it, and says whether it is worth making: the signature was
    /// asked about before.
    pub(crate) fn take(&mut self, id: SignatureId) -> (Option<Box<Kept<P>>>, bool) {
        self.clock += 1;
        let signature = &mut self.entries[id.0 as usize];
        let before = std::mem::replace(&mut signature.asked, self.clock);
        self.bytes -= std::mem::take(&mut signature.bytes);
        (signature.kept.take(), before != 0)
    }

    /// Keeps an answer. Those that were not asked for in the longest time go if there is no room.
    pub(crate) fn put(&mut self, id: SignatureId, kept: Box<Kept<P>>) {
        let bytes = kept.bytes();
        while self.bytes + bytes > BUDGET {
            let others = self.entries.iter_mut().filter(|signature| signature.kept.is_some());
            let Some(oldest) = others.min_by_key(|signature| signature.asked) else { break };
            oldest.kept = None;
            self.bytes -= std::mem::take(&mut oldest.bytes);
        }
        let signature = &mut self.entries[id.0 as usize];
        (signature.kept, signature.bytes) = (Some(kept), bytes);
        self.bytes += bytes;
    }
}

/// Reads a pod with every plugin of the profile.
pub(crate) fn compile<P: Profile>(spec: &PodSpec, cache: &mut Cache<P::State>) -> P::Pod {
    P::compile(spec, &mut cache.base.interner, &mut cache.state)
}
