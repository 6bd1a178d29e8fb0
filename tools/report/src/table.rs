//! Tables with typed columns.

use serde::Serialize;

use crate::unit::Unit;

/// Rows with typed columns.
#[derive(Clone, Debug, Default)]
pub struct Table {
    /// Heading.
    pub title: String,
    /// One sentence about the rows.
    pub description: String,
    /// Columns; all have the same number of values.
    pub columns: Vec<Column>,
    /// Decision about the pod of each row. Empty if the table shows no decisions.
    pub decisions: Vec<Option<Decision>>,
    /// Text if there are no rows.
    pub empty: String,
}

impl Table {
    /// Creates a table without columns.
    pub fn new(title: &str, description: &str, empty: &str) -> Self {
        Table {
            title: title.to_owned(),
            description: description.to_owned(),
            empty: empty.to_owned(),
            ..Table::default()
        }
    }

    /// Adds a column.
    #[must_use]
    pub fn with(mut self, column: Column) -> Self {
        self.columns.push(column);
        self
    }
}

/// Meaning of a column's values.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// Text.
    Text,
    /// Name of a pod: `namespace/name`.
    Pod,
    /// Name of a node; empty if there is none.
    Node,
    /// Numbers.
    Number(Unit),
    /// Numbers with a bar; the bar is full at this number.
    Bar(u32, Unit),
}

/// A column.
#[derive(Clone, Debug)]
pub struct Column {
    pub(crate) name: String,
    pub(crate) kind: Kind,
    pub(crate) is_hidden: bool,
    pub(crate) values: Values,
}

#[derive(Clone, Debug)]
pub(crate) enum Values {
    Text(Vec<String>),
    Numbers(Vec<Option<f64>>),
}

impl Column {
    /// Creates a column of texts.
    pub fn text(name: &str, kind: Kind, values: impl IntoIterator<Item = impl Into<String>>) -> Self {
        let values = Values::Text(values.into_iter().map(Into::into).collect());
        Column { name: name.to_owned(), kind, is_hidden: false, values }
    }

    /// Creates a column of numbers; `None` is shown as a dash.
    pub fn numbers(name: &str, kind: Kind, values: impl IntoIterator<Item = Option<f64>>) -> Self {
        let values = Values::Numbers(values.into_iter().collect());
        Column { name: name.to_owned(), kind, is_hidden: false, values }
    }

    /// Shows the values only in the details of a row and in exported files.
    #[must_use]
    pub fn hidden(self) -> Self {
        Column { is_hidden: true, ..self }
    }
}

/// The decision about a pod.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Decision {
    /// Number of feasible nodes; 0 if it is not known.
    pub feasible: usize,
    /// Number of nodes with the highest total.
    pub best: usize,
    /// The chosen node, and other nodes to compare it with.
    pub candidates: Vec<Candidate>,
}

/// A node with its scores.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Candidate {
    /// Role, such as `chosen`.
    pub role: String,
    /// Name of the node.
    pub node: String,
    /// Scores, in the profile's order.
    pub scores: Vec<PluginScore>,
}

/// A plugin's score for a node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PluginScore {
    /// Name of the plugin.
    pub plugin: String,
    /// Weight in the profile.
    pub weight: i64,
    /// Score before its weight.
    pub normalized: i64,
}
