//! Lists. Long lists are concatenated without copying, as in `cel-go`, where concatenation has a constant cost.

use std::sync::Arc;

use super::value::Value;

/// Concatenations up to this length are copied.
const COPIED: usize = 64;

/// List value.
#[derive(Clone, Debug)]
pub(crate) enum List<'a> {
    Shared(Arc<Vec<Value<'a>>>),
    Concatenated(Arc<Concatenation<'a>>),
}

#[derive(Debug)]
pub(crate) struct Concatenation<'a> {
    left: List<'a>,
    right: List<'a>,
    len: usize,
}

impl<'a> List<'a> {
    pub(crate) fn new(elements: Vec<Value<'a>>) -> List<'a> {
        List::Shared(Arc::new(elements))
    }

    pub(crate) fn len(&self) -> usize {
        match self {
            List::Shared(elements) => elements.len(),
            List::Concatenated(concatenation) => concatenation.len,
        }
    }

    pub(crate) fn get(&self, index: usize) -> Option<&Value<'a>> {
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

    pub(crate) fn iter(&self) -> impl DoubleEndedIterator<Item = &Value<'a>> {
        (0..self.len()).filter_map(|index| self.get(index))
    }

    /// Concatenates two lists. Copying depends on the length alone, so the height of the tree is bounded by
    /// that of the expression.
    pub(crate) fn concatenate(left: List<'a>, right: List<'a>) -> List<'a> {
        if left.len() == 0 {
            return right;
        }
        if right.len() == 0 {
            return left;
        }
        let len = left.len().saturating_add(right.len());
        if len <= COPIED {
            return List::new(left.iter().chain(right.iter()).cloned().collect());
        }
        List::Concatenated(Arc::new(Concatenation { left, right, len }))
    }

    /// Adds an element at the end, in place if nothing else refers to the list.
    pub(crate) fn push(&mut self, element: Value<'a>) {
        if let List::Shared(elements) = self
            && let Some(elements) = Arc::get_mut(elements)
        {
            elements.push(element);
            return;
        }
        let mut elements: Vec<Value<'a>> = self.iter().cloned().collect();
        elements.push(element);
        *self = List::new(elements);
    }
}
