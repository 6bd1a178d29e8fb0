//! A compiler for Kubernetes schedulers: the profiles that are compiled in, and the embedded cluster that runs them.
//!
//! [`pipelines`] is what the build script made of the profiles. Everything else works for any
//! [`Bundle`](schedc_core::profile::Bundle) of profiles: [`cluster`] brings objects to a scheduler, [`simulation`]
//! places all pending pods while things happen as a [`timeline`] says, [`explanation`] tells what becomes of one,
//! [`evaluation`] does so for scenarios.

pub mod cluster;
pub mod evaluation;
pub mod explanation;
pub mod pipelines;
pub mod simulation;
pub mod timeline;
pub mod utilisation;
