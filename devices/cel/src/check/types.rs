//! Types of expressions.

use std::fmt;
use std::sync::Arc;

/// Static type of an expression.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Type {
    /// Type of an erroneous expression, assignable to every type.
    Error,
    /// Type that is known at run time only.
    Dyn,
    /// Type of an attribute's value. It is assignable like `Dyn`, with three differences: it cannot be the range of a
    /// loop, a selector may return it, and a list cannot have elements of both types.
    Any,
    Null,
    Bool,
    Bytes,
    Double,
    Duration,
    Int,
    String,
    Timestamp,
    Uint,
    /// Type as a value; `None`: any type.
    Meta(Option<Arc<Type>>),
    Compound(Arc<Compound>),
    /// Opaque type of a library: `net.IP`, `net.CIDR`.
    Opaque(&'static str),
    /// Object type: the device, quantities, versions, URLs, formats.
    Object(&'static str),
    /// Type variable.
    Variable(usize),
}

/// Type with type parameters.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Compound {
    pub(crate) constructor: Constructor,
    pub(crate) parameters: Vec<Type>,
    /// Number of types that it consists of. A limit of this number bounds the recursion over types.
    weight: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Constructor {
    List,
    Map,
    Optional,
}

pub(crate) const DEVICE: Type = Type::Object("kubernetes.DRADevice");
pub(crate) const QUANTITY: Type = Type::Object("kubernetes.Quantity");
pub(crate) const SEMVER: Type = Type::Object("kubernetes.Semver");
pub(crate) const URL: Type = Type::Object("kubernetes.URL");
pub(crate) const FORMAT: Type = Type::Object("kubernetes.NamedFormat");
pub(crate) const IP: Type = Type::Opaque("net.IP");
pub(crate) const CIDR: Type = Type::Opaque("net.CIDR");

impl Type {
    /// Creates a type with parameters.
    pub(crate) fn compound(constructor: Constructor, parameters: Vec<Type>) -> Type {
        let weight = 1 + parameters.iter().map(Type::weight).sum::<usize>();
        Type::Compound(Arc::new(Compound { constructor, parameters, weight }))
    }

    pub(crate) fn list(element: Type) -> Type {
        Type::compound(Constructor::List, vec![element])
    }

    pub(crate) fn map(key: Type, value: Type) -> Type {
        Type::compound(Constructor::Map, vec![key, value])
    }

    pub(crate) fn optional(value: Type) -> Type {
        Type::compound(Constructor::Optional, vec![value])
    }

    /// Returns the number of types that the type consists of.
    pub(crate) fn weight(&self) -> usize {
        match self {
            Type::Compound(compound) => compound.weight,
            Type::Meta(Some(inner)) => 1 + inner.weight(),
            _ => 1,
        }
    }

    pub(crate) fn is_dyn(&self) -> bool {
        matches!(self, Type::Dyn | Type::Any)
    }

    pub(crate) fn is_dyn_or_error(&self) -> bool {
        matches!(self, Type::Dyn | Type::Any | Type::Error)
    }

    /// Returns the parameters of a compound type with this constructor.
    pub(crate) fn parameters(&self, constructor: Constructor) -> Option<&[Type]> {
        match self {
            Type::Compound(compound) if compound.constructor == constructor => Some(&compound.parameters),
            _ => None,
        }
    }

    /// Returns the type of an optional's value.
    pub(crate) fn optional_value(&self) -> Option<&Type> {
        self.parameters(Constructor::Optional).map(|parameters| &parameters[0])
    }

    /// Returns the type that a name stands for in an expression.
    pub(crate) fn named(name: &str) -> Option<Type> {
        Some(match name {
            "bool" => Type::Bool,
            "bytes" => Type::Bytes,
            "double" => Type::Double,
            "google.protobuf.Duration" => Type::Duration,
            "int" => Type::Int,
            "list" => Type::list(Type::Dyn),
            "map" => Type::map(Type::Dyn, Type::Dyn),
            "null_type" => Type::Null,
            "string" => Type::String,
            "google.protobuf.Timestamp" => Type::Timestamp,
            "type" => Type::Meta(None),
            "uint" => Type::Uint,
            "optional_type" => Type::optional(Type::Dyn),
            "net.IP" => IP,
            "net.CIDR" => CIDR,
            _ => return None,
        })
    }

    /// Returns the type of a field of an object.
    pub(crate) fn field(&self, field: &str) -> Option<Type> {
        if *self != DEVICE {
            return None;
        }
        let by_domain = |value| Type::map(Type::String, Type::map(Type::String, value));
        Some(match field {
            "driver" => Type::String,
            "allowMultipleAllocations" => Type::Bool,
            "attributes" => by_domain(Type::Any),
            "capacity" => by_domain(QUANTITY),
            _ => return None,
        })
    }
}

impl fmt::Display for Type {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = match self {
            Type::Error => "!error!",
            Type::Dyn => "dyn",
            Type::Any => "any",
            Type::Null => "null",
            Type::Bool => "bool",
            Type::Bytes => "bytes",
            Type::Double => "double",
            Type::Duration => "google.protobuf.Duration",
            Type::Int => "int",
            Type::String => "string",
            Type::Timestamp => "google.protobuf.Timestamp",
            Type::Uint => "uint",
            Type::Meta(None) => "type",
            Type::Meta(Some(inner)) => return write!(f, "type({inner})"),
            Type::Opaque(name) | Type::Object(name) => name,
            Type::Variable(number) => return write!(f, "_var{number}"),
            Type::Compound(compound) => {
                f.write_str(match compound.constructor {
                    Constructor::List => "list(",
                    Constructor::Map => "map(",
                    Constructor::Optional => "optional_type(",
                })?;
                for (i, parameter) in compound.parameters.iter().enumerate() {
                    write!(f, "{}{parameter}", if i == 0 { "" } else { ", " })?;
                }
                return f.write_str(")");
            }
        };
        f.write_str(name)
    }
}
