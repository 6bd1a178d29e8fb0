//! Plugins, settings and sources of compiled profiles.

/// A compiled profile, for reports: the effective plugins at each extension point.
#[derive(Clone, Copy, Debug)]
pub struct ProfileInfo {
    /// The profile's name: the stem of its file name.
    pub name: &'static str,
    /// Path of its file, as passed to the generator.
    pub source: &'static str,
    /// `spec.schedulerName` of the pods that it serves.
    pub scheduler_name: &'static str,
    /// Percentage of the nodes that must be feasible before the search ends and scoring begins; 0 is kube-scheduler's
    /// adaptive rule.
    pub percentage_of_nodes_to_score: u8,
    /// Backoff after the first failure, in seconds.
    pub pod_initial_backoff_seconds: u64,
    /// Maximum backoff, in seconds.
    pub pod_max_backoff_seconds: u64,
    /// Limits of its costs.
    pub budget: Budget,
    /// Extension points in the order in which they run, each with its plugins in order. Points without plugins are left
    /// out.
    pub points: &'static [PointInfo],
    /// Arguments of plugins, by plugin name, as JSON; the fields have the names that profiles use.
    pub args: &'static [(&'static str, &'static str)],
    /// Extenders in the order of calls, as JSON; the fields have the names that profiles use.
    pub extenders: &'static [&'static str],
}

/// Limits of a profile's costs, as declared in it. `None`: no limit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Budget {
    /// Nanoseconds of all Filter and Score plugins for a node, if every node is evaluated.
    pub nanoseconds_per_node: Option<u64>,
    /// Instructions of a decision about a pod whose signature is known.
    pub instructions_per_decision: Option<u64>,
    /// Memory allocations of a decision about a pod whose signature is known.
    pub allocations_per_decision: Option<u64>,
    /// Bytes of the profile's columns for a node.
    pub bytes_per_node: Option<u64>,
    /// Bytes of the executable.
    pub binary_size: Option<u64>,
}

impl Budget {
    /// No limits.
    pub const NONE: Budget = Budget {
        nanoseconds_per_node: None,
        instructions_per_decision: None,
        allocations_per_decision: None,
        bytes_per_node: None,
        binary_size: None,
    };
}

/// Texts of a compiled profile and of the catalogs that it uses.
///
/// Lines have no line ends; a text that ends with a line end has an empty last line.
#[derive(Clone, Copy, Debug)]
pub struct ProfileSource {
    /// Path of the file, as in [`ProfileInfo::source`].
    pub path: &'static str,
    /// The lines of the profile.
    pub lines: &'static [&'static str],
    /// The catalogs of plugin crates: the crate's name in the profile, and the lines of its catalog.
    pub catalogs: &'static [(&'static str, &'static [&'static str])],
}

/// The plugins at one extension point.
#[derive(Clone, Copy, Debug)]
pub struct PointInfo {
    /// The extension point's name in profiles.
    pub point: &'static str,
    /// The plugins, in order, with their weights at `score`.
    pub plugins: &'static [(&'static str, Option<i64>)],
}

impl ProfileInfo {
    /// Returns the plugins at an extension point.
    pub fn plugins(&self, point: &str) -> &'static [(&'static str, Option<i64>)] {
        self.points.iter().find(|p| p.point == point).map_or(&[], |p| p.plugins)
    }
}

/// Scheduler name of pods that set none.
const DEFAULT_SCHEDULER: &str = "default-scheduler";

/// Returns the index of the profile that serves pods with this `spec.schedulerName`; an empty name is
/// `default-scheduler`.
pub fn profile_for(profiles: &[ProfileInfo], scheduler_name: &str) -> Option<usize> {
    let name = if scheduler_name.is_empty() { DEFAULT_SCHEDULER } else { scheduler_name };
    profiles.iter().position(|profile| profile.scheduler_name == name)
}

/// Returns the index of the profile with this name or, failing that, this `spec.schedulerName`.
pub fn profile_named(profiles: &[ProfileInfo], name: &str) -> Option<usize> {
    let by_name = profiles.iter().position(|profile| profile.name == name);
    by_name.or_else(|| profiles.iter().position(|profile| profile.scheduler_name == name))
}
