//! Errors with the texts of an API server.

use std::fmt::Display;

use schedc_core::client::{ApiError, ApiReason};

use super::Key;

pub(super) fn not_found(key: &Key) -> ApiError {
    ApiError::new(ApiReason::NotFound, format!("{} \"{}\" not found", key.resource(), key.name))
}

pub(super) fn unknown_kind() -> ApiError {
    ApiError::new(ApiReason::NotFound, "the server could not find the requested resource")
}

pub(super) fn already_exists(key: &Key) -> ApiError {
    ApiError::new(ApiReason::AlreadyExists, format!("{} \"{}\" already exists", key.resource(), key.name))
}

/// Returns a conflict. `resource` may have a subresource.
pub(super) fn conflict(resource: &str, name: &str, why: impl Display) -> ApiError {
    ApiError::new(ApiReason::Conflict, format!("Operation cannot be fulfilled on {resource} \"{name}\": {why}"))
}

pub(super) fn modified(key: &Key) -> ApiError {
    let why = "the object has been modified; please apply your changes to the latest version and try again";
    conflict(&key.resource(), &key.name, why)
}

/// Returns a conflict with an object of the same name and another uid.
pub(super) fn other_uid(key: &Key, wanted: &str, found: &str) -> ApiError {
    let why = format!("Precondition failed: UID in precondition: {wanted}, UID in object meta: {found}");
    conflict(&key.resource(), &key.name, why)
}

pub(super) fn invalid(key: &Key, why: impl Display) -> ApiError {
    ApiError::new(ApiReason::Invalid, format!("{} \"{}\" is invalid: {why}", key.kind, key.name))
}
