//! Fields of a kind, found by deserializing an example that has each field of its type once.

use std::cell::RefCell;
use std::collections::BTreeSet;

use serde::de::DeserializeOwned;

use super::deserializer::{Path, Reader, Source};
use super::reader::ReadFindings;

/// A field: the names on the path to its object, and its own name. Lists and maps add no name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SchemaField {
    pub(crate) parent: Vec<&'static str>,
    pub(crate) name: &'static str,
}

/// The walk over an example.
#[derive(Default)]
pub(super) struct Walk {
    /// The names on the path to the current value.
    pub(super) path: Vec<&'static str>,
    pub(super) found: Vec<SchemaField>,
}

/// Maximum depth of fields. No type of a kind is recursive, but only this limit would stop at one.
const DEPTH: usize = 24;

impl Walk {
    /// Records the fields of the current value, and returns those that the example has.
    pub(super) fn record(&mut self, fields: &'static [&'static str]) -> &'static [&'static str] {
        let Walk { path, found } = self;
        found.extend(fields.iter().map(|name| SchemaField { parent: path.clone(), name }));
        if path.len() < DEPTH { fields } else { &[] }
    }
}

/// Deserializes the example of a type.
fn example<T: DeserializeOwned>(walk: &RefCell<Walk>) -> Result<T, serde_json::Error> {
    let (left_out, findings) = (BTreeSet::new(), RefCell::new(ReadFindings::default()));
    let source = Source::Example(walk);
    T::deserialize(Reader { source, path: Path::Root, left_out: &left_out, findings: &findings })
}

/// Returns all fields of a type.
pub(super) fn fields<T: DeserializeOwned>() -> Vec<SchemaField> {
    let walk = RefCell::new(Walk::default());
    // A value that a type refuses ends the walk early; a test checks that no kind does that.
    let _ = example::<T>(&walk);
    walk.into_inner().found
}

/// Returns a value that has each field once.
#[cfg(test)]
pub(super) fn sample<T: DeserializeOwned>() -> T {
    example(&RefCell::default()).expect("a test checks that the example of every kind can be read")
}
