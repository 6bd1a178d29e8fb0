//! The rules for values of profiles: arguments of plugins, and extenders, as written and as planned. The profile compiler
//! applies them to profiles, and `schedc run` to kube-scheduler's configuration.
//!
//! This is a separate package because Cargo profiles set one optimisation level per package: programs contain these rules,
//! but not the rest of the compiler.

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
