//! Simulation of the whole scheduler and its cluster, with faults, from a seed.
//!
//! A [`Generator`] creates a history of small [steps](Step). Objects are created, updated and deleted.
//! Watches deliver changes late, repeatedly or in another order, or break. Requests are executed or refused,
//! or their responses are lost. Time passes, and the scheduler restarts. A [`Simulation`] performs the steps
//! with the scheduler that also runs in clusters, and checks all [invariants](Invariant) after each step. A
//! history that violates one is shrunk.
//!
//! The profile is kube-scheduler's default between two fault injectors ([`First`], [`Last`]).
//!
//! | module | content |
//! |---|---|
//! | `history` | steps |
//! | `generator` | generation of steps |
//! | `manifests`, `object` | manifests of objects, facts from them, and their typed objects |
//! | `cluster` | the server, watches, pending requests |
//! | `simulation` | execution of steps |
//! | `delivery` | delivery of changes to the scheduler |
//! | `requests` | requests of the scheduler |
//! | `settle` | settling, and the invariants of the idle state |
//! | `checks` | the invariants after every step |
//! | `invariants` | the list of invariants, and their violations |
//! | `devices`, `device_checks` | devices, and the invariants of resource claims |
//! | `delivered` | the state that was delivered to the scheduler |
//! | `follower` | a background task that follows the cluster |
//! | `injector_state`, `fault_injector`, `plugin_fault` | plugins that inject faults and record calls |
//! | `episode` | histories from seeds, and shrinking |
//! | `counts` | counts of events and faults |
//! | `injected_bugs` | deliberate errors of the simulation |

mod checks;
mod cluster;
mod counts;
mod delivered;
mod delivery;
mod device_checks;
mod devices;
mod episode;
mod fault_injector;
mod follower;
mod generator;
mod history;
mod injected_bugs;
mod injector_state;
mod invariants;
mod manifests;
mod object;
mod plugin_fault;
mod requests;
mod settle;
mod simulation;

pub use counts::RunCounts;
pub use episode::{FuzzFailure, FuzzOptions, fuzz, replay};
pub use fault_injector::{FaultInjector, First, KernelOutcome, Last};
pub use generator::{Generator, SimulationSummary};
pub use history::{
    Answer, DeviceRequest, ExtendedResource, NodeSpec, PodChange, PodDevices, PodSpec, SliceSpec, Step, Storage, Stream,
};
pub use injected_bugs::{BugExpectation, InjectedBug};
pub use invariants::{Invariant, Violation};
pub use plugin_fault::{FaultyPlugin, PlannedFault, PluginFault, Point};
pub use simulation::Simulation;

// Generated code refers to this crate by its name, also inside this crate.
extern crate self as schedc_fuzz;

/// The profile of the simulations, compiled.
pub mod pipelines {
    schedc_macros::profile!("profiles/fuzz.toml");
}
