//! Reviews of users by an API server.

use std::time::Duration;

use serde_json::Value;
use tokio::sync::Semaphore;

use super::budget::Budget;
use super::peer::Peer;
use crate::transport::{ApiRequest, ApiResponse, RequestClass, StatusError, Transport, TransportError, Verb};

/// Timeout of a review with all retries.
const REVIEW_TIMEOUT: Duration = Duration::from_secs(10);
/// Maximum number of attempts.
const MAX_TRIES: u32 = 5;
/// Delay before the first retry. Each further delay is 1.5 times the previous one.
const FIRST_DELAY: Duration = Duration::from_millis(500);
/// Maximum number of concurrent reviews of a reviewer; further reviews wait.
const MAX_REVIEWS: usize = 16;

/// Sends TokenReviews and SubjectAccessReviews.
#[derive(Debug)]
pub(super) struct Reviewer<T> {
    pub(super) transport: T,
    turns: Semaphore,
    budget: Budget,
}

/// Reason that a client could not be authenticated or authorized.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum AuthProblem {
    /// Too many reviews are waiting, or too many have failed: for this client's address, or for all addresses together.
    /// The client should retry later.
    Limited,
    /// Any other error.
    Failed(String),
}

impl AuthProblem {
    /// Adds the operation to the message.
    pub(super) fn with_context(self, what: &str) -> AuthProblem {
        match self {
            AuthProblem::Limited => AuthProblem::Limited,
            AuthProblem::Failed(why) => AuthProblem::Failed(format!("{what}: {why}")),
        }
    }
}

impl<T: Transport> Reviewer<T> {
    pub(super) fn new(transport: T, budget: Budget) -> Self {
        Reviewer { transport, turns: Semaphore::new(MAX_REVIEWS), budget }
    }

    /// Sends a review for a client, and returns the review's status. A review that fails, or whose result is not
    /// positive, counts against the budgets of the client's address and of all addresses.
    pub(super) async fn review(
        &self,
        peer: &Peer,
        path: &str,
        review: &Value,
        is_positive: impl Fn(&Value) -> bool,
    ) -> Result<Value, AuthProblem> {
        let Some(charge) = self.budget.take(peer.address(), self.transport.clock()) else {
            return Err(AuthProblem::Limited);
        };
        let _reviewed = peer.review();
        let status = self.with_timeout(path, review).await.map_err(AuthProblem::Failed)?;
        if is_positive(&status) {
            charge.refund();
        }
        Ok(status)
    }

    async fn with_timeout(&self, path: &str, review: &Value) -> Result<Value, String> {
        let call = ApiRequest { verb: Verb::Create, path: path.to_owned(), body: review.to_string().into() };
        let asking = async {
            // The semaphore is never closed.
            let _turn = self.turns.acquire().await;
            self.send(&call).await
        };
        tokio::select! {
            status = asking => status,
            () = self.transport.sleep(REVIEW_TIMEOUT) => Err(format!("no response within {} seconds", REVIEW_TIMEOUT.as_secs())),
        }
    }

    async fn send(&self, call: &ApiRequest) -> Result<Value, String> {
        let mut pause = FIRST_DELAY;
        for _ in 1..MAX_TRIES {
            let answer = self.transport.call(RequestClass::Review, call.clone()).await;
            let Some(retry_delay) = retry_delay(&answer, pause) else { return status(answer) };
            self.transport.sleep(retry_delay).await;
            pause += pause / 2;
        }
        status(self.transport.call(RequestClass::Review, call.clone()).await)
    }
}

/// Returns the delay before a retry, or `None` if a retry is useless.
fn retry_delay(answer: &Result<ApiResponse, TransportError>, pause: Duration) -> Option<Duration> {
    match answer {
        Ok(answer) if answer.retry_after.is_some() => answer.retry_after,
        Ok(answer) => matches!(answer.code, 429 | 500 | 504).then_some(pause),
        Err(_) => Some(pause),
    }
}

fn status(answer: Result<ApiResponse, TransportError>) -> Result<Value, String> {
    let answer = answer.map_err(TransportError::into_message)?;
    if !answer.is_success() {
        return Err(StatusError::new(&answer).message.into());
    }
    let mut review: Value =
        serde_json::from_slice(&answer.body).map_err(|error| format!("the response cannot be read: {error}"))?;
    Ok(review["status"].take())
}
