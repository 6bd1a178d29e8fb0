//! Reflectors of all kinds during an outage of the server, in virtual time.

use bytes::Bytes;
use k8s_openapi::jiff::Timestamp;
use tokio::time::{Instant, sleep};

use super::*;
use crate::driver::Informers;
use crate::resources::{RESOURCES, Resource};
use crate::transport::{
    ApiRequest, ApiResponse, Chunks, Format, RequestClass, StreamingTransport, Transport, TransportError,
};

/// Behaviour of a server during its outage.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Outage {
    Refuses,
    /// Responds with this status code, and with `Retry-After` if there is a time.
    Answers(u16, Option<Duration>),
}

/// Server that is unreachable from `begin` to `end`, for all kinds or for one.
#[derive(Clone)]
struct Server(Arc<Inner>);

struct Inner {
    began: Instant,
    outage: Outage,
    begin: Duration,
    end: Duration,
    only: Option<&'static str>,
    /// Time and path of each request.
    requests: Mutex<Vec<(Duration, String)>>,
}

/// Stream that sends an empty list, and breaks when the outage begins.
struct Stream(Server, bool, String);

impl Server {
    fn is_away(&self, path: &str) -> bool {
        let Inner { begin, end, only, .. } = &*self.0;
        (*begin..*end).contains(&self.clock()) && only.is_none_or(|only| path.contains(only))
    }

    fn ask(&self, path: &str) -> Result<Result<(), ApiResponse>, TransportError> {
        self.0.requests.lock().unwrap().push((self.clock(), path.split('?').next().unwrap().to_owned()));
        match self.0.outage {
            _ if !self.is_away(path) => Ok(Ok(())),
            Outage::Refuses => Err(TransportError::NotSent("connection refused".to_owned())),
            Outage::Answers(code, retry_after) => Ok(Err(ApiResponse { code, retry_after, body: Bytes::new() })),
        }
    }

    /// Returns the requests in a period, in order: the time since the start of the period, and the path.
    fn requests(&self, from: Duration, to: Duration) -> Vec<(Duration, String)> {
        let requests = self.0.requests.lock().unwrap();
        let requests = requests.iter().filter(|(clock, _)| (from..to).contains(clock));
        requests.map(|(clock, path)| (*clock - from, path.clone())).collect()
    }
}

impl Transport for Server {
    async fn call(&self, _: RequestClass, _: ApiRequest) -> Result<ApiResponse, TransportError> {
        panic!("lists are streams")
    }
    async fn sleep(&self, time: Duration) {
        sleep(time).await;
    }
    fn now(&self) -> Timestamp {
        Timestamp::UNIX_EPOCH
    }
    fn clock(&self) -> Duration {
        self.0.began.elapsed()
    }
}

impl StreamingTransport for Server {
    type Chunks = Stream;

    async fn open(&self, path: String, _: Format) -> Result<Result<Stream, ApiResponse>, TransportError> {
        Ok(self.ask(&path)?.map(|()| Stream(self.clone(), false, path)))
    }
}

impl Chunks for Stream {
    async fn next(&mut self) -> Option<Result<Bytes, TransportError>> {
        let Stream(server, is_listed, path) = self;
        if !std::mem::replace(is_listed, true) {
            let bookmark = "{\"type\":\"BOOKMARK\",\"object\":{\"metadata\":{\"resourceVersion\":\"7\",\"annotations\":\
                            {\"k8s.io/initial-events-end\":\"true\"}}}}\n";
            return Some(Ok(bookmark.into()));
        }
        match server.0.begin.checked_sub(server.clock()).filter(|left| !left.is_zero()) {
            Some(left) => sleep(left).await,
            None => sleep(Duration::from_secs(600)).await,
        }
        server.is_away(path).then(|| Err(TransportError::Lost("connection reset".to_owned())))
    }
}

const MINUTE: Duration = Duration::from_secs(60);
const BEGIN: Duration = Duration::from_secs(100);
const END: Duration = Duration::from_secs(1000);

fn kinds() -> Vec<&'static Resource> {
    RESOURCES.iter().filter(|resource| resource.is_watched()).collect()
}

/// Runs reflectors of all kinds until two minutes after an outage of 15 minutes. Returns the server with its requests,
/// and the number of reported errors.
async fn run_reflectors(outage: Outage, only: Option<&'static str>, seed: u64) -> (Server, usize) {
    let requests = Mutex::default();
    let server = Server(Arc::new(Inner { began: Instant::now(), outage, begin: BEGIN, end: END, only, requests }));
    let mut informers = Informers::start(&server, &kinds(), seed, None);
    let mut errors = 0;
    let event = async {
        loop {
            let event = informers.next().await;
            errors += usize::from(matches!(event, crate::watch::reflector::InformerEvent::Error(..)));
        }
    };
    tokio::select! {
        never = event => never,
        () = sleep(END + 2 * MINUTE) => {}
    }
    (server, errors)
}

#[tokio::test(start_paused = true)]
async fn all_kinds_are_watched_two_seconds_after_an_outage_without_a_stampede() {
    for outage in [Outage::Refuses, Outage::Answers(503, None), Outage::Answers(500, None)] {
        for seed in 0..20 {
            let (server, _) = run_reflectors(outage, None, seed).await;
            let after = server.requests(END, END + MINUTE);
            let paths: std::collections::BTreeSet<_> = after.iter().map(|(_, path)| path).collect();
            assert_eq!((after.len(), paths.len()), (kinds().len(), kinds().len()), "one request of each: {after:?}");
            assert!(after.iter().all(|(time, _)| *time <= Duration::from_secs(2)), "{outage:?} {seed}: {after:?}");
            // One probe precedes the other requests, which are spread over time.
            let times: std::collections::BTreeSet<_> = after.iter().map(|(time, _)| time).collect();
            assert!(times.len() > kinds().len() / 2, "{after:?}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn one_reflector_probes_once_per_second_during_an_outage() {
    for seed in 0..20 {
        let (server, errors) = run_reflectors(Outage::Refuses, None, seed).await;
        // Reflectors that do not probe wait for 30 to 60 seconds, as client-go's do.
        let late = server.requests(END - 5 * MINUTE, END);
        let mut of_paths = std::collections::BTreeMap::<_, usize>::new();
        late.iter().for_each(|(_, path)| *of_paths.entry(path).or_default() += 1);
        let mut counts: Vec<_> = of_paths.into_values().collect();
        counts.sort_unstable();
        let most = counts.pop().unwrap();
        assert!((200..=300).contains(&most), "{most}");
        assert!(counts.iter().all(|count| *count <= 11), "{counts:?}");
        // Not every failed probe is reported.
        assert!(errors < 100 + 40 * kinds().len(), "{errors}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_kind_that_fails_alone_backs_off() {
    for only in ["/nodes", "/services"] {
        let (server, _) = run_reflectors(Outage::Answers(500, None), Some(only), 1).await;
        let late = server.requests(END - 5 * MINUTE, END);
        let of_kind = late.iter().filter(|(_, path)| path.ends_with(only)).count();
        assert!((4..=11).contains(&of_kind), "{only}: {late:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn probes_respect_retry_after() {
    let pause = Duration::from_secs(20);
    let (server, _) = run_reflectors(Outage::Answers(429, Some(pause)), None, 1).await;
    let late = server.requests(END - 5 * MINUTE, END);
    assert!(late.len() <= 16 * kinds().len(), "{}", late.len());
    let after = server.requests(END, END + MINUTE);
    assert_eq!(after.len(), kinds().len());
    assert!(after.iter().all(|(time, _)| *time <= pause));
}
