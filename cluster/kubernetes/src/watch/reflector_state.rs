//! State machine of a reflector, without I/O, modelled on client-go's `Reflector`. The requests of the reflector
//! deliver the latest state of every object of a kind, and reveal every deletion.
//!
//! At the start, and whenever the resource version has expired, all objects are listed: as a stream if the server
//! supports that, otherwise in pages. Later changes are watched from the last received version. Each list begins an
//! *epoch*. When the list is complete, objects that were not received since its start no longer exist.

use std::time::Duration;

use schedc_core::random::Random;

/// Request of a reflector.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ListWatchRequest {
    /// Lists all objects and then watches, in one stream.
    Stream,
    /// Lists one page.
    Page {
        /// Continue token; `None` for the first page.
        continue_token: Option<Box<str>>,
    },
    /// Watches all changes since a version.
    Watch {
        /// Resource version.
        version: Box<str>,
    },
}

/// Next step of a reflector.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum ReflectorStep {
    /// Send this request now.
    Send(ListWatchRequest),
    /// Wait until this time of the clock.
    Wait(Duration),
}

/// How a response ended, or why there was none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum StreamEnd {
    /// The server closed the response.
    Closed,
    /// The connection failed.
    Broken,
    /// The server refused, by a status or an `ERROR` event.
    Refused {
        /// Status code.
        code: u16,
        /// Delay before a retry, if the server sent one.
        retry_after: Option<Duration>,
    },
    /// The server accepted a list as a stream, and then sent an `ERROR` event that a list in pages may avoid.
    StreamedListFailed,
}

impl StreamEnd {
    /// Returns whether the failure may be an outage of the server or of a proxy in front of it.
    pub(crate) fn may_be_outage(&self) -> bool {
        matches!(self, StreamEnd::Broken | StreamEnd::Refused { code: 429 | 500.., .. })
    }
}

/// State of a reflector.
#[derive(Debug)]
pub(crate) struct ReflectorState {
    state: State,
    /// Whether all lists are read in pages, because the server does not support lists as streams.
    uses_pages: bool,
    /// Whether the next list is read in pages.
    next_in_pages: bool,
    epoch: u32,
    /// Earliest time of the next request.
    pause_until: Duration,
    /// Whether the pause comes from `Retry-After`.
    is_retry_after: bool,
    /// Number of consecutive failures.
    failures: u32,
    /// Time of the last failure.
    failed_at: Duration,
    /// Whether one of the consecutive failures was an expired version.
    has_expired: bool,
    /// Time of the last request.
    requested_at: Duration,
    random: Random,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum State {
    /// A list is due.
    Start,
    /// The list arrives in a stream.
    Streaming,
    /// The next page is due.
    Paging { continue_token: Box<str> },
    /// A page was requested.
    Page,
    /// A watch is open or due, from the last received version.
    Watching { version: Box<str> },
}

/// Initial delay of the backoff, as in client-go.
const INITIAL_BACKOFF: Duration = Duration::from_millis(800);
/// Maximum delay of the backoff, as in client-go.
const MAX_BACKOFF: Duration = Duration::from_secs(30);
/// Time without a failure after which the backoff is reset, as in client-go.
const BACKOFF_RESET: Duration = Duration::from_secs(120);
/// Interval of probes during an outage. A random time of up to a quarter of the interval is added.
const PROBE_INTERVAL: Duration = Duration::from_secs(1);
/// Period over which the reflectors spread their requests when the server is back.
const SPREAD: Duration = Duration::from_millis(500);
/// Minimum duration of a watch that ends normally; after a shorter one, the reflector backs off.
const SHORT_WATCH: Duration = Duration::from_secs(1);

impl ReflectorState {
    /// Creates the state before the first list. The seed makes random delays reproducible.
    pub(crate) fn new(seed: u64) -> Self {
        ReflectorState {
            state: State::Start,
            uses_pages: false,
            next_in_pages: false,
            epoch: 0,
            pause_until: Duration::ZERO,
            is_retry_after: false,
            failures: 0,
            failed_at: Duration::ZERO,
            has_expired: false,
            requested_at: Duration::ZERO,
            random: Random::new(seed),
        }
    }

    /// Returns the next step. Call it when no request is in flight: at the start, after [`ReflectorState::ended`], and
    /// after the last object of a page.
    pub(crate) fn next(&mut self, clock: Duration) -> ReflectorStep {
        if clock < self.pause_until {
            return ReflectorStep::Wait(self.pause_until);
        }
        self.requested_at = clock;
        ReflectorStep::Send(match &mut self.state {
            State::Watching { version } => ListWatchRequest::Watch { version: version.clone() },
            State::Paging { continue_token } => {
                let continue_token = Some(continue_token.clone());
                self.state = State::Page;
                ListWatchRequest::Page { continue_token }
            }
            State::Start | State::Streaming | State::Page => {
                self.epoch = self.epoch.wrapping_add(1);
                let in_pages = std::mem::take(&mut self.next_in_pages) || self.uses_pages;
                self.state = if in_pages { State::Page } else { State::Streaming };
                if in_pages { ListWatchRequest::Page { continue_token: None } } else { ListWatchRequest::Stream }
            }
        })
    }

    /// Returns whether a list is being streamed.
    pub(crate) fn is_streaming(&self) -> bool {
        self.state == State::Streaming
    }

    /// Returns the epoch of the objects that arrive now.
    pub(crate) fn epoch(&self) -> u32 {
        self.epoch
    }

    /// Starts a new list. The caller must end the request in flight.
    pub(crate) fn relist(&mut self) {
        self.state = State::Start;
    }

    /// Records the version of an object that was added, changed or deleted.
    pub(crate) fn changed(&mut self, now: &str) {
        // While the list is streamed, versions arrive in any order, and are not recorded.
        if let State::Watching { version } = &mut self.state {
            *version = now.into();
        }
    }

    /// Records a bookmark. Returns whether the list is complete now.
    pub(crate) fn bookmark(&mut self, version: &str, is_end_of_list: bool) -> bool {
        match self.state {
            State::Streaming if !is_end_of_list => false,
            State::Streaming => {
                self.state = State::Watching { version: version.into() };
                true
            }
            _ => {
                self.changed(version);
                false
            }
        }
    }

    /// Records a complete page, with its version and continue token. Returns whether the list is complete now.
    pub(crate) fn page(&mut self, version: &str, continue_token: Option<&str>) -> bool {
        let continue_token = continue_token.filter(|token| !token.is_empty());
        self.state = match continue_token {
            Some(token) => State::Paging { continue_token: token.into() },
            None => State::Watching { version: version.into() },
        };
        continue_token.is_none()
    }

    /// Records how a response ended, or why there was none.
    pub(crate) fn ended(&mut self, end: StreamEnd, clock: Duration) {
        if clock.saturating_sub(self.failed_at) > BACKOFF_RESET {
            self.reset_failures();
        }
        let watch_time = clock.saturating_sub(self.requested_at);
        let is_watching = matches!(self.state, State::Watching { .. });
        if !is_watching {
            let streamed = self.is_streaming();
            self.state = State::Start;
            // The server does not support `sendInitialEvents`.
            let is_refused = streamed && matches!(end, StreamEnd::Refused { code: 400 | 422, .. });
            self.uses_pages |= is_refused;
            self.next_in_pages = end == StreamEnd::StreamedListFailed;
            if is_refused || self.next_in_pages {
                return;
            }
        }
        if is_watching && end == StreamEnd::Closed && watch_time >= SHORT_WATCH {
            return;
        }
        let is_first = self.failures == 0;
        self.is_retry_after = false;
        match end {
            StreamEnd::Refused { retry_after: Some(pause), .. } => {
                self.pause_until = clock + pause;
                self.is_retry_after = true;
            }
            // The watch worked until now, so retry at once.
            StreamEnd::Broken if is_watching && is_first => {}
            // A restarted server refuses older versions, often after other failures. The first list then has no delay.
            StreamEnd::Refused { code: 410, .. } if is_watching && !self.has_expired => {}
            StreamEnd::Closed | StreamEnd::Broken | StreamEnd::Refused { .. } | StreamEnd::StreamedListFailed => {
                self.pause(clock);
            }
        }
        if matches!(end, StreamEnd::Refused { code: 410, .. }) {
            self.state = State::Start;
            self.has_expired = true;
        }
        self.failures += 1;
        self.failed_at = clock;
    }

    /// Schedules the next request soon after a failure: this reflector probes the server for all reflectors.
    /// `Retry-After` still applies.
    pub(crate) fn probe(&mut self, clock: Duration) {
        let pause = PROBE_INTERVAL + self.jitter(PROBE_INTERVAL / 4);
        self.shorten(clock + pause);
    }

    /// Schedules the next request soon and resets the failures, since the server responds to another reflector.
    /// `Retry-After` still applies.
    pub(crate) fn returned(&mut self, clock: Duration) {
        let pause = self.jitter(SPREAD);
        self.shorten(clock + pause);
        self.reset_failures();
    }

    fn reset_failures(&mut self) {
        self.failures = 0;
        self.has_expired = false;
    }

    fn shorten(&mut self, until: Duration) {
        if !self.is_retry_after {
            self.pause_until = self.pause_until.min(until);
        }
    }

    /// Backs off exponentially.
    fn pause(&mut self, clock: Duration) {
        let pause = MAX_BACKOFF.min(INITIAL_BACKOFF * 2_u32.saturating_pow(self.failures.min(16)));
        self.pause_until = clock + pause + self.jitter(pause);
    }

    /// Returns a random duration up to `time`.
    fn jitter(&mut self, time: Duration) -> Duration {
        let thousandths = u32::try_from(self.random.below(1001)).unwrap_or_default();
        time * thousandths / 1000
    }
}

#[cfg(test)]
mod tests;
