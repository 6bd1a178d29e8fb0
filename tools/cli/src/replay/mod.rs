//! Open-loop replay: for each recorded decision, the answer of a profile for the recorded state before it.
//!
//! A difference has no consequences: the next decision is compared in the recorded state, not in the one that this
//! profile would have caused.

mod journal;
mod order;
mod reservations;
mod state;
mod window;

use std::collections::{BTreeMap, BTreeSet};

use k8s_openapi::jiff::Timestamp;
use schedc_core::erased::{AnyBundle, AnyCluster};
use schedc_core::explain::Explanation;
use schedc_core::profile::ProfileInfo;
use schedc_kubernetes::shadow::earlier_answers::EarlierAnswers;
use schedc_kubernetes::shadow::finding::best_nodes;
use schedc_kubernetes::shadow::{Disagreement, Finding, ProfileCounts};
use schedc_objects::Kinds;
use schedc_recording::Reference;
use schedc_recording::entry::{Begin, Bind, Entry, Line, Reject};
use schedc_recording::reader::{Item, Place, ReadError};
use serde::Serialize;
use serde_json::Value;

use crate::cluster::Routes;
pub(crate) use journal::NamedChange;
use journal::{Journal, Origins, RecordedChange, Replacement};
pub(crate) use order::Order;
use order::{Decision, DecisionResult, Neighbours, Search};
use reservations::{Name, claim_write};
use state::{RecordedState, SetResult};
use window::Window;

/// The result of a replay.
#[derive(Clone, Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Report {
    /// Agreement of each profile, in the order in which the program lists its profiles.
    #[serde(skip)]
    pub counts: Vec<ProfileCounts>,
    /// Number of recorded decisions for one of several nodes with the highest total.
    pub ties: u64,
    /// Number of decisions of schedulers that no profile replaces, by scheduler name.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub other_schedulers: BTreeMap<String, u64>,
    /// Files that were read.
    pub files: usize,
    /// Recorded events of schedulers.
    pub events: u64,
    /// Starts of the recorder after the first one.
    pub restarts: u64,
    /// Number of objects at the start of the last file; 0 if the file ends before they are complete.
    pub objects: usize,
    /// Number of gaps: changes of a kind may be missing, for example because a watch expired.
    pub gaps: u64,
    /// Number of these gaps after which all objects are known again.
    pub repaired: u64,
    /// Places at which a file was cut off: its last entry is not the one that ends every complete file.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub cut: Vec<String>,
    /// Number of lines with objects that no plugin of this program reads, by kind.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub ignored: BTreeMap<String, u64>,
    /// Number of disagreements that another order of changes explains.
    pub explained: u64,
    /// Number of other disagreements.
    pub unexplained: u64,
    /// Number of unexplained disagreements without a complete search of other orders, because [`BUDGET`] was used up.
    #[serde(skip_serializing_if = "is_zero")]
    pub not_searched: u64,
    /// The recorded decisions with which the answer of the profile disagrees.
    pub disagreements: Vec<Difference>,
}

/// A recorded decision with which the answer of the profile disagrees.
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
    /// The order of changes in which the profile agrees.
    #[serde(flatten)]
    pub order: Option<Order>,
}

/// Maximum number of evaluations in other orders: a profile that often disagrees would otherwise take hours.
const BUDGET: usize = 40_000;

/// A replay in progress.
pub(crate) struct Replay<'a> {
    state: RecordedState<'a>,
    profiles: &'static [ProfileInfo],
    routes: Routes,
    /// Whether the snapshot at the start of the current file is complete.
    is_synced: bool,
    /// Kinds with missing changes.
    open_gaps: BTreeSet<String>,
    /// Answers for pending pods, from before a claim was written for them.
    before_allocation: EarlierAnswers<Name, Name>,
    window: Window,
    journal: Journal,
    origins: Origins,
    /// Number of evaluations in other orders that are left.
    budget: usize,
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
            window: Window::default(),
            journal: Journal::default(),
            origins: Origins::default(),
            budget: BUDGET,
            report: Report { counts: vec![ProfileCounts::default(); bundle.profiles.len()], ..Report::default() },
        }
    }

    /// Replays the next part of a recording.
    ///
    /// # Errors
    /// Returns an error if a recorded object is invalid.
    pub(crate) fn next(&mut self, place: &Place, item: Item) -> Result<(), ReadError> {
        let line = match item {
            Item::Line(line) => line,
            Item::Cut => {
                self.replay_waiting_lines()?;
                self.report.cut.push(place.to_string());
                return Ok(());
            }
        };
        let is_change = matches!(
            line.entry,
            Entry::Set(_) | Entry::Delete(_) | Entry::Bind(_) | Entry::Reject(_) | Entry::Event(_)
        );
        if is_change && self.is_known() {
            self.window.push(place.clone(), line);
            while let Some((place, line)) = self.window.pop_ready() {
                self.replay_line(&place, line)?;
            }
            return Ok(());
        }
        // Objects of a list have the versions of their last changes: the window would move them before earlier lines.
        self.replay_waiting_lines()?;
        self.replay_line(place, line)
    }

    /// Returns the result.
    ///
    /// # Errors
    /// Returns an error if a recorded object is invalid.
    pub(crate) fn finish(mut self) -> Result<Report, ReadError> {
        self.replay_waiting_lines()?;
        Ok(self.report)
    }

    fn replay_waiting_lines(&mut self) -> Result<(), ReadError> {
        while let Some((place, line)) = self.window.pop() {
            self.replay_line(&place, line)?;
        }
        Ok(())
    }

    fn replay_line(&mut self, place: &Place, Line { at, rv, entry }: Line) -> Result<(), ReadError> {
        let failed = |message: String| ReadError { place: place.clone(), message };
        let origin = self.origins.of(&entry);
        let record = |replacement: Replacement| RecordedChange { place: place.clone(), at, replacement, origin };
        match entry {
            Entry::Recording(header) => {
                let is_restart = header.begin == Begin::Start && self.report.files > 0;
                self.report.files += 1;
                self.report.restarts += u64::from(is_restart);
                self.report.objects = 0;
                self.is_synced = false;
                self.open_gaps.clear();
                self.journal.clear();
                self.state.begin_snapshot();
            }
            Entry::Set(object) => {
                self.answer_before_allocation(&object);
                match self.state.set(object, &self.routes).map_err(failed)? {
                    SetResult::Ignored(kind) => *self.report.ignored.entry(kind).or_default() += 1,
                    SetResult::Unchanged => {}
                    SetResult::Changed(replacement) => self.journal.push(record(replacement)),
                }
            }
            Entry::Delete(reference) => {
                self.state.delete(&reference).map(record).into_iter().for_each(|change| self.journal.push(change));
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
            Entry::Bind(Bind { namespace, name, scheduler, node }) => {
                let (result, has_version) = (DecisionResult::Bound(node), rv.is_some());
                self.compare_decision(place, Decision { at, has_version, namespace, name, scheduler, result });
            }
            Entry::Reject(Reject { namespace, name, scheduler, message }) => {
                // An answer from before a claim was written belongs to an earlier attempt, which failed afterwards.
                self.before_allocation.take(&(namespace.clone(), name.clone()));
                let (result, has_version) = (DecisionResult::Rejected(message), rv.is_some());
                self.compare_decision(place, Decision { at, has_version, namespace, name, scheduler, result });
            }
            Entry::Event(_) => self.report.events += 1,
            Entry::Gap(gap) => {
                self.report.gaps += 1;
                self.journal.clear();
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

    /// Compares a recorded decision with the answer of the profile.
    fn compare_decision(&mut self, place: &Place, decision: Decision) {
        let Some((profile, explanation)) = self.answer(&decision.namespace, &decision.name, &decision.scheduler) else {
            return;
        };
        let base = self.state.base();
        let finding = decision.compare(&explanation, base);
        let counts = &mut self.report.counts[profile];
        match decision.result {
            DecisionResult::Bound(_) => {
                let is_tie = finding.is_none() && best_nodes(&explanation, base).len() > 1;
                self.report.ties += u64::from(is_tie);
                counts.count_bound(finding.as_ref());
            }
            DecisionResult::Rejected(_) => counts.count_rejected(finding.as_ref()),
        }
        if let Some(finding) = finding {
            self.add_disagreement(place, profile, &decision, finding);
        }
    }

    /// Returns the answer of the profile that replaces a scheduler; `None` if no profile does, or if the state before
    /// the decision is not known.
    fn answer(&mut self, namespace: &str, name: &str, scheduler: &str) -> Option<(usize, Explanation)> {
        let Some(profile) = self.routes.profile_for(scheduler) else {
            *self.report.other_schedulers.entry(scheduler.to_owned()).or_default() += 1;
            return None;
        };
        let before = self.before_allocation.take(&(namespace.to_owned(), name.to_owned()));
        let explanation =
            if self.is_known() { before.or_else(|| self.state.explain(profile, namespace, name)) } else { None };
        self.report.counts[profile].not_judged += u64::from(explanation.is_none());
        explanation.map(|explanation| (profile, explanation))
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

    /// Adds a disagreement, with the order that explains it if the search finds one.
    fn add_disagreement(&mut self, place: &Place, profile: usize, decision: &Decision, finding: Finding) {
        let Replay { state, routes, journal, window, budget, report, .. } = self;
        let neighbours = Neighbours::of(decision, journal, window, state);
        let order = Search { state, routes, profile, decision, neighbours, budget: &mut *budget }.find();
        report.not_searched += u64::from(order.is_none() && *budget == 0);
        let count = if order.is_some() { &mut report.explained } else { &mut report.unexplained };
        *count += 1;
        let Decision { at, namespace, name, .. } = decision;
        let at = Timestamp::from_millisecond(*at).map_or_else(|_| at.to_string(), |time| time.to_string());
        let (pod, profile) = (format!("{namespace}/{name}"), self.profiles[profile].name);
        let disagreement = Disagreement { pod, profile, finding };
        report.disagreements.push(Difference { at, place: place.to_string(), disagreement, order });
    }
}

fn is_zero(number: &u64) -> bool {
    *number == 0
}

#[cfg(test)]
mod tests;
