//! Scenarios as they are written.

use std::collections::BTreeMap;
use std::fmt;

use k8s_openapi::api::core::v1::Pod;
use schedc_objects::manifests::UniqueKeys;
use schedc_objects::{AnyObject, ObjectReader, UnknownField};
use serde::de::{DeserializeOwned, Error, IgnoredAny, MapAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::Value;

use super::InvalidItem;

/// A cluster, and what happens to it.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct Scenario {
    /// What its results are told by.
    pub id: String,
    /// The profile that decides, by the name of its file or by its scheduler name.
    pub profile: Option<String>,
    /// The cluster in the beginning, in the order in which things came.
    #[serde(default, deserialize_with = "unique::list")]
    pub objects: Vec<Value>,
    /// What happens then.
    #[serde(default)]
    pub steps: Vec<Step>,
    /// Keys that a scenario does not have.
    #[serde(flatten)]
    pub unknown: UnknownKeys,
}

/// Keys that are not known, without their values.
pub type UnknownKeys = BTreeMap<String, IgnoredAny>;

/// Something that happens.
#[derive(Clone, Debug, PartialEq)]
pub enum Step {
    /// A pod is to be scheduled.
    Schedule(Value),
    /// An object comes.
    Create(Value),
    /// An object changes.
    Update(Value),
    /// An object goes.
    Delete(Reference),
}

impl<'de> Deserialize<'de> for Step {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(StepVisitor)
    }
}

/// Reads a step: an object with one key. A derived reader would report a second key as a syntax error.
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
            Some(key) => Err(A::Error::custom(format_args!("a step has one key; `{key}` is another"))),
        }
    }
}

/// Which object.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Reference {
    /// Its kind.
    pub kind: String,
    /// Its namespace. If it is missing or empty, `default`; kinds without namespaces have none anyway.
    #[serde(default)]
    pub namespace: String,
    /// Its name.
    pub name: String,
}

/// Manifests in which no key is twice.
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

/// Why a line is no scenario.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InvalidScenario {
    /// Where in the line; 0 for the line as a whole.
    pub column: usize,
    /// What is wrong.
    pub message: String,
}

impl Scenario {
    pub(super) const KEYS: &'static [&'static str] = &["id", "profile", "objects", "steps"];

    /// Reads a line of JSON, without space around it: a scenario, or an object with a scenario and the expected results, which
    /// are not looked at.
    ///
    /// # Errors
    /// It is not JSON, or not a scenario.
    pub fn read(line: &[u8]) -> Result<Self, InvalidScenario> {
        read(line)
    }
}

/// Reads a line of JSON: a scenario, or an object with a scenario.
pub(super) fn read<S: DeserializeOwned>(line: &[u8]) -> Result<S, InvalidScenario> {
    #[derive(Deserialize)]
    struct Line<S> {
        scenario: Option<S>,
        id: Option<IgnoredAny>,
    }
    // A derived reader would take a list of all fields, too.
    if !line.starts_with(b"{") {
        return Err(InvalidScenario::new("a line must be an object of JSON"));
    }
    match serde_json::from_slice(line).map_err(|error| problem(&error))? {
        Line { scenario: Some(scenario), .. } => Ok(scenario),
        Line { id: Some(_), .. } => serde_json::from_slice(line).map_err(|error| problem(&error)),
        Line { .. } => Err(InvalidScenario::new("there is neither `id` nor `scenario`")),
    }
}

/// Unknown keys of the object at a path.
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

/// What is wrong with a line, and where.
fn problem(error: &serde_json::Error) -> InvalidScenario {
    let text = error.to_string();
    let place = format!(" at line {} column {}", error.line(), error.column());
    let text = text.strip_suffix(&place).unwrap_or(&text);
    InvalidScenario { column: error.column(), message: format!("not a scenario: {text}") }
}

/// The object in a JSON value.
pub(super) fn object(value: Value, reader: &mut ObjectReader) -> Result<AnyObject, InvalidItem> {
    let text = |field| match value.get(field).and_then(Value::as_str) {
        None | Some("") => Err(InvalidItem::Missing(field)),
        Some(text) => Ok(text.to_owned()),
    };
    let (kind, api_version) = (text("kind")?, text("apiVersion")?);
    reader.read(&api_version, &kind, value)?.ok_or(InvalidItem::Kind { api_version: Some(api_version), kind })
}

/// The pod in a JSON value, which need not say that it is one.
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
        assert_eq!(beside, Ok(scenario), "what is expected is not looked at");
    }

    #[test]
    fn invalid_scenarios_are_reported_with_their_position() {
        for (line, error) in [
            ("{", "1: not a scenario: EOF while parsing an object"),
            ("{}", "0: not a scenario: there is neither `id` nor `scenario`"),
            ("[1]", "0: not a scenario: a line must be an object of JSON"),
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
