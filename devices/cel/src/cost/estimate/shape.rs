//! Parts of a device, with the greatest sizes that the API allows.

use crate::device::Kind;

/// Kubernetes' limits for a device: number of attributes, and lengths of a domain, a name, the driver and a value.
const MAX_ATTRIBUTES: u64 = 32;
const MAX_DOMAIN: u64 = 63;
const MAX_NAME: u64 = 32;
const MAX_DRIVER: u64 = 63;
const MAX_ATTRIBUTE: u64 = 64;

/// Part of a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shape {
    Device,
    Driver,
    AllowMultipleAllocations,
    Domains(Kind),
    Domain(Kind),
    DomainName,
    Name,
    Attribute,
    Capacity,
}

impl Shape {
    /// Returns the part with this name.
    pub(super) fn field(self, name: &str) -> Option<Shape> {
        match (self, name) {
            (Shape::Device, "driver") => Some(Shape::Driver),
            (Shape::Device, "allowMultipleAllocations") => Some(Shape::AllowMultipleAllocations),
            (Shape::Device, "attributes") => Some(Shape::Domains(Kind::Attributes)),
            (Shape::Device, "capacity") => Some(Shape::Domains(Kind::Capacities)),
            (Shape::Domain(Kind::Attributes), _) => Some(Shape::Attribute),
            _ => None,
        }
    }

    /// Returns the shape of the values of a map.
    pub(super) fn element(self) -> Option<Shape> {
        match self {
            Shape::Domains(kind) => Some(Shape::Domain(kind)),
            Shape::Domain(Kind::Attributes) => Some(Shape::Attribute),
            Shape::Domain(Kind::Capacities) => Some(Shape::Capacity),
            _ => None,
        }
    }

    /// Returns the shape of the keys of a map.
    pub(super) fn key(self) -> Option<Shape> {
        match self {
            Shape::Domains(_) => Some(Shape::DomainName),
            Shape::Domain(_) => Some(Shape::Name),
            _ => None,
        }
    }

    pub(super) fn max_size(self) -> u64 {
        match self {
            Shape::Device | Shape::Capacity => 0,
            Shape::Driver => MAX_DRIVER,
            Shape::AllowMultipleAllocations => 1,
            Shape::Domains(_) | Shape::Domain(_) => MAX_ATTRIBUTES,
            Shape::DomainName => MAX_DOMAIN,
            Shape::Name => MAX_NAME,
            Shape::Attribute => MAX_ATTRIBUTE,
        }
    }
}
