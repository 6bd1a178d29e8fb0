//! Reflector: lists and watches the objects of one kind, and forwards them. Each list begins an *epoch*. When the list
//! is complete, objects that were not received since its start no longer exist.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use schedc_core::random::Random;
use schedc_objects::AnyObject;
use tokio::sync::mpsc::Sender;
use tokio::sync::watch;

use super::framing::FrameDecoder;
use super::list_page::ListPage;
use super::originals::{RawObjects, ReadOriginals};
use super::query::query;
use super::reachability::ReachabilityMember;
use super::reflector_state::{ListWatchRequest, ReflectorState, ReflectorStep, StreamEnd};
use super::watch_event::WatchEvent;
use crate::resources::Resource;
use crate::transport::{
    ApiRequest, ApiResponse, Chunks, Format, RequestClass, StatusError, StreamingTransport, TransportError, Verb,
};

/// Message of a reflector.
#[derive(Clone, Debug, PartialEq)]
pub enum InformerEvent {
    /// An object in its current form.
    Upsert(AnyObject, Arrival),
    /// An object with its original.
    UpsertWithOriginal(AnyObject, Arrival, Arc<str>),
    /// An object no longer exists.
    Removal(AnyObject),
    /// The list of a kind is complete: objects that were not sent since the epoch began no longer exist.
    ListComplete {
        /// The kind.
        resource: &'static Resource,
        /// Epoch that the list began.
        epoch: u32,
        /// Value of [`ReflectorOptions::rounds`] when the list began: the list is not older than that relist request.
        round: u32,
    },
    /// A problem that is reported to users; the reflector continues.
    Error(&'static Resource, String),
}

/// Epoch in which an object arrived, and its time of arrival.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Arrival {
    /// Epoch of the reflector.
    pub epoch: u32,
    /// Time of the transport's clock at which the last bytes of a watch event were read; `None` for objects of a list.
    pub received: Option<Duration>,
}

impl Arrival {
    /// Arrival of an object of a list.
    pub fn listed(epoch: u32) -> Self {
        Arrival { epoch, received: None }
    }
}

/// Minimum watch timeout: client-go's `minWatchTimeout`. The maximum is twice as long.
const WATCH_TIMEOUT_SECONDS: usize = 300;

/// Minimum interval between two reports of the same error by a reflector that probes.
const REPEATED_ERROR_INTERVAL: Duration = Duration::from_secs(30);

/// Parameters of a reflector.
#[derive(Debug)]
pub struct ReflectorOptions {
    /// The kind.
    pub resource: &'static Resource,
    /// Extracts the originals to send with the objects.
    pub originals: Option<ReadOriginals>,
    /// Seed of the random intervals.
    pub seed: u64,
    /// Number of relist requests; each change causes a new list.
    pub rounds: watch::Receiver<u32>,
    /// Access to the reachability that the reflectors share.
    pub member: ReachabilityMember,
}

/// Lists and watches the objects of a kind until the receiver is closed.
pub async fn run_reflector<S: StreamingTransport>(
    streams: S,
    options: ReflectorOptions,
    sender: Sender<InformerEvent>,
) {
    let ReflectorOptions { resource, originals, seed, mut rounds, member } = options;
    let (reflector_state, round) = (ReflectorState::new(seed), *rounds.borrow_and_update());
    let mut reflector = Reflector {
        streams,
        resource,
        originals,
        reflector_state,
        random: Random::new(seed),
        sender,
        rounds,
        round,
        is_absent: false,
        received: None,
        member,
        probes: None,
    };
    while reflector.step().await.is_ok() {}
}

struct Reflector<S> {
    streams: S,
    resource: &'static Resource,
    /// Extracts the originals, if they are sent.
    originals: Option<ReadOriginals>,
    reflector_state: ReflectorState,
    random: Random,
    sender: Sender<InformerEvent>,
    rounds: watch::Receiver<u32>,
    round: u32,
    /// Whether the server reported that it does not serve this kind.
    is_absent: bool,
    /// Time at which the last bytes of the watch were read; `None` while a list is read.
    received: Option<Duration>,
    /// This reflector's access to the shared reachability.
    member: ReachabilityMember,
    /// While probing during an outage: the last reported error, and the time of the report.
    probes: Option<(String, Duration)>,
}

/// Next input while a stream is open.
enum Next {
    Bytes(Bytes),
    End(StreamEnd),
    /// A new list is requested.
    Relist,
}

/// The receiver is closed.
struct ReceiverClosed;

impl<S: StreamingTransport> Reflector<S> {
    /// Sends one request or waits once.
    async fn step(&mut self) -> Result<(), ReceiverClosed> {
        let round = *self.rounds.borrow_and_update();
        if round != self.round {
            self.round = round;
            self.reflector_state.relist();
        }
        let ask = match self.reflector_state.next(self.streams.clock()) {
            ReflectorStep::Send(ask) => ask,
            ReflectorStep::Wait(until) => {
                tokio::select! {
                    biased;
                    () = self.member.returned() => self.reflector_state.returned(self.streams.clock()),
                    () = self.streams.sleep(until.saturating_sub(self.streams.clock())) => {}
                }
                return if self.sender.is_closed() { Err(ReceiverClosed) } else { Ok(()) };
            }
        };
        let seconds =
            u32::try_from(WATCH_TIMEOUT_SECONDS + self.random.below(WATCH_TIMEOUT_SECONDS)).unwrap_or(u32::MAX);
        let path = query(self.resource, &ask, seconds);
        let end = match ask {
            ListWatchRequest::Page { .. } => self.page(path).await?,
            ListWatchRequest::Stream | ListWatchRequest::Watch { .. } => self.stream(path).await?,
        };
        self.member.set_live(false);
        if let Some(end) = end {
            let (clock, may_be_outage) = (self.streams.clock(), end.may_be_outage());
            self.reflector_state.ended(end, clock);
            if may_be_outage && self.member.failed(clock) {
                self.reflector_state.probe(clock);
                self.probes.get_or_insert_default();
            }
        }
        Ok(())
    }

    /// Records that the server responded. A refusal counts too, unless it may be part of an outage.
    fn answered(&mut self) {
        self.member.answered(self.streams.clock());
        self.probes = None;
    }

    /// Requests a page of a list. Returns how the request ended if the page did not arrive.
    async fn page(&mut self, path: String) -> Result<Option<StreamEnd>, ReceiverClosed> {
        let answer = match self
            .streams
            .call(RequestClass::Watch, ApiRequest { verb: Verb::Get, path, body: Bytes::new() })
            .await
        {
            Ok(answer) if answer.is_success() => {
                self.answered();
                answer
            }
            Ok(answer) => return self.request_refused(&answer).await.map(Some),
            Err(error) => return self.connection_failed(error).await.map(Some),
        };
        let page = match ListPage::read(self.resource.reader(), &answer.body) {
            Ok(page) => page,
            Err(error) => {
                self.report_error(format!("a list cannot be read: {error}")).await?;
                return Ok(Some(StreamEnd::Closed));
            }
        };
        self.received = None;
        let mut originals = self.originals(RawObjects::Page(&answer.body));
        for object in page.objects {
            self.send_upsert(object, originals.next()).await?;
        }
        if self.reflector_state.page(&page.version, page.continue_token.as_deref()) {
            self.send_list_complete().await?;
        }
        Ok(None)
    }

    /// Reads a watch stream. Returns how it ended, or `None` if a relist interrupts it.
    async fn stream(&mut self, path: String) -> Result<Option<StreamEnd>, ReceiverClosed> {
        // Originals can only be extracted from JSON.
        let format = if self.originals.is_some() { Format::Json } else { self.resource.format() };
        let mut chunks = match self.streams.open(path, format).await {
            Ok(Ok(chunks)) => chunks,
            Ok(Err(answer)) => return self.request_refused(&answer).await.map(Some),
            Err(error) => return self.connection_failed(error).await.map(Some),
        };
        self.answered();
        self.member.set_live(true);
        let format = chunks.format();
        let mut decoder = FrameDecoder::new(format);
        loop {
            match self.next(&mut chunks).await? {
                Next::Bytes(bytes) => {
                    self.received = (!self.reflector_state.is_streaming()).then(|| self.streams.clock());
                    decoder.push(&bytes);
                }
                Next::End(end) => return Ok(Some(end)),
                Next::Relist => return Ok(None),
            }
            while let Some(frame) = decoder.next_frame() {
                if let Some(end) = self.change(format, frame).await? {
                    return Ok(Some(end));
                }
            }
        }
    }

    /// Returns the next input, or an error once the receiver is closed.
    async fn next(&mut self, chunks: &mut S::Chunks) -> Result<Next, ReceiverClosed> {
        let chunk = tokio::select! {
            chunk = chunks.next() => chunk,
            Ok(()) = self.rounds.changed() => return Ok(Next::Relist),
            () = self.sender.closed() => return Err(ReceiverClosed),
        };
        Ok(match chunk {
            Some(Ok(bytes)) => Next::Bytes(bytes),
            Some(Err(error)) => Next::End(self.connection_failed(error).await?),
            None => Next::End(StreamEnd::Closed),
        })
    }

    /// Handles a watch event. Returns how the stream ended if the event is an error.
    async fn change(&mut self, format: Format, frame: &[u8]) -> Result<Option<StreamEnd>, ReceiverClosed> {
        match WatchEvent::read(self.resource.reader(), format, frame) {
            Ok(WatchEvent::Upsert(object)) => {
                self.record_version(&object);
                let original = self.originals(RawObjects::Line(frame)).next();
                self.send_upsert(object, original).await?;
            }
            Ok(WatchEvent::Removal(object)) => {
                self.record_version(&object);
                self.send(InformerEvent::Removal(object)).await?;
            }
            Ok(WatchEvent::Bookmark { version, is_end_of_list }) => {
                if self.reflector_state.bookmark(&version, is_end_of_list) {
                    self.send_list_complete().await?;
                }
            }
            Ok(WatchEvent::Error(status_error)) => {
                let StatusError { code, retry_after, .. } = status_error;
                // A server may be unable to stream lists, for example because of an old etcd. As in client-go, the next
                // list is then read in pages.
                if self.reflector_state.is_streaming() && !matches!(code, 410 | 429 | 504) {
                    return Ok(Some(StreamEnd::StreamedListFailed));
                }
                // An expired version is a normal condition, and is not reported.
                if code != 410 {
                    self.report_error(format!("a watch ended: {}", status_error.message)).await?;
                }
                return Ok(Some(StreamEnd::Refused { code, retry_after }));
            }
            // The scheduler keeps the old form of an unreadable object. The events after it can still be read.
            Err(error) => self.report_error(format!("a change cannot be read: {error}")).await?,
        }
        Ok(None)
    }

    fn record_version(&mut self, object: &AnyObject) {
        if let Some(version) = &object.metadata().resource_version {
            self.reflector_state.changed(version);
        }
    }

    fn originals(&self, arrived: RawObjects<'_>) -> impl Iterator<Item = Arc<str>> + use<S> {
        self.originals.and_then(|read| read(self.resource, arrived)).unwrap_or_default().into_iter()
    }

    async fn send_upsert(&self, object: AnyObject, original: Option<Arc<str>>) -> Result<(), ReceiverClosed> {
        let arrival = Arrival { epoch: self.reflector_state.epoch(), received: self.received };
        self.send(match original {
            Some(original) => InformerEvent::UpsertWithOriginal(object, arrival, original),
            None => InformerEvent::Upsert(object, arrival),
        })
        .await
    }

    /// Reports that the list is complete.
    async fn send_list_complete(&self) -> Result<(), ReceiverClosed> {
        let (epoch, round) = (self.reflector_state.epoch(), self.round);
        self.send(InformerEvent::ListComplete { resource: self.resource, epoch, round }).await
    }

    async fn request_refused(&mut self, answer: &ApiResponse) -> Result<StreamEnd, ReceiverClosed> {
        let StatusError { code, message, retry_after, .. } = StatusError::new(answer);
        match code {
            // An expired version is a normal condition, and is not reported.
            410 => {}
            // An older server, or one on which the kind is disabled.
            404 => {
                if !std::mem::replace(&mut self.is_absent, true) {
                    let effect = "the kind counts as having no objects until the server serves it";
                    self.report_error(format!("{message}: {effect}")).await?;
                }
                self.send_list_complete().await?;
            }
            _ => self.report_error(message.into()).await?,
        }
        let end = StreamEnd::Refused { code, retry_after: retry_after.filter(|pause| *pause > Duration::ZERO) };
        if !end.may_be_outage() {
            self.answered();
        }
        Ok(end)
    }

    async fn connection_failed(&mut self, error: TransportError) -> Result<StreamEnd, ReceiverClosed> {
        let why = error.into_message();
        self.report_error(why).await?;
        Ok(StreamEnd::Broken)
    }

    async fn report_error(&mut self, why: String) -> Result<(), ReceiverClosed> {
        if let Some((last, at)) = &mut self.probes {
            let clock = self.streams.clock();
            if *last == why && clock < *at + REPEATED_ERROR_INTERVAL {
                return Ok(());
            }
            (*last, *at) = (why.clone(), clock);
        }
        self.send(InformerEvent::Error(self.resource, why)).await
    }

    async fn send(&self, event: InformerEvent) -> Result<(), ReceiverClosed> {
        self.sender.send(event).await.map_err(|_| ReceiverClosed)
    }
}

#[cfg(test)]
mod tests;
