//! What the build script made of the profiles: a module for each, and [`Profiles`] over all of them. `schedc expand`
//! prints it.

#![allow(clippy::collapsible_if, reason = "a guard that some plugins have goes around code that all have")]

include!(concat!(env!("OUT_DIR"), "/pipelines.rs"));
