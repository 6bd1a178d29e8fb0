use std::collections::BTreeMap;

use super::*;

fn at(milliseconds: u64) -> Duration {
    Duration::from_millis(milliseconds)
}

fn asks(machine: &mut Machine, clock: Duration) -> Ask {
    match machine.next(clock) {
        Step::Ask(ask) => ask,
        Step::Wait(until) => panic!("waits until {until:?}"),
    }
}

fn watch(version: &str) -> Ask {
    Ask::Watch { version: version.into() }
}

const GONE: End = End::Refused { code: 410, retry_after: None };

#[test]
fn a_stream_becomes_a_watch_and_goes_on_where_it_was() {
    let machine = &mut Machine::new(0);
    assert_eq!(asks(machine, at(0)), Ask::Stream);
    machine.changed("90");
    machine.changed("7");
    assert!(!machine.bookmark("5", false));
    assert!(machine.bookmark("100", true));
    machine.changed("101");
    assert!(!machine.bookmark("130", false));
    // The server ends watches after some minutes.
    machine.ended(End::Closed, at(300_000));
    assert_eq!(asks(machine, at(300_000)), watch("130"));
    machine.changed("131");
    machine.ended(End::Broken, at(400_000));
    assert_eq!(asks(machine, at(400_000)), watch("131"));
    assert_eq!(machine.epoch(), 1);
}

#[test]
fn what_the_server_has_forgotten_is_told_anew() {
    let machine = &mut Machine::new(0);
    asks(machine, at(0));
    machine.bookmark("100", true);
    machine.ended(GONE, at(5_000));
    assert_eq!((asks(machine, at(5_000)), machine.epoch()), (Ask::Stream, 2));
    // A stream that breaks before its end has told nothing that can be relied on.
    machine.ended(End::Broken, at(5_100));
    assert!(matches!(machine.next(at(5_100)), Step::Wait(_)));
    assert_eq!((asks(machine, at(9_000)), machine.epoch()), (Ask::Stream, 3));
    machine.bookmark("200", true);
    // It forgets again at once: something is odd.
    machine.ended(GONE, at(9_500));
    assert!(matches!(machine.next(at(9_500)), Step::Wait(_)));
    assert_eq!(asks(machine, at(16_000)), Ask::Stream);
    machine.bookmark("300", true);
    machine.begin_anew();
    assert_eq!((asks(machine, at(17_000)), machine.epoch()), (Ask::Stream, 5));
}

#[test]
fn a_server_that_knows_no_streams_is_asked_for_pages() {
    let machine = &mut Machine::new(0);
    asks(machine, at(0));
    machine.ended(End::Refused { code: 422, retry_after: None }, at(10));
    assert_eq!(asks(machine, at(10)), Ask::Page { rest: None });
    assert!(!machine.page("50", Some("more")));
    assert_eq!(asks(machine, at(20)), Ask::Page { rest: Some("more".into()) });
    assert!(machine.page("50", Some("")));
    assert_eq!(asks(machine, at(30)), watch("50"));
    // It forgot, and forgets again in the middle of the list.
    machine.ended(GONE, at(5_000));
    assert_eq!(asks(machine, at(5_000)), Ask::Page { rest: None });
    machine.page("60", Some("more"));
    asks(machine, at(5_000));
    machine.ended(GONE, at(5_001));
    assert_eq!(asks(machine, at(9_000)), Ask::Page { rest: None });
}

#[test]
fn who_is_refused_waits_longer_each_time_or_as_long_as_the_server_says() {
    let machine = &mut Machine::new(0);
    let mut clock = at(0);
    let mut pauses = Vec::new();
    for _ in 0..8 {
        assert_eq!(asks(machine, clock), Ask::Stream);
        machine.ended(End::Refused { code: 500, retry_after: None }, clock);
        let Step::Wait(until) = machine.next(clock) else { panic!("at once") };
        pauses.push((until - clock).as_millis());
        clock = until;
    }
    for (number, pause) in pauses.iter().enumerate() {
        let least = (800 << number).min(30_000);
        assert!((least..=2 * least).contains(pause), "{pauses:?}");
    }
    asks(machine, clock);
    machine.ended(End::Refused { code: 429, retry_after: Some(at(1_000)) }, clock);
    assert_eq!(machine.next(clock), Step::Wait(clock + at(1_000)));
    // All is forgiven when it has worked for some time. A watch that ends at once is odd.
    clock += at(1_000);
    asks(machine, clock);
    machine.bookmark("1", true);
    clock += at(121_000);
    machine.ended(End::Closed, clock);
    asks(machine, clock);
    machine.ended(End::Closed, clock);
    let Step::Wait(until) = machine.next(clock) else { panic!("at once") };
    assert!(until - clock <= at(1_600));
}

/// A server with a handful of objects, which forgets.
#[derive(Default)]
struct Server {
    objects: BTreeMap<usize, u64>,
    /// What happened, version by version: an object, and whether it is there now.
    history: Vec<(usize, bool)>,
    forgotten: u64,
}

impl Server {
    fn version(&self) -> u64 {
        self.history.len() as u64
    }
    fn happens(&mut self, random: &mut Random) {
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

/// What is known of objects, as whoever drives a machine keeps it: the version, and the epoch in which it was told.
#[derive(Default)]
struct Known(BTreeMap<usize, (u64, u32)>);

impl Known {
    fn sweep(&mut self, epoch: u32) {
        self.0.retain(|_, (_, told)| *told == epoch);
    }
    fn tell(&mut self, server: &Server, version: u64, epoch: u32) {
        let (object, is_there) = server.history[version as usize - 1];
        match is_there {
            true => drop(self.0.insert(object, (version, epoch))),
            false => drop(self.0.remove(&object)),
        }
    }
}

/// Things happen, connections break, the server forgets, pages become stale: in the end, all is known as it is.
#[test]
fn whatever_breaks_nothing_is_lost() {
    for seed in 0..400 {
        let random = &mut Random::new(seed);
        let mut server = Server::default();
        (0..random.below(10)).for_each(|_| server.happens(random));
        let streams = random.below(2) == 0;
        let mut known = Known::default();
        let machine = &mut Machine::new(seed);
        let mut clock = at(0);
        let mut is_synced = false;
        for round in 0.. {
            let is_last = round > 40;
            assert!(round < 100, "seed {seed} does not come to an end");
            let ask = match machine.next(clock) {
                Step::Wait(until) => {
                    clock = until;
                    continue;
                }
                Step::Ask(ask) => ask,
            };
            let breaks = |random: &mut Random| !is_last && random.below(4) == 0;
            let broken = |random: &mut Random| match random.below(4) {
                0 => End::Broken,
                1 => GONE,
                2 => End::Refused { code: 500, retry_after: None },
                _ => End::Refused { code: 429, retry_after: Some(at(500)) },
            };
            clock += at(random.below(3_000) as u64);
            let mut from = match ask {
                Ask::Stream if !streams => {
                    machine.ended(End::Refused { code: 422, retry_after: None }, clock);
                    continue;
                }
                Ask::Stream => {
                    let mut is_whole = true;
                    for (object, version) in server.objects.clone() {
                        is_whole &= !breaks(random);
                        if is_whole {
                            machine.changed(&version.to_string());
                            known.0.insert(object, (version, machine.epoch()));
                        }
                    }
                    if !is_whole {
                        machine.ended(broken(random), clock);
                        continue;
                    }
                    assert!(machine.bookmark(&server.version().to_string(), true));
                    known.sweep(machine.epoch());
                    is_synced = true;
                    server.version()
                }
                Ask::Page { rest } => {
                    // A list in pages is of one version; this server only keeps the newest.
                    let (at_version, skip) = rest.map_or((server.version(), 0), |rest| {
                        let (version, skip) = rest.split_once(' ').unwrap();
                        (version.parse().unwrap(), skip.parse().unwrap())
                    });
                    if at_version != server.version() || breaks(random) {
                        machine.ended(GONE, clock);
                        continue;
                    }
                    for (object, version) in server.objects.iter().skip(skip).take(2) {
                        known.0.insert(*object, (*version, machine.epoch()));
                    }
                    let rest = (skip + 2 < server.objects.len()).then(|| format!("{at_version} {}", skip + 2));
                    if machine.page(&at_version.to_string(), rest.as_deref()) {
                        known.sweep(machine.epoch());
                        is_synced = true;
                    } else if !is_last && random.below(3) == 0 {
                        server.happens(random);
                    }
                    continue;
                }
                Ask::Watch { version } => version.parse().unwrap(),
            };
            if from < server.forgotten {
                machine.ended(GONE, clock);
                continue;
            }
            // The watch, until it breaks.
            loop {
                if from < server.version() {
                    from += 1;
                    machine.changed(&from.to_string());
                    known.tell(&server, from, machine.epoch());
                } else if is_last {
                    break;
                } else if random.below(3) == 0 {
                    assert!(!machine.bookmark(&from.to_string(), false));
                } else {
                    server.happens(random);
                }
                if breaks(random) {
                    (0..random.below(5)).for_each(|_| server.happens(random));
                    if random.below(2) == 0 {
                        server.forgotten = server.version().saturating_sub(random.below(3) as u64);
                    }
                    clock += at(random.below(3_000) as u64);
                    machine.ended(broken(random), clock);
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
