//! What the plugins of this crate do to pods.

use std::fmt;

/// Which plugin.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Who {
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
pub enum Mischief {
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
    Itself,
}

/// Something that happens to a pod, so many times.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Trouble {
    /// Who does it.
    pub who: Who,
    /// Where.
    pub point: Point,
    /// What.
    pub mischief: Mischief,
    /// How often; at least once.
    pub times: u8,
}

impl Point {
    /// All of a plugin.
    pub const fn of(who: Who) -> &'static [Point] {
        match who {
            Who::First => &[
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
            Who::Last => &[Point::Reserve, Point::Permit, Point::PreBind],
        }
    }

    /// What can happen there. Waits and delays are for three seconds; the generator draws others.
    pub const fn mischiefs(self) -> &'static [Mischief] {
        use Mischief::{Error, Itself, Pending, Slow, SlowError, Unresolvable, Unschedulable, Wait};
        match self {
            Point::PreEnqueue => &[Unresolvable],
            Point::PreFilter => &[Error, Unschedulable, Unresolvable],
            Point::Filter => &[Error, Unschedulable, Unresolvable],
            Point::PreScore | Point::Score => &[Error],
            Point::Reserve => &[Error, Unschedulable, Pending],
            Point::Permit => &[Error, Unschedulable, Wait(3), Wait(3), Wait(3)],
            Point::PreBind => &[Error, Unschedulable, Slow(3), Slow(3), SlowError(3)],
            Point::Bind => &[Error, Itself],
        }
    }
}

impl fmt::Display for Who {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self, f)
    }
}

impl fmt::Display for Point {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self, f)
    }
}

impl fmt::Display for Mischief {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Mischief::Error => "fails",
            Mischief::Unschedulable => "rejects",
            Mischief::Unresolvable => "rejects for good",
            Mischief::Pending => "rejects as pending",
            Mischief::Wait(_) => "waits",
            Mischief::Slow(_) => "is slow",
            Mischief::SlowError(_) => "is slow and fails",
            Mischief::Itself => "binds by itself",
        })
    }
}

impl fmt::Display for Trouble {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Trouble { who, point, mischief, times } = self;
        write!(f, "{who} at {point} {mischief}")?;
        if let Mischief::Wait(seconds) | Mischief::Slow(seconds) | Mischief::SlowError(seconds) = mischief {
            write!(f, " {seconds}s")?;
        }
        if *times > 1 { write!(f, " x{times}") } else { Ok(()) }
    }
}
