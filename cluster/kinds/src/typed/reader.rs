//! Reads a JSON value as a typed object, and collects its problems.

use std::cell::RefCell;
use std::collections::BTreeSet;

use serde::de::DeserializeOwned;
use serde_json::{Error, Value};

use super::deserializer::{Path, Reader, Source};
use super::findings::{ReadFindings, UnknownField, UnknownFields};

/// An invalid value of a field.
#[derive(Debug)]
pub(super) struct WrongValue {
    /// The path of the field; empty for the object itself.
    pub(super) path: String,
    pub(super) reason: Reason,
}

#[derive(Debug)]
pub(super) enum Reason {
    Type(Error),
    Quantity(String),
}

/// Maximum number of wrong values that are reported for one object.
const WRONG_VALUES: usize = 20;

/// Reads `value`, and adds unknown fields to `unknown`. On failure, returns between one and [`WRONG_VALUES`] values
/// with a wrong type or an invalid quantity.
pub(super) fn read<T: DeserializeOwned>(value: &Value, unknown: &mut UnknownFields) -> Result<T, Vec<WrongValue>> {
    let mut wrong_values = Vec::new();
    // A value with a wrong type ends the deserialization. The object is then read again without this value.
    let mut skipped = BTreeSet::new();
    let mut known = BTreeSet::new();
    let result = loop {
        let findings = RefCell::new(ReadFindings { follow: unknown.follow, ..ReadFindings::default() });
        let result = T::deserialize(Reader {
            source: Source::Value(value),
            path: Path::Root,
            skipped: &skipped,
            findings: &findings,
        });
        let ReadFindings { unknown: fields, quantities, failed, .. } = findings.into_inner();
        if skipped.is_empty() {
            unknown.found.extend(fields);
        } else {
            let paths = || unknown.found.iter().map(UnknownField::path);
            if known.is_empty() {
                known.extend(paths());
            }
            unknown.found.extend(fields.into_iter().filter(|field| known.insert(field.path())));
        }
        let error = match result {
            Ok(object) => break Ok((object, quantities)),
            Err(error) => error,
        };
        let path = failed.unwrap_or_default();
        // If the skipped value is a required field, its object is reported as incomplete. This is not a new problem.
        let is_consequence = skipped.iter().any(|other: &String| is_within(other, &path));
        if !is_consequence {
            wrong_values.push(WrongValue { path: path.clone(), reason: Reason::Type(error) });
        }
        if is_consequence || path.is_empty() || wrong_values.len() == WRONG_VALUES {
            break Err(quantities);
        }
        skipped.insert(path);
    };
    let (object, quantities) = match result {
        Ok((object, quantities)) => (Some(object), quantities),
        Err(quantities) => (None, quantities),
    };
    wrong_values
        .extend(quantities.into_iter().map(|(path, problem)| WrongValue { path, reason: Reason::Quantity(problem) }));
    wrong_values.truncate(WRONG_VALUES);
    object.filter(|_| wrong_values.is_empty()).ok_or(wrong_values)
}

/// Returns whether the value at `path` is the one at `outer`, or inside it.
fn is_within(path: &str, outer: &str) -> bool {
    path.strip_prefix(outer).is_some_and(|rest| outer.is_empty() || rest.is_empty() || rest.starts_with(['.', '[']))
}
