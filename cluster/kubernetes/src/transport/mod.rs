//! Requests to an API server and their responses, independent of the protocol.

mod http;
mod rate_limiter;
mod retry;
mod status_error;

use std::future::Future;
use std::time::Duration;

use bytes::Bytes;
use k8s_openapi::jiff::Timestamp;
use schedc_core::column::CacheSize;

pub use http::{Http, HttpChunks};
pub use rate_limiter::{RateLimitedTransport, RateLimiterConfig};
pub use retry::{RequestOutcome, RetryBackoff, call_with_retry_after};
pub use status_error::StatusError;

/// Purpose of a request. Each class has a separate connection, so other requests never delay bindings. If a rate limit
/// is set, it applies to each class separately, but not to watches and leases.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RequestClass {
    /// Bindings.
    Bind,
    /// Other changes, and reads of single objects.
    Write,
    /// Events for users.
    Event,
    /// Leader election.
    Lease,
    /// Lists and watches.
    Watch,
    /// Authentication and authorization of clients of the HTTPS server.
    Review,
}

impl RequestClass {
    const COUNT: usize = RequestClass::Review as usize + 1;
}

/// Operation of a request.
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
    /// Applies a JSON merge patch.
    MergePatch,
    /// Applies a strategic merge patch.
    StrategicPatch,
}

impl Verb {
    /// Returns the HTTP method.
    pub fn method(self) -> &'static str {
        match self {
            Verb::Get => "GET",
            Verb::Create => "POST",
            Verb::Update => "PUT",
            Verb::Delete => "DELETE",
            Verb::MergePatch | Verb::StrategicPatch => "PATCH",
        }
    }

    /// Returns the media type of the request body.
    pub fn content_type(self) -> &'static str {
        match self {
            Verb::MergePatch => "application/merge-patch+json",
            Verb::StrategicPatch => "application/strategic-merge-patch+json",
            Verb::Get | Verb::Create | Verb::Update | Verb::Delete => "application/json",
        }
    }
}

/// Request to an API server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ApiRequest {
    /// Operation.
    pub verb: Verb,
    /// Path, with a query if there is one.
    pub path: String,
    /// JSON, or empty.
    pub body: Bytes,
}

/// Response of an API server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ApiResponse {
    /// The status code.
    pub code: u16,
    /// Delay before a retry, from the header `Retry-After`.
    pub retry_after: Option<Duration>,
    /// Usually JSON; if protobuf was requested, a refusal may be in protobuf.
    pub body: Bytes,
}

impl ApiResponse {
    /// Returns whether the status code reports success.
    pub(crate) fn is_success(&self) -> bool {
        (200..300).contains(&self.code)
    }
}

/// Reason why there is no response.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TransportError {
    /// The request was not sent, or the server refused the stream without processing it: the request had no effect.
    NotSent(String),
    /// The response was lost; the effect of the request is unknown.
    Lost(String),
}

impl TransportError {
    /// Returns the reason.
    pub(crate) fn into_message(self) -> String {
        match self {
            TransportError::NotSent(why) | TransportError::Lost(why) => why,
        }
    }
}

/// Encoding of objects in responses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Format {
    /// JSON, which servers support for every kind.
    #[default]
    Json,
    /// Protobuf, which decodes faster. Servers send custom resources as JSON even if protobuf is requested.
    Protobuf,
}

impl Format {
    /// Returns the value of the `Accept` header.
    pub fn accept(self) -> &'static str {
        match self {
            Format::Json => "application/json",
            Format::Protobuf => "application/vnd.kubernetes.protobuf, application/json",
        }
    }

    /// Returns the format that a `Content-Type` header names.
    pub(crate) fn of_content(content_type: &str) -> Format {
        match content_type.starts_with("application/vnd.kubernetes.protobuf") {
            true => Format::Protobuf,
            false => Format::Json,
        }
    }
}

/// Connection to an API server, and a clock.
pub trait Transport: Clone + Send + Sync + 'static {
    /// Sends a request and waits for the response, up to a timeout.
    fn call(
        &self,
        class: RequestClass,
        call: ApiRequest,
    ) -> impl Future<Output = Result<ApiResponse, TransportError>> + Send;
    /// Waits for a duration.
    fn sleep(&self, time: Duration) -> impl Future<Output = ()> + Send;
    /// Returns the calendar time.
    fn now(&self) -> Timestamp;
    /// Returns the monotonic time since a fixed moment.
    fn clock(&self) -> Duration;
    /// Reports how long a request waited for the rate limiter, for metrics.
    fn waited(&self, _verb: Verb, _time: Duration) {}
    /// Reports the time from the watch event of a pod to its first binding request, for metrics.
    fn binding_requested(&self, _time: Duration) {}
    /// Reports the current size of a cache, for metrics.
    fn report_cache(&self, _size: CacheSize) {}
}

/// Transport that also streams responses.
pub trait StreamingTransport: Transport {
    /// Stream of response chunks.
    type Chunks: Chunks;
    /// Opens a long response such as a watch, in this format if the server supports it. The inner error is the server's
    /// refusal.
    fn open(
        &self,
        path: String,
        format: Format,
    ) -> impl Future<Output = Result<Result<Self::Chunks, ApiResponse>, TransportError>> + Send;
}

/// Response body, received in chunks.
pub trait Chunks: Send {
    /// Returns the encoding of the body.
    fn format(&self) -> Format {
        Format::Json
    }
    /// Returns the next chunk, or `None` at the end of the response.
    fn next(&mut self) -> impl Future<Output = Option<Result<Bytes, TransportError>>> + Send;
}
