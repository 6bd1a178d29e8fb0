//! Conversion of untyped documents to objects.

use schedc_kinds::{AnyObject, ObjectError};
use serde_json::{Map, Value};

use super::{Problem, Reading, SourceLocation, Sourced, yaml};

pub(super) fn object(version: &str, kind: &str, value: Value, place: SourceLocation, reading: &mut Reading) {
    let found = &mut reading.found;
    let read = reading.objects.read(version, kind, value);
    reading.objects.ignored.set_place(&place);
    match read {
        Ok(None) => *found.skipped.entry(kind.to_owned()).or_default() += 1,
        Ok(Some(AnyObject::Node(node))) => found.nodes.push(Sourced { object: *node, place }),
        Ok(Some(AnyObject::Pod(pod))) => found.pods.push(Sourced { object: *pod, place }),
        Ok(Some(AnyObject::PriorityClass(class))) => found.priority_classes.push(Sourced { object: *class, place }),
        Ok(Some(object)) => found.others.push(Sourced { object, place }),
        Err(errors) => {
            let problem = |ObjectError { object, field, message }| Problem {
                place: place.clone(),
                object: Some(object),
                field,
                message,
            };
            reading.problems.extend(errors.into_iter().map(problem));
        }
    }
}

/// Returns the fields of the only object in a manifest.
pub(crate) fn parse_fields(text: &str) -> Result<Map<String, Value>, String> {
    let chunks = yaml::chunks(text);
    let [chunk] = chunks[..] else { return Err(format!("there must be one document, not {}", chunks.len())) };
    let mut values: Vec<Value> = yaml::parse(&chunk).map_err(|(line, message)| format!("line {line}: {message}"))?;
    match values.pop().filter(|_| values.is_empty()) {
        Some(Value::Object(fields)) => Ok(fields),
        _ => Err("there must be one object".to_owned()),
    }
}
