//! Values at run time. Strings, lists and versions of the device and of the selector are borrowed, so that most
//! evaluations allocate nothing.

use std::ops::Deref;
use std::sync::Arc;

use schedc_core::quantity::Quantity;

use super::list::List;
use super::map::Map;
use crate::device::{Attribute, DomainMap, DomainsMap};
use crate::functions::network::{Cidr, Ip};
use crate::functions::{formats::Format, time::Timestamp, urls::Url};
use crate::version::Version;

/// Borrowed or shared data.
#[derive(Debug)]
pub(crate) enum DataRef<'a, T: ?Sized> {
    Borrowed(&'a T),
    Shared(Arc<T>),
}

impl<T: ?Sized> Clone for DataRef<'_, T> {
    fn clone(&self) -> Self {
        match self {
            DataRef::Borrowed(value) => DataRef::Borrowed(value),
            DataRef::Shared(value) => DataRef::Shared(Arc::clone(value)),
        }
    }
}

impl<T: ?Sized> Deref for DataRef<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        match self {
            DataRef::Borrowed(value) => value,
            DataRef::Shared(value) => value,
        }
    }
}

/// String value.
pub(crate) type Str<'a> = DataRef<'a, str>;

/// Value of an expression.
#[derive(Clone, Debug)]
pub(crate) enum Value<'a> {
    Null,
    Bool(bool),
    Int(i64),
    Uint(u64),
    Double(f64),
    String(Str<'a>),
    Bytes(DataRef<'a, [u8]>),
    Timestamp(Timestamp),
    /// Nanoseconds.
    Duration(i64),
    List(List<'a>),
    Map(Map<'a>),
    Optional(Option<Arc<Value<'a>>>),
    /// Type, by its name.
    Type(&'static str),
    Quantity(DataRef<'a, Quantity>),
    Version(DataRef<'a, Version>),
    Ip(Ip),
    Cidr(Cidr),
    Url(Arc<Url>),
    Format(&'static Format),
    /// `device.attributes` or `device.capacity`.
    Domains(DomainsMap<'a>),
    /// Attributes or capacities of one domain.
    Domain(DomainMap<'a>),
    /// `device` itself.
    Device(crate::device::Device<'a>),
}

impl<'a> Value<'a> {
    pub(crate) fn string(text: impl Into<Arc<str>>) -> Value<'a> {
        Value::String(DataRef::Shared(text.into()))
    }

    pub(crate) fn some(value: Value<'a>) -> Value<'a> {
        Value::Optional(Some(Arc::new(value)))
    }

    pub(crate) fn quantity(quantity: Quantity) -> Value<'a> {
        Value::Quantity(DataRef::Shared(Arc::new(quantity)))
    }

    pub(crate) fn attribute(attribute: &'a Attribute) -> Value<'a> {
        match attribute {
            Attribute::Bool(value) => Value::Bool(*value),
            Attribute::Int(value) => Value::Int(*value),
            Attribute::String(value) => Value::String(DataRef::Borrowed(value)),
            Attribute::Version(value) => Value::Version(DataRef::Borrowed(value)),
        }
    }

    /// Returns the name of the value's type, as `type()` returns it.
    pub(crate) fn type_name(&self) -> &'static str {
        match self {
            Value::Null => "null_type",
            Value::Bool(_) => "bool",
            Value::Int(_) => "int",
            Value::Uint(_) => "uint",
            Value::Double(_) => "double",
            Value::String(_) => "string",
            Value::Bytes(_) => "bytes",
            Value::Timestamp(_) => "google.protobuf.Timestamp",
            Value::Duration(_) => "google.protobuf.Duration",
            Value::List(_) => "list",
            Value::Map(_) | Value::Domains(_) | Value::Domain(_) | Value::Device(_) => "map",
            Value::Optional(_) => "optional_type",
            Value::Type(_) => "type",
            Value::Quantity(_) => "kubernetes.Quantity",
            Value::Version(_) => "kubernetes.Semver",
            Value::Ip(_) => "net.IP",
            Value::Cidr(_) => "net.CIDR",
            Value::Url(_) => "kubernetes.URL",
            Value::Format(_) => "kubernetes.NamedFormat",
        }
    }

    /// Returns the size for costs: characters, bytes, elements or entries, and 1 for everything else.
    pub(crate) fn size(&self) -> u64 {
        let size = match self {
            // Counts the bytes that do not continue a character. For short texts, this is faster than decoding.
            Value::String(text) => text.bytes().filter(|byte| byte & 0xc0 != 0x80).count(),
            Value::Bytes(bytes) => bytes.len(),
            Value::List(list) => list.len(),
            Value::Map(map) => map.entries().len(),
            Value::Domains(domains) => domains.len(),
            Value::Domain(domain) => domain.len(),
            Value::Device(_) => 4,
            Value::Ip(ip) => ip.size(),
            Value::Cidr(cidr) => cidr.size(),
            Value::Optional(Some(value)) => return value.size(),
            _ => 1,
        };
        size as u64
    }

    /// Returns whether it is the empty or zero value of its type.
    pub(crate) fn is_zero(&self) -> bool {
        match self {
            Value::Null => true,
            Value::Bool(value) => !value,
            Value::Int(value) => *value == 0,
            Value::Uint(value) => *value == 0,
            Value::Double(value) => *value == 0.0,
            Value::Duration(nanoseconds) => *nanoseconds == 0,
            Value::Timestamp(timestamp) => timestamp.is_zero(),
            Value::Optional(value) => value.is_none(),
            Value::String(_)
            | Value::Bytes(_)
            | Value::List(_)
            | Value::Map(_)
            | Value::Domains(_)
            | Value::Domain(_) => self.size() == 0,
            _ => false,
        }
    }
}
