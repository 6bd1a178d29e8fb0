//! Faults and the rules that inject them.

use std::time::Duration;

use crate::request::ApiRequest;

/// A fault of a request or a watch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fault {
    /// The request is not processed. The response is a status code, with `Retry-After` in seconds if given.
    Respond(u16, Option<u32>),
    /// The request is delayed by this time.
    Delay(Duration),
    /// The connection is closed before the request is processed, together with all other requests on it.
    Cut,
    /// The request is processed, but its response is lost: HTTP/1.1 closes the connection, HTTP/2 the request's stream.
    LoseResponse,
    /// A watch is broken after this number of events.
    CutStream(usize),
    /// A watch ends after this number of events, as if its timeout had expired.
    EndStream(usize),
    /// A watch sends an `ERROR` with code 410 after this number of events.
    GoneStream(usize),
}

/// Fault of a watch.
#[derive(Clone, Debug)]
pub(crate) enum StreamFault {
    Cut(usize),
    End(usize),
    Gone(usize),
}

impl StreamFault {
    /// Returns the number of events before the fault.
    pub(crate) fn after(&self) -> usize {
        let (StreamFault::Cut(after) | StreamFault::End(after) | StreamFault::Gone(after)) = self;
        *after
    }
}

/// Rule for the injection of a fault: the affected requests, and their number. Create it with [`FaultRule::new`] or
/// [`FaultRule::random`] and add conditions; without conditions it applies to every request.
#[derive(Clone, Debug)]
pub struct FaultRule {
    source: FaultSource,
    verb: Option<String>,
    path: Option<String>,
    token: Option<String>,
    skipped: u32,
    left: u32,
}

#[derive(Clone, Debug)]
enum FaultSource {
    Always(Fault),
    Sometimes { state: u64, permille: u64 },
}

impl FaultRule {
    /// Returns a rule that injects this fault.
    pub fn new(fault: Fault) -> Self {
        FaultRule {
            source: FaultSource::Always(fault),
            verb: None,
            path: None,
            token: None,
            skipped: 0,
            left: u32::MAX,
        }
    }

    /// Returns a rule that injects random faults into `permille` of 1000 requests: responses with 429, 500 or 503,
    /// delays up to 50 ms, closed connections, lost responses; for watches also broken streams, early ends and 410. The
    /// same seed gives the same faults for the same order of requests.
    pub fn random(seed: u64, permille: u32) -> Self {
        FaultRule {
            source: FaultSource::Sometimes { state: seed, permille: permille.into() },
            ..FaultRule::new(Fault::Cut)
        }
    }

    /// Restricts the rule to a verb, such as `create` or `watch`.
    #[must_use]
    pub fn verb(mut self, verb: &str) -> Self {
        self.verb = Some(verb.to_owned());
        self
    }

    /// Restricts the rule to paths (without the query). `*` stands for any text, as in `*/pods/*/binding`.
    #[must_use]
    pub fn path(mut self, path: &str) -> Self {
        self.path = Some(path.to_owned());
        self
    }

    /// Restricts the rule to the client with this bearer token.
    #[must_use]
    pub fn token(mut self, token: &str) -> Self {
        self.token = Some(token.to_owned());
        self
    }

    /// Skips the first matching requests.
    #[must_use]
    pub fn after(mut self, requests: u32) -> Self {
        self.skipped = requests;
        self
    }

    /// Limits the number of affected requests.
    #[must_use]
    pub fn times(mut self, requests: u32) -> Self {
        self.left = requests;
        self
    }

    fn applies_to(&self, api_request: &ApiRequest) -> bool {
        self.verb.as_ref().is_none_or(|verb| verb == api_request.verb)
            && self.token.as_ref().is_none_or(|token| *token == api_request.token)
            && self.path.as_ref().is_none_or(|path| matches_pattern(path, &api_request.path))
    }

    /// Returns the fault for a matching request, if the rule injects one.
    fn next(&mut self, is_watch: bool) -> Option<Fault> {
        if self.skipped > 0 {
            self.skipped -= 1;
            return None;
        }
        if self.left == 0 {
            return None;
        }
        let fault = match &mut self.source {
            FaultSource::Always(fault) => Some(fault.clone()),
            FaultSource::Sometimes { state, permille } => {
                let is_hit = random(state) % 1000 < *permille;
                is_hit.then(|| random_fault(state, is_watch))
            }
        };
        if fault.is_some() && self.left != u32::MAX {
            self.left -= 1;
        }
        fault
    }
}

fn random_fault(state: &mut u64, is_watch: bool) -> Fault {
    let events = random(state) as usize % 20;
    match random(state) % if is_watch { 10 } else { 7 } {
        0 => Fault::Respond(500, None),
        1 => Fault::Respond(503, None),
        2 => Fault::Respond(429, Some(1)),
        3 => Fault::Delay(Duration::from_millis(random(state) % 50)),
        4 => Fault::Cut,
        5 | 6 if !is_watch => Fault::LoseResponse,
        5 | 6 => Fault::CutStream(events),
        7 => Fault::EndStream(events),
        8 => Fault::GoneStream(0),
        _ => Fault::GoneStream(events),
    }
}

/// Returns the next random number of a SplitMix64 generator.
fn random(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut mixed = *state;
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}

/// Returns whether a text matches a pattern, in which `*` stands for any text.
fn matches_pattern(pattern: &str, text: &str) -> bool {
    match pattern.split_once('*') {
        None => pattern == text,
        Some((start, rest)) => text.strip_prefix(start).is_some_and(|text| {
            rest.is_empty() || text.char_indices().any(|(at, _)| matches_pattern(rest, &text[at..]))
        }),
    }
}

/// Faults of one request.
#[derive(Debug, Default)]
pub(crate) struct Faults {
    pub(crate) delay: Duration,
    /// The first fault that is not a delay.
    pub(crate) fault: Option<Fault>,
}

impl Faults {
    /// Collects the faults of all rules for a request.
    pub(crate) fn pick(rules: &mut [FaultRule], api_request: &ApiRequest) -> Self {
        let mut faults = Faults::default();
        for rule in rules.iter_mut().filter(|rule| rule.applies_to(api_request)) {
            match rule.next(api_request.verb == "watch") {
                Some(Fault::Delay(delay)) => faults.delay += delay,
                Some(fault) => faults.fault = faults.fault.or(Some(fault)),
                None => {}
            }
        }
        faults
    }

    /// Returns the fault of a watch.
    pub(crate) fn stream(&self) -> Option<StreamFault> {
        match self.fault {
            Some(Fault::CutStream(after)) => Some(StreamFault::Cut(after)),
            Some(Fault::EndStream(after)) => Some(StreamFault::End(after)),
            Some(Fault::GoneStream(after)) => Some(StreamFault::Gone(after)),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;
    use hyper::{HeaderMap, Method};

    use super::*;

    fn api_request(method: Method, uri: &str) -> ApiRequest {
        ApiRequest::new(&method, &uri.parse().unwrap(), &HeaderMap::new(), &Bytes::new())
    }

    #[test]
    fn patterns_match_whole_paths() {
        for (pattern, text, expected) in [
            ("*", "/a", true),
            ("/a", "/a", true),
            ("/a", "/ab", false),
            ("*/binding", "/api/v1/namespaces/a/pods/p/binding", true),
            ("*/binding", "/api/v1/pods", false),
            ("*/pods/*/status", "/api/v1/namespaces/a/pods/p/status", true),
            ("*/pods/*/status", "/api/v1/nodes/p/status", false),
            ("/a*", "/abc", true),
        ] {
            assert_eq!(matches_pattern(pattern, text), expected, "{pattern} {text}");
        }
    }

    #[test]
    fn rules_skip_and_limit_matching_requests() {
        let mut rules = [FaultRule::new(Fault::Cut).verb("list").after(1).times(2)];
        let list = api_request(Method::GET, "/api/v1/pods");
        let mut hit = |api_request: &ApiRequest| Faults::pick(&mut rules, api_request).fault.is_some();
        assert!(!hit(&api_request(Method::POST, "/api/v1/pods")));
        assert_eq!([hit(&list), hit(&list), hit(&list), hit(&list)], [false, true, true, false]);
    }

    #[test]
    fn delays_combine_with_other_faults() {
        let delay = || FaultRule::new(Fault::Delay(Duration::from_secs(1)));
        let mut rules = [delay(), FaultRule::new(Fault::LoseResponse), delay(), FaultRule::new(Fault::Cut)];
        let faults = Faults::pick(&mut rules, &api_request(Method::GET, "/api/v1/pods"));
        assert_eq!((faults.delay, faults.fault), (Duration::from_secs(2), Some(Fault::LoseResponse)));
    }

    #[test]
    fn a_seed_gives_the_same_faults_again() {
        let faults = |seed| {
            let mut rules = [FaultRule::random(seed, 500)];
            let list = api_request(Method::GET, "/api/v1/pods");
            (0..100).map(|_| Faults::pick(&mut rules, &list)).map(|it| (it.delay, it.fault)).collect::<Vec<_>>()
        };
        assert_eq!(faults(1), faults(1));
        assert_ne!(faults(1), faults(2));
        let hit = faults(1).iter().filter(|(delay, fault)| !delay.is_zero() || fault.is_some()).count();
        assert!((30..70).contains(&hit), "{hit}");
    }
}
