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
//! | events and hints | [`EnqueueExtensions`], [`Registration`], [`EventResource`], [`Action`], [`EventObject`] |

pub use crate::args::{Args, List, NoArgs, Seq};
pub use crate::column::{Column, ColumnWithArgs, Index, NodeInfo, Position, WithArgs};
pub use crate::events::{Action, EventObject, EventResource};
pub use crate::extension_points::{
    BindPlugin, BindResult, EnqueueExtensions, Extent, FilterPlugin, HintContext, HintError, MAX_NODE_SCORE,
    NormalizeScore, PermitPlugin, PermitResult, Placement, PostBindPlugin, PostFilterContext, PostFilterPlugin,
    PostFilterResult, PreBindPlugin, PreEnqueuePlugin, PreFilterPlugin, PreFilterResult, PreFlightResult,
    PreScorePlugin, PrepareScore, QueueSortPlugin, QueuedPod, QueueingHint, Registration, ReservePlugin, ScoreError,
    ScorePlugin, default_normalize,
};
pub use crate::handle::{Handle, WaitingPods};
pub use crate::intern::{Interner, Symbol};
pub use crate::model::{LabelsExt, Node, NodeIndex, Object, Pod, PodSpec, Uid, label_integer};
pub use crate::node_mask::NodeMask;
pub use crate::plugin::{CompileContext, CycleSlot, IndexView, OptionalStateOf, Plugin, Refs, Row, StateOf, View};
pub use crate::profile::Profile;
pub use crate::simple::{DefaultNormalization, ReversedNormalization, SimpleFilter, SimpleScore};
pub use crate::status::{Code, Reasons, Status};
pub use schedc_derive::plugin;
