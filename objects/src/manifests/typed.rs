//! From untyped documents to Kubernetes' types.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::error::object_name;
use super::{Place, Problem, Reading, Sourced, quantities, yaml};

/// The kinds that scheduling uses, and the API that they are of.
const KINDS: [(&str, &str); 4] =
    [("Pod", "v1"), ("Node", "v1"), ("Namespace", "v1"), ("PriorityClass", "scheduling.k8s.io/v1")];

/// Takes in one object.
pub(super) fn object(version: &str, kind: &str, value: Value, place: Place, reading: &mut Reading) {
    let found = &mut reading.found;
    let known = KINDS.iter().find(|known| known.0 == kind).map(|known| known.1);
    let result = match (kind, known) {
        (_, Some(expected)) if expected != version && group(expected) == group(version) => Err(Problem {
            place,
            object: Some(name(kind, &value)),
            field: Some("apiVersion".to_owned()),
            message: format!("is `{version}`, but a {kind} is `{expected}`"),
        }),
        (_, Some(expected)) if expected != version => {
            *found.skipped.entry(kind.to_owned()).or_default() += 1;
            Ok(())
        }
        ("Pod", _) => typed(kind, value, place).and_then(|pod| {
            quantities::check_pod(&pod)?;
            found.pods.push(pod);
            Ok(())
        }),
        ("Node", _) => typed(kind, value, place).and_then(|node| {
            quantities::check_node(&node)?;
            found.nodes.push(node);
            Ok(())
        }),
        ("Namespace", _) => typed(kind, value, place).map(|namespace| found.namespaces.push(namespace)),
        ("PriorityClass", _) => typed(kind, value, place).map(|class| found.priority_classes.push(class)),
        _ => {
            *found.skipped.entry(kind.to_owned()).or_default() += 1;
            Ok(())
        }
    };
    reading.problems.extend(result.err());
}

fn group(version: &str) -> &str {
    version.split_once('/').map_or("", |(group, _)| group)
}

/// A manifest without the need to say what it is.
pub(crate) fn typed_for_tests<T: DeserializeOwned>(text: &str, kind: &str) -> Result<T, String> {
    let chunks = yaml::chunks(text);
    let [chunk] = chunks[..] else { return Err(format!("there must be one document, not {}", chunks.len())) };
    let mut values = yaml::parse(&chunk).map_err(|(line, message)| format!("line {line}: {message}"))?;
    let Some(Value::Object(mut object)) = values.pop().filter(|_| values.is_empty()) else {
        return Err("there must be one object".to_owned());
    };
    object.entry("apiVersion").or_insert_with(|| "v1".into());
    object.entry("kind").or_insert_with(|| kind.into());
    let place = Place { file: "manifest".into(), line: chunk.line, item: None };
    typed(kind, Value::Object(object), place).map(|typed| typed.object).map_err(|problem| problem.to_string())
}

fn typed<T: DeserializeOwned>(kind: &str, value: Value, place: Place) -> Result<Sourced<T>, Problem> {
    match T::deserialize(&value) {
        Ok(object) => Ok(Sourced { object, place }),
        Err(error) => {
            let object = Some(name(kind, &value));
            let error = error.to_string();
            let path = locate::<T>(value, &error);
            let message = in_plain_words(&path, &error);
            Err(Problem { place, object, field: (!path.is_empty()).then_some(path), message })
        }
    }
}

/// What an object that may not be well formed is called.
fn name(kind: &str, value: &Value) -> String {
    let text = |field: &str| value.pointer(field).and_then(Value::as_str).map(str::to_owned);
    let metadata = ObjectMeta {
        name: text("/metadata/name"),
        namespace: text("/metadata/namespace"),
        generate_name: text("/metadata/generateName"),
        ..ObjectMeta::default()
    };
    object_name(kind, &metadata)
}

/// Finds the field that keeps a value from being a `T`, which serde does not tell: without it, the error is gone, or is
/// another one.
fn locate<T: DeserializeOwned>(mut root: Value, error: &str) -> String {
    let mut path = String::new();
    // The JSON pointer of the value that the search has come to.
    let mut pointer = String::new();
    loop {
        let keys: Vec<String> = match root.pointer(&pointer) {
            Some(Value::Object(map)) => map.keys().cloned().collect(),
            Some(Value::Array(list)) => (0..list.len()).map(|i| i.to_string()).collect(),
            _ => return path,
        };
        let matters = |key: &String| {
            let Some(removed) = root.pointer_mut(&pointer).and_then(|parent| remove(parent, key)) else { return false };
            let matters = T::deserialize(&root).map_or_else(|e| e.to_string() != error, |_| true);
            if let Some(parent) = root.pointer_mut(&pointer) {
                insert(parent, key, removed);
            }
            matters
        };
        let Some(key) = keys.into_iter().find(matters) else { return path };
        match root.pointer(&pointer) {
            Some(Value::Array(_)) => path.push_str(&format!("[{key}]")),
            _ if key.contains(['.', '/']) => path.push_str(&format!("[{key}]")),
            _ if path.is_empty() => path.push_str(&key),
            _ => path.push_str(&format!(".{key}")),
        }
        pointer.push('/');
        pointer.push_str(&key.replace('~', "~0").replace('/', "~1"));
    }
}

fn remove(parent: &mut Value, key: &str) -> Option<Value> {
    match parent {
        Value::Object(map) => map.remove(key),
        Value::Array(list) => key.parse().ok().filter(|&i| i < list.len()).map(|i| list.remove(i)),
        _ => None,
    }
}

/// Undoes [`remove`].
fn insert(parent: &mut Value, key: &str, value: Value) {
    match parent {
        Value::Object(map) => {
            map.insert(key.to_owned(), value);
        }
        Value::Array(list) => {
            if let Some(i) = key.parse().ok().filter(|&i| i <= list.len()) {
                list.insert(i, value);
            }
        }
        _ => {}
    }
}

/// serde's words for types, in words for people who write YAML.
fn in_plain_words(path: &str, error: &str) -> String {
    let Some((found, expected)) = error.strip_prefix("invalid type: ").and_then(|e| e.rsplit_once(", expected "))
    else {
        let is_time = path.ends_with("Time") || path.ends_with("Timestamp");
        return if is_time { format!("is not a time such as 2026-01-31T12:00:00Z: {error}") } else { error.to_owned() };
    };
    let expected = match expected {
        "a string" => "text",
        "i32" | "i64" => "a whole number",
        "a boolean" => "true or false",
        "a sequence" => "a list",
        "a map" => "fields",
        other if other.starts_with("struct ") || other.starts_with(|c: char| c.is_uppercase()) => "fields",
        other => other,
    };
    let hint = match found.split_once(' ').map_or(found, |(kind, _)| kind) {
        "integer" | "floating" if expected == "text" => "; put it in quotes",
        "boolean" if expected == "text" => "; put it in quotes, also if it is `y`, `n`, `yes`, `no`, `on` or `off`",
        _ => "",
    };
    let found = match found {
        "map" => "fields",
        "sequence" => "a list",
        "null" => "nothing",
        other => other,
    };
    format!("is {found}, but must be {expected}{hint}")
}
