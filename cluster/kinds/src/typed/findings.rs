//! Findings of the deserializer, and paths of fields.

/// A field that its object's type does not have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownField {
    /// The path of the object with the field, such as `spec.containers[0]`; empty for the object itself.
    pub parent: String,
    /// The name of the field.
    pub name: String,
    /// Field names of the type.
    pub known: &'static [&'static str],
}

impl UnknownField {
    /// Returns the path of the field, such as `spec.containers[0].imag`.
    pub fn path(&self) -> String {
        join(&self.parent, &self.name)
    }
}

/// Returns the path of a field of the object at `parent`.
pub fn join(parent: &str, name: &str) -> String {
    match parent {
        _ if name.contains(['.', '/']) => format!("{parent}[{name}]"),
        "" => name.to_owned(),
        _ => format!("{parent}.{name}"),
    }
}

/// Returns the path of an item of the list at `parent`.
pub fn join_item(parent: &str, item: usize) -> String {
    format!("{parent}[{item}]")
}

/// Fields that a type does not have, found while a value is read.
#[derive(Debug, Default)]
pub struct UnknownFields {
    /// The fields, in the order of the value.
    pub found: Vec<UnknownField>,
    /// Whether the value of a misspelt field is read as that of the field with the nearest name. The reader then also
    /// reports errors in this value. The object is discarded in any case, because of the unknown field.
    pub follow: bool,
}

/// Findings of one pass over a value.
#[derive(Default)]
pub(super) struct ReadFindings {
    pub(super) unknown: Vec<UnknownField>,
    /// See [`UnknownFields::follow`].
    pub(super) follow: bool,
    /// Paths and problems of invalid quantities.
    pub(super) quantities: Vec<(String, String)>,
    /// The path of the innermost value that could not be read.
    pub(super) failed: Option<String>,
}
