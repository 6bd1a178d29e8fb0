//! A list of any length that stays in the argument tree, for data that is seldom read.

use super::{Decode, Errors, Node};
use std::fmt;
use std::marker::PhantomData;

/// Any number of values. They are checked together with the other arguments, and decoded again at each iteration.
///
/// It is a small view of the profile's argument tree, and can be nested to any depth, as in node selectors and label
/// selectors. Read it when a plugin is created, not in Filter or Score.
pub struct Seq<T> {
    entries: &'static [Node],
    of: PhantomData<fn() -> T>,
}

impl<T> Seq<T> {
    /// No values.
    pub const EMPTY: Self = Seq::from_checked(&[]);

    /// Makes a view of entries that were checked to be values of `T`.
    #[doc(hidden)]
    pub const fn from_checked(entries: &'static [Node]) -> Self {
        Seq { entries, of: PhantomData }
    }

    /// Returns the number of values.
    pub const fn len(&self) -> usize {
        self.entries.len()
    }

    /// Returns whether there are no values.
    pub const fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Returns the nodes of the argument tree, one for each value.
    pub const fn nodes(&self) -> &'static [Node] {
        self.entries
    }
}

impl<T: Decode> Seq<T> {
    /// Returns the value at `index`.
    pub fn get(&self, index: usize) -> Option<T> {
        self.entries.get(index).map(read)
    }

    /// Returns the values, decoded one by one.
    pub fn iter(&self) -> SeqIter<T> {
        SeqIter { entries: self.entries.iter(), of: PhantomData }
    }
}

/// Iterator over the values of a [`Seq`].
pub struct SeqIter<T> {
    entries: std::slice::Iter<'static, Node>,
    of: PhantomData<fn() -> T>,
}

fn read<T: Decode>(node: &Node) -> T {
    T::decode_value(node, &mut Errors::new())
}

impl<T: Decode> Iterator for SeqIter<T> {
    type Item = T;

    fn next(&mut self) -> Option<T> {
        self.entries.next().map(read)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.entries.size_hint()
    }
}

impl<T: Decode> ExactSizeIterator for SeqIter<T> {}

impl<T: Decode> DoubleEndedIterator for SeqIter<T> {
    fn next_back(&mut self) -> Option<T> {
        self.entries.next_back().map(read)
    }
}

impl<T: Decode> IntoIterator for &Seq<T> {
    type Item = T;
    type IntoIter = SeqIter<T>;

    fn into_iter(self) -> SeqIter<T> {
        self.iter()
    }
}

impl<T: Decode> IntoIterator for Seq<T> {
    type Item = T;
    type IntoIter = SeqIter<T>;

    fn into_iter(self) -> SeqIter<T> {
        self.iter()
    }
}

impl<T> Clone for Seq<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Seq<T> {}

impl<T: Decode + fmt::Debug> fmt::Debug for Seq<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self).finish()
    }
}

impl<T: Decode + PartialEq> PartialEq for Seq<T> {
    fn eq(&self, other: &Self) -> bool {
        self.iter().eq(other)
    }
}

impl<T: Decode + Eq> Eq for Seq<T> {}
