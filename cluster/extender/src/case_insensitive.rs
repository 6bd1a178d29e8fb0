//! Structs with case-insensitive JSON keys, as in Go's `encoding/json`.
//!
//! `null` counts as absent, the last of repeated keys wins, and unknown keys are ignored.

/// Defines structs with case-insensitive keys. All fields are optional.
macro_rules! case_insensitive {
    ($($(#[$doc:meta])* $name:ident { $($(#[$about:meta])* $field:ident: $type:ty = $key:literal,)+ })+) => {$(
        $(#[$doc])*
        #[derive(Debug, Default)]
        pub(crate) struct $name { $($(#[$about])* pub(crate) $field: Option<$type>,)+ }

        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                struct Fields;
                impl<'de> serde::de::Visitor<'de> for Fields {
                    type Value = $name;
                    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                        f.write_str(concat!("an object with ", $("`", $key, "` ",)+))
                    }
                    fn visit_map<A: serde::de::MapAccess<'de>>(self, mut map: A) -> Result<$name, A::Error> {
                        let mut read = $name::default();
                        while let Some(key) = map.next_key_seed($crate::case_insensitive::Key(&[$($key),+]))? {
                            match key {
                                $(Some($key) => if let Some(value) = map.next_value()? { read.$field = Some(value) },)+
                                _ => _ = map.next_value::<serde::de::IgnoredAny>()?,
                            }
                        }
                        Ok(read)
                    }
                }
                deserializer.deserialize_map(Fields)
            }
        }
    )+};
}
pub(crate) use case_insensitive;

use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error, Visitor};

/// Deserializes a key to the known key that equals it, ignoring ASCII case. `None`: an unknown key.
pub(crate) struct Key<'a>(pub(crate) &'a [&'static str]);

impl<'de> DeserializeSeed<'de> for Key<'_> {
    type Value = Option<&'static str>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_identifier(self)
    }
}

impl Visitor<'_> for Key<'_> {
    type Value = Option<&'static str>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a key")
    }

    fn visit_str<E: Error>(self, key: &str) -> Result<Self::Value, E> {
        Ok(self.0.iter().copied().find(|known| known.eq_ignore_ascii_case(key)))
    }
}
