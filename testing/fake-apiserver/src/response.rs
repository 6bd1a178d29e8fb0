//! Responses to clients.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use bytes::Bytes;
use hyper::Response;
use hyper::body::{Body, Frame};
use hyper::header::{CONTENT_TYPE, HeaderValue, RETRY_AFTER};
use serde_json::Value;
use tokio::sync::mpsc;

use crate::disconnect::InjectedDisconnect;
use crate::status_error::StatusError;
use crate::watch::Watch;

/// Response to a request.
#[derive(Debug)]
pub(crate) enum ApiResponse {
    /// Status code and object.
    Object(u16, Arc<Value>),
    /// Plain text.
    Text(&'static str),
    /// Error.
    Error(StatusError),
    /// Stream of events.
    Watch(Watch),
}

impl ApiResponse {
    pub(crate) fn code(&self) -> u16 {
        match self {
            ApiResponse::Object(code, _) => *code,
            ApiResponse::Text(_) | ApiResponse::Watch(_) => 200,
            ApiResponse::Error(refusal) => refusal.code,
        }
    }
}

impl From<Result<ApiResponse, StatusError>> for ApiResponse {
    fn from(result: Result<ApiResponse, StatusError>) -> Self {
        result.unwrap_or_else(ApiResponse::Error)
    }
}

/// Body of a response.
#[derive(Debug)]
pub(crate) enum ResponseBody {
    Whole(Option<Bytes>),
    Stream(mpsc::Receiver<Result<Bytes, InjectedDisconnect>>),
}

impl Body for ResponseBody {
    type Data = Bytes;
    type Error = InjectedDisconnect;

    fn poll_frame(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, InjectedDisconnect>>> {
        match self.get_mut() {
            ResponseBody::Whole(bytes) => Poll::Ready(bytes.take().map(|bytes| Ok(Frame::data(bytes)))),
            ResponseBody::Stream(events) => events.poll_recv(cx).map(|event| event.map(|event| event.map(Frame::data))),
        }
    }

    fn is_end_stream(&self) -> bool {
        matches!(self, ResponseBody::Whole(None))
    }
}

/// Builds a response with this content.
pub(crate) fn response(
    code: u16,
    content_type: &'static str,
    retry_after: Option<u32>,
    content: ResponseBody,
) -> Response<ResponseBody> {
    let mut response = Response::new(content);
    *response.status_mut() = hyper::StatusCode::from_u16(code).unwrap_or_default();
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(content_type));
    if let Some(seconds) = retry_after {
        response.headers_mut().insert(RETRY_AFTER, HeaderValue::from(seconds));
    }
    response
}
