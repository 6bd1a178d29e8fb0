//! Failures that a server reports: the API's `Status`.

use std::time::Duration;

use schedc_core::client::{ApiError, ApiReason};
use schedc_objects::decode::protobuf::{Envelope, Malformed, Message};
use serde_json::Value;

use super::ApiResponse;

/// Failure that a server reports: client-go's `StatusError`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StatusError {
    /// Status code; 0 if the server sends none.
    pub code: u16,
    /// Machine-readable reason, such as `Expired`.
    pub reason: Box<str>,
    /// Human-readable message.
    pub message: Box<str>,
    /// Delay before a retry.
    pub retry_after: Option<Duration>,
    /// Fields that caused the failure.
    pub fields: Box<[Box<str>]>,
}

impl StatusError {
    /// Reads a `Status` from JSON. Missing fields become empty.
    pub fn from_json(status: &Value) -> StatusError {
        let text = |name: &str| status[name].as_str().unwrap_or_default().into();
        let details = &status["details"];
        let causes = details["causes"].as_array().into_iter().flatten();
        StatusError {
            code: status["code"].as_u64().and_then(|code| u16::try_from(code).ok()).unwrap_or(0),
            reason: text("reason"),
            message: text("message"),
            retry_after: details["retryAfterSeconds"].as_u64().map(Duration::from_secs),
            fields: causes.filter_map(|cause| cause["field"].as_str()).map(Box::from).collect(),
        }
    }

    /// Reads a `Status` from protobuf.
    ///
    /// # Errors
    /// The message is malformed.
    pub(crate) fn from_protobuf(mut status: Message<'_>) -> Result<StatusError, Malformed> {
        let mut status_error = StatusError::default();
        while let Some((number, value)) = status.next_field()? {
            match number {
                3 => status_error.message = value.text()?.into(),
                4 => status_error.reason = value.text()?.into(),
                5 => status_error.read_details(Message(value.bytes()?))?,
                6 => status_error.code = u16::try_from(value.number()?).unwrap_or(0),
                _ => {}
            }
        }
        Ok(status_error)
    }

    fn read_details(&mut self, mut details: Message<'_>) -> Result<(), Malformed> {
        let mut fields = Vec::new();
        while let Some((number, value)) = details.next_field()? {
            match number {
                4 => {
                    if let Some(field) = Message(value.bytes()?).get(3)? {
                        fields.push(field.text()?.into());
                    }
                }
                5 => self.retry_after = Some(value.number()?).filter(|s| *s > 0).map(Duration::from_secs),
                _ => {}
            }
        }
        self.fields = fields.into();
        Ok(())
    }

    /// Reads a response body that is a `Status`. Its first bytes show whether it is protobuf.
    fn read(body: &[u8]) -> Option<StatusError> {
        if let Ok(envelope) = Envelope::open(body) {
            return StatusError::from_protobuf(Message(envelope.object)).ok().filter(|_| envelope.kind == "Status");
        }
        let status: Value = serde_json::from_slice(body).ok()?;
        (status["kind"] == "Status").then(|| StatusError::from_json(&status))
    }

    /// Reads a failure response. The body has no `Status` if the response comes from a proxy in front of the API
    /// server.
    pub fn new(response: &ApiResponse) -> StatusError {
        let status_error = StatusError::read(&response.body).unwrap_or_default();
        let message = match &*status_error.message {
            "" => format!("the server answered with status code {}", response.code).into(),
            message => message.into(),
        };
        let retry_after = response.retry_after.or(status_error.retry_after);
        StatusError { code: response.code, message, retry_after, ..status_error }
    }
}

impl From<StatusError> for ApiError {
    fn from(status_error: StatusError) -> ApiError {
        let reason = match (status_error.code, &*status_error.reason) {
            (404, _) => ApiReason::NotFound,
            (_, "AlreadyExists") => ApiReason::AlreadyExists,
            (409, _) => ApiReason::Conflict,
            (400 | 422, _) => ApiReason::Invalid,
            (504, _) | (_, "ServerTimeout" | "Timeout") => ApiReason::Timeout,
            _ => ApiReason::Other,
        };
        ApiError::new(reason, status_error.message)
    }
}

#[cfg(test)]
mod tests {
    use base64::Engine;
    use base64::prelude::BASE64_STANDARD;

    use super::*;

    #[test]
    fn recorded_statuses() {
        let check = |code: u16, body: &str, reason: ApiReason, message: &str| {
            let response = ApiResponse { code, retry_after: None, body: body.to_owned().into() };
            assert_eq!(ApiError::from(StatusError::new(&response)), ApiError::new(reason, message));
        };
        check(
            409,
            r#"{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"Operation cannot be fulfilled on pods/binding \"p\": pod p is already assigned to node \"n1\"","reason":"Conflict","details":{"name":"p","kind":"pods/binding"},"code":409}"#,
            ApiReason::Conflict,
            "Operation cannot be fulfilled on pods/binding \"p\": pod p is already assigned to node \"n1\"",
        );
        check(
            404,
            r#"{"kind":"Status","status":"Failure","message":"pods \"q\" not found","reason":"NotFound","code":404}"#,
            ApiReason::NotFound,
            "pods \"q\" not found",
        );
        check(502, "<html>", ApiReason::Other, "the server answered with status code 502");
    }

    /// Response of Kubernetes 1.36 to a pod with an invalid name and no containers.
    #[test]
    fn a_status_in_protobuf() {
        let recorded = "azhzAAoMCgJ2MRIGU3RhdHVzEpQGCgYKABIAGgASB0ZhaWx1cmUa5QJQb2QgIlhfIiBpcyBpbnZhbGlkOiBbbWV0YWRhdGEubmFt\
         ZTogSW52YWxpZCB2YWx1ZTogIlhfIjogYSBsb3dlcmNhc2UgUkZDIDExMjMgc3ViZG9tYWluIG11c3QgY29uc2lzdCBvZiBsb3dl\
         ciBjYXNlIGFscGhhbnVtZXJpYyBjaGFyYWN0ZXJzLCAnLScgb3IgJy4nLCBhbmQgbXVzdCBzdGFydCBhbmQgZW5kIHdpdGggYW4g\
         YWxwaGFudW1lcmljIGNoYXJhY3RlciAoZS5nLiAnZXhhbXBsZS5jb20nLCByZWdleCB1c2VkIGZvciB2YWxpZGF0aW9uIGlzICdb\
         YS16MC05XShbLWEtejAtOV0qW2EtejAtOV0pPyhcLlthLXowLTldKFstYS16MC05XSpbYS16MC05XSk/KSonKSwgc3BlYy5jb250\
         YWluZXJzOiBSZXF1aXJlZCB2YWx1ZV0iB0ludmFsaWQqjAMKAlhfEgAaA1BvZCLDAgoRRmllbGRWYWx1ZUludmFsaWQSngJJbnZh\
         bGlkIHZhbHVlOiAiWF8iOiBhIGxvd2VyY2FzZSBSRkMgMTEyMyBzdWJkb21haW4gbXVzdCBjb25zaXN0IG9mIGxvd2VyIGNhc2Ug\
         YWxwaGFudW1lcmljIGNoYXJhY3RlcnMsICctJyBvciAnLicsIGFuZCBtdXN0IHN0YXJ0IGFuZCBlbmQgd2l0aCBhbiBhbHBoYW51\
         bWVyaWMgY2hhcmFjdGVyIChlLmcuICdleGFtcGxlLmNvbScsIHJlZ2V4IHVzZWQgZm9yIHZhbGlkYXRpb24gaXMgJ1thLXowLTld\
         KFstYS16MC05XSpbYS16MC05XSk/KFwuW2EtejAtOV0oWy1hLXowLTldKlthLXowLTldKT8pKicpGg1tZXRhZGF0YS5uYW1lIjUK\
         EkZpZWxkVmFsdWVSZXF1aXJlZBIOUmVxdWlyZWQgdmFsdWUaD3NwZWMuY29udGFpbmVycygAMgAwpgMaACIA";
        let body = BASE64_STANDARD.decode(recorded).unwrap();
        let status_error = StatusError::new(&ApiResponse { code: 422, retry_after: None, body: body.into() });
        assert_eq!((status_error.code, &*status_error.reason), (422, "Invalid"));
        assert!(
            status_error.message.starts_with("Pod \"X_\" is invalid: [metadata.name: Invalid value"),
            "{}",
            status_error.message
        );
        assert_eq!(*status_error.fields, ["metadata.name".into(), "spec.containers".into()]);
    }

    #[test]
    fn the_fields_of_a_status() {
        let body = r#"{"kind":"Status","message":"Pod \"p\" is invalid","reason":"Invalid","code":422,"details":
            {"retryAfterSeconds":1,"causes":[{"reason":"FieldValueInvalid","field":"metadata.uid"},{}]}}"#;
        let status_error = StatusError::new(&ApiResponse { code: 422, retry_after: None, body: body.into() });
        assert_eq!(
            (status_error.fields, status_error.retry_after),
            (["metadata.uid".into()].into(), Some(Duration::from_secs(1)))
        );
    }
}
