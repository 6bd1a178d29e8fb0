//! Reader for the fields of a table with known keys. Errors are reported once, and invalid fields are
//! omitted.

use crate::diagnostic::Diagnostic;
use crate::messages;
use crate::source::{Span, Spanned};
use crate::suggest::closest;
use crate::tree::{RawField, RawNode, RawTable, RawValue};

/// A table that is being read. The value of a misspelt key is read as the value of the closest known key,
/// therefore errors in the value are reported too.
pub struct Fields<'t, 'd> {
    table: &'t RawTable,
    /// Fields with misspelt keys, by the intended key.
    misspelt: Vec<(&'t str, &'t RawField)>,
    owner: String,
    at: Span,
    diagnostics: &'d mut Vec<Diagnostic>,
}

impl<'t, 'd> Fields<'t, 'd> {
    /// Reports keys that are not `known`. `owner` is the name of the table in messages, such as "a profile"; `at` is
    /// the location of the table.
    pub fn new(
        table: &'t RawTable,
        owner: impl Into<String>,
        at: Span,
        known: &[&'t str],
        diagnostics: &'d mut Vec<Diagnostic>,
    ) -> Self {
        let owner = owner.into();
        for field in table.fields.iter().filter(|field| !known.contains(&field.key.value.as_str())) {
            diagnostics.push(messages::unknown_key(&field.key, &owner, known));
        }
        Self { table, misspelt: misspelt(table, known), owner, at, diagnostics }
    }

    pub fn diagnostics(&mut self) -> &mut Vec<Diagnostic> {
        self.diagnostics
    }

    pub fn get(&self, key: &str) -> Option<&'t RawField> {
        let misspelt = || self.misspelt.iter().find(|(suggestion, _)| *suggestion == key).map(|(_, field)| *field);
        self.table.get(key).or_else(misspelt)
    }

    pub fn string(&mut self, key: &str) -> Option<Spanned<String>> {
        let field = self.get(key)?;
        string(&field.value, &format!("`{key}`"), self.diagnostics)
    }

    /// Reads a required string. Reports a missing key, except after a misspelt one, which was already reported.
    pub fn required_string(&mut self, key: &str) -> Option<Spanned<String>> {
        let misspelt = || self.table.fields.iter().any(|field| closest(&field.key.value, [key]).is_some());
        if self.get(key).is_none() && !misspelt() {
            self.diagnostics.push(messages::missing_key(self.at, &self.owner, key));
        }
        self.string(key)
    }

    pub fn integer(&mut self, key: &str) -> Option<Spanned<i128>> {
        let field = self.get(key)?;
        match field.value.value {
            RawValue::Int(value) => Some(Spanned { value, span: field.value.span }),
            ref other => {
                let kind = other.kind();
                self.diagnostics.push(messages::wrong_kind(field.value.span, &format!("`{key}`"), "an integer", kind));
                None
            }
        }
    }

    pub fn boolean(&mut self, key: &str) -> Option<Spanned<bool>> {
        let field = self.get(key)?;
        match field.value.value {
            RawValue::Bool(value) => Some(Spanned { value, span: field.value.span }),
            ref other => {
                let kind = other.kind();
                self.diagnostics.push(messages::wrong_kind(
                    field.value.span,
                    &format!("`{key}`"),
                    "`true` or `false`",
                    kind,
                ));
                None
            }
        }
    }

    /// Returns the elements of a list; empty without a list.
    pub fn list(&mut self, key: &str, elements: &str) -> &'t [RawNode] {
        self.list_or_report(key, elements).0
    }

    /// Returns the elements of a list, and whether the value is a list or absent. Reports any other value.
    pub fn list_or_report(&mut self, key: &str, elements: &str) -> (&'t [RawNode], bool) {
        let Some(field) = self.get(key) else { return (&[], true) };
        match &field.value.value {
            RawValue::List(items) => (items, true),
            other => {
                let (subject, expected) = (format!("`{key}`"), format!("a list of {elements}"));
                self.diagnostics.push(messages::wrong_kind(field.value.span, &subject, &expected, other.kind()));
                (&[], false)
            }
        }
    }

    /// Reads a list of strings; other elements are reported and omitted.
    pub fn strings(&mut self, key: &str) -> Vec<Spanned<String>> {
        let items = self.list(key, "strings");
        let subject = format!("an element of `{key}`");
        items.iter().filter_map(|item| string(item, &subject, self.diagnostics)).collect()
    }

    pub fn table(&mut self, key: &str) -> Option<(&'t RawTable, Span)> {
        let field = self.get(key)?;
        table(&field.value, &format!("`{key}`"), self.diagnostics).map(|table| (table, field.value.span))
    }
}

/// Returns the fields with unknown keys that are close to a known key, each with that key. For each known key, there is
/// at most one such field, and none if the table contains the known key.
pub fn misspelt<'t>(table: &'t RawTable, known: &[&'t str]) -> Vec<(&'t str, &'t RawField)> {
    let mut misspelt: Vec<(&'t str, &'t RawField)> = Vec::new();
    for field in table.fields.iter().filter(|field| !known.contains(&field.key.value.as_str())) {
        let Some(suggestion) = closest(&field.key.value, known.iter().copied()) else { continue };
        if table.get(suggestion).is_none() && misspelt.iter().all(|(other, _)| *other != suggestion) {
            misspelt.push((suggestion, field));
        }
    }
    misspelt
}

pub fn string(node: &RawNode, subject: &str, diagnostics: &mut Vec<Diagnostic>) -> Option<Spanned<String>> {
    match &node.value {
        RawValue::Str(value) => Some(Spanned { value: value.clone(), span: node.span }),
        other => {
            diagnostics.push(messages::wrong_kind(node.span, subject, "a string", other.kind()));
            None
        }
    }
}

pub fn table<'t>(node: &'t RawNode, subject: &str, diagnostics: &mut Vec<Diagnostic>) -> Option<&'t RawTable> {
    match &node.value {
        RawValue::Table(table) => Some(table),
        other => {
            diagnostics.push(messages::wrong_kind(node.span, subject, "a table", other.kind()));
            None
        }
    }
}
