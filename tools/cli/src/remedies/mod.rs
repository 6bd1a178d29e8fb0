//! Remedies for an unschedulable pod: minimal changes of the pod, of nodes, of other pods, of the cluster or of volumes.
//!
//! Rejections yield candidates (`remedy`). Each candidate is applied to a copy of the cluster (`fork`), and the scheduler
//! decides about the pod. Only candidates with which the scheduler places the pod are remedies. Remedies are then
//! weakened and reduced (`search`) as long as the scheduler still places the pod.

mod change;
mod fork;
mod kinds;
mod remedy;
mod search;
mod situation;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use schedc_core::erased::AnyBundle;
use schedc_core::extenders::Overrides;
use schedc_core::profile::StartErrors;
use schedc_in_memory::server::Key;
use schedc_objects::AnyObject;
use serde::Serialize;

pub(crate) use fork::Edit;
use fork::Fork;
pub(crate) use kinds::new_node::copied as copied_node;
pub(crate) use remedy::Remedy;
use search::Search;

/// The remedies for a pod.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Remedies {
    /// The remedies, the least disturbing first.
    pub found: Vec<Combination>,
    /// Number of hypothetical decisions.
    pub trials: usize,
    /// Whether the search ended at its limit, so that remedies may be missing.
    pub cut: bool,
}

/// Changes that together make the pod schedulable; usually one.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Combination {
    /// The changes. None of them can be left out.
    pub changes: Vec<DescribedRemedy>,
    /// The node on which the scheduler places the pod.
    pub node: String,
    /// Effect on the cluster and its users, as a number to compare remedies.
    pub disturbance: u32,
    /// The changed objects.
    #[serde(skip)]
    pub edits: Vec<Edit>,
}

/// A change with its text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct DescribedRemedy {
    /// The change.
    #[serde(flatten)]
    pub remedy: Remedy,
    /// A sentence without an end, such as `uncordon node a`.
    pub text: String,
}

/// The pod and its scheduler.
pub(crate) struct Subject<'a> {
    /// The profiles.
    pub(crate) bundle: &'a AnyBundle,
    /// Index of the profile that serves the pod.
    pub(crate) profile: usize,
    /// Overrides of the profiles' extender settings.
    pub(crate) extenders: &'static Overrides,
    /// The pod.
    pub(crate) pod: Key,
}

impl Subject<'_> {
    /// Returns up to `max` remedies for the unschedulable pod in a cluster with these objects. Returns
    /// `None` if the scheduler places the pod in a copy of the cluster without any change.
    ///
    /// # Errors
    /// Returns an error for plugins that cannot start.
    pub(crate) fn remedies<'o>(
        &self,
        objects: impl Iterator<Item = &'o Arc<AnyObject>>,
        max: usize,
    ) -> Result<Option<Remedies>, StartErrors> {
        let mut cluster = self.bundle.cluster(Some(self.extenders))?;
        let calls_extenders = cluster.has_extenders(self.profile);
        let mut fork = Fork::new(&mut *cluster, self.profile, self.bundle.originals, objects, self.pod.clone());
        let search = Search::new(&mut fork, max, calls_extenders);
        Ok(search.run())
    }
}
