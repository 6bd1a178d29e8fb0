//! schedc as a library for programs that choose the profile at run time: autoscalers, batch queues, simulators, and
//! bindings for other languages.
//!
//! ```
//! use schedc_api::{Cluster, Defaults, Profiles};
//!
//! let packed = "
//!     scheduler-name = 'packed'
//!     [args.NodeResourcesFit]
//!     scoring-strategy = { type = 'MostAllocated', resources = [{ name = 'cpu', weight = 1 }] }
//! ";
//! let profiles = Profiles::parse(&[("packed.toml", packed)])?;
//! let mut cluster = Cluster::new(&profiles, "packed")?;
//! cluster.apply(
//!     r#"
//! { apiVersion: v1, kind: Node, metadata: { name: a }, status: { allocatable: { cpu: 2, pods: 10 } } }
//! ---
//! { apiVersion: v1, kind: Pod, metadata: { name: web },
//!   spec: { containers: [{ name: app, resources: { requests: { cpu: 3 } } }] } }
//! "#,
//!     Defaults::AsGiven,
//! )?;
//! assert_eq!(cluster.check("web", "a")?.reasons, ["Insufficient cpu"]);
//! # Ok::<(), schedc_api::Error>(())
//! ```
//!
//! | type | content |
//! |---|---|
//! | [`Profiles`] | valid profiles, which are [interpreted](schedc_interpret) |
//! | [`Cluster`] | a hypothetical cluster with one profile: changes, forks and questions |
//! | [`Evaluator`] | an evaluator for the scenarios of `schedc evaluate`, with byte-identical results |
//! | [`Error`] | an error with a stable [code](ErrorCode) |
//! | [`guard`] | conversion of panics to errors, for calls from other languages |
//!
//! A [`Cluster`] also answers [requests in JSON](Cluster::requests), many per call. Calls identify a node by its name,
//! and a pod by `namespace/name`, or only by its name in the namespace `default`.
//!
//! Clusters and evaluators are independent of each other. Each belongs to one thread at a time, and any number of threads can
//! have clusters and evaluators with the same profiles.

mod answers;
mod cluster;
mod columns;
mod error;
mod evaluator;
mod forked_map;
pub mod guard;
mod input;
mod profiles;
mod requests;
mod snapshot;

pub use answers::{Applied, Estimate, LeftPod, Placement};
pub use cluster::Cluster;
pub use error::{Error, ErrorCode};
pub use evaluator::Evaluator;
pub use input::Defaults;
pub use profiles::Profiles;
pub use schedc_evaluation::{Answer, Decision};

/// Version of this interface. It increases with every incompatible change of the functions, of the requests and results in
/// JSON, or of error codes.
pub const API_VERSION: u32 = 1;

/// Returns the version of schedc.
pub fn version() -> &'static str {
    env!("CARGO_PKG_VERSION")
}
