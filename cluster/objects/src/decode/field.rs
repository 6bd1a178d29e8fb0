//! Values of fields.

use std::collections::BTreeMap;
use std::fmt;

use k8s_openapi::apimachinery::pkg::api::resource::Quantity;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{Condition, Time};
use k8s_openapi::apimachinery::pkg::runtime::RawExtension;
use k8s_openapi::jiff::Timestamp;
use serde::Deserialize;
use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};

use super::protobuf::{FieldValue, Malformed, Message};

/// A value that is decoded in place, because large values are expensive to move. Null equals absence, as in Go.
pub(super) trait Field {
    /// Decodes a JSON value.
    fn read<'de, D: Deserializer<'de>>(&mut self, from: D) -> Result<(), D::Error>;

    /// Decodes a protobuf value; for a list or a map, one of its entries.
    fn read_protobuf(&mut self, value: FieldValue<'_>) -> Result<(), Malformed>;

    /// Returns whether this is Go's zero value, which JSON omits.
    fn is_zero(&self) -> bool {
        false
    }
}

/// Decodes a field.
pub(super) struct Seed<'a, T>(pub(super) &'a mut T);

impl<'de, T: Field> DeserializeSeed<'de> for Seed<'_, T> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<(), D::Error> {
        self.0.read(from)
    }
}

/// Decodes a JSON value with the type's own `Deserialize`.
fn deserialize_whole<'de, T: Deserialize<'de>, D: Deserializer<'de>>(field: &mut T, from: D) -> Result<(), D::Error> {
    if let Some(value) = Deserialize::deserialize(from)? {
        *field = value;
    }
    Ok(())
}

/// Implements [`Field`] for scalars.
macro_rules! scalars {
    ($($type:ty: $value:ident => $taken:expr;)*) => {$(
        impl Field for $type {
            fn read<'de, D: Deserializer<'de>>(&mut self, from: D) -> Result<(), D::Error> {
                deserialize_whole(self, from)
            }

            fn read_protobuf(&mut self, $value: FieldValue<'_>) -> Result<(), Malformed> {
                *self = $taken;
                Ok(())
            }

            fn is_zero(&self) -> bool {
                *self == <$type>::default()
            }
        }
    )*};
}

scalars! {
    bool: value => value.number()? != 0;
    // Negative numbers have 64 bits on the wire, also those of 32-bit fields.
    i32: value => i32::try_from(value.number()?.cast_signed()).map_err(|_| Malformed::WrongType)?;
    i64: value => value.number()?.cast_signed();
    String: value => value.text()?.to_owned();
}

impl Field for Quantity {
    fn read<'de, D: Deserializer<'de>>(&mut self, from: D) -> Result<(), D::Error> {
        deserialize_whole(self, from)
    }

    fn read_protobuf(&mut self, value: FieldValue<'_>) -> Result<(), Malformed> {
        let text = Message(value.bytes()?).get(1)?;
        text.map_or(Ok(()), |text| self.0.read_protobuf(text))
    }
}

impl Field for RawExtension {
    fn read<'de, D: Deserializer<'de>>(&mut self, from: D) -> Result<(), D::Error> {
        deserialize_whole(self, from)
    }

    fn read_protobuf(&mut self, value: FieldValue<'_>) -> Result<(), Malformed> {
        if let Some(json) = Message(value.bytes()?).get(1)? {
            self.0 = serde_json::from_slice(json.bytes()?).map_err(|error| Malformed::Json(error.to_string()))?;
        }
        Ok(())
    }
}

/// Decodes a time. Returns `None` for Go's zero time, which has no fields.
fn time(value: FieldValue<'_>) -> Result<Option<Time>, Malformed> {
    let bytes = value.bytes()?;
    let (mut seconds, mut nanoseconds) = (0, 0);
    let mut message = Message(bytes);
    while let Some((number, value)) = message.next_field()? {
        match number {
            1 => Field::read_protobuf(&mut seconds, value)?,
            2 => Field::read_protobuf(&mut nanoseconds, value)?,
            _ => {}
        }
    }
    let time = Timestamp::new(seconds, nanoseconds).map_err(|_| Malformed::WrongType)?;
    Ok((!bytes.is_empty()).then_some(Time(time)))
}

impl Field for Option<Time> {
    fn read<'de, D: Deserializer<'de>>(&mut self, from: D) -> Result<(), D::Error> {
        *self = Deserialize::deserialize(from)?;
        Ok(())
    }

    fn read_protobuf(&mut self, value: FieldValue<'_>) -> Result<(), Malformed> {
        *self = time(value)?;
        Ok(())
    }
}

impl Field for BTreeMap<String, Time> {
    fn read<'de, D: Deserializer<'de>>(&mut self, from: D) -> Result<(), D::Error> {
        deserialize_whole(self, from)
    }

    fn read_protobuf(&mut self, value: FieldValue<'_>) -> Result<(), Malformed> {
        let (key, value) = entry(value)?;
        if let Some(time) = value.map(time).transpose()?.flatten() {
            self.insert(key, time);
        }
        Ok(())
    }
}

impl Field for Vec<Condition> {
    fn read<'de, D: Deserializer<'de>>(&mut self, from: D) -> Result<(), D::Error> {
        deserialize_whole(self, from)
    }

    fn read_protobuf(&mut self, value: FieldValue<'_>) -> Result<(), Malformed> {
        let mut condition = Condition {
            last_transition_time: Time(Timestamp::UNIX_EPOCH),
            message: String::new(),
            observed_generation: None,
            reason: String::new(),
            status: String::new(),
            type_: String::new(),
        };
        let mut message = Message(value.bytes()?);
        while let Some((number, value)) = message.next_field()? {
            match number {
                1 => condition.type_.read_protobuf(value)?,
                2 => condition.status.read_protobuf(value)?,
                3 => Field::read_protobuf(&mut condition.observed_generation, value)?,
                4 => condition.last_transition_time = time(value)?.unwrap_or(condition.last_transition_time),
                5 => condition.reason.read_protobuf(value)?,
                6 => condition.message.read_protobuf(value)?,
                _ => {}
            }
        }
        self.push(condition);
        Ok(())
    }
}

/// Decodes the key of a map entry. Returns it with the encoded value, if there is one.
fn entry(value: FieldValue<'_>) -> Result<(String, Option<FieldValue<'_>>), Malformed> {
    let (mut key, mut content) = (String::new(), None);
    let mut message = Message(value.bytes()?);
    while let Some((number, value)) = message.next_field()? {
        match number {
            1 => key.read_protobuf(value)?,
            2 => content = Some(value),
            _ => {}
        }
    }
    Ok((key, content))
}

impl<T: Field + Default> Field for Option<T> {
    fn read<'de, D: Deserializer<'de>>(&mut self, from: D) -> Result<(), D::Error> {
        from.deserialize_option(Seed(self))
    }

    fn read_protobuf(&mut self, value: FieldValue<'_>) -> Result<(), Malformed> {
        let field = self.get_or_insert_default();
        Field::read_protobuf(field, value)?;
        if field.is_zero() {
            *self = None;
        }
        Ok(())
    }
}

impl<'de, T: Field + Default> Visitor<'de> for Seed<'_, Option<T>> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value or null")
    }

    fn visit_none<E: Error>(self) -> Result<(), E> {
        Ok(())
    }

    fn visit_some<D: Deserializer<'de>>(self, from: D) -> Result<(), D::Error> {
        self.0.insert(T::default()).read(from)
    }
}

impl<T: Field + Default> Field for Vec<T> {
    fn read<'de, D: Deserializer<'de>>(&mut self, from: D) -> Result<(), D::Error> {
        from.deserialize_option(Seed(self))
    }

    fn read_protobuf(&mut self, value: FieldValue<'_>) -> Result<(), Malformed> {
        let mut next = T::default();
        next.read_protobuf(value)?;
        self.push(next);
        Ok(())
    }
}

impl<'de, T: Field + Default> Visitor<'de> for Seed<'_, Vec<T>> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list")
    }

    fn visit_none<E: Error>(self) -> Result<(), E> {
        Ok(())
    }

    fn visit_some<D: Deserializer<'de>>(self, from: D) -> Result<(), D::Error> {
        from.deserialize_seq(self)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<(), A::Error> {
        let mut next = T::default();
        while list.next_element_seed(Seed(&mut next))?.is_some() {
            self.0.push(std::mem::take(&mut next));
        }
        Ok(())
    }
}

impl<T: Field + Default> Field for BTreeMap<String, T> {
    fn read<'de, D: Deserializer<'de>>(&mut self, from: D) -> Result<(), D::Error> {
        from.deserialize_option(Seed(self))
    }

    fn read_protobuf(&mut self, value: FieldValue<'_>) -> Result<(), Malformed> {
        let (key, value) = entry(value)?;
        let content = self.entry(key).or_default();
        value.map_or(Ok(()), |value| content.read_protobuf(value))
    }
}

impl<'de, T: Field + Default> Visitor<'de> for Seed<'_, BTreeMap<String, T>> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a map")
    }

    fn visit_none<E: Error>(self) -> Result<(), E> {
        Ok(())
    }

    fn visit_some<D: Deserializer<'de>>(self, from: D) -> Result<(), D::Error> {
        from.deserialize_map(self)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        while let Some(key) = map.next_key()? {
            map.next_value_seed(Seed(self.0.entry(key).or_default()))?;
        }
        Ok(())
    }
}
