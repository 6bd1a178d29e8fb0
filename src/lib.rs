//! A compiler for Kubernetes schedulers: the profiles that are compiled in, and the embedded cluster that runs them.
//!
//! [`pipelines`] is what the build script made of the profiles. Everything else works for any
//! [`Bundle`](schedc_core::profile::Bundle) of profiles: [`cluster`] brings objects to a scheduler, [`simulation`]
//! places all pending pods while things happen as a [`timeline`] says, [`explanation`] tells what becomes of one,
//! [`evaluation`] does so for scenarios. They are of the feature `tools`.

#[cfg(feature = "tools")]
pub mod cluster;
#[cfg(feature = "tools")]
pub mod evaluation;
#[cfg(feature = "tools")]
pub mod explanation;
pub mod pipelines;
#[cfg(feature = "tools")]
pub mod simulation;
#[cfg(feature = "tools")]
pub mod timeline;
#[cfg(feature = "tools")]
pub mod utilisation;
