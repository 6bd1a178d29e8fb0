//! The symbols of values. The interner keeps the strings of all symbols that values of the scheduler have, and frees
//! other strings.

use std::sync::Arc;

use smallvec::{Array, SmallVec};

use super::quantity::Quantity;
use super::{
    Custom, DeviceCapacity, InclusionPolicy, NonZero, Object, Operator, Pod, PodSpec, PreemptionPolicy,
    TolerationOperator, Uid, UnsatisfiableAction, WorkloadKind,
};
use crate::model::intern::{Interner, PARTS, Symbol};
use crate::model::map::Set;

pub(super) use schedc_derive::Symbols;

/// A value with symbols. `#[derive(Symbols)]` visits the symbols of all fields.
pub(crate) trait Symbols {
    /// Visits all symbols of the value.
    fn visit(&self, visitor: &mut impl SymbolVisitor);
}

/// An operation on the symbols of values.
pub(crate) trait SymbolVisitor {
    /// Visits a symbol.
    fn visit(&mut self, symbol: Symbol);

    /// Returns whether to visit the symbols of a spec. Many pods may share one spec.
    fn enters(&mut self, _spec: &Arc<PodSpec>) -> bool {
        true
    }
}

/// Marks symbols as used, and counts the work, which the owner of the marker limits. No spec may be dropped while a
/// marker exists, because a marker identifies specs by their addresses.
pub(crate) struct Marker<'a> {
    interner: &'a mut Interner,
    /// Addresses of the specs whose symbols are marked.
    specs: Set<usize>,
    /// Number of visited symbols and specs.
    pub(crate) work: usize,
}

impl<'a> Marker<'a> {
    /// Makes a marker that has done no work yet.
    pub(crate) fn new(interner: &'a mut Interner) -> Self {
        Marker { interner, specs: Set::default(), work: 0 }
    }
}

impl SymbolVisitor for Marker<'_> {
    #[inline]
    fn visit(&mut self, symbol: Symbol) {
        self.work += 1;
        self.interner.mark(symbol);
    }

    fn enters(&mut self, spec: &Arc<PodSpec>) -> bool {
        self.work += 1;
        self.specs.insert(Arc::as_ptr(spec) as usize)
    }
}

impl Interner {
    /// Runs a pass, if many strings are new since the last one: frees strings that neither `objects` nor `symbols` have,
    /// and that were neither marked nor interned since the previous pass began. For interners outside of a scheduler; a
    /// scheduler has [`free_unused_strings`](crate::scheduler::Scheduler::free_unused_strings).
    pub fn free_all_except(
        &mut self,
        objects: impl IntoIterator<Item = Object>,
        symbols: impl IntoIterator<Item = Symbol>,
    ) {
        if !self.has_many_new() {
            return;
        }
        self.begin_pass();
        let mut marker = Marker::new(self);
        objects.into_iter().for_each(|object| object.visit(&mut marker));
        symbols.into_iter().for_each(|symbol| SymbolVisitor::visit(&mut marker, symbol));
        (0..PARTS).for_each(|part| _ = self.free_unused(part));
        self.end_pass();
    }
}

/// Tests whether all symbols have a property.
pub(crate) struct AllSymbols<F> {
    has_property: F,
    /// Whether all symbols that were visited have the property.
    pub(crate) all: bool,
}

impl<F: Fn(Symbol) -> bool> AllSymbols<F> {
    /// Makes a test that has visited no symbol.
    pub(crate) fn new(has_property: F) -> Self {
        AllSymbols { has_property, all: true }
    }
}

impl<F: Fn(Symbol) -> bool> SymbolVisitor for AllSymbols<F> {
    fn visit(&mut self, symbol: Symbol) {
        self.all &= (self.has_property)(symbol);
    }
}

impl Symbols for Symbol {
    fn visit(&self, visitor: &mut impl SymbolVisitor) {
        visitor.visit(*self);
    }
}

impl Symbols for Pod {
    fn visit(&self, visitor: &mut impl SymbolVisitor) {
        let Pod { spec, usage, claim_statuses, nominated_node, .. } = self;
        (usage, claim_statuses).visit(visitor);
        nominated_node.visit(visitor);
        if visitor.enters(spec) {
            spec.visit(visitor);
        }
    }
}

impl Symbols for Custom {
    fn visit(&self, visitor: &mut impl SymbolVisitor) {
        // The manifest is JSON, without symbols.
        (self.namespace, self.name).visit(visitor);
    }
}

impl<T: Symbols + ?Sized> Symbols for &T {
    fn visit(&self, visitor: &mut impl SymbolVisitor) {
        T::visit(self, visitor);
    }
}
impl<T: Symbols + ?Sized> Symbols for Arc<T> {
    fn visit(&self, visitor: &mut impl SymbolVisitor) {
        T::visit(self, visitor);
    }
}
impl<T: Symbols + ?Sized> Symbols for Box<T> {
    fn visit(&self, visitor: &mut impl SymbolVisitor) {
        T::visit(self, visitor);
    }
}
impl<T: Symbols> Symbols for [T] {
    fn visit(&self, visitor: &mut impl SymbolVisitor) {
        self.iter().for_each(|value| value.visit(visitor));
    }
}
impl<T: Symbols> Symbols for Vec<T> {
    fn visit(&self, visitor: &mut impl SymbolVisitor) {
        self.as_slice().visit(visitor);
    }
}
impl<A: Array<Item: Symbols>> Symbols for SmallVec<A> {
    fn visit(&self, visitor: &mut impl SymbolVisitor) {
        self.as_slice().visit(visitor);
    }
}
impl<T: Symbols> Symbols for Option<T> {
    fn visit(&self, visitor: &mut impl SymbolVisitor) {
        self.iter().for_each(|value| value.visit(visitor));
    }
}
/// An error is a string, without symbols.
impl<T: Symbols> Symbols for Result<T, Arc<str>> {
    fn visit(&self, visitor: &mut impl SymbolVisitor) {
        self.iter().for_each(|value| value.visit(visitor));
    }
}
impl<A: Symbols, B: Symbols> Symbols for (A, B) {
    fn visit(&self, visitor: &mut impl SymbolVisitor) {
        self.0.visit(visitor);
        self.1.visit(visitor);
    }
}

/// Implements the trait for types without symbols.
macro_rules! without_symbols {
    ($($name:ty),+) => { $(
        impl Symbols for $name {
            fn visit(&self, _: &mut impl SymbolVisitor) {}
        }
    )+ }
}
without_symbols!(bool, i32, i64, u32, u64, str, Uid, Quantity, NonZero, Operator, DeviceCapacity);
without_symbols!(PreemptionPolicy, TolerationOperator, UnsatisfiableAction, InclusionPolicy, WorkloadKind);
