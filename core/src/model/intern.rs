//! Interned strings: label keys and values, taints, namespaces, node names, resource and image names.

use std::fmt;
use std::hash::Hasher;
use std::sync::Arc;

use hashbrown::HashTable;
use smallvec::SmallVec;

use crate::model::cache_size::CacheSize;
use crate::model::map::{FixedHasher, Map};

/// A string of an [`Interner`]: four bytes, compared and hashed as a number.
///
/// Symbols are ordered by their first use, not alphabetically, and are valid only in their interner. The default is the
/// empty string.
///
/// The number of a freed string is used again only after all other numbers. A symbol that is left behind, for example
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

/// Minimum number of new strings after which unused strings are freed.
const MIN_NEW: usize = 1 << 14;

/// Number of parts of an interner's tables. A table that grows or is cleaned moves all of its entries; with many small
/// tables, no call takes long.
pub(crate) const PARTS: usize = 64;

/// Value of [`Text::last_pass`] for strings that are never freed.
const PINNED: u32 = u32::MAX;

/// A string with its last use.
#[derive(Clone, Debug)]
struct Text {
    string: Arc<str>,
    /// Number of the latest pass that had begun when the string was last marked or interned; or [`PINNED`].
    last_pass: u32,
}

/// The strings of one cluster, each stored once.
///
/// A pass frees unused strings: `begin_pass`, `mark` for each symbol in use, `free_unused` for each part, `end_pass`.
/// Other calls are possible in between.
#[derive(Clone, Debug)]
pub struct Interner {
    /// Symbols by text, each with the lower 32 bits of the text's hash. The upper 32 bits select the part.
    symbols: Box<[HashTable<(u32, Symbol)>]>,
    /// Strings by symbol. The lower bits of its number select the part.
    strings: Box<[Map<Symbol, Text>]>,
    empty: Arc<str>,
    len: usize,
    /// The number of the next new string, unless a string has it already.
    next: u32,
    is_pinning: bool,
    /// The current or the last pass.
    pass: u32,
    /// Number of marked strings in the parts that this pass has cleaned.
    live: usize,
    /// Number of new strings since the interner exists.
    created: u64,
    /// Value of `created` at the beginning of the last pass.
    created_before: u64,
    /// Number of strings that the last whole pass has marked.
    live_before: usize,
}

impl Default for Interner {
    fn default() -> Self {
        let mut interner = Interner {
            symbols: (0..PARTS).map(|_| HashTable::default()).collect(),
            strings: (0..PARTS).map(|_| Map::default()).collect(),
            empty: "".into(),
            len: 0,
            next: 0,
            is_pinning: false,
            pass: 0,
            live: 0,
            created: 0,
            created_before: 0,
            live_before: 0,
        };
        interner.pinning(|interner| interner.intern(""));
        interner
    }
}

fn hash(string: &str) -> u64 {
    let mut hasher = FixedHasher::default();
    hasher.write(string.as_bytes());
    hasher.finish()
}

fn part_of_text(hash: u64) -> usize {
    (hash >> 32) as usize % PARTS
}

fn part_of_number(symbol: Symbol) -> usize {
    symbol.0 as usize % PARTS
}

/// Spreads a hash, because the table uses the lowest and the highest bits.
fn wide(hash: u32) -> u64 {
    u64::from(hash) << 32 | u64::from(hash)
}

impl Interner {
    /// Returns the symbol of `string`. A new string gets a new symbol.
    ///
    /// # Panics
    /// If there are 2^32 different strings, for which no memory suffices.
    pub fn intern(&mut self, string: &str) -> Symbol {
        let hash = hash(string);
        let symbol = self.find(hash, string).unwrap_or_else(|| self.add(hash, string));
        self.mark(symbol);
        symbol
    }

    fn find(&self, hash: u64, string: &str) -> Option<Symbol> {
        let is_same_string = |&(other, symbol): &(u32, Symbol)| {
            other == hash as u32 && self.text(symbol).is_some_and(|text| *text.string == *string)
        };
        self.symbols[part_of_text(hash)].find(wide(hash as u32), is_same_string).map(|&(_, symbol)| symbol)
    }

    fn add(&mut self, hash: u64, string: &str) -> Symbol {
        assert!(self.len < u32::MAX as usize, "fewer than 2^32 strings");
        while self.text(Symbol(self.next)).is_some() {
            self.next = self.next.wrapping_add(1);
        }
        let symbol = Symbol(self.next);
        self.next = self.next.wrapping_add(1);
        let text = Text { string: string.into(), last_pass: self.pass };
        self.strings[part_of_number(symbol)].insert(symbol, text);
        let entry = (hash as u32, symbol);
        self.symbols[part_of_text(hash)].insert_unique(wide(hash as u32), entry, |&(hash, _)| wide(hash));
        self.len += 1;
        self.created += 1;
        symbol
    }

    /// Calls `intern`. The strings that it interns are never freed.
    pub(crate) fn pinning<T>(&mut self, intern: impl FnOnce(&mut Interner) -> T) -> T {
        let before = std::mem::replace(&mut self.is_pinning, true);
        let value = intern(self);
        self.is_pinning = before;
        value
    }

    /// Returns whether another pass is due: since the last pass began, at least as many new strings were interned as
    /// that pass marked, and at least 16,384.
    pub(crate) fn has_many_new(&self) -> bool {
        self.until_pass() == 0
    }

    /// Returns the number of new strings until another pass is due.
    fn until_pass(&self) -> usize {
        self.live_before.max(MIN_NEW).saturating_sub((self.created - self.created_before) as usize)
    }

    /// Returns the number of strings, and their number when the next pass begins.
    pub(crate) fn cache_size(&self) -> CacheSize {
        CacheSize::limited("strings", self.len, self.len + self.until_pass())
    }

    /// Returns the number of new strings since the interner exists.
    pub(crate) fn created(&self) -> u64 {
        self.created
    }

    /// Begins a pass.
    pub(crate) fn begin_pass(&mut self) {
        self.pass += 1;
        self.live = 0;
        self.created_before = self.created;
    }

    /// Marks a string as used.
    pub(crate) fn mark(&mut self, symbol: Symbol) {
        let pass = if self.is_pinning { PINNED } else { self.pass };
        if let Some(text) = self.strings[part_of_number(symbol)].get_mut(&symbol) {
            text.last_pass = text.last_pass.max(pass);
        }
    }

    /// Returns whether a symbol has a string.
    pub(crate) fn has(&self, symbol: Symbol) -> bool {
        self.text(symbol).is_some()
    }

    /// Returns whether a string was marked or interned since the current pass began.
    pub(crate) fn is_marked(&self, symbol: Symbol) -> bool {
        self.text(symbol).is_some_and(|text| text.last_pass >= self.pass)
    }

    /// Frees strings in one of the [`PARTS`] parts: those that were neither marked nor interned since the previous pass
    /// began. Returns the number of strings that it has read.
    pub(crate) fn free_unused(&mut self, part: usize) -> usize {
        let Interner { symbols, strings, pass, live, len, .. } = self;
        let before = strings[part].len();
        strings[part].retain(|symbol, text| {
            *live += usize::from(text.last_pass >= *pass);
            let is_kept = text.last_pass.saturating_add(1) >= *pass;
            if !is_kept {
                let hash = hash(&text.string);
                let found = symbols[part_of_text(hash)].find_entry(wide(hash as u32), |(_, other)| other == symbol);
                if let Ok(found) = found {
                    found.remove();
                }
            }
            is_kept
        });
        *len -= before - strings[part].len();
        if strings[part].capacity() > 4 * strings[part].len() {
            strings[part].shrink_to_fit();
        }
        if symbols[part].capacity() > 4 * symbols[part].len() {
            symbols[part].shrink_to_fit(|&(hash, _)| wide(hash));
        }
        before
    }

    /// Ends a pass.
    pub(crate) fn end_pass(&mut self) {
        self.live_before = self.live;
    }

    /// Returns the number of strings.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Returns whether there are no strings: never, because the empty string is one.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Returns all strings, unordered.
    pub fn strings(&self) -> impl Iterator<Item = &str> {
        self.strings.iter().flat_map(Map::values).map(|text| &*text.string)
    }

    /// Returns the symbol of `string` if it was interned. A string that was not interned is on no node and no pod.
    pub fn get(&self, string: &str) -> Option<Symbol> {
        self.find(hash(string), string)
    }

    /// Returns the string of a symbol. A symbol without a string is an error of the caller: it belongs to another
    /// interner, or its string was freed. Release builds then return an empty string.
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
        let text = self.text(symbol);
        debug_assert!(text.is_some(), "{symbol:?} has no string");
        text.map_or(&self.empty, |text| &text.string)
    }

    #[inline]
    fn text(&self, symbol: Symbol) -> Option<&Text> {
        self.strings[part_of_number(symbol)].get(&symbol)
    }
}

/// A source of the strings of symbols.
pub trait Resolve {
    /// Returns the string of a symbol.
    ///
    /// # Panics
    /// If the symbol has no string here. An [`Interner`] panics only in debug builds.
    fn resolve(&self, symbol: Symbol) -> &str;
}

impl Resolve for Interner {
    fn resolve(&self, symbol: Symbol) -> &str {
        Interner::resolve(self, symbol)
    }
}

/// The strings of some symbols, for code that runs outside of the scheduler and has no interner.
#[derive(Clone, Debug, Default)]
pub struct SharedTexts(SmallVec<[(Symbol, Arc<str>); 6]>);

impl SharedTexts {
    /// Shares the strings of symbols.
    ///
    /// # Panics
    /// As [`Interner::resolve`].
    pub fn new(symbols: impl IntoIterator<Item = Symbol>, interner: &Interner) -> Self {
        let mut texts = SharedTexts::default();
        for symbol in symbols {
            if let Err(at) = texts.find(symbol) {
                texts.0.insert(at, (symbol, interner.share(symbol)));
            }
        }
        texts
    }

    /// Returns the position of a symbol, or the position at which to insert it.
    fn find(&self, symbol: Symbol) -> Result<usize, usize> {
        self.0.binary_search_by_key(&symbol, |(symbol, _)| *symbol)
    }
}

impl Resolve for SharedTexts {
    fn resolve(&self, symbol: Symbol) -> &str {
        // Callers share each symbol that they resolve; `AllocationResult::symbols` lists those of an allocation.
        self.find(symbol).map(|at| &*self.0[at].1).expect("a symbol whose string is shared")
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

    /// Runs a pass in which these symbols are marked.
    fn free_all_except(marked: &[Symbol], interner: &mut Interner) {
        interner.begin_pass();
        marked.iter().for_each(|symbol| interner.mark(*symbol));
        (0..PARTS).for_each(|part| _ = interner.free_unused(part));
        interner.end_pass();
    }

    #[test]
    fn unused_strings_are_freed_in_the_second_pass() {
        let mut interner = Interner::default();
        let hostname = interner.pinning(|interner| interner.intern("hostname"));
        let [zone, web, old] = ["zone", "web", "old"].map(|string| interner.intern(string));
        free_all_except(&[zone], &mut interner);
        assert_eq!(interner.intern("web"), web, "strings that are interned again are used");
        free_all_except(&[zone], &mut interner);
        let found = ["", "hostname", "zone", "web", "old"].map(|string| interner.get(string));
        assert_eq!(found, [Some(Symbol::EMPTY), Some(hostname), Some(zone), Some(web), None]);
        free_all_except(&[zone], &mut interner);
        assert_eq!((interner.get("web"), interner.len()), (None, 3));
        assert!(![hostname, zone, web, old].contains(&interner.intern("old")), "numbers are not used again");
    }

    #[test]
    fn strings_that_are_new_during_a_pass_survive_it() {
        let mut interner = Interner::default();
        free_all_except(&[], &mut interner);
        interner.begin_pass();
        let before = interner.intern("before the first part");
        (0..PARTS / 2).for_each(|part| _ = interner.free_unused(part));
        let between = interner.intern("between two parts");
        (PARTS / 2..PARTS).for_each(|part| _ = interner.free_unused(part));
        interner.end_pass();
        assert_eq!([before, between].map(|symbol| interner.is_marked(symbol)), [true; 2]);
        assert_eq!(interner.len(), 3);
    }

    #[test]
    fn only_marked_strings_survive_two_passes() {
        let mut interner = Interner::default();
        let names = |round: usize| (0..1_000).map(move |at| format!("{round}-{at}"));
        for round in 0..4 {
            let symbols: Vec<_> = names(round).map(|name| interner.intern(&name)).collect();
            let expected: Vec<_> = names(round).collect();
            let resolved: Vec<_> = symbols.iter().map(|symbol| interner.resolve(*symbol)).collect();
            assert_eq!(resolved, expected);
            assert!(names(round).all(|name| interner.get(&name).is_some()));
            (0..2).for_each(|_| free_all_except(&symbols[..10], &mut interner));
            assert_eq!(interner.len(), 11, "ten marked strings and the empty string");
            let mut kept: Vec<_> = interner.strings().filter(|string| !string.is_empty()).collect();
            kept.sort_unstable();
            assert_eq!(kept, expected[..10]);
        }
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
        let texts = SharedTexts::new(symbols, &interner);
        assert_eq!(symbols.map(|symbol| texts.resolve(symbol)), ["zone", "rack", "zone"]);
    }
}
