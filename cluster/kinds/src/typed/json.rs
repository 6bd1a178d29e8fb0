//! Conversion of JSON values to Kubernetes' types, with errors that name the field.

use std::fmt;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use schedc_bounds::text::shortened;
use serde::Deserialize;
use serde::de::{DeserializeOwned, IgnoredAny};
use serde_json::Value;

use super::findings::UnknownFields;
use super::is_namespaced;
use super::reader::{self, Reason, WrongValue};

/// Error in a JSON value that should be an object of a kind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ObjectError {
    /// The object, such as `Pod default/web`, or the known part of the name.
    pub object: String,
    /// The path of the field, such as `spec.containers[0].name`. `None`: the error concerns the object as a whole.
    pub field: Option<String>,
    /// The problem.
    pub message: String,
}

impl fmt::Display for ObjectError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.field {
            Some(field) => {
                write!(f, "{}: {}: ", shortened(&self.object, 200), shortened(field, 400))?;
                f.write_str(&shortened(&self.message, 2000))
            }
            None => write!(f, "{} {}", shortened(&self.object, 200), shortened(&self.message, 2000)),
        }
    }
}

impl std::error::Error for ObjectError {}

/// Returns the text by which messages name an object, such as `Pod default/web`.
pub fn object_name(kind: &str, metadata: &ObjectMeta) -> String {
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

/// Reads an object of a known kind. `value` has `apiVersion` and `kind`. Adds unknown fields to `unknown`. Returns at
/// least one error on failure.
pub fn typed<T: DeserializeOwned>(
    kind: &str,
    value: &Value,
    unknown: &mut UnknownFields,
) -> Result<T, Vec<ObjectError>> {
    let error = |WrongValue { path, reason }| {
        let message = match reason {
            Reason::Type(error) => plain_message(&path, &error.to_string()),
            Reason::Quantity(problem) => problem,
        };
        ObjectError { object: name(kind, value), field: (!path.is_empty()).then_some(path), message }
    };
    reader::read(value, unknown).map_err(|wrong| wrong.into_iter().map(error).collect())
}

/// Returns the problem of a value that is not a list. `None`: it is a list.
pub fn problem_of_list(value: &Value) -> Option<String> {
    let error = Vec::<IgnoredAny>::deserialize(value).err()?;
    Some(plain_message("", &error.to_string()))
}

/// Returns the text of [`object_name`] for a value that may be an invalid object.
pub fn name(kind: &str, value: &Value) -> String {
    let text = |field: &str| value.pointer(field).and_then(Value::as_str).map(str::to_owned);
    let metadata = ObjectMeta {
        name: text("/metadata/name"),
        namespace: text("/metadata/namespace"),
        generate_name: text("/metadata/generateName"),
        ..ObjectMeta::default()
    };
    object_name(kind, &metadata)
}

/// Returns the message of an error, with YAML terms instead of serde's type names.
fn plain_message(path: &str, error: &str) -> String {
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
        "IntOrString" => "a whole number or a text such as `50%`",
        "Quantity" => "a quantity such as `500m` or `1Gi`",
        other if other.starts_with("struct ") || other.starts_with(|c: char| c.is_uppercase()) => "fields",
        other => other,
    };
    let hint = match found.split_once(' ').map_or(found, |(kind, _)| kind) {
        "integer" | "floating" if expected == "text" => "; put it in quotes",
        "boolean" if expected == "text" => "; put it in quotes; `y`, `n`, `yes`, `no`, `on` and `off` are booleans too",
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
