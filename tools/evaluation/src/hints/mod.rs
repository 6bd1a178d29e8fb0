//! Requeueing of a rejected pod after a change of an object: the events of the change, the results of the plugins'
//! hints for each event, and the pod's place in the queue afterwards.
//!
//! docs/evaluate.md has the formats. The queue's rules are applied to one pod.

mod events;
mod scenario;

use std::collections::BTreeMap;

use schedc_core::erased::AnyCluster;
use schedc_core::events::{Action, ClusterEvent, EventObject, EventResource};
use schedc_core::extenders::EXTENDER;
use schedc_core::extension_points::QueueingHint;
use schedc_core::hints::{InterestedPlugins, PluginSet};
use schedc_core::model::{CustomKind, Pod};
use schedc_core::profile::ProfileInfo;
use schedc_objects::{AnyObject, convert_pod, is_finished};
use serde::Serialize;

use super::scenario as values;
use super::{Error, Errors, Evaluator, InvalidItem, ScenarioCluster};
use events::{DerivedEvent, ObjectChange};

pub use events::Scope;
pub use scenario::{Change, Direct, HintScenario};

/// The effect of a change on a rejected pod.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct HintResult {
    /// ID of the scenario.
    pub id: String,
    /// Names of the events, in order.
    pub events: Vec<String>,
    /// The same events with their results.
    pub per_event: Vec<EventResult>,
    /// For each plugin that rejected the pod or returned `Pending` for it: whether the plugin is registered for one of
    /// the events.
    pub registered: BTreeMap<String, bool>,
    /// Hints of these plugins. If a plugin returned several hints, an error takes precedence over `Queue`, and `Queue`
    /// over `Skip`.
    pub hints: BTreeMap<String, Hint>,
    /// Decision for the pod.
    pub decision: Decision,
    /// Whether the pod is retried.
    pub moved: bool,
    /// Place of the pod in the queue.
    pub queue: Place,
    /// PreEnqueue plugins that gate the pod.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gated: Option<Gated>,
}

/// The effect of one event.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct EventResult {
    /// Resource of the event.
    pub resource: &'static str,
    /// Action of the event.
    pub action: &'static str,
    /// The pods that are notified.
    pub scope: Scope,
    /// All plugins of the profile that are registered for the event, sorted.
    pub registered_by: Vec<&'static str>,
    /// Like [`HintResult::registered`], for this event.
    pub registered: BTreeMap<String, bool>,
    /// Like [`HintResult::hints`], for this event.
    pub hints: BTreeMap<String, Hint>,
    /// Hints of registered plugins that neither rejected the pod nor returned `Pending`. These hints have no effect.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub other_hints: BTreeMap<String, Hint>,
    /// Set only for the event of a nominated pod that left its node: whether the priority of the rejected pod is at
    /// most that of the nominated pod.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pre_check: Option<bool>,
    /// Whether the pod is gated by a plugin that is not registered for the event. The queue then runs no hint.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub gate_skips: bool,
    /// Decision for the pod after this event alone.
    pub decision: Decision,
}

/// Result of a queueing hint.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub enum Hint {
    /// Leave the pod in its place.
    Skip,
    /// Retry the pod.
    Queue,
    /// The hint failed; the pod is retried.
    Error,
}

/// The queue's decision for a pod.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub enum Decision {
    /// The pod stays in its place.
    QueueSkip,
    /// The pod is retried after its backoff.
    QueueAfterBackoff,
    /// The pod is retried as soon as possible.
    QueueImmediately,
}

/// A pod's place in the queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Place {
    /// The active queue.
    Active,
    /// The backoff queue.
    Backoff,
    /// The unschedulable pods.
    Unschedulable,
    /// None: the pod was deleted or has a node.
    None,
}

/// The PreEnqueue plugins that gate a pod.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Gated {
    /// Before the change; empty if the pod was not gated.
    pub before: &'static str,
    /// After the change; empty if the pod is not gated.
    pub after: &'static str,
}

impl Evaluator {
    /// Returns the effect of a change on a rejected pod.
    ///
    /// # Errors
    /// Returns all errors in the scenario.
    pub fn hints(&mut self, scenario: HintScenario) -> Result<HintResult, Errors> {
        let mut errors = Errors::default();
        errors.extend(self.unknown_keys(&scenario.unknown_fields()));
        let profile = errors.value_of(self.profile_of(scenario.profile.as_deref()));
        let objects = self.objects(scenario.objects, &mut errors);
        let invalid = |place: &'static str| move |error| Error::InvalidItem { place: place.to_owned(), error };
        let mut read = |place, value: Option<serde_json::Value>| {
            let object = values::object(value?, &mut self.reader);
            errors.value_of(object.map_err(invalid(place)))
        };
        let old = read("event.old", scenario.event.old);
        let new = read("event.new", scenario.event.new);
        let pod = errors.value_of(values::pod(scenario.pod, &mut self.reader).map_err(invalid("pod")));
        let direct_event = scenario
            .direct
            .as_ref()
            .and_then(|direct| errors.value_of(direct_event(direct, self.kinds).map_err(invalid("direct"))));
        let (profile, pod) = errors.or(profile.zip(pod))?;

        let mut scenario_cluster = ScenarioCluster::new(&mut *self.cluster, profile, self.originals);
        objects.iter().for_each(|object| scenario_cluster.apply(object));
        if let Some(old) = &old {
            scenario_cluster.apply(old);
        }
        let is_same_pod = [&old, &new].into_iter().flatten().any(|object| {
            let is_pod = matches!(object, AnyObject::Pod(_));
            let pod = AnyObject::from(pod.clone());
            is_pod && (object.namespace(), object.name()) == (pod.namespace(), pod.name())
        });
        let mut waiting = convert_pod(&pod, &mut scenario_cluster.cluster.base_mut().interner);
        let changed = ObjectChange::new(old.as_ref(), new.as_ref(), &mut scenario_cluster.cluster.base_mut().interner);
        let gate = scenario_cluster.cluster.gate_status(profile, &waiting).map(|status| status.plugin);
        match new {
            Some(new) if !matches!(&new, AnyObject::Pod(pod) if is_finished(pod)) => {
                scenario_cluster.apply(&new);
            }
            _ => {
                if let Some(old) = &old {
                    scenario_cluster.remove(old);
                }
            }
        }
        // If the change updates the pod itself, hints receive the updated pod.
        let (mut leaves, mut uid) = (false, None);
        if let (true, ObjectChange::Pod(before, after)) = (is_same_pod, &changed) {
            match after {
                Some(after) if after.spec.node_name.is_none() => waiting = (**after).clone(),
                _ => leaves = true,
            }
            uid = before.as_ref().or(after.as_ref()).map(|pod| pod.uid.clone());
        }
        if let Some(uid) = uid {
            waiting.uid = uid;
        }
        let query = HintQuery {
            waiting: &waiting,
            cluster: scenario_cluster.cluster,
            profile,
            info: &self.profiles[profile],
            changed: &changed,
            direct_event,
            is_same_pod,
            plugins: &scenario.plugins,
            pending: &scenario.pending,
            gate,
            progress: PodProgress { in_flight: scenario.in_flight, backoff_done: scenario.backoff_done, leaves },
        };
        let result = query.run();
        Ok(HintResult { id: scenario.id, ..result })
    }
}

/// Returns the event that a scenario names. A kind that a plugin declares is referenced by its full name.
fn direct_event(direct: &Direct, kinds: &[CustomKind]) -> Result<ClusterEvent, InvalidItem> {
    let declared = || {
        let kind = kinds.iter().find(|kind| kind.name == direct.resource)?;
        Some(EventResource::Custom(kind.name))
    };
    match (EventResource::from_name(&direct.resource).or_else(declared), Action::from_name(&direct.action)) {
        (Some(resource), Some(action)) => Ok(ClusterEvent::new(resource, action)),
        _ => Err(InvalidItem::NoEvent { resource: direct.resource.clone(), action: direct.action.clone() }),
    }
}

/// State other than hints that determines the pod's place in the queue.
#[derive(Clone, Copy)]
struct PodProgress {
    in_flight: bool,
    backoff_done: bool,
    /// The pod is deleted or gets a node.
    leaves: bool,
}

struct HintQuery<'a> {
    waiting: &'a Pod,
    cluster: &'a mut dyn AnyCluster,
    profile: usize,
    info: &'a ProfileInfo,
    changed: &'a ObjectChange,
    /// Event that replaces the events of the change.
    direct_event: Option<ClusterEvent>,
    is_same_pod: bool,
    plugins: &'a [String],
    pending: &'a [String],
    /// The plugin that gated the pod before the change.
    gate: Option<&'static str>,
    progress: PodProgress,
}

impl HintQuery<'_> {
    fn run(mut self) -> HintResult {
        let (changed, is_same_pod) = (self.changed, self.is_same_pod);
        let plugins = self.cluster.plugins(self.profile);
        let events = match self.direct_event {
            Some(event) => {
                vec![DerivedEvent { event, object: changed.object(), scope: Scope::Direct, up_to_priority: None }]
            }
            None => {
                let base = self.cluster.base();
                let is_served = |pod: &Pod| {
                    let name = base.interner.resolve(pod.spec.scheduler_name);
                    name.is_empty() || name == self.info.scheduler_name
                };
                let mut events = changed.events(is_same_pod, is_served);
                // Changes of objects other than pods and nodes are received only if a plugin is registered for them.
                events.retain(|derived| {
                    !matches!(derived.object, EventObject::Object(..))
                        || !InterestedPlugins::of(plugins, derived.event).plugins().is_empty()
                });
                events
            }
        };
        let per_event: Vec<_> = events.iter().map(|event| self.event(event)).collect();
        let gate_after = self.cluster.gate_status(self.profile, self.waiting).map(|status| status.plugin);
        self.result(per_event, gate_after)
    }

    fn event(&mut self, derived: &DerivedEvent<'_>) -> EventResult {
        let plugins = self.cluster.plugins(self.profile);
        let interested = InterestedPlugins::of(plugins, derived.event);
        let hint_of = |plugin| {
            let hint = self.cluster.hint(self.profile, plugin, derived.event, derived.object, self.waiting)?;
            Some(match hint {
                Ok(QueueingHint::Skip) => Hint::Skip,
                Ok(QueueingHint::Queue) => Hint::Queue,
                Err(_) => Hint::Error,
            })
        };
        let hints: Vec<Option<Hint>> = (0..plugins.len()).map(hint_of).collect();
        let hint = |at: usize| hints[at];
        let names = |set: PluginSet| set.iter().map(|at| plugins[at].name);
        let hints_of = |set: PluginSet| -> BTreeMap<String, Hint> {
            set.iter().filter_map(|at| Some((plugins[at].name.to_owned(), hint(at)?))).collect()
        };
        let plugin_set = |list: &[String]| PluginSet::of(plugins, list.iter().map(String::as_str));
        let (rejectors, pending) = (plugin_set(self.plugins), plugin_set(self.pending));
        let consulted = rejectors.or(pending);
        let interested = interested.plugins();
        let mut registered_by: Vec<_> = names(interested).collect();
        registered_by.sort_unstable();
        let requeues = |set: PluginSet| set.iter().any(|at| hint(at).is_some_and(|hint| hint != Hint::Skip));
        // Extenders have no hints: every event requeues the pods that they rejected.
        let by_extenders = self.cluster.has_extenders(self.profile) && self.plugins.iter().any(|name| name == EXTENDER);
        let decision = if requeues(pending) {
            Decision::QueueImmediately
        } else if by_extenders || requeues(rejectors) {
            Decision::QueueAfterBackoff
        } else {
            Decision::QueueSkip
        };
        EventResult {
            resource: derived.event.resource.name(),
            action: derived.event.actions.name().unwrap_or_default(),
            scope: derived.scope,
            registered: self
                .all_plugins()
                .map(|name| (name.clone(), by_extenders && name == EXTENDER || registered_by.contains(&name.as_str())))
                .collect(),
            hints: hints_of(consulted)
                .into_iter()
                .chain(by_extenders.then(|| (EXTENDER.to_owned(), Hint::Queue)))
                .collect(),
            other_hints: hints_of(interested.without(consulted)),
            // The priority is not compared while the pod is in flight.
            pre_check: derived
                .up_to_priority
                .filter(|_| !self.progress.in_flight)
                .map(|priority| self.waiting.spec.priority <= priority),
            gate_skips: derived.scope == Scope::All && self.gate.is_some_and(|gate| !registered_by.contains(&gate)),
            registered_by,
            decision,
        }
    }

    fn all_plugins(&self) -> impl Iterator<Item = &String> {
        self.plugins.iter().chain(self.pending)
    }

    fn result(&self, per_event: Vec<EventResult>, gate_after: Option<&'static str>) -> HintResult {
        let PodProgress { in_flight, backoff_done, leaves } = self.progress;
        let mut registered: BTreeMap<String, bool> = self.all_plugins().map(|name| (name.clone(), false)).collect();
        let mut hints: BTreeMap<String, Hint> = BTreeMap::new();
        for event in &per_event {
            for (name, is_registered) in &event.registered {
                *registered.entry(name.clone()).or_default() |= is_registered;
            }
            for (name, hint) in &event.hints {
                let strongest = hints.entry(name.clone()).or_insert(Hint::Skip);
                *strongest = (*strongest).max(*hint);
            }
        }
        let decision = if in_flight {
            // Events of an in-flight pod are evaluated together when the attempt ends.
            per_event.iter().map(|event| event.decision).max()
        } else {
            let mut effective = per_event.iter().filter(|event| event.pre_check != Some(false) && !event.gate_skips);
            effective.find(|event| event.decision != Decision::QueueSkip).map(|event| event.decision)
        };
        let decision = decision.unwrap_or(Decision::QueueSkip);
        let stays_in_place = decision == Decision::QueueSkip || self.direct_event.is_some();
        let after = if stays_in_place { self.gate } else { gate_after };
        let moved = !stays_in_place && !leaves && after.is_none();
        // A gated pod has had no attempt yet and needs no backoff.
        let skips_backoff = decision == Decision::QueueImmediately || backoff_done || self.gate.is_some();
        HintResult {
            id: String::new(),
            events: per_event.iter().map(|event| format!("{}{}", event.resource, event.action)).collect(),
            registered,
            hints,
            decision,
            moved,
            queue: match moved {
                _ if leaves => Place::None,
                false => Place::Unschedulable,
                true if skips_backoff => Place::Active,
                true => Place::Backoff,
            },
            gated: (self.gate.is_some() || after.is_some())
                .then(|| Gated { before: self.gate.unwrap_or_default(), after: after.unwrap_or_default() }),
            per_event,
        }
    }
}
