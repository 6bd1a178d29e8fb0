//! PostFilter: what can be done for a pod that fits nowhere.

use std::sync::Arc;

use crate::cache::Cache;
use crate::diagnosis::Diagnosis;
use crate::model::{NodeIndex, Pod, Uid};
use crate::plugin::Plugin;
use crate::profile::{PreFilterRun, Profile};
use crate::status::{Code, Status};

/// What becomes of the pod's nominated node.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Nomination {
    /// As it was.
    #[default]
    Keep,
    /// None any more.
    Clear,
    /// This one.
    Set(NodeIndex),
}

/// A PostFilter plugin's answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PostFilterResult {
    /// `Success` if the pod may become schedulable, and then no further plugin runs; `Unschedulable` and
    /// `UnschedulableAndUnresolvable` let the next plugin try (the latter ends it); `Error` ends it.
    pub status: Status,
    /// The pod's nomination.
    pub nomination: Nomination,
    /// Pods to be removed.
    pub victims: Vec<Uid>,
}

impl PostFilterResult {
    /// Room can be made on `node` by removing `victims`.
    pub fn nominate(node: NodeIndex, victims: Vec<Uid>) -> Self {
        let status = Status { code: Code::Success, plugin: "", reasons: Vec::new() };
        PostFilterResult { status, nomination: Nomination::Set(node), victims }
    }
    /// Nothing can be done; `reason` becomes part of the pod's message.
    pub fn unschedulable(reason: impl Into<String>) -> Self {
        PostFilterResult { status: Status::unschedulable(reason), nomination: Nomination::Keep, victims: Vec::new() }
    }
}

/// What a PostFilter plugin sees: the failed attempt, and the profile to try again with in thought.
pub struct PostFilterContext<'a, P: Profile> {
    /// The profile's plugins.
    pub profile: &'a P,
    /// The pod.
    pub pod: &'a Arc<Pod>,
    /// What the profile reads of the pod.
    pub compiled: &'a P::Pod,
    /// The cycle state; none if PreFilter rejected the pod for good.
    pub cycle: Option<&'a P::Cycle>,
    /// What PreFilter plugins said.
    pub pre_filter: &'a PreFilterRun,
    /// The cluster.
    pub cache: &'a Cache<P::State>,
    /// Why the pod fits nowhere.
    pub diagnosis: &'a Diagnosis,
}

impl<P: Profile> PostFilterContext<'_, P> {
    /// Whether a plugin's PreFilter ran in this attempt.
    pub fn ran_pre_filter(&self, plugin: &str) -> bool {
        self.pre_filter.ran(plugin)
    }
}

/// Tries to make a pod schedulable that fits nowhere, for example by preemption.
#[diagnostic::on_unimplemented(
    message = "plugin `{Self}` does not implement the extension point `post-filter`",
    note = "a profile or the plugin's catalog entry lists it there; it must implement `schedc_core::extension_points::PostFilterPlugin`"
)]
pub trait PostFilterPlugin: Plugin {
    /// Tries.
    fn post_filter<P: Profile>(&self, args: &Self::Args, cx: PostFilterContext<'_, P>) -> PostFilterResult;
}
