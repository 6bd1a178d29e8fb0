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
//! | `delivery` | what it is told |
//! | `requests` | what it asks for |
//! | `settle` | everything calms down; what must hold then |
//! | `checks` | what must hold after every step |
//! | `delivered` | what the scheduler was told |
//! | `follower` | a background task that knows what the scheduler knows |
//! | `injector_state`, `fault_injector`, `plugin_fault` | plugins that misbehave, and keep accounts |
//! | `episode` | histories from seeds, shorter ones |
//! | `injected_bugs` | deliberate breaks |

mod checks;
mod cluster;
mod counts;
mod delivered;
mod delivery;
mod episode;
mod fault_injector;
mod follower;
mod generator;
mod history;
mod injected_bugs;
mod injector_state;
mod invariants;
mod manifests;
mod plugin_fault;
mod requests;
mod settle;
mod simulation;

pub use counts::RunCounts;
pub use episode::{FuzzFailure, FuzzOptions, fuzz, replay};
pub use fault_injector::{FaultInjector, First, KernelOutcome, Last};
pub use generator::{Generator, SimulationSummary};
pub use history::{Answer, NodeSpec, PodChange, PodSpec, Step, Storage, Stream};
pub use injected_bugs::{BugExpectation, InjectedBug};
pub use invariants::{Invariant, Violation};
pub use plugin_fault::{FaultyPlugin, PlannedFault, PluginFault, Point};
pub use simulation::{FAULTS, Simulation};

// Generated code calls this crate by its name, also from inside.
extern crate self as schedc_fuzz;

/// The profile of the simulations, compiled.
pub mod pipelines {
    schedc_macros::profile!("profiles/fuzz.toml");
}
