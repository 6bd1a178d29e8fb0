//! Constructors and accessors for values. Each value has the location of its origin.

use schedc_profile_rules::source::{Span, Spanned};

use crate::tree::{Node, Value};

pub(super) fn text(span: Span, text: &str) -> Node {
    Node { span, value: Value::Str(text.to_owned()) }
}

pub(super) fn int(value: &Spanned<i64>) -> Node {
    Node { span: value.span, value: Value::Int(value.value.into()) }
}

pub(super) fn list(span: Span, items: Vec<Node>) -> Node {
    Node { span, value: Value::List(items) }
}

pub(super) fn map<const N: usize>(span: Span, fields: [(&str, Node); N]) -> Node {
    let fields = fields.into_iter().map(|(key, node)| (Spanned { value: key.to_owned(), span }, node));
    Node { span, value: Value::Map(fields.collect()) }
}

/// Returns a field of a map.
pub(super) fn field<'n>(node: &'n Node, key: &str) -> Option<&'n Node> {
    match &node.value {
        Value::Map(fields) => fields.iter().find(|(other, _)| other.value == key).map(|(_, node)| node),
        _ => None,
    }
}

pub(super) fn field_mut<'n>(node: &'n mut Node, key: &str) -> Option<&'n mut Node> {
    match &mut node.value {
        Value::Map(fields) => fields.iter_mut().find(|(other, _)| other.value == key).map(|(_, node)| node),
        _ => None,
    }
}

/// Returns a string in a map.
pub(super) fn text_of(node: &Node, key: &str) -> Option<String> {
    match &field(node, key)?.value {
        Value::Str(text) => Some(text.clone()),
        _ => None,
    }
}

/// Returns the elements of a list in a map; an empty slice if the map has no such list.
pub(super) fn items<'n>(node: &'n Node, key: &str) -> &'n [Node] {
    match field(node, key).map(|node| &node.value) {
        Some(Value::List(items)) => items,
        _ => &[],
    }
}

/// Sets a field of a map, and replaces an existing one.
pub(super) fn set(node: &mut Node, key: &str, value: Node) {
    if matches!(node.value, Value::Null) {
        node.value = Value::Map(Vec::new());
    }
    if let Value::Map(fields) = &mut node.value {
        match fields.iter_mut().find(|(other, _)| other.value == key) {
            Some((_, old)) => *old = value,
            None => fields.push((Spanned { value: key.to_owned(), span: value.span }, value)),
        }
    }
}

/// Removes fields from a map.
pub(super) fn remove(node: &mut Node, keys: &[&str]) {
    if let Value::Map(fields) = &mut node.value {
        fields.retain(|(key, _)| !keys.contains(&key.value.as_str()));
    }
}
