//! Runs the election of one replica.

use std::time::Duration;

use bytes::Bytes;
use serde_json::{Value, from_slice};
use tokio::sync::watch;
use tracing::{error, info};

use super::{Election, ElectionStep, ElectionTime, LeaderChange, Lease, LeaseRequest, LeaseResponse, leader_event};
use crate::resources::Resource;
use crate::transport::{ApiRequest, RequestClass, StatusError, Transport, Verb};

/// Status of the election for one replica.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ElectionStatus {
    /// Time of the transport's clock at which leadership ends unless the lease is renewed. `None`: this replica does
    /// not lead.
    pub leads_until: Option<Duration>,
    /// Current leader, if known.
    pub leader: Option<Box<str>>,
    /// Whether this replica lost the lease and will not lead again.
    pub is_lost: bool,
}

impl ElectionStatus {
    /// Returns whether this replica leads. Check before each decision, since the lease may expire at any time.
    pub fn leads(&self, clock: Duration) -> bool {
        self.leads_until.is_some_and(|until| clock < until)
    }
}

/// Takes part in the election until the lease is lost or `stop` requests its release. The caller must have stopped all
/// work of a leader before it sets `stop`.
///
/// `component` is the scheduler name of the first profile, which events name as their source.
pub async fn run<T: Transport>(
    transport: T,
    mut election: Election,
    component: &str,
    status: watch::Sender<ElectionStatus>,
    mut stop: watch::Receiver<bool>,
) {
    let mut is_stopping = false;
    let (namespace, name) = election.namespaced_name();
    let lock = format!("{namespace}/{name}");
    info!(lock, "Attempting to acquire leader lease...");
    let now = || ElectionTime { clock: transport.clock(), calendar: transport.now() };
    loop {
        let mut next = match election.next(now()) {
            ElectionStep::Send(request) => Some(request),
            ElectionStep::Finished => None,
            ElectionStep::Wait(until) => {
                let pause = transport.sleep(until.saturating_sub(transport.clock()));
                tokio::select! {
                    () = pause => continue,
                    // A dropped sender stops the election, too.
                    _ = stop.wait_for(|stop| *stop), if !is_stopping => {}
                }
                is_stopping = true;
                election.release();
                status.send_modify(|status| status.leads_until = None);
                continue;
            }
        };
        let is_over = next.is_none();
        while let Some(request) = next {
            let answer = tokio::select! {
                answer = send(&transport, &election, &request) => answer,
                () = transport.sleep(election.request_timeout(transport.clock())) => LeaseResponse::Failed,
            };
            next = election.handle_response(answer, now());
        }
        let change = election.change();
        let is_lost = change == Some(LeaderChange::Lost);
        status.send_modify(|status| {
            status.leads_until = election.leads_until();
            status.leader = election.leader().map(Box::from);
            status.is_lost |= is_lost;
        });
        let what = match change {
            Some(LeaderChange::Leads) => {
                info!(lock = %lock, "Successfully acquired lease");
                Some("became leader")
            }
            Some(LeaderChange::Lost) => {
                error!(lock = %lock, "Failed to renew lease");
                Some("stopped leading")
            }
            Some(LeaderChange::OtherLeader(leader)) => {
                info!(lock = %lock, leader = &*leader, "New leader elected");
                None
            }
            None => None,
        };
        if let (Some(what), Some(lease)) = (what, election.lease()) {
            let event = leader_event(lease, election.identity(), what, component, transport.now());
            let event_written = create_event(transport.clone(), event);
            // A leader does not wait for the event.
            match is_lost {
                true => event_written.await,
                false => drop(tokio::spawn(event_written)),
            }
        }
        if is_over {
            return;
        }
    }
}

async fn send(transport: &impl Transport, election: &Election, request: &LeaseRequest) -> LeaseResponse {
    let Some(resource) = Resource::of("Lease") else { return LeaseResponse::Failed };
    let (namespace, name) = election.namespaced_name();
    let json = |lease: &Lease| lease.to_json().to_string().into_bytes();
    let call = match request {
        LeaseRequest::Get => ApiRequest { verb: Verb::Get, path: resource.path(namespace, name), body: Bytes::new() },
        LeaseRequest::Create(lease) => {
            ApiRequest { verb: Verb::Create, path: resource.collection(namespace), body: json(lease).into() }
        }
        LeaseRequest::Update(lease) => {
            ApiRequest { verb: Verb::Update, path: resource.path(namespace, name), body: json(lease).into() }
        }
    };
    match transport.call(RequestClass::Lease, call).await {
        Ok(answer) if answer.is_success() => match from_slice(&answer.body) {
            Ok(lease) => LeaseResponse::Lease(Lease::from_json(lease)),
            Err(_) => LeaseResponse::Failed,
        },
        Ok(answer) if answer.code == 404 => LeaseResponse::NotFound,
        Ok(answer) => {
            let StatusError { code, message, .. } = StatusError::new(&answer);
            // Another replica wrote first, which is normal.
            if code != 409 {
                error!(lock = %format_args!("{namespace}/{name}"), err = %message, "Error retrieving lease lock");
            }
            LeaseResponse::Failed
        }
        Err(error) => {
            error!(lock = %format_args!("{namespace}/{name}"), err = error.into_message(), "Error retrieving lease lock");
            LeaseResponse::Failed
        }
    }
}

async fn create_event(transport: impl Transport, event: Value) {
    const TIMEOUT: Duration = Duration::from_secs(10);
    let namespace = event["metadata"]["namespace"].as_str().unwrap_or_default();
    let path = format!("/api/v1/namespaces/{namespace}/events");
    let call = ApiRequest { verb: Verb::Create, path, body: event.to_string().into() };
    tokio::select! {
        // The result is ignored.
        _ = transport.call(RequestClass::Event, call) => {}
        () = transport.sleep(TIMEOUT) => {}
    }
}
