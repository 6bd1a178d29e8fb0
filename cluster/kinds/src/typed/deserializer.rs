//! The deserializer of typed objects, for values and for examples of types.
//!
//! rustc compiles each method for each of hundreds of types. Type-independent code is therefore in functions without
//! type parameters, and values and examples share one deserializer.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::fmt;

use schedc_bounds::suggest::closest;
use serde::de::value::StrDeserializer;
use serde::de::{
    DeserializeSeed, Deserializer, Error as _, Expected, IntoDeserializer, MapAccess, SeqAccess, Unexpected, Visitor,
};
use serde::forward_to_deserialize_any;
use serde_json::{Error, Map, Value};

use super::findings::{ReadFindings, UnknownField, join, join_item};
use super::quantities;
use super::walk::Walk;

/// A place in an object.
#[derive(Clone, Copy)]
pub(super) enum Path<'a> {
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

/// Source of the values.
#[derive(Clone, Copy)]
pub(super) enum Source<'a> {
    /// A value.
    Value(&'a Value),
    /// An example of the type: each field, one item of each list, and one entry of each map.
    Example(&'a RefCell<Walk>),
}

/// Text in examples. It is also a valid time, because the deserializer does not know which texts are times.
const EXAMPLE_TEXT: &str = "1970-01-01T00:00:00.000000Z";

/// A value or an example, and its place.
#[derive(Clone, Copy)]
pub(super) struct Reader<'a> {
    pub(super) source: Source<'a>,
    pub(super) path: Path<'a>,
    /// Paths of values that are skipped.
    pub(super) skipped: &'a BTreeSet<String>,
    pub(super) findings: &'a RefCell<ReadFindings>,
}

impl<'a> Reader<'a> {
    /// Reads a field, an entry or an item. On failure, records its path, unless a path inside it is already recorded.
    fn part<'de, S: DeserializeSeed<'de>>(
        &self,
        source: Source<'_>,
        path: Path<'_>,
        seed: S,
    ) -> Result<S::Value, Error> {
        let result = seed.deserialize(Reader { source, path, ..*self });
        if result.is_err() {
            self.record_failure(path);
        }
        result
    }

    #[cold]
    fn record_failure(&self, path: Path<'_>) {
        self.findings.borrow_mut().failed.get_or_insert_with(|| path.to_string());
    }

    fn is_skipped(&self, path: Path<'_>) -> bool {
        !self.skipped.is_empty() && self.skipped.contains(&path.to_string())
    }

    /// Returns the known field that a misspelt name probably means. `None`: no name is similar, or
    /// [`UnknownFields::follow`](super::UnknownFields::follow) is not set.
    fn suggestion(&self, name: &str, known: &'static [&'static str]) -> Option<&'static str> {
        if self.findings.borrow().follow { closest(name, known.iter().copied()) } else { None }
    }

    /// Returns the fields of an object, or the entries of a map if `known` is `None`. Returns `None` for other values.
    fn fields(&'a self, known: Option<&'static [&'static str]>) -> Option<Fields<'a>> {
        let remaining = match (self.source, known) {
            (Source::Value(Value::Object(fields)), _) => {
                RemainingFields::Value { fields, remaining: fields.iter(), known, followed: Vec::new() }
            }
            (Source::Value(_), _) => return None,
            (Source::Example(walk), Some(known)) => {
                let is_object = known.contains(&"kind") && known.contains(&"metadata");
                RemainingFields::Example { walk, remaining: walk.borrow_mut().record(known).iter(), is_object }
            }
            (Source::Example(walk), None) => RemainingFields::ExampleEntry { walk, is_read: false },
        };
        Some(Fields { reader: self, remaining, next: None })
    }

    /// Returns the items of a list. `None`: the value is not a list.
    fn items(&'a self) -> Option<Items<'a>> {
        let remaining = match self.source {
            Source::Value(Value::Array(items)) => RemainingItems::Value(items.iter().enumerate()),
            Source::Value(_) => return None,
            Source::Example(walk) => RemainingItems::Example(Some(walk)),
        };
        Some(Items { reader: self, remaining })
    }

    fn unexpected(&self, expected: &dyn Expected) -> Error {
        let found = match self.source {
            Source::Example(_) | Source::Value(Value::Null) => Unexpected::Unit,
            Source::Value(Value::Bool(value)) => Unexpected::Bool(*value),
            Source::Value(Value::Number(number)) => match (number.as_u64(), number.as_i64(), number.as_f64()) {
                (Some(number), ..) => Unexpected::Unsigned(number),
                (None, Some(number), _) => Unexpected::Signed(number),
                (None, None, number) => Unexpected::Float(number.unwrap_or_default()),
            },
            Source::Value(Value::String(text)) => Unexpected::Str(text),
            Source::Value(Value::Array(_)) => Unexpected::Seq,
            Source::Value(Value::Object(_)) => Unexpected::Map,
        };
        Error::invalid_type(found, expected)
    }

    /// Records the value if it is a quantity that API servers refuse.
    fn check_quantity(&self) {
        if let Source::Value(Value::String(text)) = self.source
            && let Some(problem) = quantities::problem(text)
        {
            let path = match self.path {
                Path::Entry(parent, name) => format!("{parent}[{name}]"),
                path => path.to_string(),
            };
            self.findings.borrow_mut().quantities.push((path, problem));
        }
    }
}

macro_rules! numbers {
    ($($method:ident)*) => {$(
        fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
            match self.source {
                Source::Value(_) => self.deserialize_any(visitor),
                Source::Example(_) => visitor.visit_i64(0),
            }
        }
    )*};
}

impl<'de> Deserializer<'de> for Reader<'_> {
    type Error = Error;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        match self.source {
            Source::Value(Value::Null) => visitor.visit_unit(),
            Source::Value(Value::Bool(value)) => visitor.visit_bool(*value),
            Source::Value(Value::Number(number)) => number.deserialize_any(visitor),
            Source::Value(Value::String(text)) => visitor.visit_str(text),
            Source::Value(Value::Array(_)) => self.deserialize_seq(visitor),
            Source::Value(Value::Object(_)) => self.deserialize_map(visitor),
            Source::Example(_) => visitor.visit_str(EXAMPLE_TEXT),
        }
    }

    numbers! { deserialize_i8 deserialize_i16 deserialize_i32 deserialize_i64 deserialize_i128 deserialize_u8 deserialize_u16
    deserialize_u32 deserialize_u64 deserialize_u128 deserialize_f32 deserialize_f64 }

    fn deserialize_bool<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        match self.source {
            Source::Value(_) => self.deserialize_any(visitor),
            Source::Example(_) => visitor.visit_bool(false),
        }
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        match self.source {
            Source::Value(Value::Null) => visitor.visit_none(),
            _ => visitor.visit_some(self),
        }
    }

    fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        match self.items() {
            Some(items) => visitor.visit_seq(items),
            None => Err(self.unexpected(&visitor)),
        }
    }

    fn deserialize_map<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        match self.fields(None) {
            Some(fields) => visitor.visit_map(fields),
            None => Err(self.unexpected(&visitor)),
        }
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        known: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        match self.fields(Some(known)) {
            Some(fields) => visitor.visit_map(fields),
            None => Err(self.unexpected(&visitor)),
        }
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(self, name: &'static str, visitor: V) -> Result<V::Value, Error> {
        if name == "Quantity" {
            self.check_quantity();
        }
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_ignored_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        visitor.visit_unit()
    }

    forward_to_deserialize_any! { char str string bytes byte_buf unit unit_struct tuple tuple_struct enum identifier }
}

/// The fields of an object, without those that its type does not have; or the entries of a map.
struct Fields<'a> {
    reader: &'a Reader<'a>,
    remaining: RemainingFields<'a>,
    next: Option<(&'a str, Source<'a>)>,
}

enum RemainingFields<'a> {
    Value {
        fields: &'a Map<String, Value>,
        remaining: serde_json::map::Iter<'a>,
        /// The fields of the type; `None` if it accepts any.
        known: Option<&'static [&'static str]>,
        /// Known fields that were read under misspelt names.
        followed: Vec<&'static str>,
    },
    Example {
        walk: &'a RefCell<Walk>,
        remaining: std::slice::Iter<'static, &'static str>,
        /// Whether this is an object with a kind.
        is_object: bool,
    },
    ExampleEntry {
        walk: &'a RefCell<Walk>,
        is_read: bool,
    },
}

impl<'a> Fields<'a> {
    /// Moves to the next field, and returns the name to read it as: its own name, or the known name if it is misspelt.
    /// `None`: there are no more fields.
    fn advance(&mut self) -> Option<&'a str> {
        let reader = self.reader;
        match &mut self.remaining {
            RemainingFields::Value { fields, remaining, known, followed } => {
                for (name, value) in remaining {
                    let read_as = match known {
                        Some(known) if !known.contains(&name.as_str()) => {
                            match unknown(reader, fields, followed, name, known) {
                                Some(suggestion) => suggestion,
                                None => continue,
                            }
                        }
                        _ => name,
                    };
                    let path = match known {
                        Some(_) => Path::Field(&reader.path, name),
                        None => Path::Entry(&reader.path, name),
                    };
                    if !reader.is_skipped(path) {
                        self.next = Some((name, Source::Value(value)));
                        return Some(read_as);
                    }
                }
                None
            }
            RemainingFields::Example { walk, remaining, is_object } => {
                // An example omits `apiVersion` and `kind`, because the type would check their values.
                let is_checked = |name: &str| *is_object && matches!(name, "apiVersion" | "kind");
                let name = remaining.by_ref().copied().find(|name| !is_checked(name))?;
                walk.borrow_mut().path.push(name);
                self.next = Some((name, Source::Example(walk)));
                Some(name)
            }
            RemainingFields::ExampleEntry { walk, is_read } => {
                self.next = Some((EXAMPLE_TEXT, Source::Example(walk)));
                (!std::mem::replace(is_read, true)).then_some(EXAMPLE_TEXT)
            }
        }
    }

    /// Returns the path and the source of the value of the current field.
    fn value(&mut self) -> (Path<'a>, Source<'a>) {
        let (name, source) = self.next.take().unwrap_or(("", Source::Value(&Value::Null)));
        let path = match self.remaining {
            RemainingFields::Value { known: None, .. } | RemainingFields::ExampleEntry { .. } => {
                Path::Entry(&self.reader.path, name)
            }
            _ => Path::Field(&self.reader.path, name),
        };
        (path, source)
    }

    /// Removes the current field from the path of the walk, after its value was read.
    fn end_value(&self) {
        if let RemainingFields::Example { walk, .. } = self.remaining {
            walk.borrow_mut().path.pop();
        }
    }
}

/// Records a field that the type does not have, and returns the name of the known field to read it as. `None`: skip
/// the field.
fn unknown(
    reader: &Reader<'_>,
    fields: &Map<String, Value>,
    followed: &mut Vec<&'static str>,
    name: &str,
    known: &'static [&'static str],
) -> Option<&'static str> {
    let unknown = UnknownField { parent: reader.path.to_string(), name: name.to_owned(), known };
    reader.findings.borrow_mut().unknown.push(unknown);
    let suggestion = reader.suggestion(name, known)?;
    if fields.contains_key(suggestion) || followed.contains(&suggestion) {
        return None;
    }
    followed.push(suggestion);
    Some(suggestion)
}

impl<'de> MapAccess<'de> for Fields<'_> {
    type Error = Error;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>, Error> {
        let Some(name) = self.advance() else { return Ok(None) };
        let name: StrDeserializer<'_, Error> = name.into_deserializer();
        seed.deserialize(name).map(Some)
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, Error> {
        let (path, source) = self.value();
        let value = self.reader.part(source, path, seed);
        self.end_value();
        value
    }
}

struct Items<'a> {
    reader: &'a Reader<'a>,
    remaining: RemainingItems<'a>,
}

enum RemainingItems<'a> {
    Value(std::iter::Enumerate<std::slice::Iter<'a, Value>>),
    Example(Option<&'a RefCell<Walk>>),
}

impl<'a> Items<'a> {
    fn next(&mut self) -> Option<(Path<'a>, Source<'a>)> {
        let reader = self.reader;
        match &mut self.remaining {
            RemainingItems::Value(items) => {
                let (at, item) = items.find(|(at, _)| !reader.is_skipped(Path::Item(&reader.path, *at)))?;
                Some((Path::Item(&reader.path, at), Source::Value(item)))
            }
            RemainingItems::Example(walk) => Some((Path::Item(&reader.path, 0), Source::Example(walk.take()?))),
        }
    }
}

impl<'de> SeqAccess<'de> for Items<'_> {
    type Error = Error;

    fn next_element_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<Option<T::Value>, Error> {
        let Some((path, source)) = self.next() else { return Ok(None) };
        self.reader.part(source, path, seed).map(Some)
    }
}
