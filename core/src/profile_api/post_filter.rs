//! PostFilter: handles pods without a feasible node.

use std::sync::Arc;

use super::profile::{PreFilterRun, Profile};
use crate::model::Pod;
use crate::model::cache::Cache;
use crate::plugin_api::diagnosis::Diagnosis;
use crate::plugin_api::extension_points::PostFilterResult;
use crate::plugin_api::plugin::{Plugin, View};

/// Input of a PostFilter plugin: the failed attempt, and the profile for hypothetical evaluations.
pub struct PostFilterContext<'a, P: Profile> {
    /// The profile's plugins.
    pub profile: &'a P,
    /// The pod.
    pub pod: &'a Arc<Pod>,
    /// All that the profile reads of the pod.
    pub compiled: &'a P::Pod,
    /// The cycle state; `None` if PreFilter rejected the pod without a state.
    pub cycle: Option<&'a P::Cycle>,
    /// Number of the pod's equivalence class, valid during this run of the profile. For all pods of a class, Filter has
    /// the same result on a hypothetical node, until the node or its pods change. `None`: Filter may depend on more.
    pub equivalence_class: Option<u64>,
    /// Results of the PreFilter plugins.
    pub pre_filter: &'a PreFilterRun,
    /// The cluster.
    pub cache: &'a Cache<P::State>,
    /// The reasons why no node is feasible.
    pub diagnosis: &'a Diagnosis,
    /// Time in nanoseconds since 1970.
    pub now: i64,
    /// Whether [`PostFilterResult::candidates`] lists all candidates. A list costs time in proportion to its length.
    pub lists_candidates: bool,
    /// Random seed of this attempt, for a plugin's own [`Random`](crate::random::Random).
    pub seed: u64,
}

impl<P: Profile> PostFilterContext<'_, P> {
    /// Returns whether a plugin's PreFilter ran in this attempt.
    pub fn ran_pre_filter(&self, plugin: &str) -> bool {
        self.pre_filter.ran(plugin)
    }
}

/// Tries to make a pod without a feasible node schedulable, for example by preemption.
#[diagnostic::on_unimplemented(
    message = "plugin `{Self}` does not implement the extension point `post-filter`",
    note = "a profile or the plugin's catalog entry lists it there; it must implement `schedc_core::extension_points::PostFilterPlugin`"
)]
pub trait PostFilterPlugin: Plugin {
    /// Runs the plugin.
    fn post_filter<P: Profile>(
        &self,
        args: &Self::Args,
        cx: PostFilterContext<'_, P>,
        view: View<'_, Self>,
    ) -> PostFilterResult;
}
