//! Manifests with one mistake each, which must not reach a scheduler, and their error messages.

use expect_test::Expect;

use super::Manifests;
use crate::{Objects, Options};

mod all_fields;
mod misspelt;
mod places;
mod types;

/// Reads a manifest as `simulate` does.
fn check(manifest: &str, expected: Expect) {
    let objects =
        Manifests::parse("a.yaml", manifest).and_then(|manifests| Objects::new(manifests, Options::default()));
    match objects {
        Ok(_) => panic!("nothing is said of {manifest}"),
        Err(error) => expected.assert_eq(&error.to_string()),
    }
}

/// Fields of a Pod. It has a name unless they say so.
fn pod(fields: &str, expected: Expect) {
    check(&format!("apiVersion: v1\nkind: Pod\n{}", block(fields)), expected);
}

/// Fields of a Node.
fn node(fields: &str, expected: Expect) {
    check(&format!("apiVersion: v1\nkind: Node\n{}", block(fields)), expected);
}

/// Fields in the third line, with a name before if it is missing.
fn block(fields: &str) -> String {
    if fields.starts_with("metadata:") { fields.to_owned() } else { format!("metadata: {{name: a}}\n{fields}") }
}
