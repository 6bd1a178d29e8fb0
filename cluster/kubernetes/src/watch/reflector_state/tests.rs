use std::collections::BTreeMap;

use super::*;

fn at(milliseconds: u64) -> Duration {
    Duration::from_millis(milliseconds)
}

fn next_request(reflector_state: &mut ReflectorState, clock: Duration) -> ListWatchRequest {
    match reflector_state.next(clock) {
        ReflectorStep::Send(request) => request,
        ReflectorStep::Wait(until) => panic!("waits until {until:?}"),
    }
}

fn watch(version: &str) -> ListWatchRequest {
    ListWatchRequest::Watch { version: version.into() }
}

const GONE: StreamEnd = StreamEnd::Refused { code: 410, retry_after: None };

#[test]
fn a_list_stream_becomes_a_watch_and_resumes_at_its_version() {
    let reflector_state = &mut ReflectorState::new(0);
    assert_eq!(next_request(reflector_state, at(0)), ListWatchRequest::Stream);
    reflector_state.changed("90");
    reflector_state.changed("7");
    assert!(!reflector_state.bookmark("5", false));
    assert!(reflector_state.bookmark("100", true));
    reflector_state.changed("101");
    assert!(!reflector_state.bookmark("130", false));
    // Servers end watches after some minutes.
    reflector_state.ended(StreamEnd::Closed, at(300_000));
    assert_eq!(next_request(reflector_state, at(300_000)), watch("130"));
    reflector_state.changed("131");
    reflector_state.ended(StreamEnd::Broken, at(400_000));
    assert_eq!(next_request(reflector_state, at(400_000)), watch("131"));
    assert_eq!(reflector_state.epoch(), 1);
}

#[test]
fn expired_versions_cause_a_relist() {
    let reflector_state = &mut ReflectorState::new(0);
    next_request(reflector_state, at(0));
    reflector_state.bookmark("100", true);
    reflector_state.ended(GONE, at(5_000));
    assert_eq!((next_request(reflector_state, at(5_000)), reflector_state.epoch()), (ListWatchRequest::Stream, 2));
    // A stream that breaks before the end of its list counts as unread.
    reflector_state.ended(StreamEnd::Broken, at(5_100));
    assert!(matches!(reflector_state.next(at(5_100)), ReflectorStep::Wait(_)));
    assert_eq!((next_request(reflector_state, at(9_000)), reflector_state.epoch()), (ListWatchRequest::Stream, 3));
    reflector_state.bookmark("200", true);
    // The version expires again at once. This is unusual, so the next list is delayed.
    reflector_state.ended(GONE, at(9_500));
    assert!(matches!(reflector_state.next(at(9_500)), ReflectorStep::Wait(_)));
    assert_eq!(next_request(reflector_state, at(16_000)), ListWatchRequest::Stream);
    reflector_state.bookmark("300", true);
    reflector_state.relist();
    assert_eq!((next_request(reflector_state, at(17_000)), reflector_state.epoch()), (ListWatchRequest::Stream, 5));
}

#[test]
fn a_version_that_expired_during_an_outage_causes_an_immediate_relist() {
    let reflector_state = &mut ReflectorState::new(0);
    next_request(reflector_state, at(0));
    reflector_state.bookmark("100", true);
    reflector_state.ended(StreamEnd::Broken, at(5_000));
    assert_eq!(next_request(reflector_state, at(5_000)), watch("100"));
    // The server has started, but has not loaded its roles.
    reflector_state.ended(StreamEnd::Refused { code: 403, retry_after: None }, at(5_100));
    assert_eq!(next_request(reflector_state, at(10_000)), watch("100"));
    reflector_state.ended(GONE, at(10_000));
    assert_eq!(next_request(reflector_state, at(10_000)), ListWatchRequest::Stream);
}

#[test]
fn servers_without_list_streams_are_listed_in_pages() {
    let reflector_state = &mut ReflectorState::new(0);
    next_request(reflector_state, at(0));
    reflector_state.ended(StreamEnd::Refused { code: 422, retry_after: None }, at(10));
    assert_eq!(next_request(reflector_state, at(10)), ListWatchRequest::Page { continue_token: None });
    assert!(!reflector_state.page("50", Some("more")));
    assert_eq!(next_request(reflector_state, at(20)), ListWatchRequest::Page { continue_token: Some("more".into()) });
    assert!(reflector_state.page("50", Some("")));
    assert_eq!(next_request(reflector_state, at(30)), watch("50"));
    // The version expires, and expires again in the middle of the list.
    reflector_state.ended(GONE, at(5_000));
    assert_eq!(next_request(reflector_state, at(5_000)), ListWatchRequest::Page { continue_token: None });
    reflector_state.page("60", Some("more"));
    next_request(reflector_state, at(5_000));
    reflector_state.ended(GONE, at(5_001));
    assert_eq!(next_request(reflector_state, at(9_000)), ListWatchRequest::Page { continue_token: None });
}

#[test]
fn a_list_whose_stream_fails_is_read_in_pages_at_once() {
    let reflector_state = &mut ReflectorState::new(0);
    next_request(reflector_state, at(0));
    reflector_state.ended(StreamEnd::StreamedListFailed, at(10));
    assert_eq!(next_request(reflector_state, at(10)), ListWatchRequest::Page { continue_token: None });
    assert!(reflector_state.page("50", None));
    assert_eq!(next_request(reflector_state, at(20)), watch("50"));
    // The failure may have been temporary, so the next list is requested as a stream again.
    reflector_state.ended(GONE, at(5_000));
    assert_eq!(next_request(reflector_state, at(5_000)), ListWatchRequest::Stream);
    reflector_state.ended(StreamEnd::StreamedListFailed, at(5_010));
    next_request(reflector_state, at(5_010));
    reflector_state.ended(StreamEnd::Refused { code: 500, retry_after: None }, at(5_020));
    assert!(matches!(reflector_state.next(at(5_020)), ReflectorStep::Wait(_)), "failing pages back off");
}

#[test]
fn refused_requests_back_off_or_wait_for_retry_after() {
    let reflector_state = &mut ReflectorState::new(0);
    let mut clock = at(0);
    let mut pauses = Vec::new();
    for _ in 0..8 {
        assert_eq!(next_request(reflector_state, clock), ListWatchRequest::Stream);
        reflector_state.ended(StreamEnd::Refused { code: 500, retry_after: None }, clock);
        let ReflectorStep::Wait(until) = reflector_state.next(clock) else { panic!("at once") };
        pauses.push((until - clock).as_millis());
        clock = until;
    }
    for (number, pause) in pauses.iter().enumerate() {
        let least = (800 << number).min(30_000);
        assert!((least..=2 * least).contains(pause), "{pauses:?}");
    }
    next_request(reflector_state, clock);
    reflector_state.ended(StreamEnd::Refused { code: 429, retry_after: Some(at(1_000)) }, clock);
    assert_eq!(reflector_state.next(clock), ReflectorStep::Wait(clock + at(1_000)));
    // A long period without failures resets the backoff. A watch that ends at once is a failure.
    clock += at(1_000);
    next_request(reflector_state, clock);
    reflector_state.bookmark("1", true);
    clock += at(121_000);
    reflector_state.ended(StreamEnd::Closed, clock);
    next_request(reflector_state, clock);
    reflector_state.ended(StreamEnd::Closed, clock);
    let ReflectorStep::Wait(until) = reflector_state.next(clock) else { panic!("at once") };
    assert!(until - clock <= at(1_600));
}

/// Server with a few objects and versions that expire.
#[derive(Default)]
struct Server {
    objects: BTreeMap<usize, u64>,
    /// Event at each version: an object, and whether it exists after the event.
    history: Vec<(usize, bool)>,
    forgotten: u64,
}

impl Server {
    fn version(&self) -> u64 {
        self.history.len() as u64
    }
    fn change_at_random(&mut self, random: &mut Random) {
        let object = random.below(6);
        let is_there = random.below(3) > 0;
        if is_there || self.objects.contains_key(&object) {
            self.history.push((object, is_there));
            match is_there {
                true => drop(self.objects.insert(object, self.version())),
                false => drop(self.objects.remove(&object)),
            }
        }
    }
}

/// Objects as a user of the state machine stores them: version, and epoch in which they were received.
#[derive(Default)]
struct Known(BTreeMap<usize, (u64, u32)>);

impl Known {
    fn sweep(&mut self, epoch: u32) {
        self.0.retain(|_, (_, last_epoch)| *last_epoch == epoch);
    }
    fn record(&mut self, server: &Server, version: u64, epoch: u32) {
        let (object, is_there) = server.history[version as usize - 1];
        match is_there {
            true => drop(self.0.insert(object, (version, epoch))),
            false => drop(self.0.remove(&object)),
        }
    }
}

/// Events occur, connections break, versions expire and pages become stale: in the end, the stored objects equal the
/// server's.
#[test]
fn no_event_is_lost_whatever_fails() {
    for seed in 0..400 {
        let random = &mut Random::new(seed);
        let mut server = Server::default();
        (0..random.below(10)).for_each(|_| server.change_at_random(random));
        let streams = random.below(2) == 0;
        let mut known = Known::default();
        let reflector_state = &mut ReflectorState::new(seed);
        let mut clock = at(0);
        let mut is_synced = false;
        for round in 0.. {
            let is_last = round > 40;
            assert!(round < 100, "seed {seed} does not come to an end");
            let request = match reflector_state.next(clock) {
                ReflectorStep::Wait(until) => {
                    clock = until;
                    continue;
                }
                ReflectorStep::Send(request) => request,
            };
            let breaks = |random: &mut Random| !is_last && random.below(4) == 0;
            let broken = |random: &mut Random| match random.below(4) {
                0 => StreamEnd::Broken,
                1 => GONE,
                2 => StreamEnd::Refused { code: 500, retry_after: None },
                _ => StreamEnd::Refused { code: 429, retry_after: Some(at(500)) },
            };
            clock += at(random.below(3_000) as u64);
            let mut from = match request {
                ListWatchRequest::Stream if !streams => {
                    reflector_state.ended(StreamEnd::Refused { code: 422, retry_after: None }, clock);
                    continue;
                }
                ListWatchRequest::Stream => {
                    let mut is_whole = true;
                    for (object, version) in server.objects.clone() {
                        is_whole &= !breaks(random);
                        if is_whole {
                            reflector_state.changed(&version.to_string());
                            known.0.insert(object, (version, reflector_state.epoch()));
                        }
                    }
                    if !is_whole {
                        reflector_state.ended(broken(random), clock);
                        continue;
                    }
                    assert!(reflector_state.bookmark(&server.version().to_string(), true));
                    known.sweep(reflector_state.epoch());
                    is_synced = true;
                    server.version()
                }
                ListWatchRequest::Page { continue_token } => {
                    // All pages of a list have one version. This server stores objects only in the newest version.
                    let (at_version, skip) = continue_token.map_or((server.version(), 0), |token| {
                        let (version, skip) = token.split_once(' ').unwrap();
                        (version.parse().unwrap(), skip.parse().unwrap())
                    });
                    if at_version != server.version() || breaks(random) {
                        reflector_state.ended(GONE, clock);
                        continue;
                    }
                    for (object, version) in server.objects.iter().skip(skip).take(2) {
                        known.0.insert(*object, (*version, reflector_state.epoch()));
                    }
                    let continue_token =
                        (skip + 2 < server.objects.len()).then(|| format!("{at_version} {}", skip + 2));
                    if reflector_state.page(&at_version.to_string(), continue_token.as_deref()) {
                        known.sweep(reflector_state.epoch());
                        is_synced = true;
                    } else if !is_last && random.below(3) == 0 {
                        server.change_at_random(random);
                    }
                    continue;
                }
                ListWatchRequest::Watch { version } => version.parse().unwrap(),
            };
            if from < server.forgotten {
                reflector_state.ended(GONE, clock);
                continue;
            }
            // The watch, until it breaks.
            loop {
                if from < server.version() {
                    from += 1;
                    reflector_state.changed(&from.to_string());
                    known.record(&server, from, reflector_state.epoch());
                } else if is_last {
                    break;
                } else if random.below(3) == 0 {
                    assert!(!reflector_state.bookmark(&from.to_string(), false));
                } else {
                    server.change_at_random(random);
                }
                if breaks(random) {
                    (0..random.below(5)).for_each(|_| server.change_at_random(random));
                    if random.below(2) == 0 {
                        server.forgotten = server.version().saturating_sub(random.below(3) as u64);
                    }
                    clock += at(random.below(3_000) as u64);
                    reflector_state.ended(broken(random), clock);
                    break;
                }
            }
            if is_last && from == server.version() {
                break;
            }
        }
        assert!(is_synced);
        let known: BTreeMap<_, _> = known.0.into_iter().map(|(object, (version, _))| (object, version)).collect();
        assert_eq!(known, server.objects, "seed {seed}");
    }
}
