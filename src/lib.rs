//! A compiler for Kubernetes schedulers: its command for any scheduler, the profiles that are compiled in, and the embedded
//! cluster that runs them.
//!
//! [`main`] is the whole command line for any [`Bundle`](schedc_core::profile::Bundle) of profiles. A custom scheduler is a
//! package whose `main` calls it with the bundle that [`profile!`], or `schedc_codegen::build` in its build script, generates
//! from its profiles; `schedc new` writes one.
//!
//! [`pipelines`] contains the profiles of this package (feature `profiles`). Everything else works for any bundle and requires
//! the feature `tools`: [`cluster`] feeds objects to a scheduler, [`simulation`] places all pending pods while the events of a
//! [`timeline`] happen, [`explanation`] reports the decision for one pod, [`evaluation`] the decisions for scenarios.

#[cfg(feature = "profiles")]
pub mod pipelines;

#[doc(inline)]
pub use schedc_cli::main;
#[cfg(feature = "tools")]
#[doc(inline)]
pub use schedc_cli::{budgets, cluster, evaluation, explanation, simulation, timeline, utilisation};
pub use schedc_macros::profile;
