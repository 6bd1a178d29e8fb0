//! Results of functions.

use schedc_api::guard::Panicked;
use schedc_api::{Error, ErrorCode};

/// The result of a function. Numbers are stable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub enum Status {
    /// The function succeeded, and, for questions about a node, the pod may run on it.
    Ok = 0,
    /// The function succeeded. Its answer is negative: for example, the pod may not run on the node, or there is no such object.
    Rejected = 1,
    /// A pointer is null.
    NullPointer = 2,
    /// A text is not UTF-8.
    InvalidUtf8 = 3,
    /// A bug of schedc ended this call or an earlier call for the handle: release the handle, and report the bug.
    Panicked = 4,
    /// A profile is invalid, or cannot be interpreted because it has extenders or plugins of other crates.
    InvalidProfile = 10,
    /// No profile has this name.
    UnknownProfile = 11,
    /// Objects are wrong.
    InvalidObjects = 12,
    /// Scheduling ignores objects of this kind.
    UnknownKind = 13,
    /// The cluster has no pod of this name.
    UnknownPod = 14,
    /// The cluster has no node of this name.
    UnknownNode = 15,
    /// A scenario is wrong.
    InvalidScenario = 16,
    /// A request is wrong.
    InvalidRequest = 17,
    /// An error that a later version added.
    Other = 99,
}

/// The status and the message of an error.
pub(crate) struct Failure {
    pub(crate) status: Status,
    pub(crate) message: String,
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        let status = match error.code {
            ErrorCode::InvalidProfile => Status::InvalidProfile,
            ErrorCode::UnknownProfile => Status::UnknownProfile,
            ErrorCode::InvalidObjects => Status::InvalidObjects,
            ErrorCode::UnknownKind => Status::UnknownKind,
            ErrorCode::UnknownPod => Status::UnknownPod,
            ErrorCode::UnknownNode => Status::UnknownNode,
            ErrorCode::InvalidScenario => Status::InvalidScenario,
            ErrorCode::InvalidRequest => Status::InvalidRequest,
            _ => Status::Other,
        };
        Failure { status, message: error.message }
    }
}

impl From<Panicked> for Failure {
    fn from(Panicked { message }: Panicked) -> Self {
        Failure { status: Status::Panicked, message }
    }
}

impl Failure {
    pub(crate) fn null(name: &str) -> Self {
        Failure { status: Status::NullPointer, message: format!("`{name}` is a null pointer") }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_errors_are_those_of_the_rust_interface() {
        for (code, status) in [
            (ErrorCode::InvalidProfile, Status::InvalidProfile),
            (ErrorCode::UnknownProfile, Status::UnknownProfile),
            (ErrorCode::InvalidObjects, Status::InvalidObjects),
            (ErrorCode::UnknownKind, Status::UnknownKind),
            (ErrorCode::UnknownPod, Status::UnknownPod),
            (ErrorCode::UnknownNode, Status::UnknownNode),
            (ErrorCode::InvalidScenario, Status::InvalidScenario),
            (ErrorCode::InvalidRequest, Status::InvalidRequest),
        ] {
            let failure = Failure::from(Error { code, message: String::new() });
            assert_eq!((failure.status, code.number()), (status, status as u32));
        }
    }
}
