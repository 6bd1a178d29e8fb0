//! Scheduler extenders: webhooks that have a say in scheduling, asked as kube-scheduler asks them.
//!
//! A profile with `[[extender]]` has its settings as constants ([`settings`]), and [`HttpExtenders`] in the place that the
//! framework leaves for them. A profile without refers to nothing of this package.

pub mod settings;

mod extenders;

pub use extenders::HttpExtenders;
pub use settings::{Extender, ManagedResource, Pem, Tls, originals};
