//! From text to documents, from documents to objects.

use std::sync::Arc;

use serde_json::Value;

use super::{Place, Problem, Reading, typed, yaml};

pub(super) fn read(name: &str, text: &str, reading: &mut Reading) {
    let file: Arc<str> = name.into();
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let named_json = name.ends_with(".json") || name.ends_with(".jsonl");
    if named_json || text.trim_start().starts_with(['{', '[']) {
        match json(text) {
            Ok(documents) => {
                for (line, value) in documents {
                    document(value, Place { file: file.clone(), line, item: None }, reading);
                }
                return;
            }
            // What begins like JSON may still be YAML.
            Err(_) if !named_json && yaml::all_parse(text) => {}
            Err(error) => {
                let line = u32::try_from(error.line()).unwrap_or(u32::MAX);
                let place = Place { file, line, item: None };
                let text = error.to_string();
                let what = text.rsplit_once(" at line ").map_or(&*text, |(what, _)| what);
                return reading.problems.push(plain(place, format!("is not JSON: {what}")));
            }
        }
    }
    for chunk in yaml::chunks(text) {
        let place = |line| Place { file: file.clone(), line, item: None };
        match yaml::parse::<Value>(&chunk) {
            Ok(values) => {
                for value in values {
                    document(value, place(chunk.line), reading);
                }
            }
            Err((line, message)) => reading.problems.push(plain(place(line), format!("is not YAML: {message}"))),
        }
    }
}

fn plain(place: Place, message: String) -> Problem {
    Problem { place, object: None, field: None, message }
}

/// JSON values one after the other, with or without white space between them, and the lines on which they begin.
fn json(text: &str) -> Result<Vec<(u32, Value)>, serde_json::Error> {
    let mut values = Vec::new();
    let mut stream = serde_json::Deserializer::from_str(text).into_iter::<Value>();
    let (mut counted, mut line) = (0, 1_u32);
    loop {
        let rest = text.get(stream.byte_offset()..).unwrap_or_default();
        let begin = text.len() - rest.trim_start().len();
        let passed = text.get(counted..begin).unwrap_or_default();
        line = line.saturating_add(u32::try_from(passed.matches('\n').count()).unwrap_or(u32::MAX));
        counted = begin;
        match stream.next() {
            None => return Ok(values),
            Some(value) => values.push((line, value?)),
        }
    }
}

/// Takes in a document: one object, or a list of them.
fn document(value: Value, place: Place, reading: &mut Reading) {
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
            for (i, mut item) in items.into_iter().enumerate() {
                // The items of a list of one kind need not say what they are.
                if let (Value::Object(item), false) = (&mut item, item_kind.is_empty()) {
                    item.entry("apiVersion").or_insert_with(|| version.clone().into());
                    item.entry("kind").or_insert_with(|| item_kind.into());
                }
                let item_place = Place { item: Some(u32::try_from(i).unwrap_or(u32::MAX)), ..place.clone() };
                document(item, item_place, reading);
            }
        }
        (Some(_), None | Some(Value::Null)) => {}
        (_, items) => {
            if let Some(items) = items {
                object.insert("items".to_owned(), items);
            }
            typed::object(&version, &kind, Value::Object(object), place, reading);
        }
    }
}
