//! A document of which only parts depend on the index.

use serde_json::{Map, Value};

use super::{Part, Template, TemplateContext, render};
use crate::Error;
use crate::config::yaml;

/// A value that may depend on the index.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Shape {
    /// A value that does not depend on the index.
    Same(Value),
    /// A text with expressions.
    Text(Vec<Part>),
    /// A number whose text contains expressions.
    Number(Vec<Part>),
    List(Vec<Shape>),
    Map(Vec<(Key, Shape)>),
}

/// A field name.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Key {
    Same(String),
    Text(Vec<Part>),
}

/// Begin of a placeholder. Before the document is parsed, each expression is replaced by its position in the template,
/// between this character and [`MARK_END`]. Both characters are in Unicode's private use area.
const MARK_BEGIN: char = '\u{e000}';
/// End of a placeholder.
const MARK_END: char = '\u{e001}';

impl Shape {
    /// Returns the shape of a template's documents. `None` if they differ in more than texts, field names and
    /// numbers, or if the shape cannot be determined.
    pub(super) fn of(template: &Template, count: usize) -> Result<Option<Shape>, Error> {
        let first = TemplateContext { index: 0, count };
        let sample = template.document(first)?;
        let marked: String = template
            .parts
            .iter()
            .enumerate()
            .map(|(at, part)| match part {
                Part::Text(text) => text.clone(),
                Part::Expression(_) => format!("{MARK_BEGIN}{at}{MARK_END}"),
            })
            .collect();
        let Ok(marked) = yaml::document::<Value>(&template.name, &marked) else { return Ok(None) };
        let Some(shape) = Shape::compare(template, marked, &sample, first) else { return Ok(None) };
        // The shape must produce the same document as parsing the text.
        let last = TemplateContext { index: count.saturating_sub(1), count };
        let is_equivalent =
            shape.value(first) == Ok(sample) && shape.value(last).ok() == Some(template.document(last)?);
        Ok(is_equivalent.then_some(shape))
    }

    fn compare(template: &Template, marked: Value, sample: &Value, first: TemplateContext) -> Option<Shape> {
        Some(match (marked, sample) {
            (Value::Object(fields), Value::Object(samples)) if fields.len() == samples.len() => {
                let mut shapes = Vec::new();
                for (key, value) in fields {
                    let (key, first_key) = match parts(template, &key) {
                        None => (Key::Same(key.clone()), key),
                        Some(parts) => {
                            let text = render(&parts, first).ok()?;
                            (Key::Text(parts), text)
                        }
                    };
                    shapes.push((key, Shape::compare(template, value, samples.get(&first_key)?, first)?));
                }
                let is_same = |(key, shape): &(Key, Shape)| matches!((key, shape), (Key::Same(_), Shape::Same(_)));
                match shapes.iter().all(is_same) {
                    true => Shape::Same(sample.clone()),
                    false => Shape::Map(shapes),
                }
            }
            (Value::Array(items), Value::Array(samples)) if items.len() == samples.len() => {
                let pairs = items.into_iter().zip(samples);
                let shapes: Vec<_> =
                    pairs.map(|(item, sample)| Shape::compare(template, item, sample, first)).collect::<Option<_>>()?;
                match shapes.iter().all(|shape| matches!(shape, Shape::Same(_))) {
                    true => Shape::Same(sample.clone()),
                    false => Shape::List(shapes),
                }
            }
            (Value::String(text), sample) => match (parts(template, &text), sample) {
                (None, Value::String(_)) => Shape::Same(sample.clone()),
                (Some(parts), Value::String(_)) => Shape::Text(parts),
                (Some(parts), Value::Number(_)) => Shape::Number(parts),
                _ => return None,
            },
            (value, sample) => (value == *sample).then_some(Shape::Same(value))?,
        })
    }

    pub(super) fn value(&self, context: TemplateContext) -> Result<Value, String> {
        Ok(match self {
            Shape::Same(value) => value.clone(),
            Shape::Text(parts) => Value::String(render(parts, context)?),
            Shape::Number(parts) => {
                let text = render(parts, context)?;
                serde_json::from_str(&text).unwrap_or(Value::String(text))
            }
            Shape::List(items) => Value::Array(items.iter().map(|item| item.value(context)).collect::<Result<_, _>>()?),
            Shape::Map(fields) => {
                let mut map = Map::new();
                for (key, shape) in fields {
                    let key = match key {
                        Key::Same(key) => key.clone(),
                        Key::Text(parts) => render(parts, context)?,
                    };
                    map.insert(key, shape.value(context)?);
                }
                Value::Object(map)
            }
        })
    }

    /// Returns a field, if this is a map that always has the field.
    pub(super) fn field(&self, name: &str) -> Option<&Shape> {
        let Shape::Map(fields) = self else { return None };
        fields.iter().find(|(key, _)| matches!(key, Key::Same(key) if key == name)).map(|(_, shape)| shape)
    }

    /// Returns the names of the fields whose values depend on the index; `None` if the names depend on it, or if this
    /// is not a map.
    pub(super) fn changing(&self) -> Option<Vec<&str>> {
        match self {
            Shape::Same(_) => Some(Vec::new()),
            Shape::Map(fields) => {
                let changing =
                    fields.iter().filter(|(key, shape)| !matches!((key, shape), (Key::Same(_), Shape::Same(_))));
                changing.map(|(key, _)| if let Key::Same(key) = key { Some(key.as_str()) } else { None }).collect()
            }
            _ => None,
        }
    }
}

/// Splits a text at its placeholders into text and expressions; `None` if it has no placeholders.
fn parts(template: &Template, text: &str) -> Option<Vec<Part>> {
    if !text.contains(MARK_BEGIN) {
        return None;
    }
    let mut parts = Vec::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once(MARK_BEGIN) {
        let (at, after) = after.split_once(MARK_END)?;
        if !before.is_empty() {
            parts.push(Part::Text(before.to_owned()));
        }
        parts.push(template.parts.get(at.parse::<usize>().ok()?)?.clone());
        rest = after;
    }
    if !rest.is_empty() {
        parts.push(Part::Text(rest.to_owned()));
    }
    Some(parts)
}
