//! Decoding of objects whose kinds plugins declare. All fields are kept, except `metadata.managedFields`.

use std::fmt;

use schedc_core::model::CustomKind;
use schedc_kinds::CustomObject;
use serde::de::{Deserializer, IgnoredAny, MapAccess, Visitor};

use super::metadata::MetadataWithoutManagedFields;
use super::object;

pub(super) fn read<'de, D: Deserializer<'de>>(kind: &'static CustomKind, from: D) -> Result<CustomObject, D::Error> {
    from.deserialize_map(CustomObjectVisitor(kind))
}

struct CustomObjectVisitor(&'static CustomKind);

impl<'de> Visitor<'de> for CustomObjectVisitor {
    type Value = CustomObject;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<CustomObject, A::Error> {
        let mut object = CustomObject::new(self.0);
        while let Some(field) = map.next_key::<String>()? {
            match field.as_str() {
                "apiVersion" | "kind" => drop(map.next_value::<IgnoredAny>()?),
                "metadata" => {
                    map.next_value_seed(object::Seed::<MetadataWithoutManagedFields>(&mut object.metadata))?
                }
                _ => drop(object.fields.insert(field, map.next_value()?)),
            }
        }
        Ok(object)
    }
}
