//! The plugins of these tests, each as small as possible.

mod early;
mod favour;
mod gate;
mod health;
mod named_node;
mod names;
mod pinned;
mod preempt;
mod priority;
mod probe;
mod readers;
mod sleeper;
mod slots;
pub mod stage;
mod team_anti_affinity;
mod worth;

pub use early::{X, Y};
pub use favour::{FavourA, FavourB, Marks, Rank};
pub use gate::Gate;
pub use health::Health;
pub use named_node::{NameReader, NamedNode};
pub use pinned::{PinnedA, PinnedB};
pub use preempt::Preempt;
pub use priority::Priority;
pub use probe::{A, B, Binder, C};
pub use readers::{MayReadTeamAntiAffinity, ReadsTeamAntiAffinity};
pub use sleeper::Sleeper;
pub use slots::{SlotCount, Slots};
pub use team_anti_affinity::TeamAntiAffinity;
pub use worth::{NodeWorth, Worth};
