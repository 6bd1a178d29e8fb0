//! The format of scenarios.

use std::collections::BTreeMap;

use k8s_openapi::api::core::v1::Pod;
use schedc_objects::manifests::UniqueKeys;
use schedc_objects::{AnyObject, KindInfo, Kinds, ObjectReader, UnknownField};
use serde::de::{DeserializeOwned, IgnoredAny};
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
    /// A malformed step, with the error.
    Invalid(String),
}

impl<'de> Deserialize<'de> for Step {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        UniqueKeys::deserialize(deserializer).map(|UniqueKeys(value)| Step::of(value))
    }
}

impl Step {
    /// Returns the step of an object with one key.
    fn of(value: Value) -> Step {
        const VERBS: &str = "one of `schedule`, `create`, `update` and `delete`";
        let Value::Object(fields) = value else { return Step::Invalid(format!("a step is an object with {VERBS}")) };
        let mut fields = fields.into_iter();
        let Some((verb, value)) = fields.next() else { return Step::Invalid(format!("a step has {VERBS}")) };
        if let Some((second, _)) = fields.next() {
            return Step::Invalid(format!("a step has one key, but this one has `{verb}` and `{second}`"));
        }
        match verb.as_str() {
            "schedule" => Step::Schedule(value),
            "create" => Step::Create(value),
            "update" => Step::Update(value),
            "delete" => match serde_json::from_value(value) {
                Ok(reference) => Step::Delete(reference),
                Err(error) => Step::Invalid(format!("delete: {error}")),
            },
            _ => Step::Invalid(format!("there is no step `{verb}`; a step has {VERBS}")),
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

/// The name of an object of a known kind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ObjectName {
    /// Kind.
    pub kind: &'static str,
    /// Namespace, empty for kinds without namespaces.
    pub namespace: String,
    /// Name.
    pub name: String,
}

impl Reference {
    /// Returns the name with the default namespace.
    ///
    /// # Errors
    /// Returns an error if scheduling ignores the kind.
    pub fn resolve(self, kinds: Kinds) -> Result<ObjectName, InvalidItem> {
        let Reference { kind, namespace, name } = self;
        let Some(KindInfo { kind, is_namespaced, .. }) = kinds.named(&kind) else {
            return Err(InvalidItem::Kind { api_version: None, kind });
        };
        let namespace = match namespace.as_str() {
            _ if !is_namespaced => String::new(),
            "" => "default".to_owned(),
            _ => namespace,
        };
        Ok(ObjectName { kind, namespace, name })
    }
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
    // A derived deserializer would also accept an array with the values of all fields.
    if !line.starts_with(b"{") {
        return Err(InvalidScenario::new("a line must be a JSON object"));
    }
    match serde_json::from_slice(line).map_err(|error| invalid_scenario(&error))? {
        Line { scenario: Some(scenario), .. } => Ok(scenario),
        Line { id: Some(_), .. } => serde_json::from_slice(line).map_err(|error| invalid_scenario(&error)),
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

/// Converts a JSON error to its message and its column.
fn invalid_scenario(error: &serde_json::Error) -> InvalidScenario {
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
        let with_expected = read(&format!(r#"{{"expected": [{{"pod": 7}}], "scenario": {alone}}}"#));
        assert_eq!(with_expected, Ok(scenario), "expected results are ignored");
    }

    #[test]
    fn invalid_steps_leave_the_others_readable() {
        let steps =
            r#"7, {}, {"replace": {}}, {"create": {}, "update": {}}, {"delete": {"kind": "Pod"}}, {"create": {}}"#;
        let scenario = read(&format!(r#"{{"id": "a", "steps": [{steps}]}}"#)).unwrap();
        let message = |step: &Step| match step {
            Step::Invalid(message) => message.clone(),
            step => format!("{step:?}"),
        };
        expect_test::expect![[r#"
            a step is an object with one of `schedule`, `create`, `update` and `delete`
            a step has one of `schedule`, `create`, `update` and `delete`
            there is no step `replace`; a step has one of `schedule`, `create`, `update` and `delete`
            a step has one key, but this one has `create` and `update`
            delete: missing field `name`
            Create(Object {})"#]]
        .assert_eq(&scenario.steps.iter().map(message).collect::<Vec<_>>().join("\n"));
    }

    #[test]
    fn invalid_scenarios_are_reported_with_their_position() {
        for (line, error) in [
            ("{", "1: not a scenario: EOF while parsing an object"),
            ("{}", "0: not a scenario: both `id` and `scenario` are missing"),
            ("[1]", "0: not a scenario: a line must be a JSON object"),
            (r#"{"id": "a", "steps": {}}"#, "21: not a scenario: invalid type: map, expected a sequence"),
            (r#"{"id": 7}"#, "8: not a scenario: invalid type: integer `7`, expected a string"),
        ] {
            assert_eq!(read(line).unwrap_err(), error, "{line}");
        }
    }
}
