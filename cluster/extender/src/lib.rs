//! Scheduler extenders: webhooks that take part in scheduling, called as kube-scheduler 1.36 calls them.
//!
//! The code of a profile with `[[extender]]` contains the settings of its extenders as constants ([`settings`]), and
//! calls the extenders through [`HttpExtenders`]. A profile without extenders does not use this package.
//!
//! | module | content | kube-scheduler |
//! |---|---|---|
//! | [`settings`] | settings of an extender in a profile | `apis/config` |
//! | `extenders` | all extenders of a profile, in the scheduling cycle | `schedule_one.go` |
//! | `extender` | one extender: requests, and validation of responses | `extender.go` |
//! | `preemption` | victims that an extender returns | `callExtenders` |
//! | `request` | request bodies | `extender/v1` |
//! | `answer`, `case_insensitive` | response bodies | `extender/v1` |
//! | `resources` | whether a pod requests a managed resource | `IsInterested` |
//! | `overrides` | settings from the command line and the environment | |
//! | `http`, `tls` | the HTTP client | `makeTransport` |
//! | `calls` | durations of calls | |

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
