//! Objects, of which some fields are read.

use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, Visitor};

/// Which fields of an object are looked at. [`look_at`] says so.
pub(super) trait Fields {
    /// The object.
    type Object;
    /// What JSON calls the fields.
    const NAMES: &'static [&'static str];
    /// Reads the value of the field that is at this place among the names. That of any other is passed over.
    fn read_field<'de, A: MapAccess<'de>>(object: &mut Self::Object, at: usize, map: &mut A) -> Result<(), A::Error>;
}

/// Says which fields of types are looked at. JSON calls a field as Rust does, or as is written after it:
/// `host_port: "hostPort"`. A field that is not read as its type says is written as `name as Fields`.
macro_rules! look_at {
    ($($type:ty { $($fields:tt)* })*) => {
        $(
            impl $crate::reads::object::Fields for $type {
                type Object = $type;
                $crate::reads::object::look_at! { @fields $($fields)* }
            }

            impl $crate::reads::field::Field for $type {
                fn read<'de, D: serde::Deserializer<'de>>(&mut self, from: D) -> Result<(), D::Error> {
                    from.deserialize_option($crate::reads::object::To::<$type>(self))
                }
            }
        )*
    };
    (@fields $($field:ident $(: $name:literal)? $(as $fields:ty)?),* $(,)?) => {
        const NAMES: &'static [&'static str] = &[$($crate::reads::object::look_at!(@name $field $($name)?)),*];

        #[allow(dead_code, non_camel_case_types, unused_variables, reason = "fields are called so; some types have none")]
        fn read_field<'de, A: serde::de::MapAccess<'de>>(
            object: &mut Self::Object,
            at: usize,
            map: &mut A,
        ) -> Result<(), A::Error> {
            enum At { $($field),* }
            match at {
                $(at if at == At::$field as usize => {
                    map.next_value_seed($crate::reads::object::look_at!(@to object.$field; $($fields)?))
                })*
                _ => map.next_value::<serde::de::IgnoredAny>().map(drop),
            }
        }
    };
    (@name $field:ident) => { stringify!($field) };
    (@name $field:ident $name:literal) => { $name };
    (@to $object:ident.$field:ident;) => { $crate::reads::field::To(&mut $object.$field) };
    (@to $object:ident.$field:ident; $fields:ty) => { $crate::reads::object::To::<$fields>(&mut $object.$field) };
}
pub(super) use look_at;

/// Reads fields of an object.
pub(super) struct To<'a, F: Fields>(pub(super) &'a mut F::Object);

impl<'de, F: Fields> DeserializeSeed<'de> for To<'_, F> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<(), D::Error> {
        from.deserialize_option(self)
    }
}

impl<'de, F: Fields> Visitor<'de> for To<'_, F> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_none<E: Error>(self) -> Result<(), E> {
        Ok(())
    }

    fn visit_some<D: Deserializer<'de>>(self, from: D) -> Result<(), D::Error> {
        from.deserialize_map(self)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        while let Some(at) = map.next_key_seed(Name(F::NAMES))? {
            F::read_field(self.0, at, &mut map)?;
        }
        Ok(())
    }
}

/// Reads the name of a field as its place among these; any other is after all of them.
struct Name(&'static [&'static str]);

impl<'de> DeserializeSeed<'de> for Name {
    type Value = usize;

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<usize, D::Error> {
        from.deserialize_identifier(self)
    }
}

impl Visitor<'_> for Name {
    type Value = usize;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the name of a field")
    }

    fn visit_str<E: Error>(self, name: &str) -> Result<usize, E> {
        Ok(self.0.iter().position(|known| *known == name).unwrap_or(self.0.len()))
    }
}
