//! Why a server did not do what it was asked for: a `Status`.

use std::time::Duration;

use schedc_core::client::{ApiError, ApiReason};
use schedc_objects::reads::protobuf::{Envelope, Malformed, Message};
use serde_json::Value;

use super::Answer;

/// Why a server did not do what it was asked for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Refusal {
    /// The status code; 0: it does not say.
    pub code: u16,
    /// A word, such as `Expired`.
    pub reason: Box<str>,
    /// A sentence.
    pub message: Box<str>,
    /// After what time to ask again.
    pub retry_after: Option<Duration>,
    /// The fields that it is about.
    pub fields: Box<[Box<str>]>,
}

impl Refusal {
    /// Reads a `Status`. What is missing is as good as empty.
    pub fn from_json(status: &Value) -> Refusal {
        let text = |name: &str| status[name].as_str().unwrap_or_default().into();
        let details = &status["details"];
        let causes = details["causes"].as_array().into_iter().flatten();
        Refusal {
            code: status["code"].as_u64().and_then(|code| u16::try_from(code).ok()).unwrap_or(0),
            reason: text("reason"),
            message: text("message"),
            retry_after: details["retryAfterSeconds"].as_u64().map(Duration::from_secs),
            fields: causes.filter_map(|cause| cause["field"].as_str()).map(Box::from).collect(),
        }
    }

    /// Reads a `Status` that is a message of protobuf.
    ///
    /// # Errors
    /// It is none.
    pub fn from_protobuf(mut status: Message<'_>) -> Result<Refusal, Malformed> {
        let mut refusal = Refusal::default();
        while let Some((number, value)) = status.next_field()? {
            match number {
                3 => refusal.message = value.text()?.into(),
                4 => refusal.reason = value.text()?.into(),
                5 => refusal.read_details(Message(value.bytes()?))?,
                6 => refusal.code = u16::try_from(value.number()?).unwrap_or(0),
                _ => {}
            }
        }
        Ok(refusal)
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

    /// What an answer says, if it is a `Status`. Whether it is protobuf, its first bytes say.
    fn read(body: &[u8]) -> Option<Refusal> {
        if let Ok(envelope) = Envelope::open(body) {
            return Refusal::from_protobuf(Message(envelope.object)).ok().filter(|_| envelope.kind == "Status");
        }
        let status: Value = serde_json::from_slice(body).ok()?;
        (status["kind"] == "Status").then(|| Refusal::from_json(&status))
    }

    /// Reads an answer. One that is no `Status` comes from something before the API server.
    pub fn new(answer: &Answer) -> Refusal {
        let refusal = Refusal::read(&answer.body).unwrap_or_default();
        let message = match &*refusal.message {
            "" => format!("the server answered with status code {}", answer.code).into(),
            message => message.into(),
        };
        let retry_after = answer.retry_after.or(refusal.retry_after);
        Refusal { code: answer.code, message, retry_after, ..refusal }
    }
}

impl From<Refusal> for ApiError {
    fn from(refusal: Refusal) -> ApiError {
        let reason = match (refusal.code, &*refusal.reason) {
            (404, _) => ApiReason::NotFound,
            (_, "AlreadyExists") => ApiReason::AlreadyExists,
            (409, _) => ApiReason::Conflict,
            (400 | 422, _) => ApiReason::Invalid,
            (504, _) | (_, "ServerTimeout" | "Timeout") => ApiReason::Timeout,
            _ => ApiReason::Other,
        };
        ApiError::new(reason, refusal.message)
    }
}

#[cfg(test)]
mod tests {
    use base64::Engine;
    use base64::prelude::BASE64_STANDARD;

    use super::*;

    #[test]
    fn statuses_of_a_real_server() {
        let check = |code: u16, body: &str, reason: ApiReason, message: &str| {
            let answer = Answer { code, retry_after: None, body: body.to_owned().into() };
            assert_eq!(ApiError::from(Refusal::new(&answer)), ApiError::new(reason, message));
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

    /// What Kubernetes 1.36 said of a pod that has a wrong name and no containers.
    #[test]
    fn a_refusal_in_protobuf() {
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
        let refusal = Refusal::new(&Answer { code: 422, retry_after: None, body: body.into() });
        assert_eq!((refusal.code, &*refusal.reason), (422, "Invalid"));
        assert!(
            refusal.message.starts_with("Pod \"X_\" is invalid: [metadata.name: Invalid value"),
            "{}",
            refusal.message
        );
        assert_eq!(*refusal.fields, ["metadata.name".into(), "spec.containers".into()]);
    }

    #[test]
    fn what_a_refusal_is_about() {
        let body = r#"{"kind":"Status","message":"Pod \"p\" is invalid","reason":"Invalid","code":422,"details":
            {"retryAfterSeconds":1,"causes":[{"reason":"FieldValueInvalid","field":"metadata.uid"},{}]}}"#;
        let refusal = Refusal::new(&Answer { code: 422, retry_after: None, body: body.into() });
        assert_eq!(
            (refusal.fields, refusal.retry_after),
            (["metadata.uid".into()].into(), Some(Duration::from_secs(1)))
        );
    }
}
