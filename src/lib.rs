//! A compiler for Kubernetes schedulers: its command line for any scheduler, the compiled-in profiles, and the cluster in
//! memory in which they run.
//!
//! [`main`] is the whole command line for any [`Bundle`](schedc_core::profile::Bundle) of profiles. A custom scheduler
//! is a package whose `main` calls this function with the bundle of the package. [`profile!`], or
//! `schedc_codegen::build` in a build script, generates the bundle from profiles; `schedc new` writes such a package.
//!
//! [`pipelines`] contains the profiles of this package (feature `profiles`). The other modules work for any bundle and require
//! the feature `tools`: [`cluster`] feeds objects to a scheduler, [`simulation`] places all pending pods while the events of a
//! [`timeline`] happen, [`explanation`] reports the decision for one pod, [`evaluation`] the decisions for scenarios.

#[cfg(feature = "profiles")]
pub mod pipelines;

#[cfg(feature = "tools")]
#[doc(inline)]
pub use schedc_cli::{budgets, cluster, evaluation, explanation, simulation, timeline, utilisation};
#[doc(inline)]
pub use schedc_cli::{main, main_with};
pub use schedc_macros::profile;
