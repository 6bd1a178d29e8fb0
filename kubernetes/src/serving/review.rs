//! Asking an API server about somebody.

use std::time::Duration;

use serde_json::Value;
use tokio::sync::Semaphore;

use super::budget::Budget;
use super::connections::Peer;
use crate::wire::{Answer, Call, Lane, Refusal, Silence, Transport, Verb};

/// How long a review may take, with all tries.
const PATIENCE: Duration = Duration::from_secs(10);
/// How often it is tried, and how long the first pause is; each is half as long again as the one before.
const TRIES: u32 = 5;
const PAUSE: Duration = Duration::from_millis(500);
/// How many are under way at once: whoever asks for more waits.
const AT_ONCE: usize = 16;

/// The API server, as the one who knows who somebody is and what they may do.
#[derive(Debug)]
pub(super) struct Reviewer<T> {
    pub(super) transport: T,
    turns: Semaphore,
    budget: Budget,
}

/// Reason why a caller could not be authenticated or authorized.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Problem {
    /// Too many reviews wait, or failed for callers of this address: the caller is to try again later.
    Limited,
    /// Anything else, as text.
    Failed(String),
}

impl Problem {
    /// The same, with what was being done.
    pub(super) fn when(self, what: &str) -> Problem {
        match self {
            Problem::Limited => Problem::Limited,
            Problem::Failed(why) => Problem::Failed(format!("{what}: {why}")),
        }
    }
}

impl<T: Transport> Reviewer<T> {
    pub(super) fn new(transport: T, budget: Budget) -> Self {
        Reviewer { transport, turns: Semaphore::new(AT_ONCE), budget }
    }

    /// Has a review made for a caller, and returns its status. Unless it is positive, it counts against the budget of the
    /// caller's address.
    pub(super) async fn review(
        &self,
        peer: &Peer,
        path: &str,
        review: &Value,
        is_positive: impl Fn(&Value) -> bool,
    ) -> Result<Value, Problem> {
        let Some(charge) = self.budget.take(peer.address(), self.transport.clock()) else {
            return Err(Problem::Limited);
        };
        let _reviewed = peer.review();
        let status = self.in_time(path, review).await.map_err(Problem::Failed)?;
        if is_positive(&status) {
            charge.refund();
        }
        Ok(status)
    }

    async fn in_time(&self, path: &str, review: &Value) -> Result<Value, String> {
        let call = Call { verb: Verb::Create, path: path.to_owned(), body: review.to_string().into() };
        let asking = async {
            // Nobody closes it.
            let _turn = self.turns.acquire().await;
            self.ask(&call).await
        };
        tokio::select! {
            status = asking => status,
            () = self.transport.sleep(PATIENCE) => Err(format!("no answer within {} seconds", PATIENCE.as_secs())),
        }
    }

    async fn ask(&self, call: &Call) -> Result<Value, String> {
        let mut pause = PAUSE;
        for _ in 1..TRIES {
            let answer = self.transport.call(Lane::Review, call.clone()).await;
            let Some(later) = later(&answer, pause) else { return status(answer) };
            self.transport.sleep(later).await;
            pause += pause / 2;
        }
        status(self.transport.call(Lane::Review, call.clone()).await)
    }
}

/// After what time to ask again; `None`: it makes no difference.
fn later(answer: &Result<Answer, Silence>, pause: Duration) -> Option<Duration> {
    match answer {
        Ok(answer) if answer.retry_after.is_some() => answer.retry_after,
        Ok(answer) => matches!(answer.code, 429 | 500 | 504).then_some(pause),
        Err(_) => Some(pause),
    }
}

fn status(answer: Result<Answer, Silence>) -> Result<Value, String> {
    let answer = answer.map_err(Silence::why)?;
    if !answer.is_success() {
        return Err(Refusal::new(&answer).message.into());
    }
    let mut review: Value =
        serde_json::from_slice(&answer.body).map_err(|error| format!("an answer that cannot be read: {error}"))?;
    Ok(review["status"].take())
}
