//! Faults that the plugins of this crate inject.

use std::fmt;

/// A plugin that injects faults.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum FaultyPlugin {
    /// Runs before all other plugins.
    First,
    /// Runs after all other plugins.
    Last,
}

/// An extension point.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[allow(missing_docs, reason = "the names of kube-scheduler")]
pub enum Point {
    PreEnqueue,
    PreFilter,
    Filter,
    PreScore,
    Score,
    Reserve,
    Permit,
    PreBind,
    Bind,
}

/// A fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum PluginFault {
    /// Fail with an error.
    Error,
    /// Reject the pod.
    Unschedulable,
    /// Reject the pod as unresolvable.
    Unresolvable,
    /// Reject the pod as pending.
    Pending,
    /// Make the pod wait, for at most this many seconds.
    Wait(u8),
    /// Take this many seconds.
    Slow(u8),
    /// Take this many seconds, then fail.
    SlowError(u8),
    /// Bind the pod without the default binder.
    BindDirectly,
}

/// A fault that is injected a number of times.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PlannedFault {
    /// Plugin that injects it.
    pub plugin: FaultyPlugin,
    /// Extension point.
    pub point: Point,
    /// Fault.
    pub fault: PluginFault,
    /// Number of times, at least 1.
    pub times: u8,
}

impl Point {
    /// Returns all extension points of a plugin.
    pub const fn of(plugin: FaultyPlugin) -> &'static [Point] {
        match plugin {
            FaultyPlugin::First => &[
                Point::PreEnqueue,
                Point::PreFilter,
                Point::Filter,
                Point::PreScore,
                Point::Score,
                Point::Reserve,
                Point::Permit,
                Point::PreBind,
                Point::Bind,
            ],
            FaultyPlugin::Last => &[Point::Reserve, Point::Permit, Point::PreBind],
        }
    }

    /// Returns the possible faults. Waits and delays of three seconds are placeholders: the generator chooses their
    /// length.
    pub const fn faults(self) -> &'static [PluginFault] {
        use PluginFault::{BindDirectly, Error, Pending, Slow, SlowError, Unresolvable, Unschedulable, Wait};
        match self {
            Point::PreEnqueue => &[Unresolvable],
            Point::PreFilter => &[Error, Unschedulable, Unresolvable],
            Point::Filter => &[Error, Unschedulable, Unresolvable],
            Point::PreScore | Point::Score => &[Error],
            Point::Reserve => &[Error, Unschedulable, Pending],
            Point::Permit => &[Error, Unschedulable, Wait(3), Wait(3), Wait(3)],
            Point::PreBind => &[Error, Unschedulable, Slow(3), Slow(3), SlowError(3)],
            Point::Bind => &[Error, BindDirectly],
        }
    }
}

impl fmt::Display for FaultyPlugin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self, f)
    }
}

impl fmt::Display for Point {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self, f)
    }
}

impl fmt::Display for PluginFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            PluginFault::Error => "fails",
            PluginFault::Unschedulable => "rejects",
            PluginFault::Unresolvable => "rejects as unresolvable",
            PluginFault::Pending => "rejects as pending",
            PluginFault::Wait(_) => "waits",
            PluginFault::Slow(_) => "is slow",
            PluginFault::SlowError(_) => "is slow and fails",
            PluginFault::BindDirectly => "binds by itself",
        })
    }
}

impl fmt::Display for PlannedFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let PlannedFault { plugin, point, fault, times } = self;
        write!(f, "{plugin} at {point} {fault}")?;
        if let PluginFault::Wait(seconds) | PluginFault::Slow(seconds) | PluginFault::SlowError(seconds) = fault {
            write!(f, " {seconds}s")?;
        }
        if *times > 1 { write!(f, " x{times}") } else { Ok(()) }
    }
}
