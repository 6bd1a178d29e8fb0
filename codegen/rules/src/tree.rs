//! Values of profiles and catalogs as written, with locations.

use crate::source::{Span, Spanned};

/// A value as written.
#[derive(Clone, Debug, PartialEq)]
pub struct RawNode {
    /// Location. For a table with a header, the header.
    pub span: Span,
    /// Value.
    pub value: RawValue,
}

/// The kinds of values that TOML has.
#[derive(Clone, Debug, PartialEq)]
pub enum RawValue {
    /// `true` or `false`.
    Bool(bool),
    /// An integer. Values beyond 128 bits are replaced by the nearest one.
    Int(i128),
    /// A float, as written. Profiles contain no valid floats.
    Float(String),
    /// A string.
    Str(String),
    /// A date or time, as written. Profiles contain no valid dates.
    Datetime(String),
    /// An array.
    List(Vec<RawNode>),
    /// A table.
    Table(RawTable),
}

/// A table with its fields in source order.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RawTable {
    /// The fields.
    pub fields: Vec<RawField>,
}

/// A field of a table.
#[derive(Clone, Debug, PartialEq)]
pub struct RawField {
    /// The key.
    pub key: Spanned<String>,
    /// The value.
    pub value: RawNode,
}

impl RawTable {
    /// Returns the field with this key.
    pub fn get(&self, key: &str) -> Option<&RawField> {
        self.fields.iter().find(|field| field.key.value == key)
    }
}

impl RawValue {
    /// Returns a description of the value's kind.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Bool(_) => "a boolean",
            Self::Int(_) => "an integer",
            Self::Float(_) => "a float",
            Self::Str(_) => "a string",
            Self::Datetime(_) => "a date or time",
            Self::List(_) => "a list",
            Self::Table(_) => "a table",
        }
    }
}
