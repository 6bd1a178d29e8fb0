#![doc = include_str!("../README.md")]

mod background;
mod clock;
pub mod config;
pub mod cost;
mod error;
pub mod measure;
mod ops;
mod placements;
mod probe;
mod report;
mod run;
pub mod template;
pub mod validate;

pub use error::Error;
pub use report::{Latency, Report, Reports};
pub use run::{Options, run};
