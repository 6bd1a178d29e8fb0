//! The whole scheduler in a simulated cluster, with faults, from a seed.
//!
//! A [`Generator`] draws a history of small [steps](Step): objects come, change and go; watches tell of it late, again, in
//! another order, or break; requests are answered, refused, or their answers get lost; time passes; the scheduler stops and
//! starts again. A [`Simulation`] does these steps to the scheduler that also runs clusters, and looks after each of them
//! whether all [invariants](Invariant) hold. If one does not, the history is made shorter as long as it still does not.
//!
//! The profile is kube-scheduler's default between two plugins that misbehave on demand ([`First`], [`Last`]).
//!
//! | module | idea |
//! |---|---|
//! | `history` | steps |
//! | `generator` | draws them |
//! | `cluster` | the server, watches, requests that wait |
//! | `simulation` | what a step does to the scheduler |
//! | `telling` | what it is told |
//! | `asking` | what it asks for |
//! | `settle` | everything calms down; what must hold then |
//! | `checks` | what must hold after every step |
//! | `known` | what the scheduler was told |
//! | `follower` | a background task that knows what the scheduler knows |
//! | `ledger`, `saboteur`, `trouble` | plugins that misbehave, and keep accounts |
//! | `episode` | histories from seeds, shorter ones |
//! | `lies` | deliberate breaks |

mod asking;
mod checks;
mod cluster;
mod episode;
mod figures;
mod follower;
mod generator;
mod history;
mod invariants;
mod known;
mod ledger;
mod lies;
mod manifests;
mod saboteur;
mod settle;
mod simulation;
mod telling;
mod trouble;

pub use episode::{Broken, Fuzz, fuzz, replay};
pub use figures::Figures;
pub use generator::{Generator, Glimpse};
pub use history::{Answer, NodeSpec, PodChange, PodSpec, Step, Storage, Stream};
pub use invariants::{Invariant, Violation};
pub use lies::{Break, Lie};
pub use saboteur::{First, Kernel, Last, Saboteur};
pub use simulation::{FAULTS, Simulation};
pub use trouble::{Mischief, Point, Trouble, Who};

// Generated code calls this crate by its name, also from inside.
extern crate self as schedc_fuzz;

/// The profile of the simulations, compiled.
pub mod pipelines {
    schedc_macros::profile!("profiles/fuzz.toml");
}
