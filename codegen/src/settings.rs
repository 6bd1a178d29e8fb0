//! The keys of a profile: their values, ranges and defaults.
//!
//! All modules use the same table: [`crate::parse`] accepts no other keys, `check` validates the ranges, `resolve`
//! uses the defaults, and docs/reference/profiles.md is generated from it.

use std::ops::RangeInclusive;

/// A key of a profile, or of a table in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Key {
    /// Name in profiles.
    pub name: &'static str,
    /// Kind of its value.
    pub kind: ValueKind,
    /// Description.
    pub doc: &'static str,
}

/// Kind of a key's value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ValueKind {
    /// A DNS subdomain.
    Name {
        /// The default.
        default: &'static str,
    },
    /// An integer in a range.
    Integer {
        /// The range.
        range: RangeInclusive<i64>,
        /// The default; `None` if the key has no default.
        default: Option<i64>,
    },
    /// A list. The text describes its elements.
    List(&'static str),
    /// A table. The text describes its fields.
    Table(&'static str),
}

impl Key {
    /// Returns the valid integers; all integers if the value is no integer.
    pub fn range(&self) -> RangeInclusive<i128> {
        match &self.kind {
            ValueKind::Integer { range, .. } => i128::from(*range.start())..=i128::from(*range.end()),
            _ => i128::MIN..=i128::MAX,
        }
    }
}

/// The scheduler name of pods without one.
pub(crate) const DEFAULT_SCHEDULER_NAME: &str = "default-scheduler";
/// Evaluates all nodes.
pub(crate) const DEFAULT_PERCENTAGE_OF_NODES_TO_SCORE: u8 = 100;
/// In seconds.
pub(crate) const DEFAULT_POD_INITIAL_BACKOFF_SECONDS: u32 = 1;
/// In seconds.
pub(crate) const DEFAULT_POD_MAX_BACKOFF_SECONDS: u32 = 10;

/// The maximum number of seconds in a duration of kube-scheduler: 64 bits of nanoseconds.
const MAX_SECONDS: i64 = i64::MAX / 1_000_000_000;

/// `scheduler-name`.
pub(crate) const SCHEDULER_NAME: Key = Key {
    name: "scheduler-name",
    kind: ValueKind::Name { default: DEFAULT_SCHEDULER_NAME },
    doc: "the `spec.schedulerName` of its pods; unique in a binary",
};
/// `percentage-of-nodes-to-score`.
pub(crate) const PERCENTAGE_OF_NODES_TO_SCORE: Key = Key {
    name: "percentage-of-nodes-to-score",
    kind: ValueKind::Integer { range: 0..=100, default: Some(DEFAULT_PERCENTAGE_OF_NODES_TO_SCORE as i64) },
    doc: "the search ends when this percentage of the nodes is feasible; `0` selects kube-scheduler's adaptive rule",
};
/// `pod-initial-backoff-seconds`.
pub(crate) const POD_INITIAL_BACKOFF_SECONDS: Key = Key {
    name: "pod-initial-backoff-seconds",
    kind: ValueKind::Integer { range: 1..=MAX_SECONDS, default: Some(DEFAULT_POD_INITIAL_BACKOFF_SECONDS as i64) },
    doc: "backoff after a pod's first failed attempt",
};
/// `pod-max-backoff-seconds`.
pub(crate) const POD_MAX_BACKOFF_SECONDS: Key = Key {
    name: "pod-max-backoff-seconds",
    kind: ValueKind::Integer { range: 1..=MAX_SECONDS, default: Some(DEFAULT_POD_MAX_BACKOFF_SECONDS as i64) },
    doc: "maximum backoff, at least the initial one",
};
/// `crates`.
pub const CRATES: Key = Key {
    name: "crates",
    kind: ValueKind::List("crates"),
    doc: "crates with further plugins: names of dependencies, or `{ path = \"...\" }`",
};
/// `[plugins]`.
pub const PLUGINS: Key = Key {
    name: "plugins",
    kind: ValueKind::Table("extension points"),
    doc: "a key for each extension point, and `multi-point` for all that a plugin implements",
};
/// `[args.NAME]`.
pub const ARGS: Key = Key {
    name: "args",
    kind: ValueKind::Table("plugins"),
    doc: "arguments, with the fields of kube-scheduler's `NAMEArgs` in kebab-case",
};
/// `[[extender]]`.
pub const EXTENDER: Key = Key {
    name: "extender",
    kind: ValueKind::List("tables"),
    doc: "webhooks that are called in addition to the plugins",
};
/// `[budget]`.
pub const BUDGET: Key = Key {
    name: "budget",
    kind: ValueKind::Table("limits"),
    doc: "cost limits of the profile, for `schedc bench --check`",
};

/// The keys of a profile.
pub const PROFILE: [Key; 9] = [
    SCHEDULER_NAME,
    PERCENTAGE_OF_NODES_TO_SCORE,
    POD_INITIAL_BACKOFF_SECONDS,
    POD_MAX_BACKOFF_SECONDS,
    CRATES,
    PLUGINS,
    ARGS,
    EXTENDER,
    BUDGET,
];

/// The keys of `[budget]`.
pub const LIMITS: [Key; 5] = [
    limit("nanoseconds-per-node", 1, "time of all Filter and Score plugins for each node, if all nodes are evaluated"),
    limit("instructions-per-decision", 1, "instructions of a decision about a pod with a known signature"),
    limit(
        "allocations-per-decision",
        0,
        "memory allocations of a decision about a pod with a known signature, on average",
    ),
    limit("bytes-per-node", 1, "size of the profile's columns for each node"),
    limit("binary-size", 1, "the executable, in bytes"),
];

const fn limit(name: &'static str, least: i64, doc: &'static str) -> Key {
    Key { name, kind: ValueKind::Integer { range: least..=i64::MAX, default: None }, doc }
}
