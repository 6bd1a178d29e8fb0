//! Field names as Go decodes them into its types: the case of the first letter is ignored.

use serde_json::{Map, Value};

/// Fields that are maps with keys chosen by users.
const FREE_FORM_FIELDS: [&str; 10] = [
    "labels",
    "annotations",
    "matchLabels",
    "nodeSelector",
    "limits",
    "requests",
    "capacity",
    "allocatable",
    "overhead",
    "volumeAttributes",
];

/// Changes the first letter of field names to lower case.
pub(super) fn decapitalize(value: &mut Value) {
    match value {
        Value::Array(items) => items.iter_mut().for_each(decapitalize),
        Value::Object(fields) => {
            if fields.keys().any(|key| key.starts_with(|c: char| c.is_ascii_uppercase())) {
                let renamed: Map<String, Value> =
                    std::mem::take(fields).into_iter().map(|(key, value)| (lower_first(&key), value)).collect();
                *fields = renamed;
            }
            let typed = fields.iter_mut().filter(|(key, _)| !FREE_FORM_FIELDS.contains(&key.as_str()));
            typed.for_each(|(_, value)| decapitalize(value));
        }
        _ => {}
    }
}

fn lower_first(key: &str) -> String {
    let mut key = key.to_owned();
    if let Some(first) = key.get_mut(..1) {
        first.make_ascii_lowercase();
    }
    key
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::decapitalize;

    #[test]
    fn user_keys_are_not_changed() {
        let mut value = json!({
            "metadata": {"labels": {"App": "a"}},
            "Spec": {"topologySpreadConstraints": [{"NodeTaintsPolicy": "Honor", "labelSelector": {"matchLabels": {"Foo": "b"}}}]},
        });
        decapitalize(&mut value);
        let expected = json!({
            "metadata": {"labels": {"App": "a"}},
            "spec": {"topologySpreadConstraints": [{"nodeTaintsPolicy": "Honor", "labelSelector": {"matchLabels": {"Foo": "b"}}}]},
        });
        assert_eq!(value, expected);
    }
}
