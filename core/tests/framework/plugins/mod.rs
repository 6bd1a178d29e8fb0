//! The plugins of these tests, each as small as possible.

mod apart;
mod early;
mod favour;
mod gate;
mod health;
mod names;
mod pinned;
mod preempt;
mod priority;
mod probe;
mod readers;
mod sleeper;
mod slots;
pub mod stage;
mod worth;

pub use apart::Apart;
pub use early::{X, Y};
pub use favour::{FavourA, FavourB, Marks, Rank};
pub use gate::Gate;
pub use health::Health;
pub use pinned::{PinnedA, PinnedB};
pub use preempt::Preempt;
pub use priority::Priority;
pub use probe::{A, B, Binder, C};
pub use readers::{MayReadApart, ReadsApart};
pub use sleeper::Sleeper;
pub use slots::{SlotCount, Slots};
pub use worth::{NodeWorth, Worth};
