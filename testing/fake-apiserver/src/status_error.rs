//! Errors: `metav1.Status` with the texts of a real server.

use serde_json::{Value, json};

use crate::kinds::Kind;

/// An error response, with its reason.
#[derive(Clone, Debug)]
pub(crate) struct StatusError {
    /// Status code.
    pub(crate) code: u16,
    /// Value of `Retry-After`, in seconds.
    pub(crate) retry_after: Option<u32>,
    reason: &'static str,
    message: String,
    details: Option<Value>,
}

impl StatusError {
    /// Returns an error with the usual reason of the code.
    pub(crate) fn new(code: u16, message: impl Into<String>) -> Self {
        let reason = match code {
            400 => "BadRequest",
            401 => "Unauthorized",
            403 => "Forbidden",
            404 => "NotFound",
            405 => "MethodNotAllowed",
            409 => "Conflict",
            410 => "Expired",
            415 => "UnsupportedMediaType",
            422 => "Invalid",
            429 => "TooManyRequests",
            500 => "InternalError",
            503 => "ServiceUnavailable",
            504 => "Timeout",
            _ => "",
        };
        StatusError { code, retry_after: None, reason, message: message.into(), details: None }
    }

    /// Returns an internal error: 500 without a reason.
    pub(crate) fn unnamed(message: &str) -> Self {
        StatusError { reason: "", ..StatusError::new(500, message) }
    }

    /// Returns an injected fault.
    pub(crate) fn injected(code: u16, retry_after: Option<u32>) -> Self {
        StatusError { retry_after, ..StatusError::new(code, "an injected fault") }
    }

    fn about(mut self, group: &str, plural: &str, name: &str) -> Self {
        let mut details = json!({"kind": plural});
        for (field, text) in [("name", name), ("group", group)] {
            if !text.is_empty() {
                details[field] = text.into();
            }
        }
        self.details = Some(details);
        self
    }

    /// Reports that the object does not exist.
    pub(crate) fn not_found(kind: &Kind, name: &str) -> Self {
        let message = format!("{} \"{name}\" not found", kind.qualified());
        StatusError::new(404, message).about(kind.group, kind.plural, name)
    }

    /// Reports that the object exists already.
    pub(crate) fn already_exists(kind: &Kind, name: &str) -> Self {
        let message = format!("{} \"{name}\" already exists", kind.qualified());
        StatusError { reason: "AlreadyExists", ..StatusError::new(409, message) }.about(kind.group, kind.plural, name)
    }

    /// Reports that a precondition failed. `resource` includes the subresource of the request, if there is one.
    pub(crate) fn conflict(kind: &Kind, resource: &str, name: &str, reason: impl std::fmt::Display) -> Self {
        let message = format!("Operation cannot be fulfilled on {resource} \"{name}\": {reason}");
        StatusError::new(409, message).about(kind.group, resource.split('.').next().unwrap_or(resource), name)
    }

    /// Reports that the object was modified since the given version.
    pub(crate) fn modified(kind: &Kind, name: &str) -> Self {
        let reason = "the object has been modified; please apply your changes to the latest version and try again";
        StatusError::conflict(kind, &kind.qualified(), name, reason)
    }

    /// Reports an invalid field. `problem` is a text such as `Required value`.
    pub(crate) fn invalid(kind: &Kind, name: &str, field: &str, problem: &str) -> Self {
        // A real server omits the group of events.
        let group = if kind.kind == "Event" { "" } else { kind.group };
        StatusError::invalid_field(kind.kind, name, field, problem)
            .about(group, kind.kind, name)
            .with_cause(field, problem)
    }

    /// Reports that the object has no resource version, which is required for a replacement.
    pub(crate) fn unconditional(kind: &Kind, name: &str) -> Self {
        let problem = "Invalid value: 0: must be specified for an update";
        let field = "metadata.resourceVersion";
        StatusError::invalid_field(&kind.qualified(), name, field, problem)
            .about(kind.group, kind.plural, name)
            .with_cause(field, problem)
    }

    fn invalid_field(resource: &str, name: &str, field: &str, problem: &str) -> Self {
        StatusError::new(422, format!("{resource} \"{name}\" is invalid: {field}: {problem}"))
    }

    /// Adds the cause to the details.
    fn with_cause(mut self, field: &str, problem: &str) -> Self {
        let reason = if problem.starts_with("Required") { "FieldValueRequired" } else { "FieldValueInvalid" };
        if let Some(details) = &mut self.details {
            details["causes"] = json!([{"reason": reason, "message": problem, "field": field}]);
        }
        self
    }

    /// Reports invalid options of a list or watch.
    pub(crate) fn options(field: &str, problem: &str) -> Self {
        let mut refusal = StatusError::new(422, format!("ListOptions.meta.k8s.io \"\" is invalid: {field}: {problem}"));
        let causes = json!([{"reason": "FieldValueForbidden", "message": problem, "field": field}]);
        refusal.details = Some(json!({"group": "meta.k8s.io", "kind": "ListOptions", "causes": causes}));
        refusal
    }

    /// Reports that the resource version is newer than the newest one.
    pub(crate) fn too_new(requested: u64, current: u64) -> Self {
        let mut refusal =
            StatusError::new(504, format!("Timeout: Too large resource version: {requested}, current: {current}"));
        let causes = json!([{"reason": "ResourceVersionTooLarge", "message": "Too large resource version"}]);
        refusal.details = Some(json!({"causes": causes, "retryAfterSeconds": 1}));
        refusal.retry_after = Some(1);
        refusal
    }

    /// Reports that the resource version is older than the oldest one that is kept.
    pub(crate) fn too_old(requested: u64, oldest: u64) -> Self {
        StatusError::new(410, format!("too old resource version: {requested} ({oldest})"))
    }

    /// Reports that the path does not exist.
    pub(crate) fn no_such_path() -> Self {
        StatusError {
            details: Some(json!({})),
            ..StatusError::new(404, "the server could not find the requested resource")
        }
    }

    /// Reports that the patch type is not supported.
    pub(crate) fn no_such_patch() -> Self {
        StatusError { details: Some(json!({})), ..StatusError::new(415, "415: Unsupported Media Type") }
    }

    /// Reports that the method is not supported at this path.
    pub(crate) fn no_such_method() -> Self {
        let message = "the server does not allow this method on the requested resource";
        StatusError { details: Some(json!({})), ..StatusError::new(405, message) }
    }

    /// Returns the body of the response.
    pub(crate) fn body(&self) -> Value {
        let mut status = json!({
            "kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure",
            "message": self.message, "code": self.code,
        });
        if !self.reason.is_empty() {
            status["reason"] = self.reason.into();
        }
        if let Some(details) = &self.details {
            status["details"] = details.clone();
        }
        status
    }
}

/// Returns a `Status` for success.
pub(crate) fn success(code: u16) -> Value {
    json!({"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success", "code": code})
}
