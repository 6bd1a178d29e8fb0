//! Values at run time. Strings, versions and quantities of the device, and strings of the selector, are borrowed, so
//! that most evaluations allocate nothing.

use std::collections::HashMap;
use std::ops::Deref;
use std::sync::Arc;

use schedc_core::quantity::Quantity;

use super::list;
use crate::data::{format::Format, network::Cidr, network::Ip, time::Timestamp, url::Url};
use crate::device::{Attribute, Device, DomainMap, DomainsMap};
use crate::version::Version;

/// Maximum number of entries of a map without an index.
const MAX_SCANNED: usize = 8;

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

/// List value.
pub(crate) type List<'a> = list::List<Value<'a>>;

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
    Device(Device<'a>),
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

    /// Returns the size for costs: characters, bytes, elements or entries, and 1 for most other values.
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

    /// Returns whether it is the empty or zero value of its type. Quantities, versions, addresses, URLs, formats, types and
    /// the device are never zero.
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

/// Map value that an expression creates. It keeps the order in which entries are added.
#[derive(Clone, Debug)]
pub(crate) struct Map<'a>(Arc<Entries<'a>>);

/// Entries of a map.
#[derive(Clone, Debug, Default)]
pub(crate) struct Entries<'a> {
    entries: Vec<(Value<'a>, Value<'a>)>,
    /// Position of each key; empty for up to [`MAX_SCANNED`] entries.
    index: HashMap<Key<'a>, usize>,
}

/// Key of a map. Integers of both types and floating-point numbers with the same whole value are one key.
#[derive(Clone, Debug)]
pub(crate) enum Key<'a> {
    Bool(bool),
    Number(i128),
    String(Str<'a>),
}

impl<'a> Key<'a> {
    /// Returns the map key for a value; `None` if no key can be equal to it.
    pub(crate) fn new(value: &Value<'a>) -> Option<Key<'a>> {
        Some(match value {
            Value::Bool(value) => Key::Bool(*value),
            Value::Int(value) => Key::Number((*value).into()),
            Value::Uint(value) => Key::Number((*value).into()),
            Value::Double(value) if value.fract() == 0.0 && value.abs() < 2e19 => Key::Number(*value as i128),
            Value::String(text) => Key::String(text.clone()),
            _ => return None,
        })
    }
}

impl PartialEq for Key<'_> {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Key::Bool(a), Key::Bool(b)) => a == b,
            (Key::Number(a), Key::Number(b)) => a == b,
            (Key::String(a), Key::String(b)) => **a == **b,
            _ => false,
        }
    }
}

impl Eq for Key<'_> {}

impl std::hash::Hash for Key<'_> {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        match self {
            Key::Bool(value) => value.hash(state),
            Key::Number(value) => value.hash(state),
            Key::String(text) => (**text).hash(state),
        }
    }
}

impl<'a> Map<'a> {
    pub(crate) fn new(entries: Entries<'a>) -> Map<'a> {
        Map(Arc::new(entries))
    }

    pub(crate) fn entries(&self) -> &[(Value<'a>, Value<'a>)] {
        &self.0.entries
    }

    pub(crate) fn get(&self, key: &Value<'a>) -> Option<&Value<'a>> {
        self.0.position(&Key::new(key)?).map(|position| &self.0.entries[position].1)
    }

    /// Returns the entries to be changed. They are copied if another value refers to them.
    pub(crate) fn make_mut(&mut self) -> &mut Entries<'a> {
        Arc::make_mut(&mut self.0)
    }
}

impl<'a> Entries<'a> {
    fn position(&self, key: &Key<'a>) -> Option<usize> {
        if self.entries.len() > MAX_SCANNED {
            return self.index.get(key).copied();
        }
        self.entries.iter().position(|(other, _)| Key::new(other).as_ref() == Some(key))
    }

    fn build_index(&mut self) {
        self.index = self.entries.iter().enumerate().filter_map(|(i, (key, _))| Some((Key::new(key)?, i))).collect();
    }

    /// Adds an entry, or replaces the value. Returns whether the key is new; `None` if `key` cannot be a key.
    pub(crate) fn insert(&mut self, key: Value<'a>, value: Value<'a>) -> Option<bool> {
        let hashed = Key::new(&key).filter(|_| !matches!(key, Value::Double(_)))?;
        if let Some(position) = self.position(&hashed) {
            self.entries[position].1 = value;
            return Some(false);
        }
        self.entries.push((key, value));
        if self.entries.len() > MAX_SCANNED {
            if self.index.is_empty() {
                self.build_index();
            } else {
                self.index.insert(hashed, self.entries.len() - 1);
            }
        }
        Some(true)
    }

    /// Removes an entry. Positions change, so the index is rebuilt.
    pub(crate) fn remove(&mut self, key: &Value<'a>) {
        if let Some(position) = Key::new(key).and_then(|key| self.position(&key)) {
            self.entries.remove(position);
            self.index.clear();
            if self.entries.len() > MAX_SCANNED {
                self.build_index();
            }
        }
    }
}
