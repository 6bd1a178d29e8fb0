//! Timed changes of a cluster by users.

use schedc_objects::AnyObject;
use serde_json::Value;

use crate::server::{Key, Request};

/// A change of the cluster at a given time.
#[derive(Clone, Debug, PartialEq)]
pub struct TimedInput {
    /// Time in nanoseconds since 1970 by the simulation clock. Inputs in the past are applied immediately.
    pub at: i64,
    /// The change.
    pub input: Input,
}

/// A change of the cluster by a user.
#[derive(Clone, Debug, PartialEq)]
pub enum Input {
    /// Creates the object, unless one with its name exists.
    Create(Box<AnyObject>),
    /// Creates the object, or updates an existing one. [`ApiServer`](crate::ApiServer) lists the fields that an update
    /// keeps.
    Apply(Box<AnyObject>),
    /// Updates the object like [`Input::Apply`], if it exists.
    Replace(Box<AnyObject>),
    /// Applies a JSON merge patch to the object, if it exists.
    Patch(Key, Value),
    /// Deletes the object, if it exists. A running pod has a grace period.
    Delete(Key),
}

impl TimedInput {
    /// Returns an input that creates or updates the object at this time.
    pub fn apply(at: i64, object: impl Into<AnyObject>) -> Self {
        TimedInput { at, input: Input::Apply(Box::new(object.into())) }
    }

    /// Returns an input that deletes the object at this time.
    pub fn delete(at: i64, key: Key) -> Self {
        TimedInput { at, input: Input::Delete(key) }
    }
}

impl From<Input> for Request {
    fn from(input: Input) -> Request {
        match input {
            Input::Create(object) => Request::Create(object),
            Input::Patch(key, patch) => Request::Patch(key, patch),
            Input::Apply(object) => Request::Apply(object),
            Input::Replace(object) => Request::Replace(object),
            Input::Delete(key) => Request::Delete(key, None),
        }
    }
}
