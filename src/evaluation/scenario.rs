//! Scenarios as they are written.

use k8s_openapi::api::core::v1::Pod;
use schedc_objects::manifests::UniqueKeys;
use schedc_objects::{AnyObject, ObjectReader};
use serde::Deserialize;
use serde_json::Value;

use super::Broken;

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
}

/// Something that happens.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Step {
    /// A pod is to be scheduled.
    Schedule(#[serde(deserialize_with = "unique::value")] Value),
    /// An object comes.
    Create(#[serde(deserialize_with = "unique::value")] Value),
    /// An object changes.
    Update(#[serde(deserialize_with = "unique::value")] Value),
    /// An object goes.
    Delete(Reference),
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

/// A line of input: a scenario, or an object with a scenario and the results that somebody expects of it, which are not
/// looked at.
#[derive(Deserialize)]
struct Line {
    scenario: Option<Scenario>,
    id: Option<String>,
    profile: Option<String>,
    #[serde(default, deserialize_with = "unique::list")]
    objects: Vec<Value>,
    #[serde(default)]
    steps: Vec<Step>,
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
pub struct NotAScenario {
    /// Where in the line; 0 for the line as a whole.
    pub column: usize,
    /// What is wrong.
    pub message: String,
}

impl Scenario {
    /// Reads a line of JSON, without space around it.
    ///
    /// # Errors
    /// It is not JSON, or not a scenario.
    pub fn read(line: &[u8]) -> Result<Self, NotAScenario> {
        // A derived reader would take a list of all fields, too.
        if !line.starts_with(b"{") {
            return Err(NotAScenario::not_an_object());
        }
        let line: Line = serde_json::from_slice(line).map_err(|error| problem(&error))?;
        let Line { scenario, id, profile, objects, steps } = line;
        scenario.or_else(|| Some(Scenario { id: id?, profile, objects, steps })).ok_or_else(|| NotAScenario {
            column: 0,
            message: "not a scenario: there is neither `id` nor `scenario`".to_owned(),
        })
    }
}

impl NotAScenario {
    pub(super) fn not_an_object() -> Self {
        NotAScenario { column: 0, message: "not a scenario: a line must be an object of JSON".to_owned() }
    }
}

/// What is wrong with a line, and where.
pub(super) fn problem(error: &serde_json::Error) -> NotAScenario {
    let text = error.to_string();
    let place = format!(" at line {} column {}", error.line(), error.column());
    let text = text.strip_suffix(&place).unwrap_or(&text);
    NotAScenario { column: error.column(), message: format!("not a scenario: {text}") }
}

/// The object in a JSON value.
pub(super) fn object(value: Value, reader: &mut ObjectReader) -> Result<AnyObject, Broken> {
    let text = |field| match value.get(field).and_then(Value::as_str) {
        None | Some("") => Err(Broken::Missing(field)),
        Some(text) => Ok(text.to_owned()),
    };
    let (kind, api_version) = (text("kind")?, text("apiVersion")?);
    reader.read(&api_version, &kind, value)?.ok_or(Broken::Kind { api_version: Some(api_version), kind })
}

/// The pod in a JSON value, which need not say that it is one.
pub(super) fn pod(mut value: Value, reader: &mut ObjectReader) -> Result<Pod, Broken> {
    if let Some(fields) = value.as_object_mut() {
        for (field, text) in [("apiVersion", "v1"), ("kind", "Pod")] {
            fields.entry(field).or_insert_with(|| text.into());
        }
    }
    match object(value, reader)? {
        AnyObject::Pod(pod) => Ok(*pod),
        other => Err(Broken::NotAPod(other.kind())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(line: &str) -> Result<Scenario, String> {
        Scenario::read(line.as_bytes()).map_err(|error| format!("{}: {}", error.column, error.message))
    }

    #[test]
    fn a_scenario_stands_alone_or_beside_expected_results() {
        let alone = r#"{"id": "a", "profile": "edge", "steps": [{"delete": {"kind": "Node", "name": "n"}}]}"#;
        let scenario = read(alone).unwrap();
        let reference = Reference { kind: "Node".into(), namespace: String::new(), name: "n".into() };
        assert_eq!((scenario.id.as_str(), &scenario.steps[..]), ("a", &[Step::Delete(reference)][..]));
        let beside = read(&format!(r#"{{"expected": [{{"pod": 7}}], "scenario": {alone}}}"#));
        assert_eq!(beside, Ok(scenario), "what is expected is not looked at");
    }

    #[test]
    fn what_is_no_scenario_has_a_place() {
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
