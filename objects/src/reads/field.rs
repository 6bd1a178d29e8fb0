//! Values of fields.

use std::collections::BTreeMap;
use std::fmt;

use k8s_openapi::apimachinery::pkg::api::resource::Quantity;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{Condition, Time};
use k8s_openapi::apimachinery::pkg::runtime::RawExtension;
use serde::Deserialize;
use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};

/// What is read to where it is to be, so that nothing large is moved. Null is as good as absent, as it is for Go.
pub(super) trait Field {
    fn read<'de, D: Deserializer<'de>>(&mut self, from: D) -> Result<(), D::Error>;
}

/// Reads a field.
pub(super) struct To<'a, T>(pub(super) &'a mut T);

impl<'de, T: Field> DeserializeSeed<'de> for To<'_, T> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<(), D::Error> {
        self.0.read(from)
    }
}

/// What is read as its own type says.
macro_rules! whole {
    ($($type:ty),*) => {$(
        impl Field for $type {
            fn read<'de, D: Deserializer<'de>>(&mut self, from: D) -> Result<(), D::Error> {
                if let Some(value) = Deserialize::deserialize(from)? {
                    *self = value;
                }
                Ok(())
            }
        }
    )*};
}

whole!(bool, i32, i64, String, Quantity, RawExtension, Vec<Condition>, BTreeMap<String, Time>);

impl Field for Option<Time> {
    fn read<'de, D: Deserializer<'de>>(&mut self, from: D) -> Result<(), D::Error> {
        *self = Deserialize::deserialize(from)?;
        Ok(())
    }
}

impl<T: Field + Default> Field for Option<T> {
    fn read<'de, D: Deserializer<'de>>(&mut self, from: D) -> Result<(), D::Error> {
        from.deserialize_option(To(self))
    }
}

impl<'de, T: Field + Default> Visitor<'de> for To<'_, Option<T>> {
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
        from.deserialize_option(To(self))
    }
}

impl<'de, T: Field + Default> Visitor<'de> for To<'_, Vec<T>> {
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
        while list.next_element_seed(To(&mut next))?.is_some() {
            self.0.push(std::mem::take(&mut next));
        }
        Ok(())
    }
}

impl<T: Field + Default> Field for BTreeMap<String, T> {
    fn read<'de, D: Deserializer<'de>>(&mut self, from: D) -> Result<(), D::Error> {
        from.deserialize_option(To(self))
    }
}

impl<'de, T: Field + Default> Visitor<'de> for To<'_, BTreeMap<String, T>> {
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
            map.next_value_seed(To(self.0.entry(key).or_default()))?;
        }
        Ok(())
    }
}
