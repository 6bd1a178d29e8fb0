//! What goes wrong, and when.

use std::time::Duration;

use crate::request::ApiRequest;

/// What goes wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fault {
    /// Nothing is done, and this is the answer: a status code, and after how many seconds to try again.
    Answer(u16, Option<u32>),
    /// Everything goes on as usual, but only after this time.
    Delay(Duration),
    /// The connection breaks before anything is done; so it does for whatever else is under way on it.
    Cut,
    /// It is done, but there is no answer: over HTTP/1.1 the connection breaks, over HTTP/2 this request's stream.
    LoseAnswer,
    /// A watch breaks in the midst, after so many events.
    CutStream(usize),
    /// A watch ends as if its time were over, after so many events.
    EndStream(usize),
    /// A watch says, after so many events, that it cannot go on: an `ERROR` with code 410.
    GoneStream(usize),
}

/// How a watch goes wrong.
#[derive(Clone, Debug)]
pub(crate) enum StreamFault {
    Cut(usize),
    End(usize),
    Gone(usize),
}

impl StreamFault {
    /// After how many events.
    pub(crate) fn after(&self) -> usize {
        let (StreamFault::Cut(after) | StreamFault::End(after) | StreamFault::Gone(after)) = self;
        *after
    }
}

/// When something goes wrong: for which requests and how often. Made with [`FaultRule::new`] or [`FaultRule::random`] and narrowed
/// down; a rule that says nothing more applies to every request.
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
    /// This fault.
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

    /// So many of a thousand requests go wrong, in any way that suits them: refused with 429, 500 or 503, delayed (up to 50
    /// ms), cut, done without an answer; a watch also cut, ended or told to start anew. The same seed gives the same faults
    /// for the same order of requests.
    pub fn random(seed: u64, permille: u32) -> Self {
        FaultRule {
            source: FaultSource::Sometimes { state: seed, permille: permille.into() },
            ..FaultRule::new(Fault::Cut)
        }
    }

    /// Only requests of a verb, such as `create` or `watch`.
    #[must_use]
    pub fn verb(mut self, verb: &str) -> Self {
        self.verb = Some(verb.to_owned());
        self
    }

    /// Only requests to a path (without the query), where `*` is any text: `*/pods/*/binding`.
    #[must_use]
    pub fn path(mut self, path: &str) -> Self {
        self.path = Some(path.to_owned());
        self
    }

    /// Only requests of a client: of the one with this bearer token.
    #[must_use]
    pub fn token(mut self, token: &str) -> Self {
        self.token = Some(token.to_owned());
        self
    }

    /// Not the first so many of those requests.
    #[must_use]
    pub fn after(mut self, requests: u32) -> Self {
        self.skipped = requests;
        self
    }

    /// Only so many of them.
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

    /// The fault for a request that this rule is about.
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
    let few = random(state) as usize % 20;
    match random(state) % if is_watch { 10 } else { 7 } {
        0 => Fault::Answer(500, None),
        1 => Fault::Answer(503, None),
        2 => Fault::Answer(429, Some(1)),
        3 => Fault::Delay(Duration::from_millis(random(state) % 50)),
        4 => Fault::Cut,
        5 | 6 if !is_watch => Fault::LoseAnswer,
        5 | 6 => Fault::CutStream(few),
        7 => Fault::EndStream(few),
        8 => Fault::GoneStream(0),
        _ => Fault::GoneStream(few),
    }
}

/// SplitMix64.
fn random(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut mixed = *state;
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}

/// Whether a text is like a pattern, in which `*` is any text.
fn matches_pattern(pattern: &str, text: &str) -> bool {
    match pattern.split_once('*') {
        None => pattern == text,
        Some((start, rest)) => text.strip_prefix(start).is_some_and(|text| {
            rest.is_empty() || text.char_indices().any(|(at, _)| matches_pattern(rest, &text[at..]))
        }),
    }
}

/// What goes wrong with one request.
#[derive(Debug, Default)]
pub(crate) struct Faults {
    pub(crate) delay: Duration,
    /// The first of the others.
    pub(crate) fault: Option<Fault>,
}

impl Faults {
    /// What the rules say to a request.
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

    /// How a watch goes wrong.
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
    fn patterns() {
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
    fn rules_count() {
        let mut rules = [FaultRule::new(Fault::Cut).verb("list").after(1).times(2)];
        let list = api_request(Method::GET, "/api/v1/pods");
        let mut hit = |api_request: &ApiRequest| Faults::pick(&mut rules, api_request).fault.is_some();
        assert!(!hit(&api_request(Method::POST, "/api/v1/pods")));
        assert_eq!([hit(&list), hit(&list), hit(&list), hit(&list)], [false, true, true, false]);
    }

    #[test]
    fn delays_go_with_others() {
        let delay = || FaultRule::new(Fault::Delay(Duration::from_secs(1)));
        let mut rules = [delay(), FaultRule::new(Fault::LoseAnswer), delay(), FaultRule::new(Fault::Cut)];
        let faults = Faults::pick(&mut rules, &api_request(Method::GET, "/api/v1/pods"));
        assert_eq!((faults.delay, faults.fault), (Duration::from_secs(2), Some(Fault::LoseAnswer)));
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
