//! The profile as decided: what resolve makes, check approves and [`crate::emit`] prints.
//!
//! Nothing is optional any more, except where a value was written: what comes from a default has no place.

mod extender;

use std::fmt;
use std::ops::Index;
use std::sync::Arc;

use crate::catalog::PluginEntry;
use crate::source::{FileId, Span, Spanned};

pub use extender::{ManagedResource, PlanExtender, PlanTls};

/// An extension point of the scheduling framework.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Point {
    /// Holds a pod back before it enters the active queue.
    PreEnqueue,
    /// Orders the active queue.
    QueueSort,
    /// Looks at the pod once, before the nodes.
    PreFilter,
    /// Rejects nodes.
    Filter,
    /// Runs when no node is left, to make room.
    PostFilter,
    /// Looks at the nodes that are left, before scoring.
    PreScore,
    /// Ranks the nodes that are left.
    Score,
    /// Claims something for the pod on the chosen node; undone by Unreserve.
    Reserve,
    /// Approves, denies or delays binding.
    Permit,
    /// Prepares what must be there before the pod is bound.
    PreBind,
    /// Binds the pod to the node.
    Bind,
    /// Told after the pod was bound.
    PostBind,
}

impl Point {
    /// All extension points, in the order of a scheduling attempt.
    pub const ALL: [Self; 12] = [
        Self::PreEnqueue,
        Self::QueueSort,
        Self::PreFilter,
        Self::Filter,
        Self::PostFilter,
        Self::PreScore,
        Self::Score,
        Self::Reserve,
        Self::Permit,
        Self::PreBind,
        Self::Bind,
        Self::PostBind,
    ];

    /// The key in a profile's `[plugins]`: `pre-filter`.
    pub fn name(self) -> &'static str {
        match self {
            Self::PreEnqueue => "pre-enqueue",
            Self::QueueSort => "queue-sort",
            Self::PreFilter => "pre-filter",
            Self::Filter => "filter",
            Self::PostFilter => "post-filter",
            Self::PreScore => "pre-score",
            Self::Score => "score",
            Self::Reserve => "reserve",
            Self::Permit => "permit",
            Self::PreBind => "pre-bind",
            Self::Bind => "bind",
            Self::PostBind => "post-bind",
        }
    }

    /// The name as a Rust identifier: `pre_filter`.
    pub fn snake_case(self) -> &'static str {
        match self {
            Self::PreEnqueue => "pre_enqueue",
            Self::QueueSort => "queue_sort",
            Self::PreFilter => "pre_filter",
            Self::Filter => "filter",
            Self::PostFilter => "post_filter",
            Self::PreScore => "pre_score",
            Self::Score => "score",
            Self::Reserve => "reserve",
            Self::Permit => "permit",
            Self::PreBind => "pre_bind",
            Self::Bind => "bind",
            Self::PostBind => "post_bind",
        }
    }

    /// Whether plugins may do something about the cluster here, not only look at it.
    pub fn may_write(self) -> bool {
        use Point::{Bind, Permit, PostBind, PostFilter, PreBind, Reserve};
        matches!(self, PostFilter | Reserve | Permit | PreBind | Bind | PostBind)
    }

    /// The point with this key, if there is one.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|point| point.name() == name)
    }
}

impl fmt::Display for Point {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// One profile, decided.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The profile's file.
    pub file: FileId,
    /// The file's path as displayed, for example `profiles/edge.toml`.
    pub path: String,
    /// The file's name without extension: the profile's name.
    pub stem: String,
    /// The Rust module for this profile: the stem in snake_case, always a valid identifier.
    pub module: String,
    /// The `spec.schedulerName` of the pods that this profile is for.
    pub scheduler_name: Setting<String>,
    /// 100: all nodes; 0: kube-scheduler's adaptive rule.
    pub percentage_of_nodes_to_score: Setting<u8>,
    /// Backoff after the first failed attempt, in seconds; at least 1.
    pub pod_initial_backoff_seconds: Setting<u64>,
    /// The longest backoff, in seconds; at least the initial one.
    pub pod_max_backoff_seconds: Setting<u64>,
    /// What it may cost.
    pub budget: Budget,
    /// Every plugin that runs at some extension point, once, in a stable order: the merged `multi-point` list first,
    /// then the others in the order of the extension points.
    pub plugins: Vec<PlanPlugin>,
    /// The plugins of each extension point, in the order in which they run.
    pub points: Points,
    /// Who has a say besides plugins, in the order in which they are asked.
    pub extenders: Vec<PlanExtender>,
    /// The crates that the profile names.
    pub crates: Vec<PlanCrate>,
}

/// A crate that a profile names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlanCrate {
    /// Its name or its path, as written.
    pub written: String,
    /// Its catalog.
    pub catalog: FileId,
}

impl Plan {
    /// The plugin that a step runs.
    pub fn plugin(&self, step: &Step) -> &PlanPlugin {
        &self.plugins[step.plugin.0]
    }

    /// The steps of an extension point, each with its plugin, in the order in which they run.
    pub fn at(&self, point: Point) -> impl Iterator<Item = (&Step, &PlanPlugin)> {
        self.points[point].iter().map(|step| (step, self.plugin(step)))
    }

    /// The extension points at which a plugin runs in this profile.
    pub fn points_of(&self, plugin: PluginId) -> impl Iterator<Item = Point> {
        Point::ALL.into_iter().filter(move |&point| self.points[point].iter().any(|step| step.plugin == plugin))
    }

    /// The plugin with this name, if the profile runs it.
    pub fn find(&self, name: &str) -> Option<(PluginId, &PlanPlugin)> {
        self.plugins
            .iter()
            .position(|plugin| plugin.entry.name == name)
            .map(|index| (PluginId(index), &self.plugins[index]))
    }
}

/// What a profile may cost: limits that `schedc bench --cost --check` holds it to. `None`: no limit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Budget {
    /// Nanoseconds that all Filter and Score plugins take for a node.
    pub nanoseconds_per_node: Option<u64>,
    /// Bytes of the profile's columns for a node.
    pub bytes_per_node: Option<u64>,
    /// Bytes of the executable.
    pub binary_size: Option<u64>,
}

/// A value of a profile, written or by default.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Setting<T> {
    /// The value.
    pub value: T,
    /// Where it was written; `None` if it is the default.
    pub span: Option<Span>,
}

impl<T> Setting<T> {
    /// The default.
    pub fn default_of(value: T) -> Self {
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
    /// What its catalog says about it.
    pub entry: Arc<PluginEntry>,
    /// Where the profile names it first; `None` if only the default does.
    pub named_at: Option<Span>,
    /// The table of its arguments; `None` if the profile gives none.
    pub args: Option<Node>,
}

/// One plugin at one extension point.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// Which plugin.
    pub plugin: PluginId,
    /// The weight; present at [`Point::Score`] and only there. At least 1.
    pub weight: Option<Setting<i64>>,
    /// Where the profile put the plugin at this point: its entry at the point itself, else in `multi-point`; `None` if
    /// it comes from the default list.
    pub named_at: Option<Span>,
}

/// The steps of each extension point.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Points([Vec<Step>; Point::ALL.len()]);

impl Points {
    /// Makes the lists, one point at a time.
    pub fn new(mut steps: impl FnMut(Point) -> Vec<Step>) -> Self {
        Self(Point::ALL.map(&mut steps))
    }

    /// Each point with its steps, in the order of a scheduling attempt.
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

/// A value in a plugin's arguments, with its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Node {
    /// Where the value was written.
    pub span: Span,
    /// The value.
    pub value: Value,
}

impl Node {
    /// The value as JSON.
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

/// The kinds of values that arguments are made of.
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
    /// A table, its fields in the order in which they were written.
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
