//! Strategic merge patches: like merge patches, but entries of many lists have a key and are merged one by one.

use schedc_in_memory::merge_patch;
use serde_json::{Map, Value};

/// Returns the merge key of the entries of a list with this name. `None`: a patch replaces the list.
fn merge_key(list: &str) -> Option<&'static str> {
    Some(match list {
        "addresses" | "conditions" => "type",
        "containers"
        | "env"
        | "ephemeralContainers"
        | "initContainers"
        | "resourceClaims"
        | "schedulingGates"
        | "volumes" => "name",
        "ownerReferences" => "uid",
        "podIPs" => "ip",
        "taints" => "key",
        _ => return None,
    })
}

/// Merges a patch into an object.
pub(crate) fn merge(object: &mut Value, patch: &Value) {
    let Value::Object(patch) = patch else {
        *object = patch.clone();
        return;
    };
    if patch.get("$patch").is_some_and(|directive| directive == "replace") {
        *object = Value::Object(patch.iter().filter(|(name, _)| *name != "$patch").map(cloned).collect());
        return;
    }
    if !object.is_object() {
        *object = Value::Object(Map::new());
    }
    let Value::Object(object) = object else { return };
    for (name, value) in patch {
        if let Some(list) = name.strip_prefix("$deleteFromPrimitiveList/") {
            if let (Some(Value::Array(entries)), Value::Array(removed)) = (object.get_mut(list), value) {
                entries.retain(|entry| !removed.contains(entry));
            }
        } else if name.starts_with('$') {
            // The order directive is applied with its list; other directives are ignored.
        } else if value.is_null() {
            object.remove(name);
        } else if let (Some(key), Value::Array(entries)) = (merge_key(name), value) {
            let order = patch.get(&format!("$setElementOrder/{name}"));
            let known = object.entry(name).or_insert_with(|| Value::Array(Vec::new()));
            merge_list(known, entries, order, key);
            if known.as_array().is_some_and(Vec::is_empty) {
                object.remove(name);
            }
        } else if let ("finalizers", Value::Array(entries)) = (name.as_str(), value) {
            let known = object.entry(name).or_insert_with(|| Value::Array(Vec::new()));
            if let Value::Array(known) = known {
                let new: Vec<_> = entries.iter().filter(|entry| !known.contains(entry)).cloned().collect();
                known.extend(new);
            }
        } else if value.is_object() {
            merge(object.entry(name).or_insert(Value::Null), value);
        } else {
            object.insert(name.clone(), value.clone());
        }
    }
}

fn merge_list(known: &mut Value, patch: &[Value], order: Option<&Value>, key: &str) {
    if !known.is_array() {
        *known = Value::Array(Vec::new());
    }
    let Value::Array(known) = known else { return };
    if patch.iter().any(|entry| entry["$patch"] == "replace" && entry.get(key).is_none()) {
        known.clear();
    }
    for entry in patch.iter().filter(|entry| entry.get(key).is_some()) {
        let at = known.iter().position(|other| other[key] == entry[key]);
        match (at, entry["$patch"] == "delete") {
            (Some(at), true) => drop(known.remove(at)),
            (None, true) => {}
            (Some(at), false) => merge(&mut known[at], entry),
            (None, false) => {
                let mut new = Value::Null;
                merge_patch::merge(&mut new, entry);
                known.push(new);
            }
        }
    }
    if let Some(Value::Array(order)) = order {
        // Entries that the order omits keep their places; the others are sorted into the remaining places.
        let place = |entry: &Value| order.iter().position(|named| named[key] == entry[key]);
        let mut sorted: Vec<Value> = Vec::with_capacity(known.len());
        let mut named: Vec<Value> = known.iter().filter(|entry| place(entry).is_some()).cloned().collect();
        named.sort_by_key(place);
        let mut named = named.into_iter();
        for entry in known.iter() {
            match place(entry) {
                Some(_) => sorted.extend(named.next()),
                None => sorted.push(entry.clone()),
            }
        }
        *known = sorted;
    }
}

fn cloned((name, value): (&String, &Value)) -> (String, Value) {
    (name.clone(), value.clone())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[track_caller]
    fn check(object: Value, patch: Value, expected: Value) {
        let mut patched = object;
        merge(&mut patched, &patch);
        assert_eq!(patched, expected);
    }

    #[test]
    fn conditions_are_merged_by_type() {
        let scheduled = json!({"type": "PodScheduled", "status": "False", "reason": "a"});
        let target = json!({"type": "DisruptionTarget", "status": "True"});
        check(
            json!({"phase": "Pending"}),
            json!({"conditions": [{"lastProbeTime": null, "type": "PodScheduled", "status": "False", "reason": "a"}]}),
            json!({"phase": "Pending", "conditions": [scheduled]}),
        );
        check(
            json!({"conditions": [scheduled]}),
            json!({
                "$setElementOrder/conditions": [{"type": "PodScheduled"}, {"type": "DisruptionTarget"}],
                "conditions": [{"lastProbeTime": null, "type": "DisruptionTarget", "status": "True"}]
            }),
            json!({"conditions": [scheduled, target]}),
        );
        check(
            json!({"conditions": [scheduled, target]}),
            json!({
                "$setElementOrder/conditions": [{"type": "DisruptionTarget"}, {"type": "PodScheduled"}],
                "conditions": [{"type": "PodScheduled", "reason": null, "status": "True"}]
            }),
            json!({"conditions": [target, {"type": "PodScheduled", "status": "True"}]}),
        );
    }

    #[test]
    fn items_without_an_order_keep_their_place() {
        check(
            json!({"conditions": [{"type": "A"}, {"type": "B"}, {"type": "C"}]}),
            json!({"$setElementOrder/conditions": [{"type": "C"}, {"type": "A"}], "conditions": [{"type": "A", "x": 1}]}),
            json!({"conditions": [{"type": "C"}, {"type": "B"}, {"type": "A", "x": 1}]}),
        );
    }

    #[test]
    fn patch_directives_are_applied() {
        check(
            json!({"conditions": [{"type": "A"}, {"type": "B"}]}),
            json!({"conditions": [{"$patch": "delete", "type": "A"}]}),
            json!({"conditions": [{"type": "B"}]}),
        );
        check(
            json!({"schedulingGates": [{"name": "g"}], "x": 1}),
            json!({"schedulingGates": [{"$patch": "delete", "name": "g"}]}),
            json!({"x": 1}),
        );
        check(json!({"s": {"a": 1}}), json!({"s": {"$patch": "replace", "b": 2}}), json!({"s": {"b": 2}}));
        check(
            json!({"finalizers": ["a", "b"]}),
            json!({"$deleteFromPrimitiveList/finalizers": ["a"], "finalizers": ["c"]}),
            json!({"finalizers": ["b", "c"]}),
        );
        check(json!({"series": {"count": 2}}), json!({"series": {"count": 3}}), json!({"series": {"count": 3}}));
    }
}
