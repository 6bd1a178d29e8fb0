//! The plan of extenders.

mod create;
mod extender;

pub use create::plan_extenders;
pub use extender::{ManagedResource, PlanExtender, PlanTls};
