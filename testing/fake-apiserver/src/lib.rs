#![doc = include_str!("../README.md")]

mod audit;
mod disconnect;
mod discovery;
mod faults;
mod kinds;
mod list;
mod listen;
mod patch;
mod request;
mod response;
mod review;
mod selector;
mod server;
mod service;
mod shared;
mod status_error;
mod store;
mod tls;
mod volumes;
mod watch;
mod write;

pub use audit::RecordedRequest;
pub use faults::{Fault, FaultRule};
pub use hyper::Version;
pub use server::Server;
