//! Fields of a kind, found by deserializing an example that has each field of its type once.

use std::cell::RefCell;
use std::collections::BTreeSet;

use serde::de::DeserializeOwned;

use super::deserializer::{Path, Reader, Source};
use super::findings::ReadFindings;
use super::walk::{SchemaField, Walk};

fn example<T: DeserializeOwned>(walk: &RefCell<Walk>) -> Result<T, serde_json::Error> {
    let (skipped, findings) = (BTreeSet::new(), RefCell::new(ReadFindings::default()));
    let source = Source::Example(walk);
    T::deserialize(Reader { source, path: Path::Root, skipped: &skipped, findings: &findings })
}

pub(super) fn fields<T: DeserializeOwned>() -> Vec<SchemaField> {
    let walk = RefCell::new(Walk::default());
    // If a type refused a value, the walk would end early; a test checks that this happens for no kind.
    let _ = example::<T>(&walk);
    walk.into_inner().found
}

/// Returns a value that has each field once.
pub(super) fn sample<T: DeserializeOwned>() -> T {
    example(&RefCell::default()).expect("a test checks that the example of every kind can be read")
}
