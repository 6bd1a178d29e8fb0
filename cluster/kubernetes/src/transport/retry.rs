//! How often a request is tried.

use std::time::Duration;

use schedc_core::client::{ApiError, ApiReason};

use super::{ApiRequest, ApiResponse, RequestClass, StatusError, Transport, TransportError};

/// How often an answer may say when to ask again, until it is taken for one: client-go's.
const MAX_RETRIES: u32 = 10;

/// Sends a request, and sends it again when the server says that it is too busy, and when to ask again: it has not looked
/// at it then.
pub async fn call_with_retry_after(
    transport: &impl Transport,
    class: RequestClass,
    call: &ApiRequest,
) -> Result<ApiResponse, TransportError> {
    for _ in 0..MAX_RETRIES {
        let answer = transport.call(class, call.clone()).await?;
        match answer.retry_after {
            Some(delay) if matches!(answer.code, 429 | 503) => transport.sleep(delay).await,
            _ => return Ok(answer),
        }
    }
    transport.call(class, call.clone()).await
}

/// How much longer to wait each time, and how often.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RetryBackoff {
    /// How many tries are left after the first.
    pub steps: u32,
    /// The pause before the next.
    pub delay: Duration,
    /// How many times as long the pause after that is.
    pub factor: u32,
    /// The longest pause.
    pub cap: Duration,
}

impl RetryBackoff {
    /// For statuses: client-go's `DefaultBackoff`.
    pub const DEFAULT: RetryBackoff =
        RetryBackoff { steps: 3, delay: Duration::from_millis(10), factor: 5, cap: Duration::from_secs(1) };

    /// Waits before another try. Returns whether there is one.
    pub async fn wait(&mut self, transport: &impl Transport) -> bool {
        let Some(steps) = self.steps.checked_sub(1) else { return false };
        self.steps = steps;
        transport.sleep(self.delay).await;
        self.delay = self.cap.min(self.delay * self.factor);
        true
    }
}

/// What came of a try.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RequestOutcome {
    /// It was done.
    Done(ApiResponse),
    /// It was not, and never will be.
    Refused(StatusError),
    /// It was not, but the next time it may.
    Failed(ApiError),
    /// Nobody knows.
    Unknown(ApiError),
}

impl RequestOutcome {
    /// What came of a request that changes something.
    pub fn new(result: Result<ApiResponse, TransportError>) -> RequestOutcome {
        match result {
            Ok(answer) if answer.is_success() => RequestOutcome::Done(answer),
            Ok(answer) => {
                let status_error = StatusError::new(&answer);
                match status_error.code {
                    429 | 503 => RequestOutcome::Failed(status_error.into()),
                    // It may have been done before it went wrong.
                    500.. => RequestOutcome::Unknown(status_error.into()),
                    _ => RequestOutcome::Refused(status_error),
                }
            }
            Err(TransportError::NotSent(why)) => RequestOutcome::Failed(ApiError::new(ApiReason::Other, why)),
            Err(TransportError::Lost(why)) => RequestOutcome::Unknown(ApiError::new(ApiReason::Timeout, why)),
        }
    }
}
