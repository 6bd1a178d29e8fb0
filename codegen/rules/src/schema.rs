//! Schema of a plugin's arguments.
//!
//! In-tree schemas are generated from the Rust structs (`catalog/in-tree-args.json`). A plugin crate may
//! contain a schema of the same form in its `schedc.toml`, under `args` of a `[[plugin]]`.

use serde::{Deserialize, Serialize};

/// The schemas of the in-tree plugins' arguments: JSON with a [`Schema`] for each plugin that has arguments.
pub const IN_TREE_ARGS: &str = include_str!("../catalog/in-tree-args.json");

/// Shape of a plugin's arguments.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ArgsSchema {
    /// The plugin takes no arguments.
    None,
    /// The arguments have this shape, always a [`Schema::Table`].
    Known(Schema),
    /// Unknown, because the crate's sources do not determine the shape. rustc checks the arguments when it evaluates
    /// their constant in the generated code.
    Opaque,
}

/// The shape of a value.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Schema {
    /// A table with known fields.
    Table {
        /// The fields.
        fields: Vec<FieldSchema>,
    },
    /// An integer in an inclusive range.
    Integer {
        /// The minimum.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        min: Option<i64>,
        /// The maximum.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        max: Option<i64>,
    },
    /// A string.
    String {
        /// The format of the string.
        #[serde(default)]
        format: Format,
    },
    /// `true` or `false`.
    Boolean,
    /// One of several strings.
    Enum {
        /// The strings.
        values: Vec<String>,
    },
    /// A list of elements with one schema.
    List {
        /// The schema of an element.
        #[serde(rename = "of")]
        element: Box<Schema>,
        /// The minimum number of elements.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        min: Option<usize>,
        /// The maximum number of elements.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        max: Option<usize>,
        /// A field that differs in all elements; `""` for the elements themselves.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        unique: Option<String>,
        /// An integer field that increases from element to element; `""` for the elements themselves.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        increasing: Option<String>,
    },
}

/// A field of a table.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FieldSchema {
    /// The key, in kebab-case.
    pub name: String,
    /// Whether the field is required.
    #[serde(default)]
    pub required: bool,
    /// Purpose of the field.
    #[serde(default)]
    pub doc: String,
    /// The shape of its value.
    pub schema: Schema,
}

/// Format of a string.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Format {
    /// Any string.
    #[default]
    Any,
    /// A Kubernetes label key or resource name: `[prefix/]name`.
    QualifiedName,
    /// A name without `/`, which selects resources by the part of their names before the `/`.
    NamePrefix,
    /// A Kubernetes label value.
    LabelValue,
    /// Any string except the empty one.
    NonEmpty,
    /// A non-negative duration: `10s`, `1m30s`.
    Duration,
}
