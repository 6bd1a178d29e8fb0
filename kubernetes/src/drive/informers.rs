//! Who follows the cluster, and whether all of it is known.

use std::future::pending;

use tokio::sync::{mpsc, watch};

use crate::resources::Resource;
use crate::watch::follow::{Told, follow};
use crate::watch::reach::Reach;
use crate::watch::whole::Whole;
use crate::wire::Streams;

/// How much may be told that nobody heard yet. Objects are large, and followers can wait.
const QUEUE: usize = 128;

/// A follower for each kind. They stop when this is dropped.
#[derive(Debug)]
pub struct Informers {
    told: mpsc::Receiver<Told>,
    rounds: watch::Sender<u32>,
    round: u32,
    /// For each kind, the last round of which all is known.
    known: Vec<(&'static str, Option<u32>)>,
}

impl Informers {
    /// Begins to follow. Of some objects originals are told, too.
    pub fn start<S: Streams>(streams: &S, kinds: &[&'static Resource], seed: u64, whole: Option<Whole>) -> Self {
        let (tell, told) = mpsc::channel(QUEUE);
        let round = 0;
        let (rounds, _) = watch::channel(round);
        let reach = Reach::default();
        for (seed, resource) in (seed..).zip(kinds) {
            let originals = whole.and_then(|whole| whole.reader(resource.kind));
            let member = reach.member(matches!(resource.kind, "Node" | "Pod"));
            tokio::spawn(follow(streams.clone(), resource, originals, seed, tell.clone(), rounds.subscribe(), member));
        }
        let known = kinds.iter().map(|resource| (resource.kind, None)).collect();
        Informers { told, rounds, round, known }
    }

    /// Nothing is known until all is told as it is now, or later.
    pub fn begin_anew(&mut self) {
        self.round += 1;
        self.rounds.send_replace(self.round);
    }

    /// All of a kind is known as it was when a round began, or later.
    pub fn is_complete(&mut self, resource: &Resource, round: u32) {
        if let Some((_, known)) = self.known.iter_mut().find(|(kind, _)| *kind == resource.kind) {
            *known = Some(round);
        }
    }

    /// Whether all kinds are known as of this round.
    pub fn know_all(&self) -> bool {
        self.known.iter().all(|(_, known)| *known == Some(self.round))
    }

    /// What is told next, if there is something.
    pub fn try_next(&mut self) -> Option<Told> {
        self.told.try_recv().ok()
    }

    /// Waits until something is told.
    pub async fn next(&mut self) -> Told {
        match self.told.recv().await {
            Some(told) => told,
            None => pending().await,
        }
    }
}
