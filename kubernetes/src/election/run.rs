//! Takes part in the election.

use std::time::Duration;

use bytes::Bytes;
use serde_json::{Value, from_slice};
use tokio::sync::watch;
use tracing::{error, info};

use super::{Answer, Change, Election, Lease, Now, Request, Step, leader_event};
use crate::resources::Resource;
use crate::wire::{Call, Lane, Refusal, Transport, Verb};

/// How the election stands for one replica.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Standing {
    /// Until when we lead, by the transport's clock, unless the lease is renewed by then. `None`: we do not.
    pub leads_until: Option<Duration>,
    /// Who leads, as far as is known.
    pub leader: Option<Box<str>>,
    /// We led, and never will again.
    pub is_lost: bool,
}

impl Standing {
    /// Whether we lead. To be asked before each decision: time alone ends it.
    pub fn leads(&self, clock: Duration) -> bool {
        self.leads_until.is_some_and(|until| clock < until)
    }
}

/// Takes part in the election until the lease is lost, or `stop` says to give it back. By then, nothing is to be done any
/// more that takes leading.
///
/// `component` is the scheduler name of the first profile, in whose name events are written.
pub async fn run<T: Transport>(
    transport: T,
    mut election: Election,
    component: &str,
    standing: watch::Sender<Standing>,
    mut stop: watch::Receiver<bool>,
) {
    let mut is_stopping = false;
    let (namespace, name) = election.place();
    let lock = format!("{namespace}/{name}");
    info!(lock, "Attempting to acquire leader lease...");
    let now = || Now { clock: transport.clock(), calendar: transport.now() };
    loop {
        let mut next = match election.next(now()) {
            Step::Ask(request) => Some(request),
            Step::Over => None,
            Step::Wait(until) => {
                let pause = transport.sleep(until.saturating_sub(transport.clock()));
                tokio::select! {
                    () = pause => continue,
                    // Nobody can say so any more: that says it, too.
                    _ = stop.wait_for(|stop| *stop), if !is_stopping => {}
                }
                is_stopping = true;
                election.release();
                standing.send_modify(|standing| standing.leads_until = None);
                continue;
            }
        };
        let is_over = next.is_none();
        while let Some(request) = next {
            let answer = tokio::select! {
                answer = ask(&transport, &election, &request) => answer,
                () = transport.sleep(election.patience(transport.clock())) => Answer::Failed,
            };
            next = election.answer(answer, now());
        }
        let change = election.change();
        let is_lost = change == Some(Change::Lost);
        standing.send_modify(|standing| {
            standing.leads_until = election.leads_until();
            standing.leader = election.leader().map(Box::from);
            standing.is_lost |= is_lost;
        });
        let what = match change {
            Some(Change::Leads) => {
                info!(lock = %lock, "Successfully acquired lease");
                Some("became leader")
            }
            Some(Change::Lost) => {
                error!(lock = %lock, "Failed to renew lease");
                Some("stopped leading")
            }
            Some(Change::Other(leader)) => {
                info!(lock = %lock, leader = &*leader, "New leader elected");
                None
            }
            None => None,
        };
        if let (Some(what), Some(lease)) = (what, election.lease()) {
            let event = leader_event(lease, election.identity(), what, component, transport.now());
            let told = tell(transport.clone(), event);
            // Who leads has better things to do than to wait for that.
            match is_lost {
                true => told.await,
                false => drop(tokio::spawn(told)),
            }
        }
        if is_over {
            return;
        }
    }
}

async fn ask(transport: &impl Transport, election: &Election, request: &Request) -> Answer {
    let Some(resource) = Resource::of("Lease") else { return Answer::Failed };
    let (namespace, name) = election.place();
    let json = |lease: &Lease| lease.to_json().to_string().into_bytes();
    let call = match request {
        Request::Get => Call { verb: Verb::Get, path: resource.path(namespace, name), body: Bytes::new() },
        Request::Create(lease) => {
            Call { verb: Verb::Create, path: resource.collection(namespace), body: json(lease).into() }
        }
        Request::Update(lease) => {
            Call { verb: Verb::Update, path: resource.path(namespace, name), body: json(lease).into() }
        }
    };
    match transport.call(Lane::Lease, call).await {
        Ok(answer) if answer.is_success() => match from_slice(&answer.body) {
            Ok(lease) => Answer::Lease(Lease::from_json(lease)),
            Err(_) => Answer::Failed,
        },
        Ok(answer) if answer.code == 404 => Answer::NotFound,
        Ok(answer) => {
            let Refusal { code, message, .. } = Refusal::new(&answer);
            // Somebody else was first, which is no trouble.
            if code != 409 {
                error!(lock = %format_args!("{namespace}/{name}"), err = %message, "Error retrieving lease lock");
            }
            Answer::Failed
        }
        Err(silence) => {
            error!(lock = %format_args!("{namespace}/{name}"), err = silence.why(), "Error retrieving lease lock");
            Answer::Failed
        }
    }
}

/// Tells people.
async fn tell(transport: impl Transport, event: Value) {
    const PATIENCE: Duration = Duration::from_secs(10);
    let namespace = event["metadata"]["namespace"].as_str().unwrap_or_default();
    let path = format!("/api/v1/namespaces/{namespace}/events");
    let call = Call { verb: Verb::Create, path, body: event.to_string().into() };
    tokio::select! {
        // Whatever comes of it.
        _ = transport.call(Lane::Event, call) => {}
        () = transport.sleep(PATIENCE) => {}
    }
}
