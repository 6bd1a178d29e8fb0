//! Evaluation of scenarios. A scenario has a cluster's state, and steps that change it or schedule a pod. The
//! evaluation returns the full result of each scheduling cycle.
//!
//! An [`Evaluator`] evaluates the scenarios of `schedc evaluate`; docs/evaluate.md has the formats. Objects are used as
//! given, without the defaults and validation of an API server. Results are deterministic: if several nodes have the
//! highest total, the one with the smallest name is chosen.

mod budgets;
mod claims;
mod cluster_scenarios;
mod decision;
mod error;
mod hints;
mod line;
mod preemption;
mod routes;
mod scenario;
mod scenario_cluster;

use std::sync::Arc;

use k8s_openapi::api::core::v1::Pod as ApiPod;
use schedc_core::erased::{AnyBundle, AnyCluster};
use schedc_core::extenders::Overrides;
use schedc_core::model::CustomKind;
use schedc_core::originals::RequiredOriginals;
use schedc_core::profile::{Bundle, ProfileInfo, StartErrors};
use schedc_objects::{AnyObject, IgnoredErrors, Kinds, ObjectReader, UnknownField, Validation};
use serde::Serialize;
use serde_json::Value;

use budgets::BudgetStatuses;
pub use decision::{Answer, Decision, NodeVerdict, PreFilter, Scores};
pub use error::{Error, Errors, InvalidItem};
pub use hints::{
    Change, Decision as HintDecision, Direct, EventResult, Gated, Hint, HintResult, HintScenario, Place, Scope,
};
pub use line::LineError;
pub use preemption::{Candidate, Outcome, Preemption};
pub use routes::{Routes, UnknownProfile, pod_name, scheduler_name};
use scenario::ObjectName;
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

/// Evaluates scenarios one after the other, each in a separate cluster.
pub struct Evaluator {
    cluster: Box<dyn AnyCluster>,
    profiles: &'static [ProfileInfo],
    kinds: &'static [CustomKind],
    originals: RequiredOriginals,
    chosen_profile: Option<usize>,
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
        let mut reader = ObjectReader::new(Kinds::declared(kinds), Validation::default());
        reader.allow_wrong_expressions = true;
        Ok(Evaluator { cluster, profiles, kinds, originals, chosen_profile: None, reader })
    }

    /// Uses the profile with this name (or scheduler name), regardless of the scenarios.
    ///
    /// # Errors
    /// Returns an error if there is no such profile.
    pub fn use_profile(&mut self, name: &str) -> Result<(), UnknownProfile> {
        self.chosen_profile = Some(Routes::index_of(self.profiles, name)?);
        Ok(())
    }

    /// Sets the treatment of unknown fields, misspelt kinds and wrong expressions.
    pub fn set_validation(&mut self, validation: Validation) {
        self.reader.validation = validation;
    }

    /// Returns the errors that have been ignored so far.
    pub fn ignored(&self) -> &IgnoredErrors {
        &self.reader.ignored
    }

    /// Evaluates a scenario. Pods are placed on the chosen nodes.
    ///
    /// # Errors
    /// Returns all errors in the scenario.
    pub fn evaluate(&mut self, scenario: Scenario) -> Result<ScenarioEvaluation, Errors> {
        self.evaluate_placing(scenario, |_, decision| decision.chosen.clone())
    }

    /// Evaluates a scenario, but places each pod on the node that `place` returns, or not at all. Two schedulers can
    /// thus be compared step by step, without the consequences of an earlier difference. `place` receives the
    /// index of the `schedule` step.
    ///
    /// # Errors
    /// Returns all errors in the scenario.
    pub fn evaluate_placing(
        &mut self,
        scenario: Scenario,
        mut place: impl FnMut(usize, &Decision) -> Option<String>,
    ) -> Result<ScenarioEvaluation, Errors> {
        let Scenario { id, profile, objects, steps, unknown } = scenario;
        let mut errors = Errors::default();
        errors.extend(self.unknown_keys(&scenario::unknown_fields("", &unknown, Scenario::KEYS).collect::<Vec<_>>()));
        let profile = errors.value_of(self.profile_of(profile.as_deref()));
        let budgets = BudgetStatuses::of(&objects, &steps);
        let objects = self.objects(objects, &mut errors);
        let steps = steps.into_iter().enumerate().filter_map(|(at, step)| {
            let change = read_step(step, &mut self.reader);
            errors.value_of(change.map_err(|error| Error::item("steps", at, error)))
        });
        let steps: Vec<ScenarioChange> = steps.collect();
        let profile = errors.or(profile)?;

        let mut scenario_cluster = ScenarioCluster::new(&mut *self.cluster, profile, self.originals);
        scenario_cluster.budgets = budgets;
        objects.iter().for_each(|object| scenario_cluster.apply(object));
        let mut results = Vec::new();
        for change in steps {
            let written = match change {
                ScenarioChange::Create(object) => {
                    scenario_cluster.apply(&object);
                    continue;
                }
                ScenarioChange::Update(object) => {
                    scenario_cluster.update(&object);
                    continue;
                }
                ScenarioChange::Delete(object) => {
                    scenario_cluster.delete_named(&object);
                    continue;
                }
                ScenarioChange::Schedule(pod) => *pod,
            };
            let pod = Arc::new(scenario_cluster.pending(&written));
            let decision = scenario_cluster.decide(&pod);
            if let Some(node) = place(results.len(), &decision) {
                if let Some(entries) = decision.allocations.get(&node) {
                    scenario_cluster.place_claims(&pod, entries);
                }
                scenario_cluster.place(pod, &written, &node);
            }
            results.push(decision);
        }
        Ok(ScenarioEvaluation { id, profile: self.profiles[profile].name, results })
    }

    /// Reads the initial objects of a scenario.
    fn objects(&mut self, values: Vec<Value>, errors: &mut Errors) -> Vec<AnyObject> {
        let objects = values.into_iter().enumerate().filter_map(|(at, value)| {
            let object = scenario::object(value, &mut self.reader);
            errors.value_of(object.map_err(|error| Error::item("objects", at, error)))
        });
        objects.collect()
    }

    /// Treats unknown keys of a scenario like unknown fields of a manifest written by hand.
    fn unknown_keys(&mut self, unknown: &[UnknownField]) -> Vec<Error> {
        let mut errors = self.reader.other_fields("scenario", unknown);
        for (error, UnknownField { parent, name, .. }) in errors.iter_mut().zip(unknown) {
            if parent.is_empty() && HintScenario::KEYS.contains(&name.as_str()) {
                error.message = "unknown field; only scenarios for `--hints` have it".to_owned();
            } else if parent.is_empty() && Scenario::KEYS.contains(&name.as_str()) {
                error.message = "unknown field; scenarios for `--hints` do not have it".to_owned();
            }
        }
        errors.into_iter().map(Error::UnknownKey).collect()
    }

    /// Returns the index of the profile that decides: the one that [`Evaluator::use_profile`] chose, otherwise the one
    /// that the scenario names.
    fn profile_of(&self, named: Option<&str>) -> Result<usize, Error> {
        match (self.chosen_profile, named) {
            (Some(profile), _) => Ok(profile),
            (None, Some(name)) => Routes::index_of(self.profiles, name).map_err(Error::UnknownProfile),
            (None, None) => Err(Error::NoProfile),
        }
    }
}

/// A step with a typed object.
enum ScenarioChange {
    Create(AnyObject),
    Update(AnyObject),
    Delete(ObjectName),
    Schedule(Box<ApiPod>),
}

fn read_step(step: Step, reader: &mut ObjectReader) -> Result<ScenarioChange, InvalidItem> {
    Ok(match step {
        Step::Create(value) => ScenarioChange::Create(scenario::object(value, reader)?),
        Step::Update(value) => ScenarioChange::Update(scenario::object(value, reader)?),
        Step::Delete(object) => ScenarioChange::Delete(object.resolve(reader.kinds)?),
        Step::Schedule(value) => ScenarioChange::Schedule(Box::new(scenario::pod(value, reader)?)),
        Step::Invalid(message) => return Err(InvalidItem::Step(message)),
    })
}

#[cfg(test)]
mod tests;
