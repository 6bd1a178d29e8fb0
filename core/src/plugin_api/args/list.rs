//! A list of limited length, stored inside the arguments, for Filter and Score.

use std::fmt;
use std::hash::{Hash, Hasher};
use std::ops::Deref;

/// At most `N` values, stored inline because constants cannot allocate. rustc unrolls a loop over a constant list.
///
/// It dereferences to a slice. Keep `N` small, because the arguments contain the whole array; for long lists see
/// [`Seq`](super::Seq).
#[derive(Clone, Copy)]
pub struct List<T: Copy, const N: usize> {
    items: [T; N],
    len: usize,
}

impl<T: Copy, const N: usize> List<T, N> {
    /// Makes an empty list. The unused items are `fill`, which is never visible.
    pub const fn new(fill: T) -> Self {
        List { items: [fill; N], len: 0 }
    }

    /// Makes a list of `items`. The unused items are `fill`, which is never visible.
    ///
    /// # Panics
    /// If there are more than `N` items.
    #[track_caller]
    pub const fn from_slice(fill: T, items: &[T]) -> Self {
        let mut list = List::new(fill);
        let mut i = 0;
        while i < items.len() {
            list.push(items[i]);
            i += 1;
        }
        list
    }

    /// Adds an item at the end.
    ///
    /// # Panics
    /// If the list is full.
    #[track_caller]
    pub const fn push(&mut self, item: T) {
        assert!(self.len < N, "the list is full");
        self.items[self.len] = item;
        self.len += 1;
    }

    /// Returns the items.
    #[inline(always)]
    pub const fn as_slice(&self) -> &[T] {
        self.items.split_at(self.len).0
    }

    /// Returns the number of items.
    #[inline(always)]
    pub const fn len(&self) -> usize {
        self.len
    }

    /// Returns whether there are no items.
    #[inline(always)]
    pub const fn is_empty(&self) -> bool {
        self.len == 0
    }
}

impl<T: Copy, const N: usize> Deref for List<T, N> {
    type Target = [T];

    #[inline(always)]
    fn deref(&self) -> &[T] {
        self.as_slice()
    }
}

impl<'a, T: Copy, const N: usize> IntoIterator for &'a List<T, N> {
    type Item = &'a T;
    type IntoIter = std::slice::Iter<'a, T>;

    #[inline(always)]
    fn into_iter(self) -> Self::IntoIter {
        self.as_slice().iter()
    }
}

impl<T: Copy + fmt::Debug, const N: usize> fmt::Debug for List<T, N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.as_slice().fmt(f)
    }
}

impl<T: Copy + PartialEq, const N: usize> PartialEq for List<T, N> {
    fn eq(&self, other: &Self) -> bool {
        self.as_slice() == other.as_slice()
    }
}

impl<T: Copy + Eq, const N: usize> Eq for List<T, N> {}

impl<T: Copy + Hash, const N: usize> Hash for List<T, N> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.as_slice().hash(state);
    }
}
