//! A scheduler of `profiles/default.toml`, for tests: compiled here, once, and not in each program that tests something with it.

schedc_macros::profile!("../../profiles/default.toml");
