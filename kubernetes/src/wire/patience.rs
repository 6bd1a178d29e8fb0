//! How often a request is tried.

use std::time::Duration;

use schedc_core::client::{ApiError, ApiReason};

use super::{Answer, Call, Lane, Refusal, Silence, Transport};

/// How often an answer may say when to ask again, until it is taken for one: client-go's.
const TIMES: u32 = 10;

/// Sends a request, and sends it again when the server says that it is too busy, and when to ask again: it has not looked
/// at it then.
pub async fn patiently(transport: &impl Transport, lane: Lane, call: &Call) -> Result<Answer, Silence> {
    for _ in 0..TIMES {
        let answer = transport.call(lane, call.clone()).await?;
        match answer.retry_after {
            Some(pause) if matches!(answer.code, 429 | 503) => transport.sleep(pause).await,
            _ => return Ok(answer),
        }
    }
    transport.call(lane, call.clone()).await
}

/// How much longer to wait each time, and how often.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Patience {
    /// How many tries are left after the first.
    pub more: u32,
    /// The pause before the next.
    pub pause: Duration,
    /// How many times as long the pause after that is.
    pub factor: u32,
    /// The longest pause.
    pub longest: Duration,
}

impl Patience {
    /// For statuses: client-go's `DefaultBackoff`.
    pub const STATUS: Patience =
        Patience { more: 3, pause: Duration::from_millis(10), factor: 5, longest: Duration::from_secs(1) };

    /// Waits before another try. Returns whether there is one.
    pub async fn wait(&mut self, transport: &impl Transport) -> bool {
        let Some(more) = self.more.checked_sub(1) else { return false };
        self.more = more;
        transport.sleep(self.pause).await;
        self.pause = self.longest.min(self.pause * self.factor);
        true
    }
}

/// What came of a try.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Try {
    /// It was done.
    Done(Answer),
    /// It was not, and never will be.
    Refused(Refusal),
    /// It was not, but the next time it may.
    Failed(ApiError),
    /// Nobody knows.
    Unknown(ApiError),
}

impl Try {
    /// What came of a request that changes something.
    pub fn new(result: Result<Answer, Silence>) -> Try {
        match result {
            Ok(answer) if answer.is_success() => Try::Done(answer),
            Ok(answer) => {
                let refusal = Refusal::new(&answer);
                match refusal.code {
                    429 | 503 => Try::Failed(refusal.into()),
                    // It may have been done before it went wrong.
                    500.. => Try::Unknown(refusal.into()),
                    _ => Try::Refused(refusal),
                }
            }
            Err(Silence::NotSent(why)) => Try::Failed(ApiError::new(ApiReason::Other, why)),
            Err(Silence::Lost(why)) => Try::Unknown(ApiError::new(ApiReason::Timeout, why)),
        }
    }
}
