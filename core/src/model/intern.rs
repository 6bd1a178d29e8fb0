//! Interned strings: label keys and values, taints, namespaces, node names, resource and image names.

use std::fmt;
use std::sync::Arc;

use crate::model::map::{Map, Set};
use crate::model::symbols::LiveSymbols;

/// A string of an [`Interner`]: four bytes, compared and hashed as a number.
///
/// Symbols are ordered by their first use, not alphabetically, and are valid only in their interner. The default is the
/// empty string.
///
/// The number of a freed string is not used again before all other numbers. A symbol that is left behind, for example
/// in a cache, therefore equals no new one.
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

/// Number of new strings after which unused ones are freed, at least.
const MIN_NEW: usize = 1 << 14;

/// The strings of one cluster, each stored once.
#[derive(Clone, Debug)]
pub struct Interner {
    symbols: Map<Arc<str>, Symbol>,
    strings: Map<Symbol, Arc<str>>,
    empty: Arc<str>,
    /// The number of the next new string, unless a string has it already.
    next: u32,
    /// Symbols that are never freed.
    pinned: Set<Symbol>,
    is_pinning: bool,
    /// Symbols that were not live when unused strings were freed last, and not interned since.
    unused: Set<Symbol>,
    /// Number of strings at that time.
    len_after_free: usize,
}

impl Default for Interner {
    fn default() -> Self {
        let mut interner = Interner {
            symbols: Map::default(),
            strings: Map::default(),
            empty: "".into(),
            next: 0,
            pinned: Set::default(),
            is_pinning: false,
            unused: Set::default(),
            len_after_free: 0,
        };
        interner.pinning(|interner| interner.intern(""));
        interner
    }
}

impl Interner {
    /// Returns the symbol of `string`, which is new if the string is.
    ///
    /// # Panics
    /// With 2^32 different strings, which no memory holds.
    pub fn intern(&mut self, string: &str) -> Symbol {
        let symbol = match self.symbols.get(string) {
            Some(&symbol) => {
                self.unused.remove(&symbol);
                symbol
            }
            None => self.add(string),
        };
        if self.is_pinning {
            self.pinned.insert(symbol);
        }
        symbol
    }

    fn add(&mut self, string: &str) -> Symbol {
        assert!(self.strings.len() < u32::MAX as usize, "fewer than 2^32 strings");
        while self.strings.contains_key(&Symbol(self.next)) {
            self.next = self.next.wrapping_add(1);
        }
        let symbol = Symbol(self.next);
        self.next = self.next.wrapping_add(1);
        let string: Arc<str> = string.into();
        self.strings.insert(symbol, string.clone());
        self.symbols.insert(string, symbol);
        symbol
    }

    /// Calls `intern`. The strings that it interns are never freed.
    pub(crate) fn pinning<T>(&mut self, intern: impl FnOnce(&mut Interner) -> T) -> T {
        let before = std::mem::replace(&mut self.is_pinning, true);
        let value = intern(self);
        self.is_pinning = before;
        value
    }

    /// Returns whether there are so many new strings that the unused ones are to be freed: as many as were live the
    /// last time, and at least 16,384.
    pub(crate) fn has_many_new(&self) -> bool {
        let live = self.len_after_free.saturating_sub(self.unused.len());
        self.strings.len() - self.len_after_free >= live.max(MIN_NEW)
    }

    /// Frees the strings that are neither live now nor were the last time, and were not interned since.
    pub(crate) fn free_unused(&mut self, live: &LiveSymbols) {
        let Interner { symbols, strings, pinned, unused, .. } = self;
        let mut still_unused = Set::default();
        symbols.retain(|_, symbol| {
            if live.contains(*symbol) || pinned.contains(symbol) {
                return true;
            }
            let is_kept = !unused.contains(symbol);
            if is_kept {
                still_unused.insert(*symbol);
            } else {
                strings.remove(symbol);
            }
            is_kept
        });
        symbols.shrink_to_fit();
        strings.shrink_to_fit();
        *unused = still_unused;
        self.len_after_free = self.strings.len();
    }

    /// Returns the number of strings.
    pub fn len(&self) -> usize {
        self.strings.len()
    }

    /// Returns whether there are no strings: never, because the empty string is one.
    pub fn is_empty(&self) -> bool {
        self.strings.is_empty()
    }

    /// Returns the symbol of `string` if it was interned. A string that was not interned is on no node and no pod.
    pub fn get(&self, string: &str) -> Option<Symbol> {
        self.symbols.get(string).copied()
    }

    /// Returns the string of a symbol. A symbol without a string is an error of the caller: it belongs to another
    /// interner, or its string was freed. Its string is empty.
    ///
    /// # Panics
    /// In debug builds, if the symbol has no string.
    #[inline]
    pub fn resolve(&self, symbol: Symbol) -> &str {
        self.string(symbol)
    }

    /// Returns a shared copy of the string of a symbol.
    ///
    /// # Panics
    /// As [`Interner::resolve`].
    #[inline]
    pub fn share(&self, symbol: Symbol) -> Arc<str> {
        self.string(symbol).clone()
    }

    #[inline]
    fn string(&self, symbol: Symbol) -> &Arc<str> {
        let string = self.strings.get(&symbol);
        debug_assert!(string.is_some(), "{symbol:?} has no string");
        string.unwrap_or(&self.empty)
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
    use crate::model::symbols::Symbols;

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
    fn unused_strings_are_freed_the_second_time() {
        let mut interner = Interner::default();
        let hostname = interner.pinning(|interner| interner.intern("hostname"));
        let [zone, web, old] = ["zone", "web", "old"].map(|string| interner.intern(string));
        let mut live = LiveSymbols::default();
        zone.mark(&mut live);
        interner.free_unused(&live);
        assert_eq!(interner.intern("web"), web, "strings that are interned again are used");
        interner.free_unused(&live);
        let found = ["", "hostname", "zone", "web", "old"].map(|string| interner.get(string));
        assert_eq!(found, [Some(Symbol::EMPTY), Some(hostname), Some(zone), Some(web), None]);
        interner.free_unused(&live);
        assert_eq!((interner.get("web"), interner.len()), (None, 3));
        assert!(![hostname, zone, web, old].contains(&interner.intern("old")), "numbers are not used again");
    }

    #[test]
    fn numbers_are_used_again_after_all_others() {
        let mut interner = Interner { next: u32::MAX, ..Interner::default() };
        let symbols = ["last", "first"].map(|string| interner.intern(string));
        assert_eq!(symbols, [Symbol(u32::MAX), Symbol(1)]);
    }

    #[test]
    fn shared_strings_are_those_of_the_interner() {
        let mut interner = Interner::default();
        let symbols = ["zone", "rack", "zone"].map(|text| interner.intern(text));
        let texts = SharedTexts::new(symbols.to_vec(), &interner);
        assert_eq!(symbols.map(|symbol| texts.resolve(symbol)), ["zone", "rack", "zone"]);
    }
}
