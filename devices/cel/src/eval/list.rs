//! Lists. Long lists are concatenated without copying, as in `cel-go`, where concatenation has a constant cost.

use std::sync::Arc;

/// Maximum length of a concatenation that is copied.
const MAX_COPIED: usize = 64;

/// List of values.
#[derive(Clone, Debug)]
pub(crate) enum List<V> {
    Shared(Arc<Vec<V>>),
    Concatenated(Arc<Concatenation<V>>),
}

#[derive(Debug)]
pub(crate) struct Concatenation<V> {
    left: List<V>,
    right: List<V>,
    len: usize,
}

impl<V: Clone> List<V> {
    pub(crate) fn new(elements: Vec<V>) -> List<V> {
        List::Shared(Arc::new(elements))
    }

    pub(crate) fn len(&self) -> usize {
        match self {
            List::Shared(elements) => elements.len(),
            List::Concatenated(concatenation) => concatenation.len,
        }
    }

    pub(crate) fn get(&self, index: usize) -> Option<&V> {
        let (mut list, mut index) = (self, index);
        loop {
            match list {
                List::Shared(elements) => return elements.get(index),
                List::Concatenated(concatenation) => {
                    let left = concatenation.left.len();
                    list = if index < left { &concatenation.left } else { &concatenation.right };
                    index -= if index < left { 0 } else { left };
                }
            }
        }
    }

    pub(crate) fn iter(&self) -> impl DoubleEndedIterator<Item = &V> {
        (0..self.len()).filter_map(|index| self.get(index))
    }

    /// Concatenates two lists. Each `+` of the expression adds at most one level to the tree, so the tree is at most
    /// as high as the expression.
    pub(crate) fn concatenate(left: List<V>, right: List<V>) -> List<V> {
        if left.len() == 0 {
            return right;
        }
        if right.len() == 0 {
            return left;
        }
        let len = left.len().saturating_add(right.len());
        if len <= MAX_COPIED {
            return List::new(left.iter().chain(right.iter()).cloned().collect());
        }
        List::Concatenated(Arc::new(Concatenation { left, right, len }))
    }

    /// Adds an element at the end, in place if nothing else refers to the list.
    pub(crate) fn push(&mut self, element: V) {
        if let List::Shared(elements) = self
            && let Some(elements) = Arc::get_mut(elements)
        {
            elements.push(element);
            return;
        }
        let mut elements: Vec<V> = self.iter().cloned().collect();
        elements.push(element);
        *self = List::new(elements);
    }
}
