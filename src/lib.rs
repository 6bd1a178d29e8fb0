//! A compiler for Kubernetes schedulers: its command for any scheduler, the profiles that are compiled in, and the embedded
//! cluster that runs them.
//!
//! [`main`] is the whole command line for any [`Bundle`](schedc_core::profile::Bundle) of profiles. A scheduler of your own is a
//! package whose `main` calls it with what [`profile!`] or `schedc_codegen::build` in its build script made of its profiles;
//! `schedc new` writes one.
//!
//! [`pipelines`] is what the build script made of the profiles of this package (feature `profiles`). Everything else works for
//! any bundle: [`cluster`] brings objects to a scheduler, [`simulation`] places all pending pods while things happen as a
//! [`timeline`] says, [`explanation`] tells what becomes of one, [`evaluation`] does so for scenarios. They are of the feature
//! `tools`.

#[cfg(feature = "tools")]
pub mod budgets;
mod cli;
#[cfg(feature = "tools")]
pub mod cluster;
#[cfg(feature = "tools")]
pub mod evaluation;
#[cfg(feature = "tools")]
pub mod explanation;
#[cfg(feature = "profiles")]
pub mod pipelines;
#[cfg(feature = "tools")]
pub mod simulation;
#[cfg(feature = "tools")]
pub mod timeline;
#[cfg(feature = "tools")]
pub mod utilisation;

pub use cli::main;
pub use schedc_macros::profile;
