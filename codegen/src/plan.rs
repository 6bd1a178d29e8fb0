//! The plan of a profile: resolve creates it, check validates it, and [`crate::emit`] generates code from it.
//!
//! A setting that the profile does not have is set to its default, which has no location.

use std::ops::Index;
use std::sync::Arc;

use crate::catalog::PluginEntry;
pub use crate::point::Point;
use crate::source::{FileId, Span, Spanned};

pub use schedc_profile_rules::plan::{ManagedResource, PlanExtender, PlanTls};

/// The plan of one profile.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The profile's file.
    pub file: FileId,
    /// The displayed path of the file, for example `profiles/edge.toml`.
    pub path: String,
    /// The file's name without extension: the profile's name.
    pub stem: String,
    /// The Rust module for this profile: the stem in snake_case, always a valid identifier.
    pub module: String,
    /// The `spec.schedulerName` of the profile's pods.
    pub scheduler_name: Setting<String>,
    /// The search ends when this percentage of the nodes is feasible; 0 selects kube-scheduler's adaptive rule.
    pub percentage_of_nodes_to_score: Setting<u8>,
    /// Backoff after the first failed attempt, in seconds; at least 1.
    pub pod_initial_backoff_seconds: Setting<u64>,
    /// The maximum backoff, in seconds; at least the initial one.
    pub pod_max_backoff_seconds: Setting<u64>,
    /// Its cost limits.
    pub budget: Budget,
    /// Every plugin that runs at an extension point, once, in a stable order: the merged `multi-point` list
    /// first, then the others in the order of the extension points.
    pub plugins: Vec<PlanPlugin>,
    /// The plugins of each extension point, in the order in which they run.
    pub points: Points,
    /// The extenders, in call order.
    pub extenders: Vec<PlanExtender>,
    /// The crates that the profile names.
    pub crates: Vec<PlanCrate>,
}

/// A crate that a profile names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlanCrate {
    /// Its name or path, as written.
    pub written: String,
    /// Its catalog.
    pub catalog: FileId,
}

impl Plan {
    /// Returns the plugin of a step.
    pub fn plugin(&self, step: &Step) -> &PlanPlugin {
        &self.plugins[step.plugin.0]
    }

    /// Returns the steps of an extension point with their plugins, in order.
    pub fn at(&self, point: Point) -> impl Iterator<Item = (&Step, &PlanPlugin)> {
        self.points[point].iter().map(|step| (step, self.plugin(step)))
    }

    /// Returns the extension points of a plugin in this profile.
    pub fn points_of(&self, plugin: PluginId) -> impl Iterator<Item = Point> {
        Point::ALL.into_iter().filter(move |&point| self.points[point].iter().any(|step| step.plugin == plugin))
    }

    /// Returns the plugin with this name, if the profile runs it.
    pub fn find(&self, name: &str) -> Option<(PluginId, &PlanPlugin)> {
        self.plugins
            .iter()
            .position(|plugin| plugin.entry.name == name)
            .map(|index| (PluginId(index), &self.plugins[index]))
    }
}

/// The cost limits of a profile, which `schedc bench --check` enforces. `None`: no limit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Budget {
    /// Nanoseconds that all Filter and Score plugins take for each node.
    pub nanoseconds_per_node: Option<u64>,
    /// Instructions of a decision about a pod whose signature is known.
    pub instructions_per_decision: Option<u64>,
    /// Memory allocations of a decision about a pod whose signature is known.
    pub allocations_per_decision: Option<u64>,
    /// Bytes of the profile's columns for each node.
    pub bytes_per_node: Option<u64>,
    /// Bytes of the executable.
    pub binary_size: Option<u64>,
}

/// A value of a profile, written or default.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Setting<T> {
    /// The value.
    pub value: T,
    /// Source location; `None` for a default.
    pub span: Option<Span>,
}

impl<T> Setting<T> {
    /// Returns a default.
    pub(crate) fn default_of(value: T) -> Self {
        Self { value, span: None }
    }
}

impl<T> From<Spanned<T>> for Setting<T> {
    fn from(written: Spanned<T>) -> Self {
        Self { value: written.value, span: Some(written.span) }
    }
}

/// Index into [`Plan::plugins`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PluginId(pub usize);

/// A plugin of a profile.
#[derive(Clone, Debug)]
pub struct PlanPlugin {
    /// Its catalog entry.
    pub entry: Arc<PluginEntry>,
    /// Location where the profile names it first; `None` if only the default list contains it.
    pub named_at: Option<Span>,
    /// The table of its arguments; `None` without arguments in the profile.
    pub args: Option<Node>,
}

/// One plugin at one extension point.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// The plugin.
    pub plugin: PluginId,
    /// The weight, at least 1; only at [`Point::Score`].
    pub weight: Option<Setting<i64>>,
    /// Location of the plugin's entry: at the point itself, otherwise in `multi-point`; `None` if the default
    /// list contains it.
    pub named_at: Option<Span>,
}

/// The steps of each extension point.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Points([Vec<Step>; Point::ALL.len()]);

impl Points {
    /// Creates the lists, one point at a time.
    pub fn new(mut steps: impl FnMut(Point) -> Vec<Step>) -> Self {
        Self(Point::ALL.map(&mut steps))
    }

    /// Returns each point with its steps, in the order of a scheduling attempt.
    pub fn iter(&self) -> impl Iterator<Item = (Point, &[Step])> {
        Point::ALL.into_iter().map(|point| (point, self[point].as_slice()))
    }
}

impl Index<Point> for Points {
    type Output = Vec<Step>;

    fn index(&self, point: Point) -> &Vec<Step> {
        &self.0[point as usize]
    }
}

/// A value in a plugin's arguments, with its location.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Node {
    /// Source location.
    pub span: Span,
    /// The value.
    pub value: Value,
}

impl Node {
    /// Returns the value as JSON.
    pub fn to_json(&self) -> serde_json::Value {
        match &self.value {
            Value::Bool(value) => (*value).into(),
            Value::Int(value) => (*value).into(),
            Value::Str(value) => value.as_str().into(),
            Value::List(entries) => entries.iter().map(Node::to_json).collect(),
            Value::Table(fields) => {
                fields.iter().map(|field| (field.key.value.clone(), field.value.to_json())).collect()
            }
        }
    }
}

/// The kinds of values in arguments.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Value {
    /// `true` or `false`.
    Bool(bool),
    /// An integer.
    Int(i64),
    /// A string.
    Str(String),
    /// A list.
    List(Vec<Node>),
    /// A table with its fields in source order.
    Table(Vec<Field>),
}

/// A field of a table of arguments.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Field {
    /// The key.
    pub key: Spanned<String>,
    /// The value.
    pub value: Node,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn points_are_found_by_their_keys() {
        for point in Point::ALL {
            assert_eq!(Point::from_name(point.name()), Some(point));
            assert_eq!(point.snake_case(), point.name().replace('-', "_"));
        }
        assert_eq!(Point::from_name("multi-point"), None);
    }

    #[test]
    fn points_are_listed_in_the_order_of_their_declaration() {
        for (index, point) in Point::ALL.into_iter().enumerate() {
            assert_eq!(point as usize, index);
        }
    }
}
