use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use k8s_openapi::jiff::Timestamp;
use schedc_core::client::EventType;
use schedc_core::intern::Interner;
use schedc_objects::testing::pod;
use tokio::time::{Instant, sleep};
use tracing::Dispatch;
use tracing::subscriber::set_default;

use super::*;
use crate::logs;
use crate::transport::TransportError;

/// Server that takes 20 ms per request, in virtual time.
#[derive(Clone)]
struct Slow(Arc<Seen>);

struct Seen {
    began: Instant,
    under_way: AtomicUsize,
    /// Maximum number of requests in flight.
    most: AtomicUsize,
    creates: AtomicUsize,
    patches: AtomicUsize,
    /// Reported number of recorded events.
    recorded: AtomicUsize,
}

impl Slow {
    fn new() -> Slow {
        let none = AtomicUsize::default;
        let (under_way, most, creates, patches, recorded) = (none(), none(), none(), none(), none());
        Slow(Arc::new(Seen { began: Instant::now(), under_way, most, creates, patches, recorded }))
    }

    /// Returns the number of creates and patches so far.
    fn seen(&self) -> (usize, usize) {
        (self.0.creates.load(Ordering::Relaxed), self.0.patches.load(Ordering::Relaxed))
    }

    /// Returns the maximum number of requests in flight since the last call.
    fn take_max_in_flight(&self) -> usize {
        self.0.most.swap(0, Ordering::Relaxed)
    }
}

impl Transport for Slow {
    async fn call(&self, class: RequestClass, call: ApiRequest) -> Result<ApiResponse, TransportError> {
        assert_eq!(class, RequestClass::Event);
        let count = if call.verb == Verb::Create { &self.0.creates } else { &self.0.patches };
        count.fetch_add(1, Ordering::Relaxed);
        let under_way = self.0.under_way.fetch_add(1, Ordering::Relaxed) + 1;
        self.0.most.fetch_max(under_way, Ordering::Relaxed);
        sleep(Duration::from_millis(20)).await;
        self.0.under_way.fetch_sub(1, Ordering::Relaxed);
        Ok(ApiResponse { code: 200, retry_after: None, body: Bytes::new() })
    }
    async fn sleep(&self, time: Duration) {
        sleep(time).await;
    }
    fn now(&self) -> Timestamp {
        Timestamp::UNIX_EPOCH.checked_add(self.clock()).unwrap()
    }
    fn clock(&self) -> Duration {
        self.0.began.elapsed()
    }
    fn report_cache(&self, size: CacheSize) {
        if size.cache == "recorded_events" {
            self.0.recorded.store(size.size, Ordering::Relaxed);
        }
    }
}

const PODS: usize = 4000;

fn record(queue: &EventQueue, number: usize) {
    let text = format!("{{metadata: {{name: p{number}, namespace: ns, uid: u{number}}}}}");
    let event = Event {
        scheduler: "default-scheduler",
        regarding: pod(&text, &mut Interner::default()).into(),
        related: None,
        event_type: EventType::Warning,
        reason: "FailedScheduling",
        action: "Scheduling",
        note: String::new(),
    };
    queue.record(event, None);
}

/// Records two failures of each of many pods, and sweeps 12 minutes later, when all of these series are finished.
async fn series_end(bindings: Bindings) -> Slow {
    let server = Slow::new();
    let (queue, sink) = EventWriter::new(server.clone(), EventRecorder::new("host"), 1);
    let sink = tokio::spawn(sink.with_bindings(bindings).run());
    (0..2).for_each(|_| (0..PODS).for_each(|number| record(&queue, number)));
    sleep(Duration::from_secs(700)).await;
    assert_eq!(server.seen(), (PODS, PODS));
    assert_eq!(server.0.recorded.load(Ordering::Relaxed), PODS);
    server.take_max_in_flight();
    sleep(Duration::from_millis(20_050)).await;
    // During the sweep, a new event does not wait for all series.
    assert!(server.seen().1 > PODS && server.seen().1 < PODS + PODS / 2);
    record(&queue, PODS);
    sleep(Duration::from_millis(100)).await;
    assert_eq!(server.seen().0, PODS + 1);
    assert!(server.seen().1 < 2 * PODS);
    drop(queue);
    sink.await.unwrap();
    assert_eq!(server.seen(), (PODS + 1, 2 * PODS));
    server
}

#[tokio::test(start_paused = true)]
async fn series_that_end_together_share_the_limit_of_events() {
    assert_eq!(series_end(Bindings::default()).await.take_max_in_flight(), MAX_REQUESTS);
}

#[tokio::test(start_paused = true)]
async fn events_yield_to_bindings() {
    let bindings = Bindings::default();
    let _under_way = bindings.begin(Duration::ZERO);
    assert_eq!(series_end(bindings.clone()).await.take_max_in_flight(), MAX_REQUESTS_DURING_BINDINGS);
}

/// Server that refuses all events.
#[derive(Clone)]
struct Refusing(Instant, &'static str);

impl Transport for Refusing {
    async fn call(&self, _: RequestClass, _: ApiRequest) -> Result<ApiResponse, TransportError> {
        let body = format!(r#"{{"kind": "Status", "code": 403, "reason": "{}", "message": "no permission"}}"#, self.1);
        Ok(ApiResponse { code: 403, retry_after: None, body: body.into() })
    }
    async fn sleep(&self, time: Duration) {
        sleep(time).await;
    }
    fn now(&self) -> Timestamp {
        Timestamp::UNIX_EPOCH.checked_add(self.clock()).unwrap()
    }
    fn clock(&self) -> Duration {
        self.0.elapsed()
    }
}

/// Returns the log messages about two events that a server refuses for this reason.
async fn refusals(reason: &'static str) -> Vec<String> {
    let messages = Arc::new(Mutex::new(Vec::new()));
    let written = messages.clone();
    let _guard = set_default(logs::with_writer(move |line| written.lock().unwrap().push(line.to_owned())));
    // With only one subscriber, the first thread that reaches a log statement decides whether tracing enables it.
    let _second = Dispatch::new(logs::with_writer(|_| {}));
    let (queue, sink) = EventWriter::new(Refusing(Instant::now(), reason), EventRecorder::new("host"), 1);
    record(&queue, 1);
    record(&queue, 2);
    drop(queue);
    sink.run().await;
    let mut logged = std::mem::take(&mut *messages.lock().unwrap());
    logged.retain(|message: &String| message.contains("event"));
    logged
}

#[tokio::test(start_paused = true)]
async fn refused_events_are_logged() {
    let logged = refusals("Forbidden").await;
    assert_eq!(logged.len(), 1, "the second message is suppressed: {logged:?}");
    assert!(logged[0].contains("Server rejected event (will not retry!)") && logged[0].contains("no permission"));
    assert_eq!(refusals("AlreadyExists").await, Vec::<String>::new());
}
