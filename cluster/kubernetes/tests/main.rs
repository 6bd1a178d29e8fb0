//! Integration tests of the API-server client and the scheduler around it: one program, so that its dependencies are linked once.

mod api_server;
mod custom_kinds;
mod metrics;
mod scheduler;
mod support;
