//! The symbols of values. An interner frees the strings that no live value has.

use std::sync::Arc;

use smallvec::SmallVec;

use super::quantity::Quantity;
use super::{
    Custom, DeviceCapacity, InclusionPolicy, NonZero, Operator, Pod, PodSpec, PreemptionPolicy, TolerationOperator,
    Uid, UnsatisfiableAction, WorkloadKind,
};
use crate::model::intern::Symbol;
use crate::model::map::Set;

pub(super) use schedc_derive::Symbols;

/// A value with symbols. `#[derive(Symbols)]` marks the symbols of all fields.
pub(crate) trait Symbols {
    /// Marks all symbols of the value as live.
    fn mark(&self, live: &mut LiveSymbols);
}

/// The symbols of the values that exist.
#[derive(Debug, Default)]
pub(crate) struct LiveSymbols {
    symbols: Set<Symbol>,
    /// Addresses of the marked specs: many pods share one.
    specs: Set<usize>,
}

impl LiveSymbols {
    /// Returns whether a symbol is marked.
    pub(super) fn contains(&self, symbol: Symbol) -> bool {
        self.symbols.contains(&symbol)
    }
}

impl Symbols for Symbol {
    fn mark(&self, live: &mut LiveSymbols) {
        live.symbols.insert(*self);
    }
}

impl Symbols for Pod {
    fn mark(&self, live: &mut LiveSymbols) {
        let Pod { spec, usage, claim_statuses, nominated_node, .. } = self;
        (usage, claim_statuses).mark(live);
        nominated_node.mark(live);
        live.mark_spec(spec);
    }
}

impl LiveSymbols {
    /// Marks the symbols of a spec. No spec may be dropped before all values are marked.
    fn mark_spec(&mut self, spec: &Arc<PodSpec>) {
        if self.specs.insert(Arc::as_ptr(spec) as usize) {
            spec.mark(self);
        }
    }
}

impl Symbols for Custom {
    fn mark(&self, live: &mut LiveSymbols) {
        // The manifest is text.
        (self.namespace, self.name).mark(live);
    }
}

impl<T: Symbols + ?Sized> Symbols for &T {
    fn mark(&self, live: &mut LiveSymbols) {
        T::mark(self, live);
    }
}
impl<T: Symbols + ?Sized> Symbols for Arc<T> {
    fn mark(&self, live: &mut LiveSymbols) {
        T::mark(self, live);
    }
}
impl<T: Symbols + ?Sized> Symbols for Box<T> {
    fn mark(&self, live: &mut LiveSymbols) {
        T::mark(self, live);
    }
}
impl<T: Symbols> Symbols for [T] {
    fn mark(&self, live: &mut LiveSymbols) {
        self.iter().for_each(|value| value.mark(live));
    }
}
impl<T: Symbols> Symbols for SmallVec<[T; 2]> {
    fn mark(&self, live: &mut LiveSymbols) {
        self.as_slice().mark(live);
    }
}
impl<T: Symbols> Symbols for Option<T> {
    fn mark(&self, live: &mut LiveSymbols) {
        self.iter().for_each(|value| value.mark(live));
    }
}
/// An error is text.
impl<T: Symbols> Symbols for Result<T, Arc<str>> {
    fn mark(&self, live: &mut LiveSymbols) {
        self.iter().for_each(|value| value.mark(live));
    }
}
impl<A: Symbols, B: Symbols> Symbols for (A, B) {
    fn mark(&self, live: &mut LiveSymbols) {
        self.0.mark(live);
        self.1.mark(live);
    }
}

/// Implements the trait for types without symbols.
macro_rules! without_symbols {
    ($($name:ty),+) => { $(
        impl Symbols for $name {
            fn mark(&self, _: &mut LiveSymbols) {}
        }
    )+ }
}
without_symbols!(bool, i32, i64, u32, u64, str, Uid, Quantity, NonZero, Operator, DeviceCapacity);
without_symbols!(PreemptionPolicy, TolerationOperator, UnsatisfiableAction, InclusionPolicy, WorkloadKind);
