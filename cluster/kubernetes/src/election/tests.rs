use serde_json::{Value, from_str};

use super::*;

fn election(identity: &str, seed: u64) -> Election {
    Election::new(identity, LeaderElectionConfiguration::default(), seed)
}

fn at(milliseconds: u64) -> ElectionTime {
    let calendar = Timestamp::from_millisecond(1_790_000_000_000 + i64::try_from(milliseconds).unwrap()).unwrap();
    ElectionTime { clock: Duration::from_millis(milliseconds), calendar }
}

/// Lease at an API server.
#[derive(Default)]
struct Server {
    lease: Option<Value>,
    version: u64,
}

impl Server {
    fn handle(&mut self, request: &LeaseRequest) -> LeaseResponse {
        let wanted = match request {
            LeaseRequest::Get => {
                return self
                    .lease
                    .clone()
                    .map_or(LeaseResponse::NotFound, |lease| LeaseResponse::Lease(Lease::from_json(lease)));
            }
            LeaseRequest::Create(_) if self.lease.is_some() => return LeaseResponse::Failed,
            LeaseRequest::Create(lease) => lease,
            LeaseRequest::Update(lease) => {
                let known = self.lease.as_ref().map(|known| &known["metadata"]["resourceVersion"]);
                if known != Some(&lease.to_json()["metadata"]["resourceVersion"]) {
                    return LeaseResponse::Failed;
                }
                lease
            }
        };
        self.version += 1;
        let mut lease = wanted.to_json().clone();
        lease["metadata"]["resourceVersion"] = self.version.to_string().into();
        lease["metadata"]["uid"] = "u".into();
        self.lease = Some(lease.clone());
        LeaseResponse::Lease(Lease::from_json(lease))
    }
}

/// Runs one replica, with immediate responses. Returns the kinds of requests, and the changes.
fn turn(election: &mut Election, server: &mut Server, now: ElectionTime) -> (String, Vec<LeaderChange>) {
    let (mut requests, mut changes) = (String::new(), Vec::new());
    let mut next = match election.next(now) {
        ElectionStep::Send(request) => Some(request),
        ElectionStep::Wait(_) | ElectionStep::Finished => None,
    };
    changes.extend(election.change());
    while let Some(request) = next {
        requests += match &request {
            LeaseRequest::Get => "get ",
            LeaseRequest::Create(_) => "create ",
            LeaseRequest::Update(_) => "update ",
        };
        let answer = server.handle(&request);
        next = election.handle_response(answer, now);
        changes.extend(election.change());
    }
    (requests.trim_end().to_owned(), changes)
}

#[test]
fn the_first_replica_creates_the_lease_and_renews_it_optimistically() {
    let (election, server) = (&mut election("a", 1), &mut Server::default());
    assert_eq!(turn(election, server, at(0)), ("get create".into(), vec![LeaderChange::Leads]));
    assert!(election.leads(at(14_999).clock) && !election.leads(at(15_000).clock));
    assert_eq!(turn(election, server, at(5)), ("update".into(), vec![]));
    assert_eq!(election.next(at(6)), ElectionStep::Wait(at(2_005).clock));
    assert_eq!(turn(election, server, at(2_005)), ("update".into(), vec![]));
    // Another client wrote to the lease, but kept its holder.
    server.version += 1;
    server.lease.as_mut().unwrap()["metadata"]["resourceVersion"] = server.version.to_string().into();
    assert_eq!(turn(election, server, at(4_010)), ("update get update".into(), vec![]));
    assert_eq!(election.lease().unwrap().record().transitions, 0);
}

#[test]
fn candidates_wait_for_the_lease_duration() {
    let server = &mut Server::default();
    let (a, b) = (&mut election("a", 1), &mut election("b", 2));
    turn(a, server, at(0));
    assert_eq!(turn(b, server, at(1_000)), ("get".into(), vec![LeaderChange::OtherLeader("a".into())]));
    let ElectionStep::Wait(until) = b.next(at(1_000)) else { panic!() };
    let pause = until.as_millis() - 1_000;
    assert!((2_000..=4_400).contains(&pause), "{pause}");
    // The change was observed at 1 s; the holder's calendar does not matter.
    assert_eq!(turn(b, server, at(15_999)), ("get".into(), vec![]));
    assert_eq!(turn(b, server, at(25_000)), ("get update".into(), vec![LeaderChange::Leads]));
    assert_eq!(b.lease().unwrap().record().transitions, 1);
    // The other replica detects the loss without a request, and never leads again.
    assert_eq!(turn(a, server, at(25_000)), (String::new(), vec![LeaderChange::Lost]));
    assert_eq!(a.next(at(99_000)), ElectionStep::Finished);
}

#[test]
fn an_expired_lease_is_acquired_at_once() {
    for seed in 0..50 {
        let server = &mut Server::default();
        let (a, b) = (&mut election("a", 1), &mut election("b", seed));
        turn(a, server, at(0));
        let (mut now, mut requests) = (1_000, 0);
        while !b.leads(at(now).clock) {
            requests += turn(b, server, at(now)).0.split(' ').count();
            if let ElectionStep::Wait(until) = b.next(at(now)) {
                now = u64::try_from(until.as_millis()).unwrap();
            }
        }
        // The lease was first observed at 1 s. The holder never renews it.
        assert_eq!(b.lease().unwrap().record().renewed, at(16_000).calendar, "seed {seed}");
        assert!(requests <= 10, "seed {seed}: {requests}");
    }
}

#[test]
fn a_released_lease_is_acquired_immediately() {
    let server = &mut Server::default();
    let (a, b) = (&mut election("a", 1), &mut election("b", 2));
    turn(a, server, at(0));
    turn(b, server, at(0));
    a.release();
    assert!(!a.leads(at(1).clock));
    assert_eq!(turn(a, server, at(1)), ("get update".into(), vec![]));
    assert_eq!(a.next(at(1)), ElectionStep::Finished);
    let spec = &server.lease.as_ref().unwrap()["spec"];
    assert_eq!((&spec["holderIdentity"], &spec["leaseDurationSeconds"]), (&"".into(), &1.into()));
    assert_eq!(turn(b, server, at(5_000)), ("get update".into(), vec![LeaderChange::Leads]));
    // A replica that never led has no lease to release.
    let c = &mut election("c", 3);
    c.release();
    assert_eq!(c.next(at(0)), ElectionStep::Finished);
}

#[test]
fn the_holder_stops_before_the_lease_expires() {
    let (a, server) = (&mut election("a", 1), &mut Server::default());
    turn(a, server, at(0));
    turn(a, server, at(0));
    let mut now = 0;
    let mut tries = 0;
    while a.leads(at(now).clock) {
        match a.next(at(now)) {
            ElectionStep::Wait(until) => now = u64::try_from(until.as_millis()).unwrap(),
            ElectionStep::Send(_) => {
                tries += 1;
                // The response does not arrive in time.
                now += u64::try_from(a.request_timeout(at(now).clock).as_millis()).unwrap();
                let next = a.handle_response(LeaseResponse::Failed, at(now));
                assert!(next.is_none() || next == Some(LeaseRequest::Get));
                if next.is_some() {
                    now += 10;
                    assert_eq!(a.handle_response(LeaseResponse::Failed, at(now)), None);
                }
            }
            ElectionStep::Finished => panic!("before it is over"),
        }
    }
    assert_eq!((now, tries), (12_000, 2), "ten seconds after the first try to renew it");
    assert_eq!(a.next(at(now)), ElectionStep::Finished);
    assert_eq!(a.change(), Some(LeaderChange::Lost));
}

#[test]
fn a_renewal_counts_from_when_it_was_sent() {
    let (a, server) = (&mut election("a", 1), &mut Server::default());
    turn(a, server, at(0));
    let ElectionStep::Send(request) = a.next(at(1_000)) else { panic!() };
    let answer = server.handle(&request);
    assert_eq!(a.handle_response(answer, at(4_000)), None);
    assert_eq!(a.leads_until(), Some(at(16_000).clock));
}

#[test]
fn a_resumed_process_does_not_lead() {
    let (a, server) = (&mut election("a", 1), &mut Server::default());
    turn(a, server, at(0));
    let ElectionStep::Send(request) = a.next(at(1)) else { panic!() };
    let answer = server.handle(&request);
    // The process was suspended while the response waited.
    assert_eq!(a.handle_response(answer, at(60_000)), None);
    assert_eq!(a.change(), Some(LeaderChange::Lost));
    assert!(!a.leads(at(60_000).clock));
}

/// Three replicas with clocks of the same rate. Requests and responses are slow or lost, and replicas are suspended.
#[test]
fn two_replicas_never_lead_together() {
    let mut terms = 0;
    for seed in 0..150 {
        let random = &mut Random::new(seed);
        let server = &mut Server::default();
        // In every other history, the renew deadline is almost as long as the lease.
        let renew_deadline = Duration::from_secs(if seed % 2 == 0 { 10 } else { 14 });
        let start = |name, seed| {
            let settings = LeaderElectionConfiguration { renew_deadline, ..LeaderElectionConfiguration::default() };
            Election::new(name, settings, seed)
        };
        let mut replicas: Vec<_> = ["a", "b", "c"].map(|name| (start(name, seed), 0, None)).into();
        let mut leader = None;
        let mut now = 0;
        while now < 300_000 {
            now += 1 + random.below(400) as u64;
            for (number, (election, paused_until, pending)) in replicas.iter_mut().enumerate() {
                if now < *paused_until {
                    continue;
                }
                if random.below(3_000) == 0 {
                    *paused_until = now + random.below(40_000) as u64;
                }
                let mut send = |request: LeaseRequest, server: &mut Server, election: &Election| {
                    // In half of the losses, the server handles the request, and the response is lost.
                    let (is_lost, is_done) = (random.below(4) == 0, random.below(2) == 0);
                    let answer = if !is_lost || is_done { server.handle(&request) } else { LeaseResponse::Failed };
                    let request_timeout = u64::try_from(election.request_timeout(at(now).clock).as_millis()).unwrap();
                    let slow = now + random.below(1_500) as u64;
                    if is_lost || slow > now + request_timeout {
                        (now + request_timeout, LeaseResponse::Failed)
                    } else {
                        (slow, answer)
                    }
                };
                if let Some((due, answer)) = pending.take() {
                    if now < due {
                        *pending = Some((due, answer));
                    } else if let Some(request) = election.handle_response(answer, at(now)) {
                        *pending = Some(send(request, server, election));
                    }
                } else if let ElectionStep::Send(request) = election.next(at(now)) {
                    *pending = Some(send(request, server, election));
                }
                if election.leads(at(now).clock) && leader != Some(number) {
                    (leader, terms) = (Some(number), terms + 1);
                }
                if election.change() == Some(LeaderChange::Lost) {
                    // The process ends and is restarted.
                    *election = start(["a", "b", "c"][number], seed + now);
                    *pending = None;
                }
            }
            let leading = replicas.iter().filter(|(election, ..)| election.leads(at(now).clock)).count();
            assert!(leading <= 1, "seed {seed} at {now} ms");
        }
    }
    assert!(terms > 300, "{terms}");
}

/// The recording contains the requests of a kube-scheduler that starts, leads, and is stopped.
#[test]
fn requests_equal_those_of_kube_scheduler() {
    let recording = include_str!("../../tests/recordings/requests.jsonl");
    let recorded: Vec<Value> = recording.lines().map(|line| from_str(line).unwrap()).collect();
    let body = |lease: &Lease| {
        let mut body = lease.to_json().clone();
        let metadata = body["metadata"].as_object_mut().unwrap();
        metadata.retain(|name, _| ["name", "namespace"].contains(&name.as_str()));
        body["spec"].as_object_mut().unwrap().retain(|name, _| !name.ends_with("Time"));
        body
    };
    let lease_requests = recorded.iter().filter(|request| request["path"].as_str().unwrap().contains("/leases"));
    let lease_requests: Vec<_> = lease_requests
        .map(|request| {
            (&request["verb"], request.get("body").map(|recorded| body(&Lease::from_json(recorded.clone()))))
        })
        .collect();
    let identity = recorded.iter().find_map(|request| request["body"]["spec"]["holderIdentity"].as_str()).unwrap();

    let (election, server) = (&mut election(identity, 1), &mut Server::default());
    let mut requests = Vec::new();
    for now in [0, 5, 2_005, 4_010, 6_015, 8_000] {
        if now == 8_000 {
            election.release();
        }
        let mut next = match election.next(at(now)) {
            ElectionStep::Send(request) => Some(request),
            _ => None,
        };
        while let Some(request) = next {
            requests.push(match &request {
                LeaseRequest::Get => ("get", None),
                LeaseRequest::Create(lease) => ("create", Some(body(lease))),
                LeaseRequest::Update(lease) => ("update", Some(body(lease))),
            });
            let answer = server.handle(&request);
            next = election.handle_response(answer, at(now));
        }
    }
    assert_eq!(requests.len(), lease_requests.len());
    for (request, recorded) in requests.iter().zip(lease_requests) {
        assert_eq!((request.0, &request.1), (recorded.0.as_str().unwrap(), &recorded.1));
    }

    let recorded = &recorded.iter().find(|request| request["body"]["reason"] == "LeaderElection").unwrap()["body"];
    let created = recorded["firstTimestamp"].as_str().unwrap().parse::<Timestamp>().unwrap();
    let mut event = leader_event(election.lease().unwrap(), identity, "became leader", "default-scheduler", created);
    for (field, part) in [("metadata", "name"), ("involvedObject", "uid"), ("involvedObject", "resourceVersion")] {
        event[field][part] = recorded[field][part].clone();
    }
    let mut recorded = recorded.clone();
    recorded.as_object_mut().unwrap().retain(|_, value| !value.is_null() && *value != "");
    assert_eq!(event, recorded);
}
