//! Writes events, beside everything else.

use std::time::Duration;

use bytes::Bytes;
use futures_util::StreamExt;
use futures_util::stream::FuturesUnordered;
use schedc_core::client::Event;
use schedc_core::random::Random;
use tokio::sync::mpsc::{Receiver, Sender, channel};

use super::{Recorder, What, Write};
use crate::resources::Resource;
use crate::wire::{Call, Lane, Refusal, Transport, Verb, patiently};
use crate::write::Events;

/// How many events wait at most; more are lost. client-go's `maxQueuedEvents` is 1000, but bindings are faster here than the
/// events that tell of them, and several thousand pods can come at once.
const QUEUE: usize = 16_384;
/// How many are written at once: as many as there are bindings, so that events do not pile up behind them.
const AT_ONCE: usize = 96;
/// How often an event is tried that never arrives, and how far apart: client-go's `maxTriesPerEvent` and
/// `defaultSleepDuration`, which takes up to a quarter longer.
const TRIES: u32 = 12;
const PAUSE: Duration = Duration::from_secs(10);

/// Where events go that are to be written. Clones lead to one place.
#[derive(Clone, Debug)]
pub struct Queue(Sender<(Event, Option<u64>)>);

impl Events for Queue {
    fn record(&self, event: Event, version: Option<u64>) {
        // What is too much is lost.
        let _ = self.0.try_send((event, version));
    }
}

/// Writes what is queued.
#[derive(Debug)]
pub struct Sink<T> {
    transport: T,
    recorder: Recorder,
    queued: Receiver<(Event, Option<u64>)>,
    random: Random,
}

impl<T: Transport> Sink<T> {
    /// Writes what is recorded. What is drawn repeats with the seed.
    pub fn new(transport: T, recorder: Recorder, seed: u64) -> (Queue, Self) {
        let (queue, queued) = channel(QUEUE);
        (Queue(queue), Sink { transport, recorder, queued, random: Random::new(seed) })
    }

    /// Goes on until nothing can be queued any more, and all was written.
    pub async fn run(mut self) {
        let mut writes = FuturesUnordered::new();
        loop {
            while writes.len() >= AT_ONCE {
                writes.next().await;
            }
            let next_sweep = self.recorder.next_sweep();
            let now = self.transport.now();
            let until_sweep = next_sweep.map(|at| Duration::try_from(at.duration_since(now)).unwrap_or_default());
            tokio::select! {
                queued = self.queued.recv() => {
                    let Some((event, version)) = queued else { break };
                    let write = self.recorder.record(event, version, self.transport.now());
                    writes.extend(write.map(|write| self.begin(write)));
                }
                () = self.transport.sleep(until_sweep.unwrap_or_default()), if until_sweep.is_some() => {
                    let due = self.recorder.sweep(self.transport.now());
                    writes.extend(due.into_iter().map(|write| self.begin(write)));
                }
                Some(()) = writes.next() => {}
            }
        }
        writes.collect().await
    }

    fn begin(&mut self, due: Write) -> impl Future<Output = ()> + use<T> {
        let thousandths = u32::try_from(self.random.below(251)).unwrap_or_default();
        write(self.transport.clone(), due, PAUSE + PAUSE * thousandths / 1000)
    }
}

/// Writes one event, unless the server will not have it.
async fn write(transport: impl Transport, write: Write, pause: Duration) {
    let Write { namespace, name, what } = write;
    let Some(resource) = Resource::of("Event") else { return };
    let create =
        |event: &Bytes| Call { verb: Verb::Create, path: resource.collection(&namespace), body: event.clone() };
    for tries in 0..TRIES {
        if tries > 0 {
            transport.sleep(pause).await;
        }
        let (event, is_series) = match &what {
            What::Create { event } => (event, false),
            What::Update { patch, event } => {
                let path = resource.path(&namespace, &name);
                let call = Call { verb: Verb::StrategicPatch, path, body: patch.clone() };
                match patiently(&transport, Lane::Event, &call).await {
                    Ok(answer) if answer.code != 404 => return,
                    // The event is gone, or was not there yet.
                    Ok(_) => (event, true),
                    Err(_) => continue,
                }
            }
        };
        match patiently(&transport, Lane::Event, &create(event)).await {
            // It was there after all.
            Ok(answer) if is_series && &*Refusal::new(&answer).reason == "AlreadyExists" => {}
            Ok(_) => return,
            Err(_) => {}
        }
    }
}
