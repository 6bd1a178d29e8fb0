//! Follows the objects of one kind: asks, reads what arrives, tells.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use schedc_core::random::Random;
use schedc_objects::AnyObject;
use tokio::sync::mpsc::Sender;
use tokio::sync::watch;

use super::frames::Frame;
use super::machine::{Ask, End, Machine, Step};
use super::pages::Page;
use super::pieces::Pieces;
use super::query::query;
use super::reach::Member;
use super::whole::{Arrived, Read};
use crate::resources::Resource;
use crate::wire::{Answer, Call, Chunks, Format, Lane, Refusal, Silence, Streams, Verb};

/// What is told of objects of a kind.
#[derive(Clone, Debug, PartialEq)]
pub enum Told {
    /// An object is like this, as was told in an epoch.
    Is(AnyObject, u32),
    /// The same of an object of which the original is kept.
    Whole(AnyObject, u32, Arc<str>),
    /// An object went.
    Gone(AnyObject),
    /// All objects of a kind were told since an epoch began: whatever was not is gone.
    Complete {
        /// The kind.
        resource: &'static Resource,
        /// The epoch.
        epoch: u32,
        /// How often it had been asked for all to be told anew when the epoch began: all is as it was then, or later.
        round: u32,
    },
    /// Something is wrong, for people. It goes on.
    Trouble(&'static Resource, String),
}

/// Watches end after so many seconds, or up to twice as many: client-go's `minWatchTimeout`.
const SECONDS: usize = 300;

/// Minimum time between two reports of the same trouble by a follower that probes.
const SAME_TROUBLE: Duration = Duration::from_secs(30);

/// Follows the objects of a kind until nobody listens any more. If they are kept whole, their originals are told with them.
/// Whenever `rounds` goes on, all are told anew, as they are then or later.
pub async fn follow<S: Streams>(
    streams: S,
    resource: &'static Resource,
    originals: Option<Read>,
    seed: u64,
    tell: Sender<Told>,
    mut rounds: watch::Receiver<u32>,
    member: Member,
) {
    let (machine, round) = (Machine::new(seed), *rounds.borrow_and_update());
    let mut follower = Follower {
        streams,
        resource,
        originals,
        machine,
        random: Random::new(seed),
        tell,
        rounds,
        round,
        is_absent: false,
        member,
        probes: None,
    };
    while follower.step().await.is_ok() {}
}

struct Follower<S> {
    streams: S,
    resource: &'static Resource,
    /// What finds originals, if they are told.
    originals: Option<Read>,
    machine: Machine,
    random: Random,
    tell: Sender<Told>,
    rounds: watch::Receiver<u32>,
    round: u32,
    /// The server has no such kind, as it said.
    is_absent: bool,
    /// This follower among all of the cluster.
    member: Member,
    /// While it probes during an outage: the last trouble that it reported, and the time.
    probes: Option<(String, Duration)>,
}

/// What comes on a stream.
enum Next {
    Bytes(Bytes),
    End(End),
    /// All is to be told anew.
    Round,
}

/// Nobody listens any more.
struct Unheard;

impl<S: Streams> Follower<S> {
    /// One request, or a pause.
    async fn step(&mut self) -> Result<(), Unheard> {
        let round = *self.rounds.borrow_and_update();
        if round != self.round {
            self.round = round;
            self.machine.begin_anew();
        }
        let ask = match self.machine.next(self.streams.clock()) {
            Step::Ask(ask) => ask,
            Step::Wait(until) => {
                tokio::select! {
                    biased;
                    () = self.member.returned() => self.machine.returned(self.streams.clock()),
                    () = self.streams.sleep(until.saturating_sub(self.streams.clock())) => {}
                }
                return if self.tell.is_closed() { Err(Unheard) } else { Ok(()) };
            }
        };
        let seconds = u32::try_from(SECONDS + self.random.below(SECONDS)).unwrap_or(u32::MAX);
        let path = query(self.resource, &ask, seconds);
        let end = match ask {
            Ask::Page { .. } => self.page(path).await?,
            Ask::Stream | Ask::Watch { .. } => self.stream(path).await?,
        };
        self.member.set_live(false);
        if let Some(end) = end {
            let (clock, may_be_outage) = (self.streams.clock(), end.may_be_outage());
            self.machine.ended(end, clock);
            if may_be_outage && self.member.failed(clock) {
                self.machine.probe(clock);
                self.probes.get_or_insert_default();
            }
        }
        Ok(())
    }

    /// The server answered, though it may have refused.
    fn answered(&mut self) {
        self.member.answered(self.streams.clock());
        self.probes = None;
    }

    /// A page of a list. Returns how it ended if it did not arrive.
    async fn page(&mut self, path: String) -> Result<Option<End>, Unheard> {
        let answer = match self.streams.call(Lane::Watch, Call { verb: Verb::Get, path, body: Bytes::new() }).await {
            Ok(answer) if answer.is_success() => {
                self.answered();
                answer
            }
            Ok(answer) => return self.refused(&answer).await.map(Some),
            Err(silence) => return self.broken(silence).await.map(Some),
        };
        let page = match Page::read(self.resource.reader(), &answer.body) {
            Ok(page) => page,
            Err(error) => {
                self.trouble(format!("a list cannot be read: {error}")).await?;
                return Ok(Some(End::Closed));
            }
        };
        let mut originals = self.originals(Arrived::Page(&answer.body));
        for object in page.objects {
            self.is_there(object, originals.next()).await?;
        }
        if self.machine.page(&page.version, page.rest.as_deref()) {
            self.complete().await?;
        }
        Ok(None)
    }

    /// A stream of changes. Returns how it ended, if it was not left.
    async fn stream(&mut self, path: String) -> Result<Option<End>, Unheard> {
        // Originals are kept as JSON.
        let wanted = if self.originals.is_some() { Format::Json } else { self.resource.format() };
        let mut chunks = match self.streams.open(path, wanted).await {
            Ok(Ok(chunks)) => chunks,
            Ok(Err(answer)) => return self.refused(&answer).await.map(Some),
            Err(silence) => return self.broken(silence).await.map(Some),
        };
        self.answered();
        self.member.set_live(true);
        let format = chunks.format();
        let mut pieces = Pieces::new(format);
        loop {
            match self.next(&mut chunks).await? {
                Next::Bytes(bytes) => pieces.push(&bytes),
                Next::End(end) => return Ok(Some(end)),
                Next::Round => return Ok(None),
            }
            while let Some(piece) = pieces.next_piece() {
                if let Some(end) = self.change(format, piece).await? {
                    return Ok(Some(end));
                }
            }
        }
    }

    /// What comes next, unless nobody listens any more.
    async fn next(&mut self, chunks: &mut S::Chunks) -> Result<Next, Unheard> {
        let chunk = tokio::select! {
            chunk = chunks.next() => chunk,
            Ok(()) = self.rounds.changed() => return Ok(Next::Round),
            () = self.tell.closed() => return Err(Unheard),
        };
        Ok(match chunk {
            Some(Ok(bytes)) => Next::Bytes(bytes),
            Some(Err(silence)) => Next::End(self.broken(silence).await?),
            None => Next::End(End::Closed),
        })
    }

    /// A change on a stream. Returns how the stream ended if it says so.
    async fn change(&mut self, format: Format, piece: &[u8]) -> Result<Option<End>, Unheard> {
        match Frame::read(self.resource.reader(), format, piece) {
            Ok(Frame::Is(object)) => {
                self.heard(&object);
                let original = self.originals(Arrived::Line(piece)).next();
                self.is_there(object, original).await?;
            }
            Ok(Frame::Gone(object)) => {
                self.heard(&object);
                self.told(Told::Gone(object)).await?;
            }
            Ok(Frame::Bookmark { version, is_end_of_list }) => {
                if self.machine.bookmark(&version, is_end_of_list) {
                    self.complete().await?;
                }
            }
            Ok(Frame::Refused(refusal)) => {
                let Refusal { code, retry_after, .. } = refusal;
                // That it has forgotten is no trouble.
                if code != 410 {
                    self.trouble(format!("a watch ended: {}", refusal.message)).await?;
                }
                return Ok(Some(End::Refused { code, retry_after }));
            }
            // An object that cannot be read is as it was; what comes after it can be read all the same.
            Err(error) => self.trouble(format!("a change cannot be read: {error}")).await?,
        }
        Ok(None)
    }

    fn heard(&mut self, object: &AnyObject) {
        if let Some(version) = &object.metadata().resource_version {
            self.machine.changed(version);
        }
    }

    fn originals(&self, arrived: Arrived<'_>) -> impl Iterator<Item = Arc<str>> + use<S> {
        self.originals.and_then(|read| read(self.resource, arrived)).unwrap_or_default().into_iter()
    }

    async fn is_there(&self, object: AnyObject, original: Option<Arc<str>>) -> Result<(), Unheard> {
        let epoch = self.machine.epoch();
        self.told(match original {
            Some(original) => Told::Whole(object, epoch, original),
            None => Told::Is(object, epoch),
        })
        .await
    }

    /// All is told.
    async fn complete(&self) -> Result<(), Unheard> {
        let (epoch, round) = (self.machine.epoch(), self.round);
        self.told(Told::Complete { resource: self.resource, epoch, round }).await
    }

    async fn refused(&mut self, answer: &Answer) -> Result<End, Unheard> {
        let Refusal { code, message, retry_after, .. } = Refusal::new(answer);
        match code {
            // That it has forgotten is no trouble.
            410 => {}
            // An older server, or one on which the kind is switched off.
            404 => {
                if !std::mem::replace(&mut self.is_absent, true) {
                    let so = "as long as it has no such kind, there are no such objects";
                    self.trouble(format!("{message}: {so}")).await?;
                }
                self.complete().await?;
            }
            _ => self.trouble(message.into()).await?,
        }
        let end = End::Refused { code, retry_after: retry_after.filter(|pause| *pause > Duration::ZERO) };
        if !end.may_be_outage() {
            self.answered();
        }
        Ok(end)
    }

    async fn broken(&mut self, silence: Silence) -> Result<End, Unheard> {
        let why = silence.why();
        self.trouble(why).await?;
        Ok(End::Broken)
    }

    async fn trouble(&mut self, why: String) -> Result<(), Unheard> {
        if let Some((last, at)) = &mut self.probes {
            let clock = self.streams.clock();
            if *last == why && clock < *at + SAME_TROUBLE {
                return Ok(());
            }
            (*last, *at) = (why.clone(), clock);
        }
        self.told(Told::Trouble(self.resource, why)).await
    }

    async fn told(&self, told: Told) -> Result<(), Unheard> {
        self.tell.send(told).await.map_err(|_| Unheard)
    }
}

#[cfg(test)]
mod tests;
