//! Writes events at the lowest priority: on a separate connection, with one limit for new events and series together, which
//! is lower while bindings are under way.

use std::future::ready;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use futures_util::StreamExt;
use futures_util::stream::FuturesUnordered;
use schedc_core::client::Event;
use schedc_core::random::Random;
use tokio::sync::mpsc::{Receiver, Sender, channel};

use super::{EventOperation, EventRecorder, EventWrite};
use crate::logs::RateLimit;
use crate::resources::Resource;
use crate::transport::{ApiRequest, RequestClass, StatusError, Transport, Verb, call_with_retry_after};
use crate::write::{Bindings, EventSink};

/// How many events wait at most; more are lost. client-go's `maxQueuedEvents` is 1000, but bindings are faster here than the
/// events that tell of them, and several thousand pods can come at once.
const QUEUE_CAPACITY: usize = 16_384;
/// Maximum of requests under way, retries included.
const MAX_REQUESTS: usize = 96;
/// Maximum while bindings are under way: a third of theirs, because the server is to work on bindings first. Events of a burst wait
/// in the queue until it is over.
const MAX_REQUESTS_DURING_BINDINGS: usize = 32;
/// How often an event is tried that never arrives, and how far apart: client-go's `maxTriesPerEvent` and
/// `defaultSleepDuration`, which takes up to a quarter longer.
const MAX_TRIES: u32 = 12;
const RETRY_DELAY: Duration = Duration::from_secs(10);

/// Where events go that are to be written. Clones lead to one place.
#[derive(Clone, Debug)]
pub struct EventQueue(Sender<(Event, Option<u64>)>);

impl EventSink for EventQueue {
    fn record(&self, event: Event, version: Option<u64>) {
        // What is too much is lost.
        let _ = self.0.try_send((event, version));
    }
}

/// Writes what is queued.
#[derive(Debug)]
pub struct EventWriter<T> {
    transport: T,
    recorder: EventRecorder,
    queued: Receiver<(Event, Option<u64>)>,
    random: Random,
    bindings: Bindings,
    lost: Arc<RateLimit>,
}

impl<T: Transport> EventWriter<T> {
    /// Writes what is recorded. What is drawn repeats with the seed.
    pub fn new(transport: T, recorder: EventRecorder, seed: u64) -> (EventQueue, Self) {
        let (queue, queued) = channel(QUEUE_CAPACITY);
        let (bindings, lost) = (Bindings::default(), Arc::default());
        (EventQueue(queue), EventWriter { transport, recorder, queued, random: Random::new(seed), bindings, lost })
    }

    /// Gives way to these bindings.
    pub fn with_bindings(self, bindings: Bindings) -> Self {
        EventWriter { bindings, ..self }
    }

    /// Goes on until nothing can be queued any more, and all was written.
    pub async fn run(mut self) {
        let mut writes = FuturesUnordered::new();
        let mut is_open = true;
        while is_open || self.recorder.has_due() || !writes.is_empty() {
            let most = if self.bindings.count() > 0 { MAX_REQUESTS_DURING_BINDINGS } else { MAX_REQUESTS };
            let (has_room, has_due) = (writes.len() < most, self.recorder.has_due());
            // Another sweep waits until the last one is written.
            let next_sweep = self.recorder.next_sweep().filter(|_| is_open && !has_due);
            let now = self.transport.now();
            let until_sweep = next_sweep.map(|at| Duration::try_from(at.duration_since(now)).unwrap_or_default());
            tokio::select! {
                biased;
                Some(()) = writes.next() => {}
                queued = self.queued.recv(), if is_open && has_room => match queued {
                    Some((event, version)) => {
                        let write = self.recorder.record(event, version, self.transport.now());
                        writes.extend(write.map(|write| self.begin(write)));
                    }
                    None => is_open = false,
                },
                // New events go first: what is due can wait.
                () = ready(()), if has_due && has_room => {
                    let write = self.recorder.next_due();
                    writes.extend(write.map(|write| self.begin(write)));
                }
                () = self.transport.sleep(until_sweep.unwrap_or_default()), if until_sweep.is_some() => {
                    self.recorder.sweep(self.transport.now());
                }
            }
        }
    }

    fn begin(&mut self, due: EventWrite) -> impl Future<Output = ()> + use<T> {
        let thousandths = u32::try_from(self.random.below(251)).unwrap_or_default();
        write(self.transport.clone(), due, RETRY_DELAY + RETRY_DELAY * thousandths / 1000, self.lost.clone())
    }
}

/// Writes one event, unless the server refuses it. Logs if it is lost.
async fn write(transport: impl Transport, write: EventWrite, pause: Duration, lost: Arc<RateLimit>) {
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
                    Ok(answer) if answer.code != 404 => return,
                    // The event is gone, or was not there yet.
                    Ok(_) => (event, true),
                    Err(error) => {
                        last = error.into_message();
                        continue;
                    }
                }
            }
        };
        match call_with_retry_after(&transport, RequestClass::Event, &create(event)).await {
            // It was there after all.
            Ok(answer) if is_series && &*StatusError::new(&answer).reason == "AlreadyExists" => {}
            Ok(_) => return,
            Err(error) => last = error.into_message(),
        }
    }
    if let Some(others) = lost.allow(transport.clock()) {
        let event = format!("{namespace}/{name}");
        tracing::warn!(event, err = last, others, "Unable to write event after {MAX_TRIES} tries");
    }
}

#[cfg(test)]
mod tests;
