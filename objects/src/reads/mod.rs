//! Objects as they come from an API server, without what scheduling never looks at.
//!
//! Most of an object is for others: who manages which field, environments of containers, probes, reasons. [`read`] passes
//! over that as it reads, so that it costs neither memory nor more time than it takes to find its end. What is left is what
//! the conversions to the model look at, what tells versions of an object apart, and what a patch of a pod's status depends
//! on; `fields` has it by kind.

mod fields;
mod pruned;

use serde::Deserializer;
use serde::de::{DeserializeSeed, Error};

use crate::kinds::AnyObject;

use fields::fields;
use pruned::Pruned;

/// Reads an object of a kind, without what scheduling never looks at.
///
/// # Errors
/// A field has a wrong type, or scheduling does not look at such objects.
pub fn read<'de, D: Deserializer<'de>>(kind: &str, deserializer: D) -> Result<AnyObject, D::Error> {
    let Some(fields) = fields(kind) else { return Err(D::Error::custom(format!("nobody looks at a {kind}"))) };
    AnyObject::deserialize(kind, Pruned::new(deserializer, fields))
}

/// Reads an object of this kind where one is found.
#[derive(Clone, Copy, Debug)]
pub struct OfKind<'a>(pub &'a str);

impl<'de> DeserializeSeed<'de> for OfKind<'_> {
    type Value = AnyObject;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<AnyObject, D::Error> {
        read(self.0, deserializer)
    }
}

#[cfg(test)]
mod tests;
