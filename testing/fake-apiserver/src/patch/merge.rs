//! JSON merge patches (RFC 7386).

use serde_json::{Map, Value};

/// Merges a patch into an object: fields are merged, `null` removes a field, and other values are replaced, lists
/// included.
pub(crate) fn merge(object: &mut Value, patch: &Value) {
    let Value::Object(patch) = patch else {
        *object = patch.clone();
        return;
    };
    if !object.is_object() {
        *object = Value::Object(Map::new());
    }
    let Value::Object(object) = object else { return };
    for (name, value) in patch {
        if value.is_null() {
            object.remove(name);
        } else {
            merge(object.entry(name).or_insert(Value::Null), value);
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn merges() {
        let mut object = json!({"a": {"b": 1, "c": 2}, "l": [1, 2]});
        merge(&mut object, &json!({"a": {"b": null, "d": {"e": null, "f": 1}}, "l": [3], "m": 4}));
        assert_eq!(object, json!({"a": {"c": 2, "d": {"f": 1}}, "l": [3], "m": 4}));
    }
}
