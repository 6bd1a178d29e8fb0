//! Device classes.

use super::{DeviceConfiguration, DeviceSelector};
use crate::model::intern::Symbol;
use crate::model::symbols::Symbols;

/// `resource.k8s.io/v1` DeviceClass.
#[derive(Clone, Debug, PartialEq, Eq, Symbols)]
pub struct DeviceClass {
    /// `metadata.name`.
    pub name: Symbol,
    /// `metadata.creationTimestamp` in nanoseconds since 1970.
    pub created: Option<i64>,
    /// The extended resource by which pods can always request a device of this class.
    pub implicit_resource: Symbol,
    /// `spec.extendedResourceName`: a second extended resource for devices of this class.
    pub extended_resource: Option<Symbol>,
    /// `spec.selectors`, all of which a device must meet.
    pub selectors: Box<[DeviceSelector]>,
    /// `spec.config`.
    pub config: Box<[DeviceConfiguration]>,
}
