//! Answers on their way out.

use std::convert::Infallible;
use std::fmt;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use bytes::Bytes;
use hyper::Response;
use hyper::body::{Body, Frame};
use hyper::header::{CONTENT_TYPE, HeaderValue, RETRY_AFTER};
use serde_json::Value;
use tokio::sync::mpsc;

use crate::refusal::Refusal;
use crate::watch::Watch;

/// What is answered.
#[derive(Debug)]
pub(crate) enum Answer {
    /// An object, and the status code.
    Object(u16, Arc<Value>),
    /// A text.
    Text(&'static str),
    /// No.
    Refused(Refusal),
    /// A stream of events.
    Watch(Watch),
}

impl Answer {
    pub(crate) fn code(&self) -> u16 {
        match self {
            Answer::Object(code, _) => *code,
            Answer::Text(_) | Answer::Watch(_) => 200,
            Answer::Refused(refusal) => refusal.code,
        }
    }
}

impl From<Result<Answer, Refusal>> for Answer {
    fn from(result: Result<Answer, Refusal>) -> Self {
        result.unwrap_or_else(Answer::Refused)
    }
}

/// A connection or stream is broken on purpose.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Broken;

impl fmt::Display for Broken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("broken on purpose")
    }
}

impl std::error::Error for Broken {}

impl From<Infallible> for Broken {
    fn from(never: Infallible) -> Self {
        match never {}
    }
}

/// The body of an answer.
#[derive(Debug)]
pub(crate) enum Content {
    Whole(Option<Bytes>),
    Stream(mpsc::Receiver<Result<Bytes, Broken>>),
}

impl Body for Content {
    type Data = Bytes;
    type Error = Broken;

    fn poll_frame(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Broken>>> {
        match self.get_mut() {
            Content::Whole(bytes) => Poll::Ready(bytes.take().map(|bytes| Ok(Frame::data(bytes)))),
            Content::Stream(events) => events.poll_recv(cx).map(|event| event.map(|event| event.map(Frame::data))),
        }
    }

    fn is_end_stream(&self) -> bool {
        matches!(self, Content::Whole(None))
    }
}

/// A response with these contents.
pub(crate) fn response(
    code: u16,
    content_type: &'static str,
    retry_after: Option<u32>,
    content: Content,
) -> Response<Content> {
    let mut response = Response::new(content);
    *response.status_mut() = hyper::StatusCode::from_u16(code).unwrap_or_default();
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(content_type));
    if let Some(seconds) = retry_after {
        response.headers_mut().insert(RETRY_AFTER, HeaderValue::from(seconds));
    }
    response
}
