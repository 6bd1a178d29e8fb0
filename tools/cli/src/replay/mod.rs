//! Open-loop replay: for each recorded decision, the answer of a profile for the recorded state before it.
//!
//! A difference has no consequences: the next decision is compared in the recorded state, not in the one that this
//! profile would have caused.

mod reservations;
mod state;

use std::collections::{BTreeMap, BTreeSet};

use k8s_openapi::jiff::Timestamp;
use schedc_core::erased::{AnyBundle, AnyCluster};
use schedc_core::explain::Explanation;
use schedc_core::profile::ProfileInfo;
use schedc_kubernetes::shadow::earlier_answers::EarlierAnswers;
use schedc_kubernetes::shadow::finding::{best_nodes, compare_message, for_bound_pod};
use schedc_kubernetes::shadow::{Disagreement, Finding, ProfileCounts};
use schedc_objects::Kinds;
use schedc_recording::Reference;
use schedc_recording::entry::{Begin, Bind, Entry, Line, Reject};
use schedc_recording::reader::{Item, Place, ReadError};
use serde::Serialize;
use serde_json::Value;

use crate::cluster::Routes;
use reservations::{Name, claim_write};
use state::RecordedState;

/// The result of a replay.
#[derive(Clone, Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Report {
    /// Agreement of the profiles, in the order of the program.
    #[serde(skip)]
    pub counts: Vec<ProfileCounts>,
    /// Recorded decisions for one of several nodes with the highest total.
    pub ties: u64,
    /// Decisions of schedulers that no profile replaces, by scheduler name.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub other_schedulers: BTreeMap<String, u64>,
    /// Files that were read.
    pub files: usize,
    /// Recorded events of schedulers.
    pub events: u64,
    /// Starts of the recorder after the first one.
    pub restarts: u64,
    /// Objects in the snapshot of the last file; 0 if it is incomplete.
    pub objects: usize,
    /// Watches that expired.
    pub gaps: u64,
    /// Those of them after which all objects are known again.
    pub repaired: u64,
    /// Places at which a file ends without its regular end.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub cut: Vec<String>,
    /// Objects of kinds that no plugin of this program reads, by kind.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub ignored: BTreeMap<String, u64>,
    /// Decisions with another answer.
    pub disagreements: Vec<Difference>,
}

/// A recorded decision with another answer.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Difference {
    /// Time of the decision.
    pub at: String,
    /// File and line of the decision.
    pub place: String,
    /// The difference.
    #[serde(flatten)]
    pub disagreement: Disagreement,
}

/// A replay in progress.
pub(crate) struct Replay<'a> {
    state: RecordedState<'a>,
    profiles: &'static [ProfileInfo],
    routes: Routes,
    /// Whether the snapshot of the file is complete.
    is_synced: bool,
    /// Kinds with missing changes.
    open_gaps: BTreeSet<String>,
    before_allocation: EarlierAnswers<Name, Name>,
    report: Report,
}

impl<'a> Replay<'a> {
    /// Creates a replay in an empty cluster of these profiles.
    pub(crate) fn new(cluster: &'a mut dyn AnyCluster, bundle: &AnyBundle, routes: Routes) -> Self {
        Replay {
            state: RecordedState::new(cluster, bundle.originals, Kinds::declared(bundle.kinds)),
            profiles: bundle.profiles,
            routes,
            is_synced: false,
            open_gaps: BTreeSet::new(),
            before_allocation: EarlierAnswers::default(),
            report: Report { counts: vec![ProfileCounts::default(); bundle.profiles.len()], ..Report::default() },
        }
    }

    /// Replays the next part of a recording.
    ///
    /// # Errors
    /// Returns an error if a recorded object is invalid.
    pub(crate) fn next(&mut self, place: &Place, item: Item) -> Result<(), ReadError> {
        let Line { at, entry } = match item {
            Item::Line(line) => line,
            Item::Cut => {
                self.report.cut.push(place.to_string());
                return Ok(());
            }
        };
        let failed = |message: String| ReadError { place: place.clone(), message };
        match entry {
            Entry::Recording(header) => {
                let is_restart = header.begin == Begin::Start && self.report.files > 0;
                self.report.files += 1;
                self.report.restarts += u64::from(is_restart);
                self.report.objects = 0;
                self.is_synced = false;
                self.open_gaps.clear();
                self.state.begin_snapshot();
            }
            Entry::Set(object) => {
                self.answer_before_allocation(&object);
                if let Some(kind) = self.state.set(object, &self.routes).map_err(failed)? {
                    *self.report.ignored.entry(kind).or_default() += 1;
                }
            }
            Entry::Delete(reference) => {
                self.state.delete(&reference);
                let Reference { kind, namespace, name } = reference;
                match kind.as_str() {
                    "Pod" => drop(self.before_allocation.take(&(namespace, name))),
                    "ResourceClaim" => self.before_allocation.delete_claim(&(namespace, name)),
                    _ => {}
                }
            }
            Entry::Synced(synced) => {
                self.state.end_snapshot();
                self.report.objects = synced.objects;
                self.is_synced = true;
            }
            Entry::Bind(bind) => self.bound(place, at, bind),
            Entry::Reject(reject) => self.rejected(place, at, reject),
            Entry::Event(_) => self.report.events += 1,
            Entry::Gap(gap) => {
                self.report.gaps += 1;
                self.open_gaps.insert(gap.kind);
            }
            Entry::Repaired(gap) => {
                self.report.repaired += 1;
                self.open_gaps.remove(&gap.kind);
            }
            Entry::End(_) => {}
        }
        Ok(())
    }

    /// Returns the result so far.
    pub(crate) fn finish(self) -> Report {
        self.report
    }

    fn bound(&mut self, place: &Place, at: i64, bind: Bind) {
        let Bind { namespace, name, scheduler, node } = bind;
        let Some((profile, found)) = self.answer(&namespace, &name, &scheduler) else { return };
        let base = self.state.base();
        let finding = for_bound_pod(&found, base, &node);
        let is_tie = finding.is_none() && best_nodes(&found, base).len() > 1;
        self.report.ties += u64::from(is_tie);
        self.report.counts[profile].count_bound(finding.as_ref());
        self.add(place, at, profile, format!("{namespace}/{name}"), finding);
    }

    fn rejected(&mut self, place: &Place, at: i64, reject: Reject) {
        let Reject { namespace, name, scheduler, message } = reject;
        // An allocation that failed says nothing about this attempt.
        self.before_allocation.take(&(namespace.clone(), name.clone()));
        let Some((profile, found)) = self.answer(&namespace, &name, &scheduler) else { return };
        let finding = compare_message(&found, self.state.base(), &message);
        self.report.counts[profile].count_rejected(finding.as_ref());
        self.add(place, at, profile, format!("{namespace}/{name}"), finding);
    }

    /// Returns the answer of the profile that replaces a scheduler; `None` if there is none, or if the state before the
    /// decision is not known.
    fn answer(&mut self, namespace: &str, name: &str, scheduler: &str) -> Option<(usize, Explanation)> {
        let Some(profile) = self.routes.profile_for(scheduler) else {
            *self.report.other_schedulers.entry(scheduler.to_owned()).or_default() += 1;
            return None;
        };
        let before = self.before_allocation.take(&(namespace.to_owned(), name.to_owned()));
        let found =
            if self.is_known() { before.or_else(|| self.state.explain(profile, namespace, name)) } else { None };
        self.report.counts[profile].not_judged += u64::from(found.is_none());
        found.map(|found| (profile, found))
    }

    /// Evaluates the pending pods for which a claim is being allocated or created.
    fn answer_before_allocation(&mut self, object: &Value) {
        let Some(write) = claim_write(object) else { return };
        let is_known = self.is_known();
        let Replay { state, routes, before_allocation, .. } = self;
        before_allocation.before_write(write, |(namespace, name)| {
            let pending = state.pending(namespace, name).filter(|_| is_known)?;
            let profile = routes.profile_of(pending)?;
            state.explain(profile, namespace, name)
        });
    }

    /// Returns whether the state of all objects is known.
    fn is_known(&self) -> bool {
        self.is_synced && self.open_gaps.is_empty()
    }

    fn add(&mut self, place: &Place, at: i64, profile: usize, pod: String, finding: Option<Finding>) {
        let Some(finding) = finding else { return };
        let at = Timestamp::from_millisecond(at).map_or_else(|_| at.to_string(), |time| time.to_string());
        let disagreement = Disagreement { pod, profile: self.profiles[profile].name, finding };
        self.report.disagreements.push(Difference { at, place: place.to_string(), disagreement });
    }
}

#[cfg(test)]
mod tests;
