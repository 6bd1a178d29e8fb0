#![doc = include_str!("../README.md")]

pub mod claim_status;
mod client;
mod controllers;
mod executor;
mod input;
pub mod merge_patch;
pub mod server;
pub mod simulator;
pub mod store;
pub mod watch;

pub use client::{InMemoryClient, PendingCall, PendingSleep};
pub use controllers::{Controllers, is_given_budget_status};
pub use executor::Executor;
pub use input::{Input, TimedInput};
pub use server::{ApiServer, ApiServerOptions};
pub use simulator::{CallTreatment, Options, SimulationEnd, SimulationHooks, Simulator};
pub use store::Store;
