//! The extension points of Kubernetes 1.36's scheduling framework, one small trait each.

mod bind;
mod enqueue_extensions;
mod filter;
mod permit;
mod post_bind;
mod post_filter;
mod pre_bind;
mod pre_enqueue;
mod pre_filter;
mod pre_score;
mod queue_sort;
mod reserve;
mod score;
mod skip_frequency;
mod state_of;

pub use crate::model::placement::Placement;
pub use bind::{BindPlugin, BindResult};
pub use enqueue_extensions::{EnqueueExtensions, HintContext, HintError, QueueingHint, Registration};
pub use filter::FilterPlugin;
pub use permit::{PermitPlugin, PermitResult};
pub use post_bind::PostBindPlugin;
pub use post_filter::{Candidate, Nomination, PostFilterResult, Repair, VictimList};
pub use pre_bind::{PreBindPlugin, PreFlightResult};
pub use pre_enqueue::PreEnqueuePlugin;
pub use pre_filter::{CandidateNodes, PreFilterPlugin, PreFilterResult, rerun_pre_filter};
pub use pre_score::{PreScorePlugin, PrepareScore, rerun_pre_score, rerun_prepare};
pub use queue_sort::{QueueSortPlugin, QueuedPod};
pub use reserve::{Preview, ReservePlugin, Shortage};
pub use score::{Extent, MAX_NODE_SCORE, NormalizeScore, ScoreClass, ScoreError, ScorePlugin, default_normalize};
pub use skip_frequency::SkipFrequency;
pub use state_of::{OptionalStateOf, StateOf};
