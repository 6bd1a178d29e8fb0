//! Amounts of resources.

use smallvec::SmallVec;

use crate::model::intern::Symbol;
use crate::model::symbols::Symbols;

/// Requests of a pod, or capacity of a node: kube-scheduler's `framework.Resource`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Symbols)]
pub struct Resources {
    /// CPU in thousandths of a core.
    pub milli_cpu: i64,
    /// Memory in bytes.
    pub memory: i64,
    /// Ephemeral storage in bytes.
    pub ephemeral_storage: i64,
    /// Extended resources, huge pages and attachable volumes in whole units, sorted by symbol, each once.
    pub scalars: SmallVec<[(Symbol, i64); 2]>,
}

/// cpu and memory for scoring, with a default for every missing request: kube-scheduler's `NonZeroRequested`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct NonZero {
    /// CPU in thousandths of a core.
    pub milli_cpu: i64,
    /// Memory in bytes.
    pub memory: i64,
}

impl Resources {
    /// Returns the amount of a scalar resource, `None` if it is not listed.
    #[inline(always)]
    pub fn scalar(&self, name: Symbol) -> Option<i64> {
        self.scalars.iter().find(|s| s.0 == name).map(|s| s.1)
    }

    /// Returns the amount of a scalar resource, inserted as 0 if it was not listed.
    pub fn scalar_mut(&mut self, name: Symbol) -> &mut i64 {
        let at = match self.scalars.binary_search_by_key(&name, |s| s.0) {
            Ok(at) => at,
            Err(at) => {
                self.scalars.insert(at, (name, 0));
                at
            }
        };
        &mut self.scalars[at].1
    }

    /// Adds `other`. Wraps on overflow, as kube-scheduler does.
    #[inline]
    pub fn add(&mut self, other: &Resources) {
        self.milli_cpu = self.milli_cpu.wrapping_add(other.milli_cpu);
        self.memory = self.memory.wrapping_add(other.memory);
        self.ephemeral_storage = self.ephemeral_storage.wrapping_add(other.ephemeral_storage);
        for &(name, amount) in &other.scalars {
            let sum = self.scalar_mut(name);
            *sum = sum.wrapping_add(amount);
        }
    }

    /// Subtracts `other`. A scalar that reaches 0 stays listed.
    #[inline]
    pub fn subtract(&mut self, other: &Resources) {
        self.milli_cpu = self.milli_cpu.wrapping_sub(other.milli_cpu);
        self.memory = self.memory.wrapping_sub(other.memory);
        self.ephemeral_storage = self.ephemeral_storage.wrapping_sub(other.ephemeral_storage);
        for &(name, amount) in &other.scalars {
            let sum = self.scalar_mut(name);
            *sum = sum.wrapping_sub(amount);
        }
    }
}

impl NonZero {
    /// Adds `other`. Wraps on overflow.
    #[inline]
    pub fn add(&mut self, other: NonZero) {
        self.milli_cpu = self.milli_cpu.wrapping_add(other.milli_cpu);
        self.memory = self.memory.wrapping_add(other.memory);
    }

    /// Subtracts `other`. Wraps on overflow.
    #[inline]
    pub fn subtract(&mut self, other: NonZero) {
        self.milli_cpu = self.milli_cpu.wrapping_sub(other.milli_cpu);
        self.memory = self.memory.wrapping_sub(other.memory);
    }
}
