//! What a plugin's arguments may look like.
//!
//! In-tree schemas are generated from the Rust structs (`catalog/in-tree-args.json`); a plugin crate may put the same
//! shape into its `schedc.toml`, under `args` of a `[[plugin]]`.

use serde::{Deserialize, Serialize};

/// The shape of a value.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Schema {
    /// A table with known fields.
    Table {
        /// The fields.
        fields: Vec<FieldSchema>,
    },
    /// An integer in a range, both ends included.
    Integer {
        /// The least value.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        min: Option<i64>,
        /// The greatest value.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        max: Option<i64>,
    },
    /// A string.
    String {
        /// What the string must look like.
        #[serde(default)]
        format: Format,
    },
    /// `true` or `false`.
    Boolean,
    /// One of some strings.
    Enum {
        /// The strings.
        values: Vec<String>,
    },
    /// A list of equal shapes.
    List {
        /// The shape of an element.
        of: Box<Schema>,
        /// The least number of elements.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        min: Option<usize>,
        /// The greatest number of elements.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        max: Option<usize>,
        /// No two elements agree in this field; `""` for the elements themselves.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        unique: Option<String>,
        /// This integer field increases from element to element; `""` for the elements themselves.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        increasing: Option<String>,
    },
}

/// A field of a table.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FieldSchema {
    /// The key, kebab-case.
    pub name: String,
    /// Whether it must be there.
    #[serde(default)]
    pub required: bool,
    /// What the field is for.
    #[serde(default)]
    pub doc: String,
    /// The shape of its value.
    pub schema: Schema,
}

/// What a string must look like.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Format {
    /// Anything.
    #[default]
    Any,
    /// A Kubernetes label key or resource name: `[prefix/]name`.
    QualifiedName,
    /// The part of a qualified name before the `/`.
    NamePrefix,
    /// A Kubernetes label value.
    LabelValue,
    /// Anything but the empty string.
    NonEmpty,
    /// A duration, not negative: `10s`, `1m30s`.
    Duration,
}
