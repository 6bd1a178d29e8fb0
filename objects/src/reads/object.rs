//! Objects, of which some fields are read.

use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, Visitor};
use serde_json::Value;

use super::protobuf::{Malformed, Message, Wire};

/// Which fields of an object are looked at. [`look_at`] says so.
pub(super) trait Fields {
    /// The object.
    type Object;
    /// What JSON calls the fields.
    const NAMES: &'static [&'static str];
    /// The field of protobuf that has fields within it which JSON has beside the others; 0: there is none.
    const WITHIN: u32;
    /// Reads the value of the field that is at this place among the names. That of any other is passed over.
    fn read_field<'de, A: MapAccess<'de>>(object: &mut Self::Object, at: usize, map: &mut A) -> Result<(), A::Error>;
    /// Takes in the value of the field that has this number in protobuf, within that of another number or none. That of any
    /// other is passed over.
    fn take_field(object: &mut Self::Object, within: u32, number: u32, value: Wire<'_>) -> Result<(), Malformed>;
    /// Writes the fields of an object: to the message, and to the one within it. For tests.
    fn encode_fields(object: &Value, to: &mut Vec<u8>, within: &mut Vec<u8>);
}

/// Takes in fields of a message.
pub(super) fn take<F: Fields>(object: &mut F::Object, message: &[u8]) -> Result<(), Malformed> {
    let mut message = Message(message);
    while let Some((number, value)) = message.next_field()? {
        if F::WITHIN != 0 && number == F::WITHIN {
            let mut within = Message(value.bytes()?);
            while let Some((number, value)) = within.next_field()? {
                F::take_field(object, F::WITHIN, number, value)?;
            }
        } else {
            F::take_field(object, 0, number, value)?;
        }
    }
    Ok(())
}

/// Says which fields of types are looked at, and which number each has in protobuf. JSON calls a field as Rust does, or as
/// is written after it: `host_port: "hostPort" = 2`.
///
/// | written | means |
/// |---|---|
/// | `metadata as Annotated = 1` | it is not read as its type says, but as these [`Fields`] |
/// | `priority as Pointer = 25` | Go keeps it behind a pointer: nothing and zero are two things in protobuf |
/// | `csi = 28 within 2` | in protobuf it is in the message that is field 2, in JSON beside the others |
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

                fn take(
                    &mut self,
                    value: $crate::reads::protobuf::Wire<'_>,
                ) -> Result<(), $crate::reads::protobuf::Malformed> {
                    $crate::reads::object::take::<$type>(self, value.bytes()?)
                }
            }

            impl $crate::reads::encode::Encode for $type {
                fn encode(value: &serde_json::Value, number: u32, to: &mut Vec<u8>) {
                    $crate::reads::encode::bytes(&$crate::reads::encode::fields::<$type>(value), number, to);
                }
            }
        )*
    };
    (@fields $($field:ident $(: $name:literal)? $(as $how:ident)? = $number:literal $(within $within:literal)?),* $(,)?) => {
        const NAMES: &'static [&'static str] = &[$($crate::reads::object::look_at!(@name $field $($name)?)),*];
        const WITHIN: u32 = 0 $($(| $within)?)*;

        #[allow(dead_code, non_camel_case_types, unused_variables, reason = "fields are called so; some types have none")]
        fn read_field<'de, A: serde::de::MapAccess<'de>>(
            object: &mut Self::Object,
            at: usize,
            map: &mut A,
        ) -> Result<(), A::Error> {
            enum At { $($field),* }
            match at {
                $(at if at == At::$field as usize => {
                    map.next_value_seed($crate::reads::object::look_at!(@to object.$field; $($how)?))
                })*
                _ => map.next_value::<serde::de::IgnoredAny>().map(drop),
            }
        }

        #[allow(unused_variables, reason = "some types have no fields")]
        fn take_field(
            object: &mut Self::Object,
            within: u32,
            number: u32,
            value: $crate::reads::protobuf::Wire<'_>,
        ) -> Result<(), $crate::reads::protobuf::Malformed> {
            match (within, number) {
                $((within, $number) if within == 0 $(| $within)? => {
                    $crate::reads::object::look_at!(@take object.$field, value; $($how)?)
                })*
                _ => Ok(()),
            }
        }

        #[allow(unused_variables, reason = "some types have no fields, and most have none within one")]
        fn encode_fields(object: &serde_json::Value, to: &mut Vec<u8>, within: &mut Vec<u8>) {
            $($crate::reads::object::look_at! {
                @encode $field, &object[$crate::reads::object::look_at!(@name $field $($name)?)], $number,
                $crate::reads::object::look_at!(@place to within $($within)?); $($how)?
            })*
        }
    };
    (@place $to:ident $within:ident) => { $to };
    (@place $to:ident $within:ident $outer:literal) => { $within };
    (@encode $field:ident, $value:expr, $number:literal, $to:expr; $(Pointer)?) => {
        $crate::reads::encode::field(|object: &Self::Object| &object.$field, $value, $number, $to);
    };
    (@encode $field:ident, $value:expr, $number:literal, $to:expr; $fields:ident) => {
        $crate::reads::encode::bytes(&$crate::reads::encode::fields::<$fields>($value), $number, $to);
    };
    (@name $field:ident) => { stringify!($field) };
    (@name $field:ident $name:literal) => { $name };
    (@to $object:ident.$field:ident; $(Pointer)?) => { $crate::reads::field::To(&mut $object.$field) };
    (@to $object:ident.$field:ident; $fields:ident) => { $crate::reads::object::To::<$fields>(&mut $object.$field) };
    (@take $object:ident.$field:ident, $value:ident;) => {
        $crate::reads::field::Field::take(&mut $object.$field, $value)
    };
    (@take $object:ident.$field:ident, $value:ident; Pointer) => {
        $crate::reads::field::Field::take($object.$field.get_or_insert_default(), $value)
    };
    (@take $object:ident.$field:ident, $value:ident; $fields:ident) => {
        $crate::reads::object::take::<$fields>(&mut $object.$field, $value.bytes()?)
    };
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
