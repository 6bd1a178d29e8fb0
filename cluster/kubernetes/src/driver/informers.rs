//! Informers: the reflectors of all kinds, and whether they have synced.

use std::future::pending;

use tokio::sync::{mpsc, watch};

use crate::resources::Resource;
use crate::transport::StreamingTransport;
use crate::watch::originals::OriginalsReader;
use crate::watch::reachability::Reachability;
use crate::watch::reflector::{InformerEvent, ReflectorOptions, run_reflector};

/// Capacity of the event channel. Objects are large, and reflectors can wait.
const CAPACITY: usize = 128;

/// One reflector for each kind. The reflectors stop when this value is dropped.
#[derive(Debug)]
pub struct Informers {
    events: mpsc::Receiver<InformerEvent>,
    rounds: watch::Sender<u32>,
    round: u32,
    /// For each kind, the last relist round that completed.
    synced_rounds: Vec<(&'static str, Option<u32>)>,
}

impl Informers {
    /// Starts the reflectors. `originals_reader` selects the objects that are sent with their originals.
    pub fn start<S: StreamingTransport>(
        streams: &S,
        kinds: &[&'static Resource],
        seed: u64,
        originals_reader: Option<OriginalsReader>,
    ) -> Self {
        let (sender, events) = mpsc::channel(CAPACITY);
        let round = 0;
        let (rounds, _) = watch::channel(round);
        let reachability = Reachability::default();
        for (seed, resource) in (seed..).zip(kinds) {
            let originals = originals_reader.and_then(|originals_reader| originals_reader.for_kind(resource.kind));
            let member = reachability.member(matches!(resource.kind, "Node" | "Pod"));
            let options = ReflectorOptions { resource, originals, seed, rounds: rounds.subscribe(), member };
            tokio::spawn(run_reflector(streams.clone(), options, sender.clone()));
        }
        let synced_rounds = kinds.iter().map(|resource| (resource.kind, None)).collect();
        Informers { events, rounds, round, synced_rounds }
    }

    /// Lists all kinds again. The informers count as not synced until the new lists of all kinds complete.
    pub fn relist(&mut self) {
        self.round += 1;
        self.rounds.send_replace(self.round);
    }

    /// Records that the list of a kind completed for a round.
    pub(crate) fn mark_complete(&mut self, resource: &Resource, round: u32) {
        if let Some((_, synced_round)) = self.synced_rounds.iter_mut().find(|(kind, _)| *kind == resource.kind) {
            *synced_round = Some(round);
        }
    }

    /// Returns whether all kinds completed the current round.
    pub(crate) fn has_synced(&self) -> bool {
        self.synced_rounds.iter().all(|(_, synced_round)| *synced_round == Some(self.round))
    }

    /// Returns the next event, if one is queued.
    pub fn try_next(&mut self) -> Option<InformerEvent> {
        self.events.try_recv().ok()
    }

    /// Waits for the next event.
    pub async fn next(&mut self) -> InformerEvent {
        match self.events.recv().await {
            Some(event) => event,
            None => pending().await,
        }
    }
}
