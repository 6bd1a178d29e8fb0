//! The code that the build script generates from the profiles: a module for each, and [`Profiles`] over all
//! of them. `schedc expand` prints it.

#![allow(clippy::collapsible_if, reason = "the guard of some plugins surrounds code that all plugins have")]
#![allow(clippy::unit_arg, reason = "some plugins have no cycle state")]

include!(concat!(env!("OUT_DIR"), "/pipelines.rs"));
