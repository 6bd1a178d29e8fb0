//! From JSON values to Kubernetes' types, with errors that name the field.

use std::fmt;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::is_namespaced;

/// Why a JSON value is not the object that it says to be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ObjectError {
    /// The object, such as `Pod default/web`, as far as it is known.
    pub object: String,
    /// The path of the field, such as `spec.containers[0].name`.
    pub field: Option<String>,
    /// What is wrong with it.
    pub message: String,
}

impl fmt::Display for ObjectError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.field {
            Some(field) => write!(f, "{}: {field}: {}", self.object, self.message),
            None => write!(f, "{} {}", self.object, self.message),
        }
    }
}

impl std::error::Error for ObjectError {}

/// What an object is called in problems.
pub(crate) fn object_name(kind: &str, metadata: &ObjectMeta) -> String {
    let name = match (metadata.name.as_deref(), metadata.generate_name.as_deref()) {
        (Some(name), _) if !name.is_empty() => name.to_owned(),
        (_, Some(prefix)) if !prefix.is_empty() => format!("{prefix}*"),
        _ => return format!("{kind} without a name"),
    };
    match metadata.namespace.as_deref() {
        Some(namespace) if !namespace.is_empty() => format!("{kind} {namespace}/{name}"),
        _ if is_namespaced(kind) => format!("{kind} default/{name}"),
        _ => format!("{kind} {name}"),
    }
}

/// Takes in an object whose kind is known. `value` has `apiVersion` and `kind`.
pub(crate) fn typed<T: DeserializeOwned>(kind: &str, value: Value) -> Result<T, ObjectError> {
    T::deserialize(&value).map_err(|error| {
        let object = name(kind, &value);
        let error = error.to_string();
        let path = locate::<T>(value, &error);
        let message = in_plain_words(&path, &error);
        ObjectError { object, field: (!path.is_empty()).then_some(path), message }
    })
}

/// What an object that may not be well formed is called.
pub(super) fn name(kind: &str, value: &Value) -> String {
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
