//! Maps that an expression creates. They keep the order in which entries are added.

use std::collections::HashMap;
use std::sync::Arc;

use super::value::{Str, Value};

/// Maps with more entries have an index.
const MAX_SCANNED: usize = 8;

/// Map value.
#[derive(Clone, Debug)]
pub(crate) struct Map<'a>(Arc<Entries<'a>>);

/// Entries of a map.
#[derive(Clone, Debug, Default)]
pub(crate) struct Entries<'a> {
    entries: Vec<(Value<'a>, Value<'a>)>,
    index: HashMap<Key<'a>, usize>,
}

/// Key of a map. Integers of both types and whole floating-point numbers are the same key.
#[derive(Clone, Debug)]
pub(crate) enum Key<'a> {
    Bool(bool),
    Number(i128),
    String(Str<'a>),
}

impl<'a> Key<'a> {
    /// Returns the map key for a value; `None` if no key can be equal to it.
    pub(crate) fn new(value: &Value<'a>) -> Option<Key<'a>> {
        Some(match value {
            Value::Bool(value) => Key::Bool(*value),
            Value::Int(value) => Key::Number((*value).into()),
            Value::Uint(value) => Key::Number((*value).into()),
            Value::Double(value) if value.fract() == 0.0 && value.abs() < 2e19 => Key::Number(*value as i128),
            Value::String(text) => Key::String(text.clone()),
            _ => return None,
        })
    }
}

impl PartialEq for Key<'_> {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Key::Bool(a), Key::Bool(b)) => a == b,
            (Key::Number(a), Key::Number(b)) => a == b,
            (Key::String(a), Key::String(b)) => **a == **b,
            _ => false,
        }
    }
}

impl Eq for Key<'_> {}

impl std::hash::Hash for Key<'_> {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        match self {
            Key::Bool(value) => value.hash(state),
            Key::Number(value) => value.hash(state),
            Key::String(text) => (**text).hash(state),
        }
    }
}

impl<'a> Map<'a> {
    pub(crate) fn new(entries: Entries<'a>) -> Map<'a> {
        Map(Arc::new(entries))
    }

    pub(crate) fn entries(&self) -> &[(Value<'a>, Value<'a>)] {
        &self.0.entries
    }

    pub(crate) fn get(&self, key: &Value<'a>) -> Option<&Value<'a>> {
        self.0.position(&Key::new(key)?).map(|position| &self.0.entries[position].1)
    }

    /// Returns the entries to be changed. They are copied if another value refers to them.
    pub(crate) fn make_mut(&mut self) -> &mut Entries<'a> {
        Arc::make_mut(&mut self.0)
    }
}

impl<'a> Entries<'a> {
    fn position(&self, key: &Key<'a>) -> Option<usize> {
        if self.entries.len() > MAX_SCANNED {
            return self.index.get(key).copied();
        }
        self.entries.iter().position(|(other, _)| Key::new(other).as_ref() == Some(key))
    }

    fn build_index(&mut self) {
        self.index = self.entries.iter().enumerate().filter_map(|(i, (key, _))| Some((Key::new(key)?, i))).collect();
    }

    /// Adds an entry, or replaces the value. Returns whether the key is new; `None` if the value cannot be a key.
    pub(crate) fn insert(&mut self, key: Value<'a>, value: Value<'a>) -> Option<bool> {
        let hashed = Key::new(&key).filter(|_| !matches!(key, Value::Double(_)))?;
        if let Some(position) = self.position(&hashed) {
            self.entries[position].1 = value;
            return Some(false);
        }
        self.entries.push((key, value));
        if self.entries.len() > MAX_SCANNED {
            if self.index.is_empty() {
                self.build_index();
            } else {
                self.index.insert(hashed, self.entries.len() - 1);
            }
        }
        Some(true)
    }

    /// Removes an entry. Positions change, so the index is rebuilt.
    pub(crate) fn remove(&mut self, key: &Value<'a>) {
        if let Some(position) = Key::new(key).and_then(|key| self.position(&key)) {
            self.entries.remove(position);
            self.index.clear();
            if self.entries.len() > MAX_SCANNED {
                self.build_index();
            }
        }
    }
}
