//! Scheduler extenders: webhooks that have a say in scheduling, asked as kube-scheduler 1.36 asks them.
//!
//! A profile with `[[extender]]` has its settings as constants ([`settings`]), and [`HttpExtenders`] in the place that the
//! framework leaves for them. A profile without refers to nothing of this package.
//!
//! | module | idea | kube-scheduler |
//! |---|---|---|
//! | [`settings`] | what a profile says of an extender | `apis/config` |
//! | `extenders` | all of a profile, in the scheduling cycle | `schedule_one.go` |
//! | `extender` | one of them: what it is asked, and whether its answer can be | `extender.go` |
//! | `preemption` | which pods go for another, by their word | `callExtenders` |
//! | `request` | what is sent | `extender/v1` |
//! | `answer`, `case_insensitive` | what comes back | `extender/v1` |
//! | `resources` | whether a pod asks for a managed resource | `IsInterested` |
//! | `overrides` | what is different where the scheduler runs | |
//! | `http`, `tls` | how it is sent | `makeTransport` |
//! | `calls` | how long calls took | |

pub mod settings;

mod answer;
mod calls;
mod case_insensitive;
mod extender;
mod extenders;
mod http;
mod overrides;
mod preemption;
mod request;
mod resources;
mod tls;

pub use extenders::HttpExtenders;
pub use settings::{Extender, ManagedResource, Pem, Tls, originals};
