//! Closed-loop simulation of a workload: pods arrive and run as in a recording or a trace, and a profile places them.
//!
//! docs/backtest.md describes the results and the assumptions.
//!
//! | module | content |
//! |---|---|
//! | [`workload`] | pods and other changes over time |
//! | [`recorded`] | workloads of recordings |
//! | [`trace`] | workloads of tables in CSV or JSON |
//! | [`simulation`] | the simulation of a workload |
//! | `observer` | hooks of the simulator that record changes of pods and nodes |
//! | `cluster_sample` | the state of a simulated cluster at one time |
//! | `totals` | amounts of a simulated cluster, integrated over time |
//! | `first_fit` | search for the first place where some amounts fit |
//! | `influence` | influence of plugins' scores on decisions |
//! | [`result`] | the result of a simulation |
//! | [`runs`] | simulations of several profiles and seeds |
//! | [`aggregate`] | estimates over many simulations |
//! | `t_distribution` | quantiles of Student's t-distribution |
//! | `numbers` | conversions of numbers for results |
//! | [`assumptions`] | the assumptions of a simulation, in words |
//! | [`fingerprint`] | hashes of workloads and profiles |
//! | [`report`] | the result of a back-test |

pub mod aggregate;
pub mod assumptions;
mod cluster_sample;
pub mod fingerprint;
mod first_fit;
mod influence;
mod numbers;
mod observer;
pub mod recorded;
pub mod report;
pub mod result;
pub mod runs;
pub mod simulation;
mod t_distribution;
mod totals;
pub mod trace;
pub mod workload;

pub use report::{Backtest, ClosedLoop};
pub use simulation::{Options, simulate};
pub use workload::Workload;
