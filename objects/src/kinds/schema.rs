//! The fields of a kind, found by reading an object that has each of its type's fields once.

use std::cell::RefCell;

use serde::de::value::{Error, StrDeserializer};
use serde::de::{DeserializeOwned, DeserializeSeed, Deserializer, IntoDeserializer, MapAccess, SeqAccess, Visitor};

/// A field: the names on the way to the object that has it, and its own. Lists and maps add no name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SchemaField {
    pub(crate) parent: Vec<&'static str>,
    pub(crate) name: &'static str,
}

/// All fields of a type.
pub(super) fn fields<T: DeserializeOwned>() -> Vec<SchemaField> {
    let walk = RefCell::new(Walk::default());
    // A value that a type does not take ends the walk early; a test checks that no kind does that.
    let _ = T::deserialize(Probe(&walk));
    walk.into_inner().found
}

/// A value that has each field once.
#[cfg(test)]
pub(super) fn sample<T: DeserializeOwned>() -> T {
    T::deserialize(Probe(&RefCell::default())).expect("a test checks that every kind can be read from a probe")
}

#[derive(Default)]
struct Walk {
    path: Vec<&'static str>,
    found: Vec<SchemaField>,
}

/// Fields that are deeper are left out: no type of a kind is recursive, but nothing else ends the walk of one that is.
const DEPTH: usize = 24;

#[derive(Clone, Copy)]
struct Probe<'a>(&'a RefCell<Walk>);

macro_rules! numbers {
    ($($method:ident)*) => {$(
        fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
            visitor.visit_i64(0)
        }
    )*};
}

macro_rules! texts {
    ($($method:ident)*) => {$(
        /// A text that is also a time.
        fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
            visitor.visit_str("1970-01-01T00:00:00.000000Z")
        }
    )*};
}

impl<'de> Deserializer<'de> for Probe<'_> {
    type Error = Error;

    numbers! { deserialize_i8 deserialize_i16 deserialize_i32 deserialize_i64 deserialize_u8 deserialize_u16 deserialize_u32
    deserialize_u64 deserialize_f32 deserialize_f64 }

    texts! { deserialize_any deserialize_char deserialize_str deserialize_string deserialize_bytes deserialize_byte_buf
    deserialize_identifier }

    fn deserialize_bool<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        visitor.visit_bool(false)
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        visitor.visit_some(self)
    }

    fn deserialize_unit<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        visitor.visit_unit()
    }

    fn deserialize_unit_struct<V: Visitor<'de>>(self, _: &'static str, visitor: V) -> Result<V::Value, Error> {
        visitor.visit_unit()
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(self, _: &'static str, visitor: V) -> Result<V::Value, Error> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        visitor.visit_seq(Once { probe: self, done: false })
    }

    fn deserialize_tuple<V: Visitor<'de>>(self, _: usize, visitor: V) -> Result<V::Value, Error> {
        self.deserialize_seq(visitor)
    }

    fn deserialize_tuple_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: usize,
        visitor: V,
    ) -> Result<V::Value, Error> {
        self.deserialize_seq(visitor)
    }

    fn deserialize_map<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        visitor.visit_map(Once { probe: self, done: false })
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        let mut walk = self.0.borrow_mut();
        let parent = walk.path.clone();
        walk.found.extend(fields.iter().map(|name| SchemaField { parent: parent.clone(), name }));
        drop(walk);
        let is_object = fields.contains(&"kind") && fields.contains(&"metadata");
        let fields = if parent.len() < DEPTH { fields } else { &[] };
        visitor.visit_map(Fields { probe: self, rest: fields.iter(), next: None, is_object })
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        visitor.visit_enum(variants.first().copied().unwrap_or_default().into_deserializer())
    }

    fn deserialize_ignored_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        visitor.visit_unit()
    }
}

/// One item of a list, or one entry of a map.
struct Once<'a> {
    probe: Probe<'a>,
    done: bool,
}

impl<'de> SeqAccess<'de> for Once<'_> {
    type Error = Error;

    fn next_element_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<Option<T::Value>, Error> {
        match std::mem::replace(&mut self.done, true) {
            true => Ok(None),
            false => seed.deserialize(self.probe).map(Some),
        }
    }
}

impl<'de> MapAccess<'de> for Once<'_> {
    type Error = Error;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>, Error> {
        self.next_element_seed(seed)
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, Error> {
        seed.deserialize(self.probe)
    }
}

/// Each field of a type once.
struct Fields<'a> {
    probe: Probe<'a>,
    rest: std::slice::Iter<'static, &'static str>,
    next: Option<&'static str>,
    /// Whether this is an object with its own kind.
    is_object: bool,
}

impl<'de> MapAccess<'de> for Fields<'_> {
    type Error = Error;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>, Error> {
        // These must have the right value, and have no fields.
        let is_checked = |name: &str| self.is_object && matches!(name, "apiVersion" | "kind");
        self.next = self.rest.by_ref().copied().find(|name| !is_checked(name));
        let Some(name) = self.next else { return Ok(None) };
        let name: StrDeserializer<'_, Error> = name.into_deserializer();
        seed.deserialize(name).map(Some)
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, Error> {
        self.probe.0.borrow_mut().path.extend(self.next);
        let value = seed.deserialize(self.probe);
        self.probe.0.borrow_mut().path.pop();
        value
    }
}
