//! Selection of the objects of a list or watch: field selectors and simple label selectors.

use serde_json::Value;

use crate::kinds::Kind;
use crate::status_error::StatusError;

/// Conditions on an object.
#[derive(Clone, Debug, Default)]
pub(crate) struct Selector {
    /// Pointer to a field, the value, and whether they must be equal.
    fields: Vec<(String, String, bool)>,
    /// Label, the value (`None`: any), and whether the label must match.
    labels: Vec<(String, Option<String>, bool)>,
}

impl Selector {
    /// Parses the selectors of a query. Unsupported fields are refused, as on a real server.
    pub(crate) fn parse(kind: &Kind, fields: &str, labels: &str) -> Result<Self, StatusError> {
        let mut selector = Selector::default();
        for (name, value, equal) in fields.split(',').filter(|term| !term.is_empty()).map(term) {
            let pointer = pointer(kind, name);
            let unknown = || StatusError::new(400, format!("field label not supported: {name}"));
            selector.fields.push((pointer.ok_or_else(unknown)?, value.unwrap_or_default().to_owned(), equal));
        }
        if labels.contains('(') {
            return Err(StatusError::new(400, "the fake API server does not support sets in label selectors"));
        }
        for (name, value, equal) in labels.split(',').filter(|term| !term.is_empty()).map(term) {
            selector.labels.push((name.to_owned(), value.map(str::to_owned), equal));
        }
        Ok(selector)
    }

    /// Returns whether the selector matches all objects.
    pub(crate) fn is_empty(&self) -> bool {
        self.fields.is_empty() && self.labels.is_empty()
    }

    /// Returns whether an object matches the selector.
    pub(crate) fn matches(&self, object: &Value) -> bool {
        let fields = self.fields.iter().all(|(pointer, value, equal)| {
            let field = match object.pointer(pointer) {
                Some(Value::String(text)) => text.clone(),
                Some(Value::Bool(true)) => "true".to_owned(),
                Some(Value::Bool(false)) | None if pointer == UNSCHEDULABLE => "false".to_owned(),
                _ => String::new(),
            };
            (field == *value) == *equal
        });
        let labels = &object["metadata"]["labels"];
        fields
            && self.labels.iter().all(|(name, value, equal)| {
                let label = labels.get(name).and_then(Value::as_str);
                let is_match = value.as_ref().map_or(label.is_some(), |value| label == Some(value));
                is_match == *equal
            })
    }
}

/// Parses `a=b`, `a==b`, `a!=b`, `a` or `!a`.
fn term(term: &str) -> (&str, Option<&str>, bool) {
    match (term.split_once("!="), term.split_once('=')) {
        (Some((name, value)), _) => (name, Some(value), false),
        (None, Some((name, value))) => (name, Some(value.trim_start_matches('=')), true),
        (None, None) => term.strip_prefix('!').map_or((term, None, true), |name| (name, None, false)),
    }
}

/// Pointer to a boolean field. A missing value is false.
const UNSCHEDULABLE: &str = "/spec/unschedulable";

fn pointer(kind: &Kind, field: &str) -> Option<String> {
    let of_kind: &[&str] = match kind.kind {
        "Pod" => &[
            "spec.nodeName",
            "spec.restartPolicy",
            "spec.schedulerName",
            "spec.serviceAccountName",
            "status.nominatedNodeName",
            "status.phase",
        ],
        "Node" => &["spec.unschedulable"],
        "Event" => &["reason", "type", "regarding.name", "regarding.namespace", "regarding.uid"],
        _ => &[],
    };
    let known = ["metadata.name", "metadata.namespace"].contains(&field) || of_kind.contains(&field);
    known.then(|| format!("/{}", field.replace('.', "/")))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn selectors_match_fields_and_labels() {
        let pods = Kind::of_path("v1", "pods").unwrap();
        let pod = json!({
            "metadata": {"name": "p", "labels": {"a": "b"}}, "spec": {"nodeName": "n"}, "status": {"phase": "Running"}
        });
        let rows = [
            ("", "", true),
            ("metadata.name=p", "", true),
            ("metadata.name==q", "", false),
            ("spec.nodeName=", "", false),
            ("spec.nodeName=n", "", true),
            ("status.phase!=Succeeded,status.phase!=Failed", "", true),
            ("status.phase!=Running,status.phase!=Failed", "", false),
            ("", "a=b", true),
            ("", "a!=b", false),
            ("", "a,!c", true),
            ("", "c", false),
        ];
        for (fields, labels, matches) in rows {
            let selector = Selector::parse(pods, fields, labels).unwrap();
            assert_eq!(selector.matches(&pod), matches, "{fields} {labels}");
        }
        let refused = Selector::parse(pods, "spec.foo=n", "").unwrap_err();
        assert_eq!(refused.body()["message"], "field label not supported: spec.foo");
    }
}
