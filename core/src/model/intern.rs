//! Interned strings: label keys and values, taints, namespaces, node names, resource and image names.

use std::fmt;
use std::sync::Arc;

use crate::model::map::Map;

/// A string of an [`Interner`]: four bytes, compared and hashed as a number.
///
/// Symbols are ordered by their first use, not alphabetically, and are valid only in their interner. The default is the
/// empty string.
#[derive(Clone, Copy, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Symbol(u32);

impl Symbol {
    /// The empty string, in every interner.
    pub const EMPTY: Symbol = Symbol(0);
}

impl fmt::Debug for Symbol {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "#{}", self.0)
    }
}

/// The strings of one cluster, each stored once.
#[derive(Clone, Debug)]
pub struct Interner {
    symbols: Map<Arc<str>, Symbol>,
    strings: Vec<Arc<str>>,
}

impl Default for Interner {
    fn default() -> Self {
        let mut interner = Interner { symbols: Map::default(), strings: Vec::new() };
        interner.intern("");
        interner
    }
}

impl Interner {
    /// Returns the symbol of `string`, which is new if the string is.
    ///
    /// # Panics
    /// After 2^32 different strings, which no memory holds.
    pub fn intern(&mut self, string: &str) -> Symbol {
        if let Some(&symbol) = self.symbols.get(string) {
            return symbol;
        }
        let symbol = Symbol(self.strings.len().try_into().expect("fewer than 2^32 strings"));
        let string: Arc<str> = string.into();
        self.strings.push(string.clone());
        self.symbols.insert(string, symbol);
        symbol
    }

    /// Returns the symbol of `string` if it was interned. A string that was not interned is on no node and no pod.
    pub fn get(&self, string: &str) -> Option<Symbol> {
        self.symbols.get(string).copied()
    }

    /// Returns the string of a symbol.
    ///
    /// # Panics
    /// If the symbol belongs to another interner that has more strings.
    #[inline]
    pub fn resolve(&self, symbol: Symbol) -> &str {
        &self.strings[symbol.0 as usize]
    }

    /// Returns a shared copy of the string of a symbol.
    ///
    /// # Panics
    /// As [`Interner::resolve`].
    #[inline]
    pub fn share(&self, symbol: Symbol) -> Arc<str> {
        self.strings[symbol.0 as usize].clone()
    }
}

/// A source of the strings of symbols.
pub trait Resolve {
    /// Returns the string of a symbol.
    ///
    /// # Panics
    /// If the symbol has no string here.
    fn resolve(&self, symbol: Symbol) -> &str;
}

impl Resolve for Interner {
    fn resolve(&self, symbol: Symbol) -> &str {
        Interner::resolve(self, symbol)
    }
}

/// The strings of some symbols, for code that runs outside of the scheduler and has no interner.
#[derive(Clone, Debug, Default)]
pub struct SharedTexts(Box<[(Symbol, Arc<str>)]>);

impl SharedTexts {
    /// Shares the strings of symbols.
    ///
    /// # Panics
    /// As [`Interner::resolve`].
    pub fn new(mut symbols: Vec<Symbol>, interner: &Interner) -> Self {
        symbols.sort_unstable();
        symbols.dedup();
        SharedTexts(symbols.into_iter().map(|symbol| (symbol, interner.share(symbol))).collect())
    }
}

impl Resolve for SharedTexts {
    fn resolve(&self, symbol: Symbol) -> &str {
        // `AllocationResult::symbols` lists each symbol that is read.
        let found = self.0.binary_search_by_key(&symbol, |(symbol, _)| *symbol);
        found.map(|at| &*self.0[at].1).expect("a symbol whose string is shared")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_strings_are_one_symbol() {
        let mut interner = Interner::default();
        let zone = interner.intern("zone");
        assert_eq!(interner.intern("zone"), zone);
        assert_ne!(interner.intern("rack"), zone);
        assert_eq!(interner.resolve(zone), "zone");
        assert_eq!(interner.get("never seen"), None);
        assert_eq!(interner.intern(""), Symbol::EMPTY);
    }

    #[test]
    fn shared_strings_are_those_of_the_interner() {
        let mut interner = Interner::default();
        let symbols = ["zone", "rack", "zone"].map(|text| interner.intern(text));
        let texts = SharedTexts::new(symbols.to_vec(), &interner);
        assert_eq!(symbols.map(|symbol| texts.resolve(symbol)), ["zone", "rack", "zone"]);
    }
}
