//! Objects of kinds that plugins declare.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use schedc_core::model::CustomKind;
use schedc_core::profile::Bundle;
use serde_json::{Map, Value};

use super::{AnyObject, known};

/// An object of a kind that a plugin declares.
#[derive(Clone, Debug, PartialEq)]
pub struct CustomObject {
    /// Its kind.
    pub kind: &'static CustomKind,
    /// Its metadata.
    pub metadata: ObjectMeta,
    /// All other fields.
    pub fields: Map<String, Value>,
}

impl CustomObject {
    /// Creates an object without metadata and fields.
    pub fn new(kind: &'static CustomKind) -> CustomObject {
        CustomObject { kind, metadata: ObjectMeta::default(), fields: Map::new() }
    }

    /// Returns the object as JSON, with `apiVersion` and `kind`.
    ///
    /// # Errors
    /// Serialization does not fail in practice.
    pub fn to_json(&self) -> Result<Value, serde_json::Error> {
        let mut fields = self.fields.clone();
        fields.insert("apiVersion".to_owned(), self.kind.api_version.into());
        fields.insert("kind".to_owned(), self.kind.kind.into());
        fields.insert("metadata".to_owned(), serde_json::to_value(&self.metadata)?);
        Ok(Value::Object(fields))
    }
}

/// The kinds that plugins of a scheduler declare, in addition to the built-in ones.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Kinds(&'static [CustomKind]);

/// Description of a kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KindInfo {
    /// The name that [`AnyObject::kind`] returns: for a declared kind, its full name.
    pub kind: &'static str,
    /// The name in manifests.
    pub manifest_kind: &'static str,
    /// Its API version.
    pub api_version: &'static str,
    /// Whether its objects are in namespaces.
    pub is_namespaced: bool,
}

impl Kinds {
    /// Returns the kinds that a scheduler's plugins declare.
    pub const fn of<B: Bundle>() -> Kinds {
        Kinds(B::KINDS)
    }
    /// Wraps declared kinds, such as [`AnyBundle::kinds`](schedc_core::erased::AnyBundle::kinds).
    pub const fn declared(kinds: &'static [CustomKind]) -> Kinds {
        Kinds(kinds)
    }

    /// Returns the declared kind with this API version and this name in manifests.
    pub fn find(self, api_version: &str, kind: &str) -> Option<&'static CustomKind> {
        self.0.iter().find(|custom| (custom.api_version, custom.kind) == (api_version, kind))
    }

    /// Returns the kind with a name: the kind as in manifests, or the full name of a declared kind. Built-in kinds take
    /// precedence. `None`: schedulers ignore the kind.
    pub fn named(self, name: &str) -> Option<KindInfo> {
        let custom = || self.0.iter().find(|custom| custom.name == name || custom.kind == name);
        AnyObject::kind_named(name)
            .and_then(|(kind, api_version)| Some((kind, api_version, known(kind)?.1)))
            .map_or_else(
                || custom().map(KindInfo::from),
                |(kind, api_version, is_namespaced)| {
                    Some(KindInfo { kind, manifest_kind: kind, api_version, is_namespaced })
                },
            )
    }
}

impl From<&'static [CustomKind]> for Kinds {
    fn from(kinds: &'static [CustomKind]) -> Kinds {
        Kinds(kinds)
    }
}

impl From<&CustomKind> for KindInfo {
    fn from(custom: &CustomKind) -> KindInfo {
        KindInfo {
            kind: custom.name,
            manifest_kind: custom.kind,
            api_version: custom.api_version,
            is_namespaced: custom.is_namespaced,
        }
    }
}

impl From<CustomObject> for AnyObject {
    fn from(object: CustomObject) -> AnyObject {
        AnyObject::Custom(Box::new(object))
    }
}
