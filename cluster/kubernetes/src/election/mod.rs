//! Leader election on a Lease, as in client-go: one of several replicas schedules.
//!
//! [`Election`] is the state machine: it returns the next request and receives responses and the time. [`run`] sends
//! the requests. The election needs kube-scheduler's permissions: to create leases, and to get and update its lease.
//!
//! Clocks of different hosts are never compared. Candidates leave the lease to its holder for the lease duration,
//! counted from the last change that they observed. The holder counts from the time at which it *sent* the last renewal
//! that succeeded. Therefore the holder stops before another replica starts, however slow the API server is.

mod configuration;
mod event;
mod lease;
mod run;

use std::time::Duration;

use k8s_openapi::jiff::Timestamp;
use schedc_core::random::Random;

pub use configuration::LeaderElectionConfiguration;
pub(crate) use configuration::SettingNames;
pub(crate) use event::leader_event;
pub use lease::{LeaderElectionRecord, Lease};
pub use run::{ElectionStatus, run};

/// Current time by both clocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ElectionTime {
    /// Monotonic time since a fixed moment.
    pub clock: Duration,
    /// Calendar time, for the fields of the lease.
    pub calendar: Timestamp,
}

/// Next step of an election.
#[derive(Clone, Debug, PartialEq)]
pub enum ElectionStep {
    /// Send this request; its timeout is at most half of the renew deadline.
    Send(LeaseRequest),
    /// Wait until this time of the clock.
    Wait(Duration),
    /// The election has ended.
    Finished,
}

/// Request for the lease.
#[derive(Clone, Debug, PartialEq)]
pub enum LeaseRequest {
    /// Reads the lease.
    Get,
    /// Creates the lease.
    Create(Lease),
    /// Replaces the lease, if its version is still the one that was observed last.
    Update(Lease),
}

/// Response of the API server.
#[derive(Clone, Debug, PartialEq)]
pub enum LeaseResponse {
    /// Current lease.
    Lease(Lease),
    /// The lease does not exist.
    NotFound,
    /// The request failed, or its outcome is unknown.
    Failed,
}

/// Change of leadership.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LeaderChange {
    /// This replica leads from now on.
    Leads,
    /// This replica lost the lease and will not lead again; the next candidate takes over.
    Lost,
    /// The replica with this identity leads.
    OtherLeader(Box<str>),
}

/// State of one replica in the election.
#[derive(Debug)]
pub struct Election {
    /// Identity of this replica, unique among the replicas.
    identity: Box<str>,
    settings: LeaderElectionConfiguration,
    random: Random,
    state: State,
    /// The last observed lease, and the time at which its last change was observed.
    seen: Option<(Lease, Duration)>,
    /// Renewal times while this replica holds the lease.
    held: Option<HeldLease>,
    is_lost: bool,
    /// Leader that was last reported by [`Election::change`].
    reported_leader: Option<Box<str>>,
}

#[derive(Clone, Copy, Debug)]
struct HeldLease {
    /// Time at which the last successful renewal was sent.
    renewed: Duration,
    /// Start of the first attempt since then; `None` before that attempt.
    tried: Option<Duration>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Waiting {
        until: Duration,
    },
    Getting,
    Writing {
        /// Time at which the write was sent.
        sent: Duration,
        /// Whether the attempt started with the write, without a read.
        optimistic: bool,
    },
    ReleaseBegins,
    ReleaseGetting,
    ReleaseWriting,
    Finished,
}

/// Maximum additional wait of a candidate, in thousandths of the retry period: client-go's `JitterFactor`.
const JITTER: usize = 1200;

impl Election {
    /// Creates an election. The identity and the seed, which determines random delays, must differ between replicas.
    pub fn new(identity: &str, settings: LeaderElectionConfiguration, seed: u64) -> Self {
        let identity = identity.into();
        let state = State::Waiting { until: Duration::ZERO };
        let random = Random::new(seed);
        Election { identity, settings, random, state, seen: None, held: None, is_lost: false, reported_leader: None }
    }

    /// Returns whether this replica leads. Check before each decision, since the lease may expire at any time.
    pub fn leads(&self, clock: Duration) -> bool {
        self.leads_until().is_some_and(|until| clock < until)
    }

    /// Returns the time at which the leadership ends unless the lease is renewed. `None`: this replica does not lead.
    pub fn leads_until(&self) -> Option<Duration> {
        let HeldLease { renewed, tried } = self.held?;
        let expires = renewed + self.settings.lease_duration;
        Some(tried.map_or(expires, |tried| expires.min(tried + self.settings.renew_deadline)))
    }

    /// Returns the holder of the lease, as observed last.
    pub fn leader(&self) -> Option<&str> {
        self.seen.as_ref().map(|(lease, _)| &*lease.record().holder).filter(|holder| !holder.is_empty())
    }

    /// Returns the lease, as observed last.
    pub fn lease(&self) -> Option<&Lease> {
        self.seen.as_ref().map(|(lease, _)| lease)
    }

    /// Returns the identity of this replica.
    pub fn identity(&self) -> &str {
        &self.identity
    }

    /// Returns the namespace and name of the lease.
    pub fn namespaced_name(&self) -> (&str, &str) {
        (&self.settings.namespace, &self.settings.name)
    }

    /// Returns the timeout of a request that is sent now.
    pub(crate) fn request_timeout(&self, clock: Duration) -> Duration {
        let usual = self.settings.renew_deadline / 2;
        self.leads_until().map_or(usual, |until| usual.min(until.saturating_sub(clock)))
    }

    /// Returns the next step.
    pub fn next(&mut self, now: ElectionTime) -> ElectionStep {
        self.expire(now);
        match self.state {
            State::Waiting { until } if now.clock < until => ElectionStep::Wait(until),
            State::Waiting { .. } => self.start_attempt(now),
            State::ReleaseBegins => {
                self.state = State::ReleaseGetting;
                ElectionStep::Send(LeaseRequest::Get)
            }
            // A response is pending.
            State::Getting | State::Writing { .. } | State::ReleaseGetting | State::ReleaseWriting => {
                ElectionStep::Wait(now.clock + self.request_timeout(now.clock))
            }
            State::Finished => ElectionStep::Finished,
        }
    }

    /// Handles the response to a request. Returns a request to be sent at once, if any.
    pub(crate) fn handle_response(&mut self, response: LeaseResponse, now: ElectionTime) -> Option<LeaseRequest> {
        self.expire(now);
        match (self.state, response) {
            (State::Getting, LeaseResponse::Lease(lease)) => self.handle_lease(lease, now),
            (State::Getting, LeaseResponse::NotFound) => {
                self.state = State::Writing { sent: now.clock, optimistic: false };
                let LeaderElectionConfiguration { namespace, name, .. } = &self.settings;
                Some(LeaseRequest::Create(Lease::new(namespace, name, self.record(None, now))))
            }
            (State::Writing { sent, .. }, LeaseResponse::Lease(lease)) => {
                self.observe_lease(lease, sent);
                // client-go renews once right after it acquires the lease, and then periodically.
                let pause = if self.held.is_some() { self.settings.retry_period } else { Duration::ZERO };
                self.held = Some(HeldLease { renewed: sent, tried: None });
                self.state = State::Waiting { until: now.clock + pause };
                None
            }
            (State::Writing { optimistic: true, .. }, _) => {
                self.state = State::Getting;
                Some(LeaseRequest::Get)
            }
            (State::Getting | State::Writing { .. }, _) => {
                self.failed(now);
                None
            }
            (State::ReleaseGetting, LeaseResponse::Lease(lease)) if *lease.record().holder == *self.identity => {
                self.state = State::ReleaseWriting;
                let transitions = lease.record().transitions;
                let record = LeaderElectionRecord {
                    holder: "".into(),
                    seconds: 1,
                    acquired: now.calendar,
                    renewed: now.calendar,
                    transitions,
                };
                Some(LeaseRequest::Update(lease.with(record)))
            }
            (State::ReleaseGetting | State::ReleaseWriting, _) => {
                self.state = State::Finished;
                None
            }
            // Unexpected response.
            (State::Waiting { .. } | State::ReleaseBegins | State::Finished, _) => None,
        }
    }

    /// Returns the change of leadership since the last call. Call it after each request and response.
    pub fn change(&mut self) -> Option<LeaderChange> {
        if std::mem::take(&mut self.is_lost) {
            return Some(LeaderChange::Lost);
        }
        let leader = self.leader().map(Box::from);
        if leader == self.reported_leader || (self.is_holder() && self.held.is_none()) {
            return None;
        }
        self.reported_leader = leader.clone();
        if self.is_holder() { Some(LeaderChange::Leads) } else { leader.map(LeaderChange::OtherLeader) }
    }

    /// Releases the lease, so that candidates need not wait for its expiry. The caller must have stopped all work of a
    /// leader.
    pub fn release(&mut self) {
        self.state = if self.held.take().is_some() { State::ReleaseBegins } else { State::Finished };
    }

    /// Starts an attempt. A leader renews the lease that it observed last, without a read.
    fn start_attempt(&mut self, now: ElectionTime) -> ElectionStep {
        if let (Some((lease, _)), Some(held)) = (&self.seen, &mut self.held) {
            held.tried.get_or_insert(now.clock);
            let update = lease.with(self.record(Some(lease.record()), now));
            self.state = State::Writing { sent: now.clock, optimistic: true };
            return ElectionStep::Send(LeaseRequest::Update(update));
        }
        self.state = State::Getting;
        ElectionStep::Send(LeaseRequest::Get)
    }

    fn handle_lease(&mut self, lease: Lease, now: ElectionTime) -> Option<LeaseRequest> {
        self.observe_lease(lease, now.clock);
        let (lease, since) = self.seen.as_ref()?;
        let record = lease.record();
        let expires = *since + Duration::from_secs(record.seconds.into());
        if !self.is_holder() && !record.holder.is_empty() && now.clock < expires {
            self.failed(now);
            // Unlike client-go, which always waits for the whole retry period, wait at most until the lease expires.
            if let State::Waiting { until } = &mut self.state {
                *until = expires.min(*until);
            }
            return None;
        }
        let update = lease.with(self.record(Some(record), now));
        self.state = State::Writing { sent: now.clock, optimistic: false };
        Some(LeaseRequest::Update(update))
    }

    /// Records the observed lease. The time of its last change is updated only if its record has changed.
    fn observe_lease(&mut self, lease: Lease, clock: Duration) {
        match &mut self.seen {
            Some((seen, _)) if seen.record() == lease.record() => *seen = lease,
            seen => *seen = Some((lease, clock)),
        }
        if !self.is_holder() {
            self.lose();
        }
    }

    fn is_holder(&self) -> bool {
        self.leader() == Some(&*self.identity)
    }

    /// Records the loss of an expired lease.
    fn expire(&mut self, now: ElectionTime) {
        if !self.leads(now.clock) {
            self.lose();
        }
    }

    fn lose(&mut self) {
        if self.held.take().is_some() {
            self.is_lost = true;
            self.state = State::Finished;
        }
    }

    /// Returns the record that this replica writes.
    fn record(&self, old: Option<&LeaderElectionRecord>, now: ElectionTime) -> LeaderElectionRecord {
        let ours = old.filter(|old| *old.holder == *self.identity);
        LeaderElectionRecord {
            holder: self.identity.clone(),
            // Round up: the lease must not be shorter than this replica assumes.
            seconds: u32::try_from(self.settings.lease_duration.as_millis().div_ceil(1000)).unwrap_or(u32::MAX),
            acquired: ours.map_or(now.calendar, |old| old.acquired),
            renewed: now.calendar,
            transitions: match (old, ours) {
                (None, _) => 0,
                (_, Some(old)) => old.transitions,
                (Some(old), None) => old.transitions.saturating_add(1),
            },
        }
    }

    /// Schedules the next attempt after a failed one.
    fn failed(&mut self, now: ElectionTime) {
        if self.state == State::Finished {
            return;
        }
        let period = self.settings.retry_period;
        let until = match self.leads_until() {
            Some(end) => end.min(now.clock + period),
            None => {
                let more = u32::try_from(self.random.below(JITTER + 1)).unwrap_or_default();
                now.clock + period + period * more / 1000
            }
        };
        self.state = State::Waiting { until };
    }
}

#[cfg(test)]
mod tests;
