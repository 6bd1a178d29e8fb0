//! Rules for the arguments of plugins, for extenders and for weights. The profile compiler applies them to profiles, and
//! `schedc run` to kube-scheduler's configuration.
//!
//! They are a separate package because a Cargo profile sets one optimisation level per package: a program with only `run`
//! contains these rules, but not the rest of the compiler.

mod args;
pub mod diagnostic;
mod extenders;
#[doc(hidden)]
pub mod fields;
pub mod format;
#[doc(hidden)]
pub mod messages;
pub mod parse;
pub mod plan;
pub mod point;
pub mod schema;
pub mod source;
pub mod tree;
mod weights;

pub use args::check_args;
pub use diagnostic::{Diagnostic, Diagnostics};
pub use extenders::check_extenders;
pub use schedc_bounds::suggest;
pub use weights::check_weights;
