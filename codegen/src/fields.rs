//! Reading the fields of a table whose keys are known; what is wrong is reported once and left out.

use crate::diagnostic::Diagnostic;
use crate::messages;
use crate::source::{Span, Spanned};
use crate::suggest::closest;
use crate::tree::{RawField, RawNode, RawTable, RawValue};

/// A table being read.
pub(crate) struct Fields<'t, 'd> {
    table: &'t RawTable,
    owner: String,
    at: Span,
    found: &'d mut Vec<Diagnostic>,
}

impl<'t, 'd> Fields<'t, 'd> {
    /// Reports keys that are not `known`. `owner` says in messages whose keys they are; `at` is the table's place.
    pub(crate) fn new(
        table: &'t RawTable,
        owner: impl Into<String>,
        at: Span,
        known: &[&str],
        found: &'d mut Vec<Diagnostic>,
    ) -> Self {
        let owner = owner.into();
        for field in &table.fields {
            if !known.contains(&field.key.value.as_str()) {
                found.push(messages::unknown_key(&field.key, &owner, known));
            }
        }
        Self { table, owner, at, found }
    }

    pub(crate) fn found(&mut self) -> &mut Vec<Diagnostic> {
        self.found
    }

    pub(crate) fn get(&self, key: &str) -> Option<&'t RawField> {
        self.table.get(key)
    }

    pub(crate) fn string(&mut self, key: &str) -> Option<Spanned<String>> {
        let field = self.table.get(key)?;
        string(&field.value, &format!("`{key}`"), self.found)
    }

    /// A string that must be there. One whose key is misspelt was reported for that.
    pub(crate) fn required_string(&mut self, key: &str) -> Option<Spanned<String>> {
        let misspelt = || self.table.fields.iter().any(|field| closest(&field.key.value, [key]).is_some());
        if self.table.get(key).is_none() && !misspelt() {
            self.found.push(messages::missing_key(self.at, &self.owner, key));
        }
        self.string(key)
    }

    pub(crate) fn integer(&mut self, key: &str) -> Option<Spanned<i128>> {
        let field = self.table.get(key)?;
        match field.value.value {
            RawValue::Int(value) => Some(Spanned { value, span: field.value.span }),
            ref other => {
                let kind = other.kind();
                self.found.push(messages::wrong_kind(field.value.span, &format!("`{key}`"), "an integer", kind));
                None
            }
        }
    }

    pub(crate) fn boolean(&mut self, key: &str) -> Option<Spanned<bool>> {
        let field = self.table.get(key)?;
        match field.value.value {
            RawValue::Bool(value) => Some(Spanned { value, span: field.value.span }),
            ref other => {
                let kind = other.kind();
                self.found.push(messages::wrong_kind(field.value.span, &format!("`{key}`"), "`true` or `false`", kind));
                None
            }
        }
    }

    /// The elements of a list; none if there is no list.
    pub(crate) fn list(&mut self, key: &str, of: &str) -> &'t [RawNode] {
        self.list_or_report(key, of).0
    }

    /// The same, and whether what is under the key can be read.
    pub(crate) fn list_or_report(&mut self, key: &str, of: &str) -> (&'t [RawNode], bool) {
        let Some(field) = self.table.get(key) else { return (&[], true) };
        match &field.value.value {
            RawValue::List(items) => (items, true),
            other => {
                let (what, expected) = (format!("`{key}`"), format!("a list of {of}"));
                self.found.push(messages::wrong_kind(field.value.span, &what, &expected, other.kind()));
                (&[], false)
            }
        }
    }

    /// A list of strings; other elements are reported and left out.
    pub(crate) fn strings(&mut self, key: &str) -> Vec<Spanned<String>> {
        let items = self.list(key, "strings");
        let what = format!("an element of `{key}`");
        items.iter().filter_map(|item| string(item, &what, self.found)).collect()
    }

    pub(crate) fn table(&mut self, key: &str) -> Option<(&'t RawTable, Span)> {
        let field = self.table.get(key)?;
        table(&field.value, &format!("`{key}`"), self.found).map(|table| (table, field.value.span))
    }
}

pub(crate) fn string(node: &RawNode, what: &str, found: &mut Vec<Diagnostic>) -> Option<Spanned<String>> {
    match &node.value {
        RawValue::Str(value) => Some(Spanned { value: value.clone(), span: node.span }),
        other => {
            found.push(messages::wrong_kind(node.span, what, "a string", other.kind()));
            None
        }
    }
}

pub(crate) fn table<'t>(node: &'t RawNode, what: &str, found: &mut Vec<Diagnostic>) -> Option<&'t RawTable> {
    match &node.value {
        RawValue::Table(table) => Some(table),
        other => {
            found.push(messages::wrong_kind(node.span, what, "a table", other.kind()));
            None
        }
    }
}
