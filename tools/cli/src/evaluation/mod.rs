//! Evaluation of scenarios: from a cluster's state and step-by-step changes to the full result of each
//! scheduling cycle.
//!
//! docs/evaluate.md has the formats. Objects are used as given, without the defaults and validation of an API
//! server. Results are deterministic: ties are broken by the smallest node name.

mod budgets;
mod claims;
mod cluster_scenarios;
mod decision;
mod hints;
mod preemption;
mod scenario;
mod scenario_cluster;

use std::fmt;
use std::sync::Arc;

use k8s_openapi::api::core::v1::Pod as ApiPod;
use schedc_bounds::text::shortened;
use schedc_core::erased::{AnyBundle, AnyCluster};
use schedc_core::extenders::Overrides;
use schedc_core::model::{CustomKind, Pod};
use schedc_core::originals::RequiredOriginals;
use schedc_core::profile::{Bundle, ProfileInfo, StartErrors};
use schedc_objects::{IgnoredFields, Kinds, ObjectError, ObjectReader, UnknownField, Validation};
use serde::Serialize;

use crate::cluster::{Routes, UnknownProfile};

use budgets::BudgetStatuses;
pub use decision::{Answer, Decision, NodeVerdict, PreFilter, Scores};
pub use hints::{
    Change, Decision as HintDecision, Direct, EventResult, Gated, Hint, HintResult, HintScenario, Place, Scope,
};
pub use preemption::{Candidate, Outcome, Preemption};
pub use scenario::{InvalidScenario, Reference, Scenario, Step, UnknownKeys};
pub use scenario_cluster::ScenarioCluster;

/// The results of one scenario.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ScenarioEvaluation {
    /// ID of the scenario.
    pub id: String,
    /// The profile that decided, by its file name.
    pub profile: &'static str,
    /// One result per `schedule` step.
    pub results: Vec<Decision>,
}

/// The reason why a scenario was not evaluated.
#[derive(Clone, Debug, PartialEq)]
pub enum Error {
    /// Neither the scenario nor the caller names a profile.
    NoProfile,
    /// The profile is not compiled in.
    UnknownProfile(UnknownProfile),
    /// The scenario has unknown keys.
    UnknownKeys(Vec<ObjectError>),
    /// An item of the scenario is invalid.
    InvalidItem {
        /// Location, such as `steps[3]`.
        place: String,
        /// The error.
        error: InvalidItem,
    },
}

/// An error in an item of a scenario.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum InvalidItem {
    /// An object is invalid.
    Object(Vec<ObjectError>),
    /// A required field of an object is missing.
    Missing(&'static str),
    /// Scheduling ignores objects of this kind.
    Kind {
        /// The API version, if it distinguishes the kind.
        api_version: Option<String>,
        /// The kind.
        kind: String,
    },
    /// An object to schedule is of this kind instead of a pod.
    NotAPod(&'static str),
    /// The event does not exist.
    NoEvent {
        /// Resource of the event.
        resource: String,
        /// Action of the event.
        action: String,
    },
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::NoProfile => f.write_str("`profile` is missing; add it, or choose one with --profile"),
            Error::UnknownProfile(error) => error.fmt(f),
            Error::UnknownKeys(errors) => write_all(
                f,
                errors.iter().map(|error| {
                    format!(
                        "{}: {}",
                        shortened(error.field.as_deref().unwrap_or_default(), 400),
                        shortened(&error.message, 2000)
                    )
                }),
            ),
            Error::InvalidItem { place, error } => write!(f, "{place}: {error}"),
        }
    }
}

impl fmt::Display for InvalidItem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            InvalidItem::Object(errors) => write_all(f, errors.iter()),
            InvalidItem::Missing(field) => write!(f, "the object has no `{field}`"),
            InvalidItem::Kind { api_version: None, kind } => {
                write!(f, "scheduling ignores objects of kind `{}`", shortened(kind, 200))
            }
            InvalidItem::Kind { api_version: Some(api_version), kind } => {
                let (kind, api_version) = (shortened(kind, 200), shortened(api_version, 200));
                write!(f, "scheduling ignores objects of kind `{kind}` of `{api_version}`")
            }
            InvalidItem::NoEvent { resource, action } => {
                write!(f, "there is no event `{}` of `{}`", shortened(action, 200), shortened(resource, 200))
            }
            InvalidItem::NotAPod(kind) => write!(f, "a {kind} cannot be scheduled"),
        }
    }
}

/// Maximum number of displayed errors per scenario or object.
const SHOWN: usize = 20;

fn write_all<E: fmt::Display>(f: &mut fmt::Formatter<'_>, errors: impl ExactSizeIterator<Item = E>) -> fmt::Result {
    let count = errors.len();
    for (i, error) in errors.take(SHOWN).enumerate() {
        write!(f, "{}{error}", if i > 0 { "; " } else { "" })?;
    }
    match count.saturating_sub(SHOWN) {
        0 => Ok(()),
        more => write!(f, "; and {more} more"),
    }
}

impl std::error::Error for Error {}

impl From<Vec<ObjectError>> for InvalidItem {
    fn from(errors: Vec<ObjectError>) -> Self {
        InvalidItem::Object(errors)
    }
}

/// Evaluates scenarios one after the other, each in a separate cluster.
pub struct Evaluator {
    cluster: Box<dyn AnyCluster>,
    profiles: &'static [ProfileInfo],
    kinds: &'static [CustomKind],
    originals: RequiredOriginals,
    only: Option<usize>,
    reader: ObjectReader,
}

impl Evaluator {
    /// Creates the plugins and the extenders of the profiles `B`.
    ///
    /// # Errors
    /// Returns an error for plugins that cannot start and extenders that cannot be called.
    pub fn of<B: Bundle>() -> Result<Self, StartErrors> {
        Self::new(&AnyBundle::of::<B>(), Overrides::NONE)
    }

    /// Creates the plugins and the extenders of all profiles. `extenders` overrides extender settings of
    /// profiles.
    ///
    /// # Errors
    /// Returns an error for plugins that cannot start and extenders that cannot be called.
    pub fn new(bundle: &AnyBundle, extenders: &Overrides) -> Result<Self, StartErrors> {
        let AnyBundle { profiles, kinds, originals, .. } = *bundle;
        let cluster = bundle.cluster(Some(extenders))?;
        let reader = ObjectReader::new(Kinds::declared(kinds), Validation::default());
        Ok(Evaluator { cluster, profiles, kinds, originals, only: None, reader })
    }

    /// Uses the profile with this name (or scheduler name), whatever the scenarios name.
    ///
    /// # Errors
    /// Returns an error if there is no such profile.
    pub(crate) fn use_profile(&mut self, name: &str) -> Result<(), UnknownProfile> {
        self.only = Some(Routes::index_of(self.profiles, name)?);
        Ok(())
    }

    /// Sets the treatment of fields that an object's kind does not have.
    pub(crate) fn set_validation(&mut self, validation: Validation) {
        self.reader.validation = validation;
    }

    /// Returns the unknown fields that have been ignored so far.
    pub fn ignored(&self) -> &IgnoredFields {
        &self.reader.ignored
    }

    /// Evaluates a scenario. Pods are placed on the chosen nodes.
    ///
    /// # Errors
    /// Returns the first error in the scenario.
    pub fn evaluate(&mut self, scenario: Scenario) -> Result<ScenarioEvaluation, Error> {
        self.evaluate_placing(scenario, |_, decision| decision.chosen.clone())
    }

    /// Evaluates a scenario, but places pods on the nodes that `place` returns, if they exist. Two schedulers can
    /// thus be compared step by step, without the consequences of an earlier difference. `place` receives the
    /// index of the `schedule` step.
    ///
    /// # Errors
    /// Returns the first error in the scenario.
    pub fn evaluate_placing(
        &mut self,
        scenario: Scenario,
        mut place: impl FnMut(usize, &Decision) -> Option<String>,
    ) -> Result<ScenarioEvaluation, Error> {
        self.check_keys(scenario::unknown_fields("", &scenario.unknown, Scenario::KEYS).collect())?;
        let profile = self.profile_of(scenario.profile.as_deref())?;
        let mut scenario_cluster = ScenarioCluster::new(&mut *self.cluster, profile, self.originals);
        scenario_cluster.budgets = BudgetStatuses::of(&scenario.objects, &scenario.steps);
        for (at, value) in scenario.objects.into_iter().enumerate() {
            let object =
                scenario::object(value, &mut self.reader).map_err(|error| Error::invalid_item("objects", at, error))?;
            scenario_cluster.apply(object);
        }
        let mut results = Vec::new();
        for (at, step) in scenario.steps.into_iter().enumerate() {
            let broken = |error| Error::invalid_item("steps", at, error);
            let Some((pod, written)) =
                take_step(&mut scenario_cluster, &mut self.reader, Kinds::declared(self.kinds), step)
                    .map_err(broken)?
            else {
                continue;
            };
            let decision = scenario_cluster.decide(&pod);
            if let Some(node) = place(results.len(), &decision) {
                if let Some(entries) = decision.allocations.get(&node) {
                    scenario_cluster.place_claims(&pod, entries);
                }
                scenario_cluster.place(pod, &written, &node);
            }
            results.push(decision);
        }
        Ok(ScenarioEvaluation { id: scenario.id, profile: self.profiles[profile].name, results })
    }

    /// Treats unknown keys of a scenario as unknown fields of a manifest written by hand.
    fn check_keys(&mut self, unknown: Vec<UnknownField>) -> Result<(), Error> {
        let mut errors = self.reader.other_fields("scenario", &unknown);
        for (error, UnknownField { parent, name, .. }) in errors.iter_mut().zip(&unknown) {
            if parent.is_empty() && HintScenario::KEYS.contains(&name.as_str()) {
                error.message = "unknown field; only scenarios for `--hints` have it".to_owned();
            } else if parent.is_empty() && Scenario::KEYS.contains(&name.as_str()) {
                error.message = "unknown field; scenarios for `--hints` do not have it".to_owned();
            }
        }
        if errors.is_empty() { Ok(()) } else { Err(Error::UnknownKeys(errors)) }
    }

    /// Returns the profile that decides, if a scenario names this one.
    fn profile_of(&self, named: Option<&str>) -> Result<usize, Error> {
        match (self.only, named) {
            (Some(profile), _) => Ok(profile),
            (None, Some(name)) => Routes::index_of(self.profiles, name).map_err(Error::UnknownProfile),
            (None, None) => Err(Error::NoProfile),
        }
    }
}

/// Applies a step. For a `schedule` step, returns the pod and its manifest.
fn take_step(
    scenario_cluster: &mut ScenarioCluster<'_>,
    reader: &mut ObjectReader,
    kinds: Kinds,
    step: Step,
) -> Result<Option<(Arc<Pod>, ApiPod)>, InvalidItem> {
    match step {
        Step::Create(value) => scenario_cluster.apply(scenario::object(value, reader)?),
        Step::Update(value) => scenario_cluster.update(scenario::object(value, reader)?),
        Step::Delete(object) => scenario_cluster.delete(&object, kinds)?,
        Step::Schedule(value) => {
            let pod = scenario::pod(value, reader)?;
            return Ok(Some((Arc::new(scenario_cluster.pending(&pod)), pod)));
        }
    }
    Ok(None)
}

impl Error {
    fn invalid_item(list: &str, at: usize, error: InvalidItem) -> Self {
        Error::InvalidItem { place: format!("{list}[{at}]"), error }
    }
}

#[cfg(test)]
pub(crate) mod tests;
