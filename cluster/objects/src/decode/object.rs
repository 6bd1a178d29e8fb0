//! Decoding of objects with selected fields.

use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, Visitor};
#[cfg(any(test, feature = "encode"))]
use serde_json::Value;

use super::protobuf::{FieldValue, Malformed, Message};

/// Selection of an object's fields that are decoded. [`selected_fields`] implements it.
pub(super) trait SelectedFields {
    /// The object.
    type Object;
    /// JSON names of the fields.
    const NAMES: &'static [&'static str];
    /// Protobuf number of the message that contains some of the fields, although JSON does not nest them; 0 if there is
    /// no such message.
    const NESTED: u32;
    /// Decodes the field at index `at` of the names. Any other field is skipped.
    fn read_field<'de, A: MapAccess<'de>>(object: &mut Self::Object, at: usize, map: &mut A) -> Result<(), A::Error>;
    /// Decodes the field with this protobuf number. `within` is the number of the message that contains it, or 0. Any
    /// other field is skipped.
    fn read_protobuf_field(
        object: &mut Self::Object,
        within: u32,
        number: u32,
        value: FieldValue<'_>,
    ) -> Result<(), Malformed>;
    /// Writes the fields of an object into the message and the nested message. For tests.
    #[cfg(any(test, feature = "encode"))]
    fn encode_fields(object: &Value, to: &mut Vec<u8>, within: &mut Vec<u8>);
}

/// Decodes the fields of a message.
pub(super) fn read_protobuf<F: SelectedFields>(object: &mut F::Object, message: &[u8]) -> Result<(), Malformed> {
    let mut message = Message(message);
    while let Some((number, value)) = message.next_field()? {
        if F::NESTED != 0 && number == F::NESTED {
            let mut within = Message(value.bytes()?);
            while let Some((number, value)) = within.next_field()? {
                F::read_protobuf_field(object, F::NESTED, number, value)?;
            }
        } else {
            F::read_protobuf_field(object, 0, number, value)?;
        }
    }
    Ok(())
}

/// Defines the selected fields of types with their protobuf numbers. The JSON name is the Rust name, or the text after
/// it: `host_port: "hostPort" = 2`.
///
/// | syntax | meaning |
/// |---|---|
/// | `metadata as MetadataWithAnnotations = 1` | decoded as these [`SelectedFields`], not as the field's type |
/// | `priority as Pointer = 25` | a pointer in Go: absence and zero differ in protobuf |
/// | `csi = 28 within 2` | in protobuf inside the message in field 2, in JSON at the level of the other fields |
macro_rules! selected_fields {
    ($($type:ty { $($fields:tt)* })*) => {
        $(
            impl $crate::decode::object::SelectedFields for $type {
                type Object = $type;
                $crate::decode::object::selected_fields! { @fields $($fields)* }
            }

            impl $crate::decode::field::Field for $type {
                fn read<'de, D: serde::Deserializer<'de>>(&mut self, from: D) -> Result<(), D::Error> {
                    from.deserialize_option($crate::decode::object::Seed::<$type>(self))
                }

                fn read_protobuf(
                    &mut self,
                    value: $crate::decode::protobuf::FieldValue<'_>,
                ) -> Result<(), $crate::decode::protobuf::Malformed> {
                    $crate::decode::object::read_protobuf::<$type>(self, value.bytes()?)
                }
            }

            #[cfg(any(test, feature = "encode"))]
            impl $crate::decode::encode::Encode for $type {
                fn encode(value: &serde_json::Value, number: u32, to: &mut Vec<u8>) {
                    $crate::decode::encode::bytes(&$crate::decode::encode::fields::<$type>(value), number, to);
                }
            }
        )*
    };
    (@fields $($field:ident $(: $name:literal)? $(as $how:ident)? = $number:literal $(within $within:literal)?),* $(,)?) => {
        const NAMES: &'static [&'static str] = &[$($crate::decode::object::selected_fields!(@name $field $($name)?)),*];
        const NESTED: u32 = 0 $($(| $within)?)*;

        #[allow(dead_code, non_camel_case_types, unused_variables, reason = "fields keep the names of Kubernetes; some types have no fields")]
        fn read_field<'de, A: serde::de::MapAccess<'de>>(
            object: &mut Self::Object,
            at: usize,
            map: &mut A,
        ) -> Result<(), A::Error> {
            enum At { $($field),* }
            match at {
                $(at if at == At::$field as usize => {
                    map.next_value_seed($crate::decode::object::selected_fields!(@to object.$field; $($how)?))
                })*
                _ => map.next_value::<serde::de::IgnoredAny>().map(drop),
            }
        }

        #[allow(unused_variables, reason = "some types have no fields")]
        fn read_protobuf_field(
            object: &mut Self::Object,
            within: u32,
            number: u32,
            value: $crate::decode::protobuf::FieldValue<'_>,
        ) -> Result<(), $crate::decode::protobuf::Malformed> {
            match (within, number) {
                $((within, $number) if within == 0 $(| $within)? => {
                    $crate::decode::object::selected_fields!(@take object.$field, value; $($how)?)
                })*
                _ => Ok(()),
            }
        }

        #[cfg(any(test, feature = "encode"))]
        #[allow(unused_variables, reason = "some types have no fields, and most have no nested ones")]
        fn encode_fields(object: &serde_json::Value, to: &mut Vec<u8>, within: &mut Vec<u8>) {
            $($crate::decode::object::selected_fields! {
                @encode $field, &object[$crate::decode::object::selected_fields!(@name $field $($name)?)], $number,
                $crate::decode::object::selected_fields!(@place to within $($within)?); $($how)?
            })*
        }
    };
    (@place $to:ident $within:ident) => { $to };
    (@place $to:ident $within:ident $outer:literal) => { $within };
    (@encode $field:ident, $value:expr, $number:literal, $to:expr; $(Pointer)?) => {
        $crate::decode::encode::field(|object: &Self::Object| &object.$field, $value, $number, $to);
    };
    (@encode $field:ident, $value:expr, $number:literal, $to:expr; $fields:ident) => {
        $crate::decode::encode::bytes(&$crate::decode::encode::fields::<$fields>($value), $number, $to);
    };
    (@name $field:ident) => { stringify!($field) };
    (@name $field:ident $name:literal) => { $name };
    (@to $object:ident.$field:ident; $(Pointer)?) => { $crate::decode::field::Seed(&mut $object.$field) };
    (@to $object:ident.$field:ident; $fields:ident) => { $crate::decode::object::Seed::<$fields>(&mut $object.$field) };
    (@take $object:ident.$field:ident, $value:ident;) => {
        $crate::decode::field::Field::read_protobuf(&mut $object.$field, $value)
    };
    (@take $object:ident.$field:ident, $value:ident; Pointer) => {
        $crate::decode::field::Field::read_protobuf($object.$field.get_or_insert_default(), $value)
    };
    (@take $object:ident.$field:ident, $value:ident; $fields:ident) => {
        $crate::decode::object::read_protobuf::<$fields>(&mut $object.$field, $value.bytes()?)
    };
}
pub(super) use selected_fields;

/// Decodes the selected fields of an object.
pub(super) struct Seed<'a, F: SelectedFields>(pub(super) &'a mut F::Object);

impl<'de, F: SelectedFields> DeserializeSeed<'de> for Seed<'_, F> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<(), D::Error> {
        from.deserialize_option(self)
    }
}

impl<'de, F: SelectedFields> Visitor<'de> for Seed<'_, F> {
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

/// Decodes the name of a field as its index in the list; the index of unknown names is the length of the list.
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
