//! Requests to an API server, and what comes back, whatever carries them.

mod http;
mod rate_limiter;
mod retry;
mod status_error;

use std::future::Future;
use std::time::Duration;

use bytes::Bytes;
use k8s_openapi::jiff::Timestamp;

pub use http::{Http, HttpChunks};
pub use rate_limiter::{RateLimitedTransport, RateLimiterConfig};
pub use retry::{RequestOutcome, RetryBackoff, call_with_retry_after};
pub use status_error::StatusError;

/// What a request is about. Each has a separate budget and connection, and none waits for another: least of all bindings.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RequestClass {
    /// Bindings.
    Bind,
    /// Other changes, and reading single objects.
    Write,
    /// Events for people.
    Event,
    /// Leader election.
    Lease,
    /// Lists and watches.
    Watch,
    /// Who calls us, and what they may do.
    Review,
}

impl RequestClass {
    const COUNT: usize = RequestClass::Review as usize + 1;
}

/// What is to be done.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Verb {
    /// Read.
    Get,
    /// Create.
    Create,
    /// Replace.
    Update,
    /// Delete.
    Delete,
    /// Change by a JSON merge patch.
    MergePatch,
    /// Change by a strategic merge patch.
    StrategicPatch,
}

impl Verb {
    /// The HTTP method.
    pub fn method(self) -> &'static str {
        match self {
            Verb::Get => "GET",
            Verb::Create => "POST",
            Verb::Update => "PUT",
            Verb::Delete => "DELETE",
            Verb::MergePatch | Verb::StrategicPatch => "PATCH",
        }
    }

    /// What the body is.
    pub fn content_type(self) -> &'static str {
        match self {
            Verb::MergePatch => "application/merge-patch+json",
            Verb::StrategicPatch => "application/strategic-merge-patch+json",
            Verb::Get | Verb::Create | Verb::Update | Verb::Delete => "application/json",
        }
    }
}

/// A request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ApiRequest {
    /// What is to be done.
    pub verb: Verb,
    /// With what: a path, and a query if there is one.
    pub path: String,
    /// JSON, or empty.
    pub body: Bytes,
}

/// An answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ApiResponse {
    /// The status code.
    pub code: u16,
    /// After what time to ask again: the header `Retry-After`.
    pub retry_after: Option<Duration>,
    /// JSON, as a rule; what refuses to go on in protobuf may be protobuf.
    pub body: Bytes,
}

impl ApiResponse {
    /// Whether it was done.
    pub fn is_success(&self) -> bool {
        (200..300).contains(&self.code)
    }
}

/// No answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TransportError {
    /// The request did not get there: nothing happened.
    NotSent(String),
    /// The answer did not get here: nobody knows what happened.
    Lost(String),
}

impl TransportError {
    /// Why there is none.
    pub fn into_message(self) -> String {
        match self {
            TransportError::NotSent(why) | TransportError::Lost(why) => why,
        }
    }
}

/// How objects are written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Format {
    /// As everybody can read them; servers have all kinds of objects in it.
    #[default]
    Json,
    /// As they are read in less time. Kinds that are declared by others are JSON all the same.
    Protobuf,
}

impl Format {
    /// What the server is told of who would like this: the header `Accept`.
    pub fn accept(self) -> &'static str {
        match self {
            Format::Json => "application/json",
            Format::Protobuf => "application/vnd.kubernetes.protobuf, application/json",
        }
    }

    /// What an answer is, by its header `Content-Type`.
    pub fn of_content(content_type: &str) -> Format {
        match content_type.starts_with("application/vnd.kubernetes.protobuf") {
            true => Format::Protobuf,
            false => Format::Json,
        }
    }
}

/// The way to an API server, and the clock.
pub trait Transport: Clone + Send + Sync + 'static {
    /// Sends a request and waits for the answer. It gives up in time.
    fn call(
        &self,
        class: RequestClass,
        call: ApiRequest,
    ) -> impl Future<Output = Result<ApiResponse, TransportError>> + Send;
    /// Waits.
    fn sleep(&self, time: Duration) -> impl Future<Output = ()> + Send;
    /// The time, by the calendar.
    fn now(&self) -> Timestamp;
    /// The time, by a clock that never jumps, since some moment.
    fn clock(&self) -> Duration;
    /// A request waited so long for its turn. Told to who counts that.
    fn waited(&self, _verb: Verb, _time: Duration) {}
}

/// A way on which long answers arrive bit by bit.
pub trait StreamingTransport: Transport {
    /// What arrives.
    type Chunks: Chunks;
    /// Reads something, such as a watch, that may go on for long, in this format if the server has it. The inner error is
    /// the server's refusal.
    fn open(
        &self,
        path: String,
        format: Format,
    ) -> impl Future<Output = Result<Result<Self::Chunks, ApiResponse>, TransportError>> + Send;
}

/// An answer that arrives bit by bit.
pub trait Chunks: Send {
    /// What the answer is.
    fn format(&self) -> Format {
        Format::Json
    }
    /// The next bit. `None`: the server is done.
    fn next(&mut self) -> impl Future<Output = Option<Result<Bytes, TransportError>>> + Send;
}
