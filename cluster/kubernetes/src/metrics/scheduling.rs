//! Metrics of scheduling attempts.

use std::time::Duration;

use schedc_core::events::ClusterEvent;
use schedc_core::extension_points::Nomination;
use schedc_core::scheduler::{Failure, Outcome, Point};
use schedc_core::status::Code;

use super::exposition::Exposition;
use super::table;
use super::values::{Counter, Histogram, MetricVec};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum AttemptResult {
    Scheduled,
    Unschedulable,
    Error,
}

impl AttemptResult {
    const ALL: [AttemptResult; 3] = [AttemptResult::Scheduled, AttemptResult::Unschedulable, AttemptResult::Error];

    fn of(outcome: &Outcome) -> AttemptResult {
        match &outcome.result {
            Ok(_) => AttemptResult::Scheduled,
            Err(Failure::Unschedulable(_)) => AttemptResult::Unschedulable,
            Err(Failure::Error(_)) => AttemptResult::Error,
        }
    }
    fn name(self) -> &'static str {
        match self {
            AttemptResult::Scheduled => "scheduled",
            AttemptResult::Unschedulable => "unschedulable",
            AttemptResult::Error => "error",
        }
    }
}

/// Number of attempts from which on all numbers share one label value, `15+`.
const MAX_ATTEMPTS: usize = 15;

#[derive(Debug)]
pub(super) struct AttemptMetrics {
    profiles: Box<[Profile]>,
    algorithm: Histogram,
    attempts: Histogram,
    /// Times from the first enqueue to the binding, by number of attempts.
    sli_durations: [Histogram; MAX_ATTEMPTS],
    preemptions: Counter,
    victims: Histogram,
    event_durations: MetricVec<ClusterEvent, Histogram>,
}

#[derive(Debug)]
struct Profile {
    name: &'static str,
    attempt_durations: [Histogram; AttemptResult::ALL.len()],
    points: MetricVec<(Point, Code), Histogram>,
}

impl AttemptMetrics {
    /// Creates empty metrics of profiles with these scheduler names.
    pub(super) fn new(profiles: &[&'static str]) -> Self {
        let durations = || AttemptResult::ALL.map(|_| Histogram::new(&table::ATTEMPT_DURATION));
        let profile = |&name| Profile { name, attempt_durations: durations(), points: MetricVec::default() };
        AttemptMetrics {
            profiles: profiles.iter().map(profile).collect(),
            algorithm: Histogram::new(&table::ALGORITHM_DURATION),
            attempts: Histogram::new(&table::SCHEDULING_ATTEMPTS),
            sli_durations: std::array::from_fn(|_| Histogram::new(&table::SLI_DURATION)),
            preemptions: Counter::default(),
            victims: Histogram::new(&table::PREEMPTION_VICTIMS),
            event_durations: MetricVec::default(),
        }
    }

    /// Returns the scheduler name of the profile at an index.
    pub(super) fn profile(&self, at: usize) -> &'static str {
        self.profiles.get(at).map_or("", |profile| profile.name)
    }

    pub(super) fn record_outcome(&self, outcome: &Outcome, took: Duration) {
        let Some(profile) = self.profiles.get(outcome.profile) else { return };
        let result = AttemptResult::of(outcome);
        profile.attempt_durations[result as usize].observe_duration(took);
        match &outcome.result {
            Ok(_) => {
                self.attempts.observe(outcome.attempts.into());
                let attempts = (outcome.attempts.max(1) as usize).min(MAX_ATTEMPTS);
                self.sli_durations[attempts - 1].observe(u64::try_from(outcome.waited).unwrap_or(0));
            }
            Err(Failure::Unschedulable(unschedulable)) => {
                let Some(found) = &unschedulable.post_filter else { return };
                self.preemptions.increment();
                if matches!(found.nomination, Nomination::Set(_)) && !found.victims.is_empty() {
                    self.victims.observe(found.victims.len() as u64);
                }
            }
            Err(Failure::Error(_)) => {}
        }
    }

    /// Records a run of the plugins of an extension point.
    pub(super) fn record_point(&self, profile: usize, point: Point, code: Code, took: Duration) {
        let Some(profile) = self.profiles.get(profile) else { return };
        let make = || Histogram::new(&table::EXTENSION_POINT_DURATION);
        profile.points.with(&(point, code), make, |histogram| histogram.observe_duration(took));
    }

    pub(super) fn record_decision(&self, took: Duration) {
        self.algorithm.observe_duration(took);
    }

    pub(super) fn record_event(&self, event: ClusterEvent, took: Duration) {
        let make = || Histogram::new(&table::EVENT_HANDLING_DURATION);
        self.event_durations.with(&event, make, |histogram| histogram.observe_duration(took));
    }

    pub(super) fn write(&self, exposition: &mut Exposition<'_>) {
        for profile in &self.profiles {
            for (result, histogram) in AttemptResult::ALL.iter().zip(&profile.attempt_durations) {
                let (labels, count) = ([profile.name, result.name()], histogram.count());
                if count > 0 {
                    exposition.number(&table::SCHEDULE_ATTEMPTS, &labels, count as f64);
                    exposition.histogram(&table::ATTEMPT_DURATION, &labels, histogram);
                }
            }
            profile.points.each(|(point, code), histogram| {
                let labels = [&point.to_string(), profile.name, &code.to_string()];
                exposition.histogram(&table::EXTENSION_POINT_DURATION, &labels, histogram);
            });
        }
        exposition.histogram(&table::ALGORITHM_DURATION, &[], &self.algorithm);
        exposition.histogram(&table::SCHEDULING_ATTEMPTS, &[], &self.attempts);
        for (at, histogram) in self.sli_durations.iter().enumerate().filter(|(_, histogram)| histogram.count() > 0) {
            let attempts = if at + 1 < MAX_ATTEMPTS { (at + 1).to_string() } else { format!("{MAX_ATTEMPTS}+") };
            exposition.histogram(&table::SLI_DURATION, &[&attempts], histogram);
        }
        exposition.number(&table::PREEMPTION_ATTEMPTS, &[], self.preemptions.get() as f64);
        exposition.histogram(&table::PREEMPTION_VICTIMS, &[], &self.victims);
        self.event_durations.each(|event, histogram| {
            exposition.histogram(&table::EVENT_HANDLING_DURATION, &[&event.to_string()], histogram);
        });
    }
}
