//! Retries of requests.

use std::time::Duration;

use schedc_core::client::{ApiError, ApiReason};

use super::{ApiRequest, ApiResponse, RequestClass, StatusError, Transport, TransportError};

/// Maximum number of retries after `Retry-After`: client-go's value.
const MAX_RETRIES: u32 = 10;

/// Sends a request, and retries it when the server responds with 429 or 503 and `Retry-After`. The server has not
/// processed the request in that case.
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

/// Steps and delays of retries: `wait.Backoff` of apimachinery.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RetryBackoff {
    /// Number of retries left.
    pub steps: u32,
    /// Delay before the next retry.
    pub delay: Duration,
    /// Factor by which the delay grows.
    pub factor: u32,
    /// Maximum delay.
    pub cap: Duration,
}

impl RetryBackoff {
    /// Backoff of requests for single objects, except for bindings: client-go's `DefaultBackoff`.
    pub const DEFAULT: RetryBackoff =
        RetryBackoff { steps: 3, delay: Duration::from_millis(10), factor: 5, cap: Duration::from_secs(1) };

    /// Waits for the next retry. Returns `false` if no retry is left.
    pub async fn wait(&mut self, transport: &impl Transport) -> bool {
        let Some(steps) = self.steps.checked_sub(1) else { return false };
        self.steps = steps;
        transport.sleep(self.delay).await;
        self.delay = self.cap.min(self.delay * self.factor);
        true
    }
}

/// Effect of a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RequestOutcome {
    /// The server applied the request.
    Done(ApiResponse),
    /// The server refused the request; a retry would be refused, too.
    Refused(StatusError),
    /// The request had no effect; a retry may succeed.
    Failed(ApiError),
    /// The effect is unknown.
    Unknown(ApiError),
}

impl RequestOutcome {
    /// Classifies the result of a request that changes objects.
    pub fn new(result: Result<ApiResponse, TransportError>) -> RequestOutcome {
        match result {
            Ok(answer) if answer.is_success() => RequestOutcome::Done(answer),
            Ok(answer) => {
                let status_error = StatusError::new(&answer);
                match status_error.code {
                    429 | 503 => RequestOutcome::Failed(status_error.into()),
                    // The error may have occurred after the change.
                    500.. => RequestOutcome::Unknown(status_error.into()),
                    _ => RequestOutcome::Refused(status_error),
                }
            }
            Err(TransportError::NotSent(why)) => RequestOutcome::Failed(ApiError::new(ApiReason::Other, why)),
            Err(TransportError::Lost(why)) => RequestOutcome::Unknown(ApiError::new(ApiReason::Timeout, why)),
        }
    }
}
