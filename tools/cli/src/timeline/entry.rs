//! Entries of an events file: time and action.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use schedc_codegen::suggest::closest;
use schedc_objects::manifests::entries::{Entry, Field};
use schedc_objects::manifests::{Problem, SourceLocation};
use schedc_objects::{KINDS, KindInfo, Kinds, ObjectError, ObjectReader};
use serde_json::{Map, Value};

use super::Reference;
use super::time::EventTime;

/// An event as written in a file.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct WrittenEvent {
    pub(super) when: EventTime,
    pub(super) what: EntryAction,
    pub(super) place: SourceLocation,
}

/// An action on an object.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum EntryAction {
    Create(Manifest),
    Apply(Manifest),
    Update(Manifest),
    Delete(Reference),
    /// An action on an object of a kind that scheduling ignores.
    Nothing {
        kind: String,
    },
}

/// A manifest as written, possibly partial.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Manifest {
    pub(super) version: String,
    pub(super) kind: KindInfo,
    pub(super) fields: Map<String, Value>,
}

impl Manifest {
    pub(super) fn reference(&self) -> Reference {
        let text = |field| self.fields.get("metadata")?.get(field)?.as_str();
        let KindInfo { kind, is_namespaced, .. } = self.kind;
        Reference::new(kind, is_namespaced, text("namespace").unwrap_or_default(), text("name").unwrap_or_default())
    }
}

const AT: &str = "at";
const VERBS: [&str; 4] = ["create", "apply", "update", "delete"];
const USAGE: &str = "an event has a time (`at: 12.5s`) and one of `create`, `apply`, `update` and `delete`";

/// Reads one entry. Adds its events to `events` and its errors to `problems`.
pub(super) fn read(
    entry: Entry,
    reader: &mut ObjectReader,
    events: &mut Vec<WrittenEvent>,
    problems: &mut Vec<Problem>,
) {
    let mut report = |place: &SourceLocation, message: String| {
        problems.push(Problem { place: place.clone(), object: None, field: None, message });
    };
    let has_field = |name: &str| entry.fields.iter().any(|field| field.name == name);
    if has_field("apiVersion") && has_field("kind") {
        let message = "is a manifest, not an event; put it below `create:` and add its time (`at: 12.5s`)";
        return report(&entry.place, message.to_owned());
    }
    let (mut when, mut verb) = (None, None);
    let mut is_valid = true;
    for field in entry.fields {
        match field.name.as_str() {
            AT => match event_time(&field.value) {
                Ok(time) => when = Some(time),
                Err(message) => {
                    is_valid = false;
                    report(&field.place, format!("at: {message}"));
                }
            },
            name if VERBS.contains(&name) => match &verb {
                None => verb = Some(field),
                Some(Field { name: other, .. }) => {
                    is_valid = false;
                    report(&field.place, format!("has both `{other}` and `{name}`; split it into two events"));
                }
            },
            name => {
                is_valid = false;
                let message = match closest(name, VERBS.into_iter().chain([AT])) {
                    Some(similar) => format!("unknown field `{name}`; did you mean `{similar}`?"),
                    None => format!("unknown field `{name}`; {USAGE}"),
                };
                report(&field.place, message);
            }
        }
    }
    if !is_valid {
        return;
    }
    let (when, verb) = match (when, verb) {
        (Some(when), Some(verb)) => (when, verb),
        (None, _) => {
            return report(&entry.place, "has no time; add `at`, such as `at: 12.5s`".to_owned());
        }
        (_, None) => return report(&entry.place, format!("has no action; {USAGE}")),
    };
    let Field { name: verb, place, value } = verb;
    for (value, place) in objects(value, &place, reader, problems) {
        match action(&verb, value, reader) {
            Ok(what) => events.push(WrittenEvent { when, what, place }),
            Err(EntryError::Event(message)) => {
                let message = format!("{verb}: {message}");
                problems.push(Problem { place, object: None, field: None, message });
            }
            Err(EntryError::Object(errors)) => problems.extend(errors.into_iter().map(|error| problem(error, &place))),
        }
    }
}

/// The reason why an entry is not an event.
enum EntryError {
    /// An error of the event itself.
    Event(String),
    /// Errors of the manifest.
    Object(Vec<ObjectError>),
}

impl From<String> for EntryError {
    fn from(message: String) -> Self {
        EntryError::Event(message)
    }
}

impl From<Vec<ObjectError>> for EntryError {
    fn from(errors: Vec<ObjectError>) -> Self {
        EntryError::Object(errors)
    }
}

fn problem(ObjectError { object, field, message }: ObjectError, place: &SourceLocation) -> Problem {
    Problem { place: place.clone(), object: Some(object), field, message }
}

fn event_time(value: &Value) -> Result<EventTime, String> {
    match value {
        Value::String(text) => EventTime::parse(text),
        Value::Number(number) => EventTime::parse(&number.to_string()),
        _ => Err("must be a duration such as `12.5s` or `1h30m`, or a time such as 2026-01-31T12:00:00Z".to_owned()),
    }
}

/// Returns the objects of an event: one, or the items of a list.
fn objects(
    value: Value,
    place: &SourceLocation,
    reader: &mut ObjectReader,
    problems: &mut Vec<Problem>,
) -> Vec<(Value, SourceLocation)> {
    let (items, version, kind) = match value {
        Value::Array(items) => (items, None, None),
        Value::Object(mut fields) => {
            let text = |field: &str| fields.get(field).and_then(Value::as_str);
            let kind = text("kind").and_then(|kind| kind.strip_suffix("List")).map(str::to_owned);
            if let (Some(version), Some(list), Some(_)) = (text("apiVersion"), text("kind"), &kind)
                && let Some(errors) = reader.list(version, list, &fields)
            {
                problems.extend(errors.into_iter().map(|error| problem(error, place)));
                if !fields.get("items").is_some_and(Value::is_array) {
                    return Vec::new();
                }
            }
            match (kind, fields.get_mut("items").map(Value::take)) {
                (Some(kind), Some(Value::Array(items))) => {
                    (items, fields.remove("apiVersion"), Some(kind).filter(|kind| !kind.is_empty()))
                }
                (_, None) => return vec![(Value::Object(fields), place.clone())],
                (_, Some(items)) => {
                    fields.insert("items".to_owned(), items);
                    return vec![(Value::Object(fields), place.clone())];
                }
            }
        }
        value => return vec![(value, place.clone())],
    };
    let part = |(i, mut item): (usize, Value)| {
        // Items of a list of one kind may omit kind and API version.
        if let (Value::Object(item), Some(kind)) = (&mut item, &kind) {
            item.entry("apiVersion").or_insert_with(|| version.clone().unwrap_or_default());
            item.entry("kind").or_insert_with(|| kind.as_str().into());
        }
        (item, SourceLocation { item: Some(u32::try_from(i).unwrap_or(u32::MAX)), ..place.clone() })
    };
    items.into_iter().enumerate().map(part).collect()
}

fn action(verb: &str, value: Value, reader: &mut ObjectReader) -> Result<EntryAction, EntryError> {
    let Value::Object(fields) = value else {
        return Err(EntryError::from(match verb {
            "delete" => "must be `kind`, `namespace` and `name` of an object".to_owned(),
            _ => "must be a manifest".to_owned(),
        }));
    };
    if verb == "delete" {
        return deletion(&fields, reader);
    }
    let kinds = reader.kinds;
    let text = |field: &str| fields.get(field).and_then(Value::as_str).filter(|text| !text.is_empty());
    let (Some(version), Some(written)) = (text("apiVersion"), text("kind")) else {
        let missing = if text("apiVersion").is_none() { "apiVersion" } else { "kind" };
        return Err(EntryError::from(format!("is not a manifest: `{missing}` is missing")));
    };
    let declared = kinds.find(version, written).map(KindInfo::from);
    let known = || kind(written, kinds).transpose();
    let Some(kind) = declared.map(Ok).or_else(known).transpose()? else {
        let (version, kind) = (version.to_owned(), written.to_owned());
        reader.read(&version, &kind, Value::Object(fields))?;
        return Ok(EntryAction::Nothing { kind });
    };
    // A kind with this name in another API group is a different kind; reading a probe object detects it.
    let probe = serde_json::json!({"apiVersion": version, "kind": kind.manifest_kind, "metadata": {}});
    let (version, is_other) = (version.to_owned(), matches!(kinds.read(version, kind.manifest_kind, probe), Ok(None)));
    if is_other {
        reader.read(&version, kind.manifest_kind, Value::Object(fields))?;
        return Ok(EntryAction::Nothing { kind: kind.manifest_kind.to_owned() });
    }
    let manifest = Manifest { version, kind, fields };
    Ok(match verb {
        "create" => EntryAction::Create(manifest),
        "apply" => EntryAction::Apply(manifest),
        _ => EntryAction::Update(manifest),
    })
}

/// Reads the object to delete, given by name or by manifest.
fn deletion(fields: &Map<String, Value>, reader: &mut ObjectReader) -> Result<EntryAction, EntryError> {
    let metadata = match fields.get("metadata") {
        None => None,
        Some(metadata) => {
            Some(serde_json::from_value::<ObjectMeta>(metadata.clone()).map_err(|error| format!("metadata: {error}"))?)
        }
    };
    let known = ["apiVersion", "kind", "namespace", "name"];
    if metadata.is_none()
        && let Some(unknown) = fields.keys().find(|field| !known.contains(&field.as_str()))
    {
        return Err(EntryError::from(match closest(unknown, known) {
            Some(similar) => format!("unknown field `{unknown}`; did you mean `{similar}`?"),
            None => format!("unknown field `{unknown}`; an object is named by `kind`, `namespace` and `name`"),
        }));
    }
    let text = |field: &str| match fields.get(field) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) => Ok(Some(text.as_str()).filter(|text| !text.is_empty())),
        Some(_) => Err(format!("{field}: must be text; put it in quotes")),
    };
    let Some(written) = text("kind")? else {
        return Err(EntryError::from("`kind` of the object is missing".to_owned()));
    };
    let (namespace, name) = match &metadata {
        Some(metadata) => (metadata.namespace.as_deref(), metadata.name.as_deref()),
        None => (text("namespace")?, text("name")?),
    };
    let Some(name) = name.filter(|name| !name.is_empty()) else {
        return Err(EntryError::from(format!("`name` of the {written} is missing")));
    };
    let info = kind(written, reader.kinds)?;
    let manifest_kind = info.map_or(written, |info| info.manifest_kind);
    if let Some(version) = text("apiVersion")?.or(info.map(|info| info.api_version)) {
        let own = || serde_json::json!({"namespace": namespace, "name": name});
        let metadata = fields.get("metadata").cloned().unwrap_or_else(own);
        let value = serde_json::json!({"apiVersion": version, "kind": manifest_kind, "metadata": metadata});
        let is_other = reader.read_as(version, manifest_kind, value, reader.is_strict(fields))?.is_none();
        if is_other {
            return Ok(EntryAction::Nothing { kind: manifest_kind.to_owned() });
        }
    }
    Ok(match info {
        Some(KindInfo { kind, is_namespaced, .. }) => {
            EntryAction::Delete(Reference::new(kind, is_namespaced, namespace.unwrap_or_default(), name))
        }
        None => EntryAction::Nothing { kind: written.to_owned() },
    })
}

/// Returns the kind with this name, if scheduling uses it. An unknown name that resembles a known kind is an error.
fn kind(written: &str, kinds: Kinds) -> Result<Option<KindInfo>, String> {
    if let Some(kind) = kinds.named(written) {
        return Ok(Some(kind));
    }
    match closest(written, KINDS.iter().copied()) {
        Some(similar) => Err(format!("there is no kind `{written}`; did you mean `{similar}`?")),
        None => Ok(None),
    }
}
