//! Reads a JSON value as a typed object, and collects everything that is wrong with it.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::fmt;

use serde::de::value::StrDeserializer;
use serde::de::{DeserializeOwned, DeserializeSeed, Deserializer, IntoDeserializer, MapAccess, SeqAccess, Visitor};
use serde::forward_to_deserialize_any;
use serde_json::{Error, Map, Value};

use super::quantities;
use crate::suggest::closest;

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

/// Fields that a type does not have, found while a value is read.
#[derive(Debug, Default)]
pub struct UnknownFields {
    /// The fields, in the order of the value.
    pub found: Vec<UnknownField>,
    /// Whether the value of a misspelt field is read as that of the field with the nearest name. That shows what else is wrong,
    /// in objects that are discarded because of the unknown field.
    pub follow: bool,
}

/// A value that its field cannot have.
#[derive(Debug)]
pub(super) struct WrongValue {
    /// The path of the field; empty for the object itself.
    pub(super) path: String,
    pub(super) reason: Reason,
}

#[derive(Debug)]
pub(super) enum Reason {
    Type(Error),
    Quantity(String),
}

/// Number of wrong values of one object that are reported.
const WRONG_VALUES: usize = 20;

/// Reads `value`. Fields that its type does not have are added to `unknown`. Fails with all values that have a wrong type or
/// are not quantities, at least one and at most [`WRONG_VALUES`].
pub(super) fn read<T: DeserializeOwned>(value: &Value, unknown: &mut UnknownFields) -> Result<T, Vec<WrongValue>> {
    let mut found = Vec::new();
    // A wrong type ends reading: the value is left out, and the rest is read again.
    let mut left_out = BTreeSet::new();
    let mut known = BTreeSet::new();
    let result = loop {
        let notes = RefCell::new(Notes { follow: unknown.follow, ..Notes::default() });
        let result = T::deserialize(Reader { value, path: Path::Root, left_out: &left_out, notes: &notes });
        let Notes { unknown: fields, quantities, failed, .. } = notes.into_inner();
        if left_out.is_empty() {
            unknown.found.extend(fields);
        } else {
            let paths = || unknown.found.iter().map(UnknownField::path);
            if known.is_empty() {
                known.extend(paths());
            }
            unknown.found.extend(fields.into_iter().filter(|field| known.insert(field.path())));
        }
        let error = match result {
            Ok(object) => break Ok((object, quantities)),
            Err(error) => error,
        };
        let path = failed.unwrap_or_default();
        // A field that is required is missing once its value is left out.
        let follows = left_out.iter().any(|other: &String| is_within(other, &path));
        if !follows {
            found.push(WrongValue { path: path.clone(), reason: Reason::Type(error) });
        }
        if follows || path.is_empty() || found.len() == WRONG_VALUES {
            break Err(quantities);
        }
        left_out.insert(path);
    };
    let (object, quantities) = match result {
        Ok((object, quantities)) => (Some(object), quantities),
        Err(quantities) => (None, quantities),
    };
    found.extend(quantities.into_iter().map(|(path, problem)| WrongValue { path, reason: Reason::Quantity(problem) }));
    found.truncate(WRONG_VALUES);
    object.filter(|_| found.is_empty()).ok_or(found)
}

/// Whether the value at `path` is the one at `outer`, or in it.
fn is_within(path: &str, outer: &str) -> bool {
    path.strip_prefix(outer).is_some_and(|rest| outer.is_empty() || rest.is_empty() || rest.starts_with(['.', '[']))
}

#[derive(Default)]
struct Notes {
    unknown: Vec<UnknownField>,
    /// See [`UnknownFields::follow`].
    follow: bool,
    /// Paths and problems of texts that are not quantities.
    quantities: Vec<(String, String)>,
    /// The path of the innermost value that could not be read.
    failed: Option<String>,
}

#[derive(Clone, Copy)]
enum Path<'a> {
    Root,
    Field(&'a Path<'a>, &'a str),
    /// An entry of a map.
    Entry(&'a Path<'a>, &'a str),
    Item(&'a Path<'a>, usize),
}

impl fmt::Display for Path<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Path::Root => Ok(()),
            Path::Field(parent, name) | Path::Entry(parent, name) => f.write_str(&join(&parent.to_string(), name)),
            Path::Item(parent, item) => f.write_str(&join_item(&parent.to_string(), *item)),
        }
    }
}

/// A value, and where it is.
#[derive(Clone, Copy)]
struct Reader<'a> {
    value: &'a Value,
    path: Path<'a>,
    /// Paths of values that are not read.
    left_out: &'a BTreeSet<String>,
    notes: &'a RefCell<Notes>,
}

impl<'a> Reader<'a> {
    /// Reads a part of the value, and records the path of a failure.
    fn part<'de, S: DeserializeSeed<'de>>(&self, value: &Value, path: Path<'_>, seed: S) -> Result<S::Value, Error> {
        seed.deserialize(Reader { value, path, ..*self }).inspect_err(|_| {
            self.notes.borrow_mut().failed.get_or_insert_with(|| path.to_string());
        })
    }

    fn fields(&'a self, fields: &'a Map<String, Value>, known: Option<&'static [&'static str]>) -> Fields<'a> {
        Fields { of: self, fields, rest: fields.iter(), known, next: None, followed: Vec::new() }
    }

    fn is_left_out(&self, path: Path<'_>) -> bool {
        !self.left_out.is_empty() && self.left_out.contains(&path.to_string())
    }

    /// The name of a known field that a misspelt one stands for.
    fn meant(&self, name: &str, known: &'static [&'static str]) -> Option<&'static str> {
        if self.notes.borrow().follow { closest(name, known.iter().copied()) } else { None }
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

    fn deserialize_newtype_struct<V: Visitor<'de>>(self, name: &'static str, visitor: V) -> Result<V::Value, Error> {
        if let ("Quantity", Value::String(text)) = (name, self.value)
            && let Some(problem) = quantities::problem(text)
        {
            let path = match self.path {
                Path::Entry(parent, name) => format!("{parent}[{name}]"),
                path => path.to_string(),
            };
            self.notes.borrow_mut().quantities.push((path, problem));
        }
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
    fields: &'a Map<String, Value>,
    rest: serde_json::map::Iter<'a>,
    /// The fields of the type; none if it takes any.
    known: Option<&'static [&'static str]>,
    next: Option<(&'a str, &'a Value)>,
    /// Known fields that were read from misspelt ones.
    followed: Vec<&'static str>,
}

impl Fields<'_> {
    fn path<'p>(&'p self, name: &'p str) -> Path<'p> {
        match self.known {
            Some(_) => Path::Field(&self.of.path, name),
            None => Path::Entry(&self.of.path, name),
        }
    }

    /// Notes a field that the type does not have, and returns the name of the field to read it as.
    fn unknown(&mut self, name: &str, known: &'static [&'static str]) -> Option<&'static str> {
        let unknown = UnknownField { parent: self.of.path.to_string(), name: name.to_owned(), known };
        self.of.notes.borrow_mut().unknown.push(unknown);
        let meant = self.of.meant(name, known)?;
        if self.fields.contains_key(meant) || self.followed.contains(&meant) {
            return None;
        }
        self.followed.push(meant);
        Some(meant)
    }
}

impl<'de> MapAccess<'de> for Fields<'_> {
    type Error = Error;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>, Error> {
        while let Some((name, value)) = self.rest.next() {
            let read_as = match self.known {
                Some(known) if !known.contains(&name.as_str()) => match self.unknown(name, known) {
                    Some(meant) => meant,
                    None => continue,
                },
                _ => name,
            };
            if self.of.is_left_out(self.path(name)) {
                continue;
            }
            self.next = Some((name, value));
            let name: StrDeserializer<'_, Error> = read_as.into_deserializer();
            return seed.deserialize(name).map(Some);
        }
        Ok(None)
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, Error> {
        let (name, value) = self.next.take().unwrap_or(("", &Value::Null));
        self.of.part(value, self.path(name), seed)
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
        let of = self.of;
        let read = |(at, _): &(usize, &Value)| !of.is_left_out(Path::Item(&of.path, *at));
        let Some((at, item)) = self.rest.find(read) else { return Ok(None) };
        self.of.part(item, Path::Item(&self.of.path, at), seed).map(Some)
    }
}
