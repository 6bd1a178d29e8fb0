#![doc = include_str!("../README.md")]

mod answer;
mod ask;
mod audit;
mod discovery;
mod faults;
mod kinds;
mod list;
mod listen;
mod patch;
mod refusal;
mod review;
mod selector;
mod server;
mod service;
mod shared;
mod store;
mod tls;
mod volumes;
mod watch;
mod write;

pub use audit::Asked;
pub use faults::{Fault, Rule};
pub use hyper::Version;
pub use server::Server;
