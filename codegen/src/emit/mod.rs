//! From [`crate::plan::Plan`] to Rust.
