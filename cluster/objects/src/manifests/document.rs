//! Parsing of texts into documents, and of documents into objects.

use std::sync::Arc;

use schedc_kinds::ObjectError;
use serde_json::{Map, Value};

use super::json::UniqueKeys;
use super::lines::Lines;
use super::{Problem, Reading, SourceLocation, typed, yaml};

pub(super) fn read(name: &str, text: &str, reading: &mut Reading) {
    let file: Arc<str> = name.into();
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    reading.found.texts.add(&file, text);
    let named_json = is_named_json(name);
    if is_json(name, text) {
        match json(text) {
            Ok(documents) => {
                for (chunk, value) in documents {
                    all(vec![value], &chunk, &file, reading);
                }
                return;
            }
            // A text that begins like JSON may still be YAML.
            Err(_) if !named_json && yaml::all_parse(text) => {}
            Err((line, message)) => {
                let place = SourceLocation { file, line, item: None };
                return reading.problems.push(plain(place, format!("is not JSON: {message}")));
            }
        }
    }
    for chunk in yaml::chunks(text) {
        match yaml::parse::<Value>(&chunk) {
            Ok(values) => all(values, &chunk, &file, reading),
            Err((line, message)) => {
                let place = SourceLocation { file: file.clone(), line, item: None };
                reading.problems.push(plain(place, format!("is not YAML: {message}")));
            }
        }
    }
}

/// Splits a text, which was read before, into its documents. They are the same as those that were read.
pub(super) fn chunks<'a>(name: &str, text: &'a str) -> Vec<yaml::Chunk<'a>> {
    match is_json(name, text).then(|| json(text)) {
        Some(Ok(documents)) => documents.into_iter().map(|(chunk, _)| chunk).collect(),
        _ => yaml::chunks(text),
    }
}

fn is_named_json(name: &str) -> bool {
    name.ends_with(".json") || name.ends_with(".jsonl")
}

/// Returns whether a text is JSON by its name or its first character.
fn is_json(name: &str, text: &str) -> bool {
    is_named_json(name) || text.trim_start().starts_with(['{', '['])
}

fn plain(place: SourceLocation, message: String) -> Problem {
    Problem { place, object: None, field: None, message }
}

/// Reads the documents of a chunk into `reading`, and sets the lines of their problems.
fn all(values: Vec<Value>, chunk: &yaml::Chunk<'_>, file: &Arc<str>, reading: &mut Reading) {
    let mut lines = None;
    for (at, value) in values.into_iter().enumerate() {
        let before = reading.problems.len();
        let expressions_before = reading.objects.ignored.expressions().len();
        document(value, SourceLocation { file: file.clone(), line: chunk.line, item: None }, reading);
        let problems = reading.problems.iter_mut().skip(before);
        let problems = problems.filter_map(|problem| Some((problem.path()?, &mut problem.place)));
        let expressions = reading.objects.ignored.expressions().iter_mut().skip(expressions_before);
        let expressions = expressions.filter_map(|ignored| {
            let place = ignored.place.as_mut()?;
            Some((place.path(ignored.error.field.as_ref()?), place))
        });
        for (path, place) in problems.chain(expressions) {
            let lines = lines.get_or_insert_with(|| Lines::of(chunk));
            place.line = lines.find(at, &path).unwrap_or(place.line);
        }
        let of_document = reading.problems.get_mut(before..).unwrap_or_default();
        of_document.sort_by_key(|problem| (problem.place.item, problem.place.line));
    }
}

/// Returns concatenated JSON values with their locations. White space between them is optional.
fn json(text: &str) -> Result<Vec<(yaml::Chunk<'_>, Value)>, (u32, String)> {
    let mut values = Vec::new();
    let mut stream = serde_json::Deserializer::from_str(text).into_iter::<UniqueKeys>();
    let (mut counted, mut line) = (0, 1_u32);
    loop {
        let rest = text.get(stream.byte_offset()..).unwrap_or_default();
        let begin = text.len() - rest.trim_start().len();
        let passed = text.get(counted..begin).unwrap_or_default();
        line = line.saturating_add(u32::try_from(passed.matches('\n').count()).unwrap_or(u32::MAX));
        counted = begin;
        match stream.next() {
            None => return Ok(values),
            Some(Ok(UniqueKeys(value))) => {
                let text = text.get(begin..stream.byte_offset()).unwrap_or_default();
                values.push((yaml::Chunk::of(text, line), value));
            }
            Some(Err(error)) => {
                let line = u32::try_from(error.line()).unwrap_or(u32::MAX);
                let text = error.to_string();
                return Err((line, text.rsplit_once(" at line ").map_or(&*text, |(what, _)| what).to_owned()));
            }
        }
    }
}

/// Adds a document: one object, or a list of objects.
pub(super) fn document(value: Value, place: SourceLocation, reading: &mut Reading) {
    let Value::Object(mut object) = value else {
        if !value.is_null() {
            reading.problems.push(plain(place, "is not a Kubernetes object: there are no fields".to_owned()));
        }
        return;
    };
    let text = |field: &str| object.get(field).and_then(Value::as_str).filter(|text| !text.is_empty());
    let (Some(version), Some(kind)) = (text("apiVersion"), text("kind")) else {
        let missing = match (text("apiVersion"), text("kind")) {
            (None, None) => "`apiVersion` and no `kind`",
            (None, _) => "`apiVersion`",
            _ => "`kind`",
        };
        reading.problems.push(plain(place, format!("is not a Kubernetes object: there is no {missing}")));
        return;
    };
    let (version, kind) = (version.to_owned(), kind.to_owned());
    match (kind.strip_suffix("List"), object.get_mut("items").map(Value::take)) {
        (Some(item_kind), Some(Value::Array(items))) => {
            list_fields(&version, &kind, &object, &place, reading);
            for (i, mut item) in items.into_iter().enumerate() {
                // The items of a list of one kind may omit `apiVersion` and `kind`.
                if let (Value::Object(item), false) = (&mut item, item_kind.is_empty()) {
                    item.entry("apiVersion").or_insert_with(|| version.clone().into());
                    item.entry("kind").or_insert_with(|| item_kind.into());
                }
                let item_place = SourceLocation { item: Some(u32::try_from(i).unwrap_or(u32::MAX)), ..place.clone() };
                document(item, item_place, reading);
            }
        }
        (item_kind, items) => {
            if let Some(items) = items {
                object.insert("items".to_owned(), items);
            }
            if item_kind.is_none() || !list_fields(&version, &kind, &object, &place, reading) {
                typed::object(&version, &kind, Value::Object(object), place, reading);
            }
        }
    }
}

/// Validates the fields of a list. Returns whether the kind is one of Kubernetes' lists; the names of custom kinds may
/// also end with `List`.
fn list_fields(
    version: &str,
    kind: &str,
    fields: &Map<String, Value>,
    place: &SourceLocation,
    reading: &mut Reading,
) -> bool {
    let Some(errors) = reading.objects.list(version, kind, fields) else { return false };
    for ObjectError { field, message, .. } in errors {
        reading.problems.push(Problem { place: place.clone(), object: Some(kind.to_owned()), field, message });
    }
    true
}
