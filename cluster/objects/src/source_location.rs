//! Locations of objects in manifests.

use std::fmt;
use std::sync::Arc;

/// Location of an object in the manifests.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceLocation {
    /// The file as the user named it, or `standard input`.
    pub file: Arc<str>,
    /// Line number, from 1: the first line of the object's document; in problems of a field, the line of the field. 0:
    /// the whole file.
    pub line: u32,
    /// Index of the object in the `items` of its document, if the document is a list.
    pub item: Option<u32>,
}

impl SourceLocation {
    /// Returns the path of an object's field in its document.
    pub(crate) fn path(&self, field: &str) -> String {
        self.item.map_or_else(|| field.to_owned(), |item| format!("items[{item}].{field}"))
    }
}

impl fmt::Display for SourceLocation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.file)?;
        if self.line > 0 {
            write!(f, ":{}", self.line)?;
        }
        match self.item {
            Some(item) => write!(f, " items[{item}]"),
            None => Ok(()),
        }
    }
}
