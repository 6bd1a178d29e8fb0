//! A scheduler of `profiles/default.toml` for tests, compiled once and not in each test program.

schedc_macros::profile!("../../profiles/default.toml");
