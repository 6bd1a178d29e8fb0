//! What the plugins of this crate do to pods.

use std::fmt;

/// Which plugin.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum FaultyPlugin {
    /// The one before all others.
    First,
    /// The one after all others.
    Last,
}

/// Where.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[allow(missing_docs, reason = "they are called as everywhere")]
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

/// What.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum PluginFault {
    /// It breaks.
    Error,
    /// It rejects the pod.
    Unschedulable,
    /// It rejects the pod for good.
    Unresolvable,
    /// It rejects the pod until something has acted.
    Pending,
    /// It makes the pod wait, for so many seconds at most.
    Wait(u8),
    /// It takes so many seconds.
    Slow(u8),
    /// It takes so many seconds, and breaks then.
    SlowError(u8),
    /// It binds the pod by itself.
    BindDirectly,
}

/// Something that happens to a pod, so many times.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PlannedFault {
    /// Who does it.
    pub plugin: FaultyPlugin,
    /// Where.
    pub point: Point,
    /// What.
    pub fault: PluginFault,
    /// How often; at least once.
    pub times: u8,
}

impl Point {
    /// All of a plugin.
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

    /// What can happen there. Waits and delays are for three seconds; the generator draws others.
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
            PluginFault::Unresolvable => "rejects for good",
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
