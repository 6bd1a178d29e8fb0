//! What happens to a cluster from outside, and when.

use schedc_objects::AnyObject;
use serde_json::Value;

use crate::server::{Key, Request};

/// Something that somebody does to the cluster at some time.
#[derive(Clone, Debug, PartialEq)]
pub struct TimedInput {
    /// When, in nanoseconds since 1970 by the clock of the simulation. What is over by then happens at once.
    pub at: i64,
    /// What.
    pub what: Input,
}

/// Something that somebody does to the cluster.
#[derive(Clone, Debug, PartialEq)]
pub enum Input {
    /// The object is created, if there is none of its name.
    Create(Box<AnyObject>),
    /// The object is created, or changed if there is one of its name. [`ApiServer`](crate::Server) says what stays of that.
    Apply(Box<AnyObject>),
    /// The object is changed to this, if it is there; as by [`Input::Apply`].
    Replace(Box<AnyObject>),
    /// The object is changed by a JSON merge patch, if it is there.
    Patch(Key, Value),
    /// The object is deleted, if it is there. A pod that runs is granted its time.
    Delete(Key),
}

impl TimedInput {
    /// The object is created or changed.
    pub fn apply(at: i64, object: impl Into<AnyObject>) -> Self {
        TimedInput { at, what: Input::Apply(Box::new(object.into())) }
    }

    /// The object is deleted.
    pub fn delete(at: i64, key: Key) -> Self {
        TimedInput { at, what: Input::Delete(key) }
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
