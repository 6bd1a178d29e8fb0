//! The names that most plugins use: `use schedc_core::prelude::*;`.
//!
//! | for | names |
//! |---|---|
//! | every plugin | [`Plugin`], [`CompileContext`], [`Handle`], [`PodSpec`], [`Interner`], [`Symbol`]; `#[plugin]` |
//! | plugins that read one pod and one node | [`SimpleFilter`], [`SimpleScore`], [`DefaultNormalization`], [`ReversedNormalization`] |
//! | arguments | `#[derive(Args)]`, [`List`], [`Seq`], [`NoArgs`] |
//! | state of nodes | [`NodeInfo`], [`Column`], [`ColumnWithArgs`] with [`WithArgs`], [`Position`] |
//! | state of the cluster | [`Index`], [`View`], [`IndexView`] |
//! | cycle state | [`CycleSlot`], [`NodeMask`] |
//! | extension points | a trait for each, with the types of its methods |
//! | incremental evaluation | [`Incremental`] |
//! | events and hints | [`EnqueueExtensions`], [`Registration`], [`EventResource`], [`Action`], [`EventObject`] |

pub use crate::model::intern::{Interner, Symbol};
pub use crate::model::node_mask::NodeMask;
pub use crate::model::placement::Placement;
pub use crate::model::{LabelsExt, Node, NodeIndex, Object, Pod, PodSpec, Uid, label_integer};
pub use crate::plugin_api::args::{Args, List, NoArgs, Seq};
pub use crate::plugin_api::column::{Column, ColumnWithArgs, Index, NodeInfo, Position, WithArgs};
pub use crate::plugin_api::events::{Action, EventObject, EventResource};
pub use crate::plugin_api::extension_points::{
    BindPlugin, BindResult, EnqueueExtensions, Extent, FilterPlugin, HintContext, HintError, MAX_NODE_SCORE,
    NormalizeScore, PermitPlugin, PermitResult, PostBindPlugin, PostFilterResult, PreBindPlugin, PreEnqueuePlugin,
    PreFilterPlugin, PreFilterResult, PreFlightResult, PreScorePlugin, PrepareScore, QueueSortPlugin, QueuedPod,
    QueueingHint, Registration, ReservePlugin, ScoreError, ScorePlugin, default_normalize,
};
pub use crate::plugin_api::extension_points::{OptionalStateOf, StateOf};
pub use crate::plugin_api::handle::{Handle, WaitingPods};
pub use crate::plugin_api::incremental::Incremental;
pub use crate::plugin_api::plugin::{CompileContext, CycleSlot, IndexView, Plugin, Refs, Row, View};
pub use crate::plugin_api::simple::{DefaultNormalization, ReversedNormalization, SimpleFilter, SimpleScore};
pub use crate::plugin_api::status::{Code, Reasons, Status};
pub use crate::profile_api::post_filter::PostFilterPlugin;
pub use crate::profile_api::profile::{PostFilterContext, Profile};
pub use schedc_derive::plugin;
