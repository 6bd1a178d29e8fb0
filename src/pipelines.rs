//! What the build script made of the profiles: a module for each, and [`Profiles`] over all of them. `schedc expand`
//! prints it.

#![allow(clippy::collapsible_if, reason = "a guard that some plugins have goes around code that all have")]
#![allow(clippy::unit_arg, reason = "the cycle state of some plugins is nothing")]

include!(concat!(env!("OUT_DIR"), "/pipelines.rs"));
