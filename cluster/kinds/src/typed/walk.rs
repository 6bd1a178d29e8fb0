//! Fields of a type, as the deserializer records them while it reads an example.

/// A field: the names on the path to its object, and its own name. Lists and maps add no name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SchemaField {
    /// The names on the path to its object.
    pub parent: Vec<&'static str>,
    /// Its own name.
    pub name: &'static str,
}

/// The walk over an example.
#[derive(Default)]
pub(super) struct Walk {
    /// The names on the path to the current value.
    pub(super) path: Vec<&'static str>,
    pub(super) found: Vec<SchemaField>,
}

/// Maximum depth of fields. It would end the walk over a recursive type; no kind has one.
const DEPTH: usize = 24;

impl Walk {
    /// Records the fields of the current value, and returns the fields that the example has: none at the maximum depth.
    pub(super) fn record(&mut self, fields: &'static [&'static str]) -> &'static [&'static str] {
        let Walk { path, found } = self;
        found.extend(fields.iter().map(|name| SchemaField { parent: path.clone(), name }));
        if path.len() < DEPTH { fields } else { &[] }
    }
}
