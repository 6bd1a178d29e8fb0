//! What to ask an API server next, and what its answers mean, so that no change of a kind is missed and none is told twice
//! as new: client-go's `Reflector`, without doing anything itself.
//!
//! At first, and whenever the server has forgotten too much, all objects are asked for: as a stream, where the server can do
//! that, else in pages. From then on, changes are asked for from the last version that was heard of. Each time that all
//! objects are asked for, an *epoch* begins; when all are told, whatever was not told since it began is gone.

use std::time::Duration;

use schedc_core::random::Random;

/// A request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ListWatchRequest {
    /// All objects, and then all changes, in one stream.
    Stream,
    /// Some of all objects.
    Page {
        /// Where they go on; `None`: from the start.
        rest: Option<Box<str>>,
    },
    /// All changes since a version.
    Watch {
        /// That version.
        version: Box<str>,
    },
}

/// What is to be done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ReflectorStep {
    /// This request, now.
    Send(ListWatchRequest),
    /// Nothing before this time of the clock.
    Wait(Duration),
}

/// How an answer ended, or what came in place of one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StreamEnd {
    /// The server was done.
    Closed,
    /// The connection broke, or there was none.
    Broken,
    /// The server refused: a status, or an event that says `ERROR`.
    Refused {
        /// The status code.
        code: u16,
        /// After what time to ask again, if it says so.
        retry_after: Option<Duration>,
    },
}

impl StreamEnd {
    /// Whether the server, or what is in front of it, may be away.
    pub fn may_be_outage(&self) -> bool {
        matches!(self, StreamEnd::Broken | StreamEnd::Refused { code: 429 | 500.., .. })
    }
}

/// Follows the objects of one kind. What comes in is told in the order in which it came.
#[derive(Debug)]
pub struct ReflectorState {
    state: State,
    /// The server cannot send lists as streams.
    uses_pages: bool,
    epoch: u32,
    /// Nothing is asked before.
    pause_until: Duration,
    /// The pause is that of `Retry-After`.
    is_retry_after: bool,
    /// How often in a row it went wrong, and when last.
    failures: u32,
    failed_at: Duration,
    /// When the last request began.
    requested_at: Duration,
    random: Random,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum State {
    /// All objects are to be asked for.
    Start,
    /// They arrive in a stream.
    Streaming,
    /// The next page is to be asked for.
    Paging { rest: Box<str> },
    /// The page that was asked for arrives.
    Page,
    /// Changes arrive, or are to be asked for. The last version that was heard of.
    Watching { version: Box<str> },
}

/// client-go's backoff: from, to, and after what time without a failure it begins again.
const INITIAL_BACKOFF: Duration = Duration::from_millis(800);
const MAX_BACKOFF: Duration = Duration::from_secs(30);
const BACKOFF_RESET: Duration = Duration::from_secs(120);
/// Time between the requests of a follower that probes whether the server is back, and up to a quarter more.
const PROBE_INTERVAL: Duration = Duration::from_secs(1);
/// Time over which requests are spread when the server is back.
const SPREAD: Duration = Duration::from_millis(500);
/// A watch that ends sooner than that, although nothing went wrong, is not asked for again at once.
const SHORT_WATCH: Duration = Duration::from_secs(1);

impl ReflectorState {
    /// Nothing is known. What is drawn repeats with the seed.
    pub fn new(seed: u64) -> Self {
        ReflectorState {
            state: State::Start,
            uses_pages: false,
            epoch: 0,
            pause_until: Duration::ZERO,
            is_retry_after: false,
            failures: 0,
            failed_at: Duration::ZERO,
            requested_at: Duration::ZERO,
            random: Random::new(seed),
        }
    }

    /// What is to be done now. To be asked when nothing is under way: at first, and after [`ReflectorState::ended`] or the last object of
    /// a page.
    pub fn next(&mut self, clock: Duration) -> ReflectorStep {
        if clock < self.pause_until {
            return ReflectorStep::Wait(self.pause_until);
        }
        self.requested_at = clock;
        ReflectorStep::Send(match &mut self.state {
            State::Watching { version } => ListWatchRequest::Watch { version: version.clone() },
            State::Paging { rest } => {
                let rest = Some(rest.clone());
                self.state = State::Page;
                ListWatchRequest::Page { rest }
            }
            State::Start | State::Streaming | State::Page => {
                self.epoch = self.epoch.wrapping_add(1);
                self.state = if self.uses_pages { State::Page } else { State::Streaming };
                if self.uses_pages { ListWatchRequest::Page { rest: None } } else { ListWatchRequest::Stream }
            }
        })
    }

    /// The epoch that objects are told in.
    pub fn epoch(&self) -> u32 {
        self.epoch
    }

    /// Everything is to be told again, from what the server knows now on. What is under way is to be ended.
    pub fn relist(&mut self) {
        self.state = State::Start;
    }

    /// An object came, changed or went, in a stream or a watch; its version.
    pub fn changed(&mut self, now: &str) {
        // As long as a stream tells of what there is, versions come in any order.
        if let State::Watching { version } = &mut self.state {
            *version = now.into();
        }
    }

    /// A bookmark: everything up to this version was told. Returns whether all objects are told now.
    pub fn bookmark(&mut self, version: &str, is_end_of_list: bool) -> bool {
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

    /// A page is complete: its version, and where the rest begins. Returns whether all objects are told now.
    pub fn page(&mut self, version: &str, rest: Option<&str>) -> bool {
        let rest = rest.filter(|rest| !rest.is_empty());
        self.state = match rest {
            Some(rest) => State::Paging { rest: rest.into() },
            None => State::Watching { version: version.into() },
        };
        rest.is_none()
    }

    /// The answer ended, or there was none.
    pub fn ended(&mut self, end: StreamEnd, clock: Duration) {
        if clock.saturating_sub(self.failed_at) > BACKOFF_RESET {
            self.failures = 0;
        }
        let watch_time = clock.saturating_sub(self.requested_at);
        let is_watching = matches!(self.state, State::Watching { .. });
        if !is_watching {
            let streamed = self.state == State::Streaming;
            self.state = State::Start;
            if streamed && matches!(end, StreamEnd::Refused { code: 400 | 422, .. }) {
                // It does not know what that is.
                self.uses_pages = true;
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
            // It was fine until now: there is no need to wait.
            StreamEnd::Broken if is_watching && is_first => {}
            StreamEnd::Refused { code: 410, .. } if is_watching && is_first => {}
            StreamEnd::Closed | StreamEnd::Broken | StreamEnd::Refused { .. } => self.pause(clock),
        }
        if matches!(end, StreamEnd::Refused { code: 410, .. }) {
            self.state = State::Start;
        }
        self.failures += 1;
        self.failed_at = clock;
    }

    /// After a failure: this follower sends its next request soon, on behalf of all others, unless `Retry-After` forbids it.
    pub fn probe(&mut self, clock: Duration) {
        let pause = PROBE_INTERVAL + self.jitter(PROBE_INTERVAL / 4);
        self.shorten(clock + pause);
    }

    /// The server answers other followers again: this one sends its next request soon, unless `Retry-After` forbids it, and its
    /// failures are forgotten.
    pub fn returned(&mut self, clock: Duration) {
        let pause = self.jitter(SPREAD);
        self.shorten(clock + pause);
        self.failures = 0;
    }

    fn shorten(&mut self, until: Duration) {
        if !self.is_retry_after {
            self.pause_until = self.pause_until.min(until);
        }
    }

    /// Waits, longer with each failure.
    fn pause(&mut self, clock: Duration) {
        let pause = MAX_BACKOFF.min(INITIAL_BACKOFF * 2_u32.saturating_pow(self.failures.min(16)));
        self.pause_until = clock + pause + self.jitter(pause);
    }

    /// A random part of some time, up to all of it.
    fn jitter(&mut self, time: Duration) -> Duration {
        let thousandths = u32::try_from(self.random.below(1001)).unwrap_or_default();
        time * thousandths / 1000
    }
}

#[cfg(test)]
mod tests;
