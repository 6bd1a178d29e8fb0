//! Invalid manifests and their errors. Most of the manifests have one mistake. None of them may reach a scheduler.

use expect_test::Expect;

use super::Manifests;
use crate::{Objects, Options};

mod all_fields;
mod contradictions;
mod expressions;
mod misspelt;
mod places;
mod types;

/// Reads a manifest as `schedc simulate` does, and checks the error.
fn check(manifest: &str, expected: Expect) {
    let objects =
        Manifests::parse("a.yaml", manifest).and_then(|manifests| Objects::new(manifests, Options::default()));
    match objects {
        Ok(_) => panic!("no problem is reported for {manifest}"),
        Err(error) => expected.assert_eq(&error.to_string()),
    }
}

/// Checks a Pod with these fields, and with a name if they contain no metadata.
fn pod(fields: &str, expected: Expect) {
    check(&format!("apiVersion: v1\nkind: Pod\n{}", block(fields)), expected);
}

/// Checks a Node with these fields, and with a name if they contain no metadata.
fn node(fields: &str, expected: Expect) {
    check(&format!("apiVersion: v1\nkind: Node\n{}", block(fields)), expected);
}

/// Returns these fields, preceded by a line with a name if they contain no metadata.
fn block(fields: &str) -> String {
    if fields.starts_with("metadata:") { fields.to_owned() } else { format!("metadata: {{name: a}}\n{fields}") }
}
