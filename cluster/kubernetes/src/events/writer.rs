//! Event writer: sends events at the lowest priority, on a separate connection. The number of requests in flight, for
//! new events and series together, is limited; the limit is lower while bindings are in flight.

use std::future::ready;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use futures_util::StreamExt;
use futures_util::stream::FuturesUnordered;
use schedc_core::client::Event;
use schedc_core::column::CacheSize;
use schedc_core::random::Random;
use tokio::sync::mpsc::{Receiver, Sender, channel};

use super::{EventOperation, EventRecorder, EventWrite};
use crate::logs::RateLimit;
use crate::resources::Resource;
use crate::transport::{ApiRequest, ApiResponse, RequestClass, StatusError, Transport, Verb, call_with_retry_after};
use crate::write::{Bindings, EventSink};

/// Queue capacity; further events are lost. client-go's `maxQueuedEvents` is 1000, but bindings are faster here than
/// their events, and several thousand pods can arrive at once.
const QUEUE_CAPACITY: usize = 16_384;
/// Maximum number of requests in flight, retries included.
const MAX_REQUESTS: usize = 96;
/// Maximum number of requests in flight while bindings are in flight. It is a third of the maximum number of bindings,
/// since the server should process bindings first. Events of a burst wait in the queue.
const MAX_REQUESTS_DURING_BINDINGS: usize = 32;
/// Maximum number of attempts for an event: client-go's `maxTriesPerEvent`.
const MAX_TRIES: u32 = 12;
/// Interval between attempts: client-go's `defaultSleepDuration`. A random time of up to a quarter of it is added.
const RETRY_DELAY: Duration = Duration::from_secs(10);

/// Queue of an event writer. Clones share it.
#[derive(Clone, Debug)]
pub struct EventQueue(Sender<(Event, Option<u64>)>);

impl EventSink for EventQueue {
    fn record(&self, event: Event, version: Option<u64>) {
        // A full queue drops the event.
        let _ = self.0.try_send((event, version));
    }
}

/// Sends queued events.
#[derive(Debug)]
pub struct EventWriter<T> {
    transport: T,
    recorder: EventRecorder,
    queued: Receiver<(Event, Option<u64>)>,
    random: Random,
    bindings: Bindings,
    log_limits: Arc<LogLimits>,
}

/// Limits of the log messages about events that are not written.
#[derive(Debug, Default)]
struct LogLimits {
    lost: RateLimit,
    refused: RateLimit,
}

impl<T: Transport> EventWriter<T> {
    /// Creates a queue and its writer. The seed determines random delays.
    pub fn new(transport: T, recorder: EventRecorder, seed: u64) -> (EventQueue, Self) {
        let (queue, queued) = channel(QUEUE_CAPACITY);
        let (bindings, log_limits) = (Bindings::default(), Arc::default());
        (
            EventQueue(queue),
            EventWriter { transport, recorder, queued, random: Random::new(seed), bindings, log_limits },
        )
    }

    /// Lowers the limit of requests in flight while these bindings are in flight.
    pub fn with_bindings(self, bindings: Bindings) -> Self {
        EventWriter { bindings, ..self }
    }

    /// Runs until the queue is closed and all events are written.
    pub async fn run(mut self) {
        let mut writes = FuturesUnordered::new();
        let mut is_open = true;
        while is_open || self.recorder.has_due() || !writes.is_empty() {
            let limit = if self.bindings.count() > 0 { MAX_REQUESTS_DURING_BINDINGS } else { MAX_REQUESTS };
            let (has_capacity, has_due) = (writes.len() < limit, self.recorder.has_due());
            // The next sweep waits until all requests of the last sweep have begun.
            let next_sweep = self.recorder.next_sweep().filter(|_| is_open && !has_due);
            let now = self.transport.now();
            let until_sweep = next_sweep.map(|at| Duration::try_from(at.duration_since(now)).unwrap_or_default());
            tokio::select! {
                biased;
                Some(()) = writes.next() => {}
                queued = self.queued.recv(), if is_open && has_capacity => match queued {
                    Some((event, version)) => {
                        let write = self.recorder.record(event, version, self.transport.now());
                        writes.extend(write.map(|write| self.begin(write)));
                    }
                    None => is_open = false,
                },
                // New events precede series, which can wait.
                () = ready(()), if has_due && has_capacity => {
                    let write = self.recorder.next_due();
                    writes.extend(write.map(|write| self.begin(write)));
                }
                () = self.transport.sleep(until_sweep.unwrap_or_default()), if until_sweep.is_some() => {
                    self.recorder.sweep(self.transport.now());
                }
            }
            self.transport.report_cache(self.recorder.cache_size());
            self.transport.report_cache(CacheSize::limited("queued_events", self.queued.len(), QUEUE_CAPACITY));
        }
    }

    fn begin(&mut self, due: EventWrite) -> impl Future<Output = ()> + use<T> {
        let thousandths = u32::try_from(self.random.below(251)).unwrap_or_default();
        write(self.transport.clone(), due, RETRY_DELAY + RETRY_DELAY * thousandths / 1000, self.log_limits.clone())
    }
}

/// Sends one event, with retries while there is no response. Logs an event that is lost after all retries, or that the
/// server refuses.
async fn write(transport: impl Transport, write: EventWrite, pause: Duration, limits: Arc<LogLimits>) {
    let mut last = String::new();
    let EventWrite { namespace, name, operation } = write;
    let Some(resource) = Resource::of("Event") else { return };
    let create =
        |event: &Bytes| ApiRequest { verb: Verb::Create, path: resource.collection(&namespace), body: event.clone() };
    for tries in 0..MAX_TRIES {
        if tries > 0 {
            transport.sleep(pause).await;
        }
        let (event, is_series) = match &operation {
            EventOperation::Create { event } => (event, false),
            EventOperation::Update { patch, event } => {
                let path = resource.path(&namespace, &name);
                let call = ApiRequest { verb: Verb::StrategicPatch, path, body: patch.clone() };
                match call_with_retry_after(&transport, RequestClass::Event, &call).await {
                    Ok(response) if response.code != 404 => {
                        return log_refusal(&response, &namespace, &name, &limits, transport.clock());
                    }
                    // The event was deleted, or does not exist yet.
                    Ok(_) => (event, true),
                    Err(error) => {
                        last = error.into_message();
                        continue;
                    }
                }
            }
        };
        match call_with_retry_after(&transport, RequestClass::Event, &create(event)).await {
            // The event exists already; patch it again.
            Ok(response) if is_series && &*StatusError::new(&response).reason == "AlreadyExists" => {}
            Ok(response) => return log_refusal(&response, &namespace, &name, &limits, transport.clock()),
            Err(error) => last = error.into_message(),
        }
    }
    if let Some(others) = limits.lost.allow(transport.clock()) {
        let event = format!("{namespace}/{name}");
        tracing::warn!(event, err = last, others, "Unable to write event after {MAX_TRIES} tries");
    }
}

/// Logs an event that the server refuses, unless it exists already.
fn log_refusal(response: &ApiResponse, namespace: &str, name: &str, limits: &LogLimits, clock: Duration) {
    if response.is_success() {
        return;
    }
    let error = StatusError::new(response);
    if &*error.reason != "AlreadyExists"
        && let Some(others) = limits.refused.allow(clock)
    {
        let event = format!("{namespace}/{name}");
        tracing::warn!(event, err = &*error.message, others, "Server rejected event (will not retry!)");
    }
}

#[cfg(test)]
mod tests;
