//! Leader election on a Lease, as client-go does it: one of several replicas schedules.
//!
//! [`Election`] says what to ask the API server and when, and is told the answers and the time; [`run`] does the rest. It needs the rights that kube-scheduler has: to create leases, and to get and update its own.
//!
//! Clocks of different hosts are not compared. Others leave the lease to its holder for as long as it says, counted from when
//! they saw it change. The holder counts from when it *sent* the renewal that was answered last, so that it stops
//! before anybody else begins, however slow the API server is.

mod event;
mod lease;
mod run;

use std::time::Duration;

use k8s_openapi::jiff::Timestamp;
use schedc_core::random::Random;

pub use event::leader_event;
pub use lease::{LeaderElectionRecord, Lease};
pub use run::{ElectionStatus, run};

/// How the lease is dealt with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ElectionSettings {
    /// Who we are; no other replica is called so.
    pub identity: Box<str>,
    /// The lease's namespace.
    pub namespace: Box<str>,
    /// The lease's name.
    pub name: Box<str>,
    /// How long others leave the lease to its holder.
    pub lease_duration: Duration,
    /// How long the holder tries to renew it.
    pub renew_deadline: Duration,
    /// How long to wait between tries.
    pub retry_period: Duration,
}

/// The time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ElectionTime {
    /// By a clock that never jumps, since some moment.
    pub clock: Duration,
    /// By the calendar: what is written into the lease.
    pub calendar: Timestamp,
}

/// What is to be done.
#[derive(Clone, Debug, PartialEq)]
pub enum ElectionStep {
    /// Ask the API server, for no longer than [`Election::request_timeout`].
    Send(LeaseRequest),
    /// Nothing before this time of the clock.
    Wait(Duration),
    /// Nothing any more.
    Finished,
}

/// A request to the API server.
#[derive(Clone, Debug, PartialEq)]
pub enum LeaseRequest {
    /// Get the lease.
    Get,
    /// Create it.
    Create(Lease),
    /// Replace it by this, which is of the version that was seen last.
    Update(Lease),
}

/// The API server's answer.
#[derive(Clone, Debug, PartialEq)]
pub enum LeaseResponse {
    /// The lease as it is now.
    Lease(Lease),
    /// There is none.
    NotFound,
    /// It was not done, or nobody knows.
    Failed,
}

/// What an answer has changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LeaderChange {
    /// We lead from now on.
    Leads,
    /// Not any more, and never again: whoever waited for it goes first.
    Lost,
    /// Somebody else leads.
    OtherLeader(Box<str>),
}

/// One replica's part in the election.
#[derive(Debug)]
pub struct Election {
    settings: ElectionSettings,
    random: Random,
    state: State,
    /// The lease as it was seen last, and when that was.
    seen: Option<(Lease, Duration)>,
    /// Since when the lease is ours.
    held: Option<HeldLease>,
    is_lost: bool,
    /// The leader that was told of last.
    reported_leader: Option<Box<str>>,
}

#[derive(Clone, Copy, Debug)]
struct HeldLease {
    /// When the last renewal was sent that was answered.
    renewed: Duration,
    /// When the first try after that began.
    tried: Option<Duration>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Waiting {
        until: Duration,
    },
    Getting,
    /// When it was sent, and whether without a look at what is there.
    Writing {
        sent: Duration,
        optimistic: bool,
    },
    ReleaseBegins,
    ReleaseGetting,
    ReleaseWriting,
    Finished,
}

/// How much longer than the retry period a candidate waits at most, in thousandths of that: client-go's `JitterFactor`.
const JITTER: usize = 1200;

impl Election {
    /// Begins now. What is drawn repeats with the seed, which is to differ between replicas.
    pub fn new(settings: ElectionSettings, seed: u64) -> Self {
        let state = State::Waiting { until: Duration::ZERO };
        let random = Random::new(seed);
        Election { settings, random, state, seen: None, held: None, is_lost: false, reported_leader: None }
    }

    /// Whether we lead. Ask again before each decision: time alone ends it.
    pub fn leads(&self, clock: Duration) -> bool {
        self.leads_until().is_some_and(|until| clock < until)
    }

    /// Until when we lead, unless the lease is renewed by then.
    pub fn leads_until(&self) -> Option<Duration> {
        let HeldLease { renewed, tried } = self.held?;
        let expires = renewed + self.settings.lease_duration;
        Some(tried.map_or(expires, |tried| expires.min(tried + self.settings.renew_deadline)))
    }

    /// Who holds the lease, as was seen last.
    pub fn leader(&self) -> Option<&str> {
        self.seen.as_ref().map(|(lease, _)| &*lease.record().holder).filter(|holder| !holder.is_empty())
    }

    /// The lease as it was seen last.
    pub fn lease(&self) -> Option<&Lease> {
        self.seen.as_ref().map(|(lease, _)| lease)
    }

    /// Who we are.
    pub fn identity(&self) -> &str {
        &self.settings.identity
    }

    /// The lease's namespace and name.
    pub fn namespaced_name(&self) -> (&str, &str) {
        (&self.settings.namespace, &self.settings.name)
    }

    /// How long an answer to what is asked now may take.
    pub fn request_timeout(&self, clock: Duration) -> Duration {
        let usual = self.settings.renew_deadline / 2;
        self.leads_until().map_or(usual, |until| usual.min(until.saturating_sub(clock)))
    }

    /// What is to be done now.
    pub fn next(&mut self, now: ElectionTime) -> ElectionStep {
        self.expire(now);
        match self.state {
            State::Waiting { until } if now.clock < until => ElectionStep::Wait(until),
            State::Waiting { .. } => self.start_attempt(now),
            State::ReleaseBegins => {
                self.state = State::ReleaseGetting;
                ElectionStep::Send(LeaseRequest::Get)
            }
            // An answer is due.
            State::Getting | State::Writing { .. } | State::ReleaseGetting | State::ReleaseWriting => {
                ElectionStep::Wait(now.clock + self.request_timeout(now.clock))
            }
            State::Finished => ElectionStep::Finished,
        }
    }

    /// The answer to what was asked. Returns what is to be asked at once.
    pub fn answer(&mut self, answer: LeaseResponse, now: ElectionTime) -> Option<LeaseRequest> {
        self.expire(now);
        match (self.state, answer) {
            (State::Getting, LeaseResponse::Lease(lease)) => self.handle_lease(lease, now),
            (State::Getting, LeaseResponse::NotFound) => {
                self.state = State::Writing { sent: now.clock, optimistic: false };
                let ElectionSettings { namespace, name, .. } = &self.settings;
                Some(LeaseRequest::Create(Lease::new(namespace, name, self.record(None, now))))
            }
            (State::Writing { sent, .. }, LeaseResponse::Lease(lease)) => {
                self.observe_lease(lease, sent);
                // At once, as client-go does, and then in turn.
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
            (State::ReleaseGetting, LeaseResponse::Lease(lease))
                if *lease.record().holder == *self.settings.identity =>
            {
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
            // Nobody asked.
            (State::Waiting { .. } | State::ReleaseBegins | State::Finished, _) => None,
        }
    }

    /// What is different since this was asked last. To be asked whenever something was asked or answered.
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

    /// We do not want to lead any longer, and do nothing any more that takes leading: others need not wait.
    pub fn release(&mut self) {
        self.state = if self.held.take().is_some() { State::ReleaseBegins } else { State::Finished };
    }

    /// A try begins. Who leads knows the lease, and tries to renew it without looking.
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
            // client-go waits for the rest of the retry period, too.
            if let State::Waiting { until } = &mut self.state {
                *until = expires.min(*until);
            }
            return None;
        }
        let update = lease.with(self.record(Some(record), now));
        self.state = State::Writing { sent: now.clock, optimistic: false };
        Some(LeaseRequest::Update(update))
    }

    /// Takes note of the lease. That it was looked at again does not make it younger.
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
        self.leader() == Some(&*self.settings.identity)
    }

    /// Time alone may have ended it.
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

    /// What we want the lease to say.
    fn record(&self, old: Option<&LeaderElectionRecord>, now: ElectionTime) -> LeaderElectionRecord {
        let ours = old.filter(|old| *old.holder == *self.settings.identity);
        LeaderElectionRecord {
            holder: self.settings.identity.clone(),
            // Rather longer than shorter than what we count on.
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

    /// A try failed. Another follows, if there is time.
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
