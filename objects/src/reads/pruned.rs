//! A deserializer that passes over fields.

use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde::forward_to_deserialize_any;

use super::fields::{Fields, Look};

/// Whatever another deserializer has, but of objects these fields alone. What is not there is as if it were not written.
pub(super) struct Pruned<D> {
    inner: D,
    fields: Fields,
}

impl<D> Pruned<D> {
    pub(super) fn new(inner: D, fields: Fields) -> Self {
        Pruned { inner, fields }
    }
}

impl<'de, D: Deserializer<'de>> Deserializer<'de> for Pruned<D> {
    type Error = D::Error;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, D::Error> {
        self.inner.deserialize_any(Within { inner: visitor, fields: self.fields })
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, D::Error> {
        self.inner.deserialize_option(Within { inner: visitor, fields: self.fields })
    }

    // Fields that are not looked at in part never come here, so that all others are objects, or lists of such.
    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf unit unit_struct
        newtype_struct seq tuple tuple_struct map struct enum identifier ignored_any
    }
}

/// A visitor, a map, a list or a seed, of which these fields count.
struct Within<T> {
    inner: T,
    fields: Fields,
}

impl<'de, V: Visitor<'de>> Visitor<'de> for Within<V> {
    type Value = V::Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.inner.expecting(f)
    }

    fn visit_unit<E: serde::de::Error>(self) -> Result<V::Value, E> {
        self.inner.visit_unit()
    }
    fn visit_none<E: serde::de::Error>(self) -> Result<V::Value, E> {
        self.inner.visit_none()
    }
    fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<V::Value, D::Error> {
        self.inner.visit_some(Pruned { inner: deserializer, fields: self.fields })
    }
    fn visit_seq<A: SeqAccess<'de>>(self, list: A) -> Result<V::Value, A::Error> {
        self.inner.visit_seq(Within { inner: list, fields: self.fields })
    }
    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<V::Value, A::Error> {
        self.inner.visit_map(PrunedMap { inner: map, fields: self.fields, next: Look::All })
    }
}

impl<'de, A: SeqAccess<'de>> SeqAccess<'de> for Within<A> {
    type Error = A::Error;

    fn next_element_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<Option<T::Value>, A::Error> {
        self.inner.next_element_seed(Within { inner: seed, fields: self.fields })
    }
    fn size_hint(&self) -> Option<usize> {
        self.inner.size_hint()
    }
}

impl<'de, T: DeserializeSeed<'de>> DeserializeSeed<'de> for Within<T> {
    type Value = T::Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<T::Value, D::Error> {
        self.inner.deserialize(Pruned { inner: deserializer, fields: self.fields })
    }
}

/// The fields of an object that are looked at.
struct PrunedMap<A> {
    inner: A,
    fields: Fields,
    /// What is looked at of the value that comes next.
    next: Look,
}

impl<'de, A: MapAccess<'de>> MapAccess<'de> for PrunedMap<A> {
    type Error = A::Error;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, mut seed: K) -> Result<Option<K::Value>, A::Error> {
        loop {
            match self.inner.next_key_seed(Key { seed, fields: self.fields })? {
                None => return Ok(None),
                Some(Found::At(look, key)) => {
                    self.next = look;
                    return Ok(Some(key));
                }
                Some(Found::Nowhere(unused)) => {
                    self.inner.next_value::<IgnoredAny>()?;
                    seed = unused;
                }
            }
        }
    }

    fn next_value_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<T::Value, A::Error> {
        match self.next {
            Look::All => self.inner.next_value_seed(seed),
            Look::At(fields) => self.inner.next_value_seed(Within { inner: seed, fields }),
        }
    }
}

/// Finds out whether a key is one of the fields.
struct Key<K> {
    seed: K,
    fields: Fields,
}

/// A key, or the seed that was not used for it.
enum Found<T, K> {
    At(Look, T),
    Nowhere(K),
}

impl<'de, K: DeserializeSeed<'de>> DeserializeSeed<'de> for Key<K> {
    type Value = Found<K::Value, K>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_str(self)
    }
}

impl<'de, K: DeserializeSeed<'de>> Visitor<'de> for Key<K> {
    type Value = Found<K::Value, K>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the name of a field")
    }

    fn visit_str<E: serde::de::Error>(self, name: &str) -> Result<Self::Value, E> {
        match self.fields.iter().find(|(field, _)| *field == name) {
            Some((field, look)) => {
                let key = serde::de::value::StrDeserializer::new(field);
                Ok(Found::At(*look, self.seed.deserialize(key)?))
            }
            None => Ok(Found::Nowhere(self.seed)),
        }
    }
}
