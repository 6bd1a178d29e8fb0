//! schedc as a C library, over [`schedc_api`]. `include/schedc.h` declares it; docs/libraries.md explains it.
//!
//! This crate contains all `unsafe` code of the libraries. The rules:
//!
//! - Handles are boxes. C receives the pointer, passes it to functions, and releases it once.
//! - Texts have a length. They are borrowed for one call, and validated as UTF-8.
//! - No panic leaves a function: it becomes [`Status::Panicked`], and the handle refuses all later calls except for its release.
//! - There is no global state.
//!
//! Functions are `unsafe` because they dereference pointers. The conditions are the same for all of them, and are those of any
//! C library: a pointer is null or valid for its type, a text is valid for its length, a handle comes from this library and was
//! not released, and no other thread uses it during the call. Null pointers are errors.

mod buffer;
mod cluster;
mod evaluator;
mod guard;
mod profiles;
mod status;

pub use buffer::{Buffer, Source, Text, schedc_buffer_free};
pub use cluster::{
    ClusterHandle, schedc_cluster_apply, schedc_cluster_apply_protobuf, schedc_cluster_check,
    schedc_cluster_check_nodes, schedc_cluster_clear, schedc_cluster_commit, schedc_cluster_decide,
    schedc_cluster_delete, schedc_cluster_estimate, schedc_cluster_fork, schedc_cluster_forks, schedc_cluster_free,
    schedc_cluster_new, schedc_cluster_requests, schedc_cluster_revert, schedc_cluster_schedule,
    schedc_cluster_schedule_on_any, schedc_cluster_unschedule,
};
pub use evaluator::{
    EvaluatorHandle, schedc_evaluator_evaluate, schedc_evaluator_free, schedc_evaluator_hints, schedc_evaluator_new,
    schedc_evaluator_use_profile,
};
pub use profiles::{ProfilesHandle, schedc_profiles_free, schedc_profiles_parse};
pub use status::Status;

/// Returns the version of this interface. It increases with every incompatible change.
#[allow(unsafe_code, reason = "the name of the symbol is part of the interface")]
#[unsafe(no_mangle)]
pub extern "C" fn schedc_api_version() -> u32 {
    schedc_api::API_VERSION
}

/// Returns the version of schedc, such as `0.1.0`. The text is valid until the program ends.
#[allow(unsafe_code, reason = "the name of the symbol is part of the interface")]
#[unsafe(no_mangle)]
pub extern "C" fn schedc_version() -> Text {
    Text::of(schedc_api::version())
}
