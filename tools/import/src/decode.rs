//! Strict decoding of fields, as in kube-scheduler: unknown and repeated fields are errors, and so are values of the
//! wrong kind. `null` is equivalent to a missing field.

use schedc_profile_rules::Diagnostic;
use schedc_profile_rules::source::{Span, Spanned};

use crate::messages;
use crate::tree::{Node, Value};

/// The fields of a map, and the receiver of errors.
pub(crate) struct Fields<'n, 'f> {
    fields: Vec<&'n (Spanned<String>, Node)>,
    path: String,
    diagnostics: &'f mut Vec<Diagnostic>,
}

impl<'n, 'f> Fields<'n, 'f> {
    /// Decodes a node that must be a map with only these fields. `path` is the path of the node:
    /// `profiles[0].plugins`.
    pub(crate) fn of(node: &'n Node, path: &str, known: &[&str], diagnostics: &'f mut Vec<Diagnostic>) -> Self {
        let mut fields: Vec<&(Spanned<String>, Node)> = Vec::new();
        match &node.value {
            Value::Map(map) => {
                for field in map {
                    let (key, _) = field;
                    if let Some((first, _)) = fields.iter().find(|(other, _)| other.value == key.value) {
                        diagnostics.push(messages::repeated_field(key, first.span));
                    } else if known.contains(&key.value.as_str()) {
                        fields.push(field);
                    } else {
                        diagnostics.push(messages::unknown_field(key, path, known));
                    }
                }
            }
            Value::Null => {}
            other => diagnostics.push(messages::wrong_kind(node.span, path, "a map of fields", other.kind())),
        }
        Self { fields, path: path.to_owned(), diagnostics }
    }

    /// Returns the receiver of errors.
    pub(crate) fn diagnostics(&mut self) -> &mut Vec<Diagnostic> {
        self.diagnostics
    }

    /// Returns the path of a field.
    pub(crate) fn path(&self, key: &str) -> String {
        if self.path.is_empty() { key.to_owned() } else { format!("{}.{key}", self.path) }
    }

    /// Returns the location of a field's key, if the field exists and is not null.
    pub(crate) fn at(&self, key: &str) -> Option<Span> {
        self.field(key).map(|(key, _)| key.span)
    }

    /// Returns a field's value, if it exists and is not null.
    pub(crate) fn get(&self, key: &str) -> Option<&'n Node> {
        self.field(key).map(|(_, value)| value)
    }

    fn field(&self, key: &str) -> Option<&'n (Spanned<String>, Node)> {
        let field = self.fields.iter().find(|(other, _)| other.value == key)?;
        (!matches!(field.1.value, Value::Null)).then_some(*field)
    }

    /// Decodes a string.
    pub(crate) fn string(&mut self, key: &str) -> Option<Spanned<String>> {
        let node = self.get(key)?;
        match &node.value {
            Value::Str(value) => Some(Spanned { value: value.clone(), span: node.span }),
            other => {
                let path = self.path(key);
                self.diagnostics.push(messages::wrong_kind(node.span, &path, "a string", other.kind()));
                None
            }
        }
    }

    /// Decodes an integer of 32 or 64 bits.
    pub(crate) fn integer(&mut self, key: &str, bits: u32) -> Option<Spanned<i64>> {
        let node = self.get(key)?;
        let limit = 1_i128 << (bits - 1);
        match &node.value {
            Value::Int(value) if (-limit..limit).contains(value) => {
                Some(Spanned { value: i64::try_from(*value).ok()?, span: node.span })
            }
            Value::Int(_) => {
                let path = self.path(key);
                self.diagnostics.push(messages::too_many_bits(node.span, &path, bits));
                None
            }
            other => {
                let path = self.path(key);
                self.diagnostics.push(messages::wrong_kind(node.span, &path, "a whole number", other.kind()));
                None
            }
        }
    }

    /// Decodes `true` or `false`.
    pub(crate) fn boolean(&mut self, key: &str) -> Option<Spanned<bool>> {
        let node = self.get(key)?;
        match &node.value {
            Value::Bool(value) => Some(Spanned { value: *value, span: node.span }),
            other => {
                let path = self.path(key);
                self.diagnostics.push(messages::wrong_kind(node.span, &path, "true or false", other.kind()));
                None
            }
        }
    }

    /// Returns the elements of a list; an empty slice if the field has no list.
    pub(crate) fn list(&mut self, key: &str) -> &'n [Node] {
        let Some(node) = self.get(key) else { return &[] };
        match &node.value {
            Value::List(items) => items,
            other => {
                let path = self.path(key);
                self.diagnostics.push(messages::wrong_kind(node.span, &path, "a list", other.kind()));
                &[]
            }
        }
    }
}
