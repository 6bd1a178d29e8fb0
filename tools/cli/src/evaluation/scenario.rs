//! The format of scenarios.

use std::collections::BTreeMap;
use std::fmt;

use k8s_openapi::api::core::v1::Pod;
use schedc_objects::manifests::UniqueKeys;
use schedc_objects::{AnyObject, ObjectReader, UnknownField};
use serde::de::{DeserializeOwned, Error, IgnoredAny, MapAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::Value;

use super::InvalidItem;

/// A cluster and its changes.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct Scenario {
    /// ID of the results.
    pub id: String,
    /// The profile that decides, by its file name or its scheduler name.
    pub profile: Option<String>,
    /// Initial objects, in the order of their creation.
    #[serde(default, deserialize_with = "unique::list")]
    pub objects: Vec<Value>,
    /// Changes, in order.
    #[serde(default)]
    pub steps: Vec<Step>,
    /// Unknown keys.
    #[serde(flatten)]
    pub unknown: UnknownKeys,
}

/// Unknown keys, without their values.
pub type UnknownKeys = BTreeMap<String, IgnoredAny>;

/// A step of a scenario.
#[derive(Clone, Debug, PartialEq)]
pub enum Step {
    /// Schedule a pod.
    Schedule(Value),
    /// Add an object.
    Create(Value),
    /// Update an object.
    Update(Value),
    /// Delete an object.
    Delete(Reference),
}

impl<'de> Deserialize<'de> for Step {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(StepVisitor)
    }
}

/// Parses a step: an object with one key. A derived reader would report a second key as a syntax error.
struct StepVisitor;

impl<'de> Visitor<'de> for StepVisitor {
    type Value = Step;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object with one of `schedule`, `create`, `update` and `delete`")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut keys: A) -> Result<Step, A::Error> {
        #[derive(Clone, Copy, Deserialize)]
        #[serde(rename_all = "lowercase")]
        enum Verb {
            Schedule,
            Create,
            Update,
            Delete,
        }
        let Some(verb) = keys.next_key()? else {
            return Err(A::Error::custom("a step has one of `schedule`, `create`, `update` and `delete`"));
        };
        let mut manifest = || keys.next_value().map(|UniqueKeys(value)| value);
        let step = match verb {
            Verb::Schedule => Step::Schedule(manifest()?),
            Verb::Create => Step::Create(manifest()?),
            Verb::Update => Step::Update(manifest()?),
            Verb::Delete => Step::Delete(keys.next_value()?),
        };
        match keys.next_key::<String>()? {
            None => Ok(step),
            Some(key) => Err(A::Error::custom(format_args!("a step has one key; `{key}` is a second one"))),
        }
    }
}

/// A reference to an object.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Reference {
    /// Kind.
    pub kind: String,
    /// Namespace. `default` if missing or empty; ignored for cluster-scoped kinds.
    #[serde(default)]
    pub namespace: String,
    /// Name.
    pub name: String,
}

/// Deserialisation of manifests that rejects duplicate keys.
pub(super) mod unique {
    use serde::{Deserialize, Deserializer};

    use super::{UniqueKeys, Value};

    pub(in super::super) fn value<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Value, D::Error> {
        UniqueKeys::deserialize(deserializer).map(|UniqueKeys(value)| value)
    }

    pub(in super::super) fn option<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Value>, D::Error> {
        Option::deserialize(deserializer).map(|value| value.map(|UniqueKeys(value)| value))
    }

    pub(in super::super) fn list<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<Value>, D::Error> {
        let list = Vec::<UniqueKeys>::deserialize(deserializer)?;
        Ok(list.into_iter().map(|UniqueKeys(value)| value).collect())
    }
}

/// The reason why a line is not a scenario.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InvalidScenario {
    /// Column of the error; 0 for the line as a whole.
    pub column: usize,
    /// The error.
    pub message: String,
}

impl Scenario {
    pub(super) const KEYS: &'static [&'static str] = &["id", "profile", "objects", "steps"];

    /// Parses a trimmed line of JSON: a scenario, or an object with a scenario and expected results, which are
    /// ignored.
    ///
    /// # Errors
    /// Returns an error if the line is not JSON or not a scenario.
    pub fn read(line: &[u8]) -> Result<Self, InvalidScenario> {
        read(line)
    }
}

/// Parses a line of JSON: a scenario, or an object with a scenario.
pub(super) fn read<S: DeserializeOwned>(line: &[u8]) -> Result<S, InvalidScenario> {
    #[derive(Deserialize)]
    struct Line<S> {
        scenario: Option<S>,
        id: Option<IgnoredAny>,
    }
    // A derived reader would also accept a list of all fields.
    if !line.starts_with(b"{") {
        return Err(InvalidScenario::new("a line must be a JSON object"));
    }
    match serde_json::from_slice(line).map_err(|error| problem(&error))? {
        Line { scenario: Some(scenario), .. } => Ok(scenario),
        Line { id: Some(_), .. } => serde_json::from_slice(line).map_err(|error| problem(&error)),
        Line { .. } => Err(InvalidScenario::new("both `id` and `scenario` are missing")),
    }
}

/// Returns the unknown keys of the object at a path.
pub(super) fn unknown_fields<'a>(
    parent: &'a str,
    unknown: &'a UnknownKeys,
    known: &'static [&'static str],
) -> impl Iterator<Item = UnknownField> + 'a {
    let unknown = unknown.keys().filter(|name| !known.contains(&name.as_str()));
    unknown.map(move |name| UnknownField { parent: parent.to_owned(), name: name.clone(), known })
}

impl InvalidScenario {
    fn new(message: &str) -> Self {
        InvalidScenario { column: 0, message: format!("not a scenario: {message}") }
    }
}

/// Converts a JSON error: message and column.
fn problem(error: &serde_json::Error) -> InvalidScenario {
    let text = error.to_string();
    let place = format!(" at line {} column {}", error.line(), error.column());
    let text = text.strip_suffix(&place).unwrap_or(&text);
    InvalidScenario { column: error.column(), message: format!("not a scenario: {text}") }
}

/// Reads the object in a JSON value.
pub(super) fn object(value: Value, reader: &mut ObjectReader) -> Result<AnyObject, InvalidItem> {
    let text = |field| match value.get(field).and_then(Value::as_str) {
        None | Some("") => Err(InvalidItem::Missing(field)),
        Some(text) => Ok(text.to_owned()),
    };
    let (kind, api_version) = (text("kind")?, text("apiVersion")?);
    reader.read(&api_version, &kind, value)?.ok_or(InvalidItem::Kind { api_version: Some(api_version), kind })
}

/// Reads the pod in a JSON value, which may omit kind and API version.
pub(super) fn pod(mut value: Value, reader: &mut ObjectReader) -> Result<Pod, InvalidItem> {
    if let Some(fields) = value.as_object_mut() {
        for (field, text) in [("apiVersion", "v1"), ("kind", "Pod")] {
            fields.entry(field).or_insert_with(|| text.into());
        }
    }
    match object(value, reader)? {
        AnyObject::Pod(pod) => Ok(*pod),
        other => Err(InvalidItem::NotAPod(other.kind())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(line: &str) -> Result<Scenario, String> {
        Scenario::read(line.as_bytes()).map_err(|error| format!("{}: {}", error.column, error.message))
    }

    #[test]
    fn a_scenario_may_have_expected_results() {
        let alone = r#"{"id": "a", "profile": "edge", "steps": [{"delete": {"kind": "Node", "name": "n"}}]}"#;
        let scenario = read(alone).unwrap();
        let reference = Reference { kind: "Node".into(), namespace: String::new(), name: "n".into() };
        assert_eq!((scenario.id.as_str(), &scenario.steps[..]), ("a", &[Step::Delete(reference)][..]));
        let beside = read(&format!(r#"{{"expected": [{{"pod": 7}}], "scenario": {alone}}}"#));
        assert_eq!(beside, Ok(scenario), "expected results are ignored");
    }

    #[test]
    fn invalid_scenarios_are_reported_with_their_position() {
        for (line, error) in [
            ("{", "1: not a scenario: EOF while parsing an object"),
            ("{}", "0: not a scenario: both `id` and `scenario` are missing"),
            ("[1]", "0: not a scenario: a line must be a JSON object"),
            (
                r#"{"id": "a", "steps": [{"replace": {}}]}"#,
                "32: not a scenario: unknown variant `replace`, expected one of `schedule`, `create`, `update`, `delete`",
            ),
            (r#"{"id": 7}"#, "8: not a scenario: invalid type: integer `7`, expected a string"),
        ] {
            assert_eq!(read(line).unwrap_err(), error, "{line}");
        }
    }
}
