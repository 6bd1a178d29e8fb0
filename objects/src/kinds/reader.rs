//! Reads a JSON value as a typed object, and collects the fields that the type does not have.

use std::cell::RefCell;
use std::fmt;

use serde::de::value::StrDeserializer;
use serde::de::{DeserializeOwned, DeserializeSeed, Deserializer, IntoDeserializer, MapAccess, SeqAccess, Visitor};
use serde::forward_to_deserialize_any;
use serde_json::{Error, Map, Value};

/// A field that its object's type does not have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownField {
    /// The path of the object with the field, such as `spec.containers[0]`; empty for the object itself.
    pub parent: String,
    /// The name of the field.
    pub name: String,
    /// The names that the type has.
    pub known: &'static [&'static str],
}

impl UnknownField {
    /// The path of the field, such as `spec.containers[0].imag`.
    pub fn path(&self) -> String {
        join(&self.parent, &self.name)
    }
}

/// The path of a field of the object at `parent`.
pub(crate) fn join(parent: &str, name: &str) -> String {
    match parent {
        _ if name.contains(['.', '/']) => format!("{parent}[{name}]"),
        "" => name.to_owned(),
        _ => format!("{parent}.{name}"),
    }
}

/// The path of an item of the list at `parent`.
pub(crate) fn join_item(parent: &str, item: usize) -> String {
    format!("{parent}[{item}]")
}

/// Reads `value`. Fields that its type does not have are added to `unknown`. An error comes with the path of the field
/// that has a wrong type.
pub(super) fn read<T: DeserializeOwned>(value: &Value, unknown: &mut Vec<UnknownField>) -> Result<T, (String, Error)> {
    let notes = RefCell::new(Notes::default());
    let result = T::deserialize(Reader { value, path: Path::Root, notes: &notes });
    let Notes { unknown: found, failed } = notes.into_inner();
    unknown.extend(found);
    result.map_err(|error| (failed.unwrap_or_default(), error))
}

#[derive(Default)]
struct Notes {
    unknown: Vec<UnknownField>,
    /// The path of the innermost value that could not be read.
    failed: Option<String>,
}

#[derive(Clone, Copy)]
enum Path<'a> {
    Root,
    Field(&'a Path<'a>, &'a str),
    Item(&'a Path<'a>, usize),
}

impl fmt::Display for Path<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Path::Root => Ok(()),
            Path::Field(parent, name) => f.write_str(&join(&parent.to_string(), name)),
            Path::Item(parent, item) => f.write_str(&join_item(&parent.to_string(), *item)),
        }
    }
}

/// A value, and where it is.
#[derive(Clone, Copy)]
struct Reader<'a> {
    value: &'a Value,
    path: Path<'a>,
    notes: &'a RefCell<Notes>,
}

impl<'a> Reader<'a> {
    /// Reads a part of the value, and records the path of a failure.
    fn part<'de, S: DeserializeSeed<'de>>(&self, value: &Value, path: Path<'_>, seed: S) -> Result<S::Value, Error> {
        seed.deserialize(Reader { value, path, notes: self.notes }).inspect_err(|_| {
            self.notes.borrow_mut().failed.get_or_insert_with(|| path.to_string());
        })
    }

    fn fields(&'a self, fields: &'a Map<String, Value>, known: Option<&'static [&'static str]>) -> Fields<'a> {
        Fields { of: self, rest: fields.iter(), known, next: None }
    }
}

impl<'de> Deserializer<'de> for Reader<'_> {
    type Error = Error;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        match self.value {
            Value::Null => visitor.visit_unit(),
            Value::Bool(value) => visitor.visit_bool(*value),
            Value::Number(number) => number.deserialize_any(visitor),
            Value::String(text) => visitor.visit_str(text),
            Value::Array(items) => visitor.visit_seq(Items { of: &self, rest: items.iter().enumerate() }),
            Value::Object(fields) => visitor.visit_map(self.fields(fields, None)),
        }
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        if self.value.is_null() { visitor.visit_none() } else { visitor.visit_some(self) }
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        known: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        match self.value {
            Value::Object(fields) => visitor.visit_map(self.fields(fields, Some(known))),
            _ => self.deserialize_any(visitor),
        }
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(self, _: &'static str, visitor: V) -> Result<V::Value, Error> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_ignored_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        visitor.visit_unit()
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf unit unit_struct seq tuple
        tuple_struct map enum identifier
    }
}

/// The fields of an object that its type has.
struct Fields<'a> {
    of: &'a Reader<'a>,
    rest: serde_json::map::Iter<'a>,
    /// The fields of the type; none if it takes any.
    known: Option<&'static [&'static str]>,
    next: Option<(&'a str, &'a Value)>,
}

impl<'de> MapAccess<'de> for Fields<'_> {
    type Error = Error;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>, Error> {
        for (name, value) in self.rest.by_ref() {
            match self.known {
                Some(known) if !known.contains(&name.as_str()) => {
                    let unknown = UnknownField { parent: self.of.path.to_string(), name: name.clone(), known };
                    self.of.notes.borrow_mut().unknown.push(unknown);
                }
                _ => {
                    self.next = Some((name, value));
                    let name: StrDeserializer<'_, Error> = name.as_str().into_deserializer();
                    return seed.deserialize(name).map(Some);
                }
            }
        }
        Ok(None)
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, Error> {
        let (name, value) = self.next.take().unwrap_or(("", &Value::Null));
        self.of.part(value, Path::Field(&self.of.path, name), seed)
    }
}

/// The items of a list.
struct Items<'a> {
    of: &'a Reader<'a>,
    rest: std::iter::Enumerate<std::slice::Iter<'a, Value>>,
}

impl<'de> SeqAccess<'de> for Items<'_> {
    type Error = Error;

    fn next_element_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<Option<T::Value>, Error> {
        let Some((at, item)) = self.rest.next() else { return Ok(None) };
        self.of.part(item, Path::Item(&self.of.path, at), seed).map(Some)
    }
}
