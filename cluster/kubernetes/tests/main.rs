//! Integration tests of the API-server client and the driver: one program, which links its dependencies once.

mod api_server;
mod custom_kinds;
mod metrics;
mod scheduler;
mod support;
