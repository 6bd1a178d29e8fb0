//! The fields of a kind, found by reading an example that has each of its type's fields once.

use std::cell::RefCell;
use std::collections::BTreeSet;

use serde::de::DeserializeOwned;

use super::deserializer::{Path, Reader, Source};
use super::reader::ReadFindings;

/// A field: the names on the way to the object that has it, and its own. Lists and maps add no name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SchemaField {
    pub(crate) parent: Vec<&'static str>,
    pub(crate) name: &'static str,
}

/// The walk over an example.
#[derive(Default)]
pub(super) struct Walk {
    /// The names on the way to the value that is read.
    pub(super) path: Vec<&'static str>,
    pub(super) found: Vec<SchemaField>,
}

/// Fields that are deeper are left out: no type of a kind is recursive, but nothing else ends the walk of one that is.
const DEPTH: usize = 24;

impl Walk {
    /// Records the fields of the value that is read, and returns those that the example has.
    pub(super) fn record(&mut self, fields: &'static [&'static str]) -> &'static [&'static str] {
        let Walk { path, found } = self;
        found.extend(fields.iter().map(|name| SchemaField { parent: path.clone(), name }));
        if path.len() < DEPTH { fields } else { &[] }
    }
}

/// Reads the example of a type.
fn example<T: DeserializeOwned>(walk: &RefCell<Walk>) -> Result<T, serde_json::Error> {
    let (left_out, findings) = (BTreeSet::new(), RefCell::new(ReadFindings::default()));
    let source = Source::Example(walk);
    T::deserialize(Reader { source, path: Path::Root, left_out: &left_out, findings: &findings })
}

/// All fields of a type.
pub(super) fn fields<T: DeserializeOwned>() -> Vec<SchemaField> {
    let walk = RefCell::new(Walk::default());
    // A value that a type does not take ends the walk early; a test checks that no kind does that.
    let _ = example::<T>(&walk);
    walk.into_inner().found
}

/// A value that has each field once.
#[cfg(test)]
pub(super) fn sample<T: DeserializeOwned>() -> T {
    example(&RefCell::default()).expect("a test checks that the example of every kind can be read")
}
